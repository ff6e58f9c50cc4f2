/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF_PROG(name, args...): a callback with the kernel's arguments. The kernel passes a struct_ops
 * program an array of u64 argument slots; natively it is a plain function.
 *
 * cong_control(sk, rs), as it was before Linux 6.10, takes the sample from the caller's slot:
 * today's is cong_control(sk, ack, flag, rs).
 */
#ifndef __BPF_TRACING_H__
#define __BPF_TRACING_H__

#include "bpf_helpers.h"

/* The kernel fixes a callback's parameters; not every congestion control needs all of them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define __db_count(_0, _1, _2, _3, _4, _5, _6, n, ...) n
#define __db_nargs(...)	__db_count(_, ##__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define __db_cat(a, b)	a##b
#define __db_join(a, b)	__db_cat(a, b)

#ifdef __bpf__

/* The kernel's version is a constant to the verifier, which then sees only one of the two slots. */
extern int LINUX_KERNEL_VERSION __kconfig __weak;
#define __DB_SAMPLE_IS_4TH	(LINUX_KERNEL_VERSION >= (6 << 16) + (10 << 8))
#define __db_is_older_cong_control(fn)					\
	__builtin_types_compatible_p(__typeof__(&(fn)),			\
		void (*)(unsigned long long *, struct sock *, const struct rate_sample *))
#define __db_second(fn)							\
	ctx[__builtin_choose_expr(__db_is_older_cong_control(fn), __DB_SAMPLE_IS_4TH ? 3 : 1, 1)]

#define __db_slots_0(fn)
#define __db_slots_1(fn)	, (void *)ctx[0]
#define __db_slots_2(fn)	__db_slots_1(fn), (void *)__db_second(fn)
#define __db_slots_3(fn)	__db_slots_1(fn), (void *)ctx[1], (void *)ctx[2]
#define __db_slots_4(fn)	__db_slots_3(fn), (void *)ctx[3]
#define __db_slots_5(fn)	__db_slots_4(fn), (void *)ctx[4]
#define __db_slots_6(fn)	__db_slots_5(fn), (void *)ctx[5]
#define __db_slots(fn, ...)	__db_join(__db_slots_, __db_nargs(__VA_ARGS__))(fn)

#define BPF_PROG(name, args...)						\
name(unsigned long long *ctx);						\
static __always_inline __typeof__(name(0))				\
____##name(unsigned long long *ctx, ##args);				\
__typeof__(name(0)) name(unsigned long long *ctx)			\
{									\
	_Pragma("GCC diagnostic push")					\
	_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")		\
	return ____##name(ctx __db_slots(____##name, ##args));		\
	_Pragma("GCC diagnostic pop")					\
}									\
static __always_inline __typeof__(name(0))				\
____##name(unsigned long long *ctx __attribute__((unused)), ##args)

#else

#define __db_takes(fn, sample)						\
	__builtin_types_compatible_p(__typeof__(&(fn)),			\
				     void (*)(struct sock *, const struct sample *))
#define __db_second(fn, second, fourth)					\
	__builtin_choose_expr(__db_takes(fn, rate_sample), (void *)(fourth),	\
	__builtin_choose_expr(__db_takes(fn, ack_sample), (void *)(second), second))

#define BPF_PROG(name, args...)	__db_join(__db_prog_, __db_nargs(args))(name, args)
#define __db_prog_0(name)	name(void)
#define __db_prog_1(name, args...)	name(args)
/* The caller sets as many registers as it has arguments; with two, the others are not read. */
#define __db_prog_2(name, args...)					\
name(struct sock *, unsigned long, unsigned long, unsigned long);	\
static __always_inline __typeof__(name(0, 0, 0, 0)) ____##name(args);	\
__typeof__(name(0, 0, 0, 0))						\
name(struct sock *sk, unsigned long second, unsigned long third, unsigned long fourth)	\
{									\
	(void)third, (void)fourth;					\
	return ____##name(sk, __db_second(____##name, second, fourth));	\
}									\
static __always_inline __typeof__(name(0, 0, 0, 0)) ____##name(args)
#define __db_prog_3(name, args...)	name(args)
#define __db_prog_4(name, args...)	name(args)
#define __db_prog_5(name, args...)	name(args)
#define __db_prog_6(name, args...)	name(args)

#endif

#endif /* __BPF_TRACING_H__ */
