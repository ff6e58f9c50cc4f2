/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF_PROG(name, args...): a callback with the kernel's arguments. The kernel
 * hands a struct_ops program an array of u64 argument slots; natively it is a
 * plain function.
 */
#ifndef __BPF_TRACING_H__
#define __BPF_TRACING_H__

#include "bpf_helpers.h"

/* The kernel fixes a callback's parameters; not every congestion control needs all of them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#ifdef __bpf__

#define __db_count(_0, _1, _2, _3, _4, _5, _6, n, ...) n
#define __db_nargs(...)	__db_count(_, ##__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define __db_cat(a, b)	a##b
#define __db_join(a, b)	__db_cat(a, b)
#define __db_slots_0()
#define __db_slots_1()	, (void *)ctx[0]
#define __db_slots_2()	__db_slots_1(), (void *)ctx[1]
#define __db_slots_3()	__db_slots_2(), (void *)ctx[2]
#define __db_slots_4()	__db_slots_3(), (void *)ctx[3]
#define __db_slots_5()	__db_slots_4(), (void *)ctx[4]
#define __db_slots_6()	__db_slots_5(), (void *)ctx[5]
#define __db_slots(...)	__db_join(__db_slots_, __db_nargs(__VA_ARGS__))()

#define BPF_PROG(name, args...)						\
name(unsigned long long *ctx);						\
static __always_inline __typeof__(name(0))				\
____##name(unsigned long long *ctx, ##args);				\
__typeof__(name(0)) name(unsigned long long *ctx)			\
{									\
	_Pragma("GCC diagnostic push")					\
	_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")		\
	return ____##name(ctx __db_slots(args));			\
	_Pragma("GCC diagnostic pop")					\
}									\
static __always_inline __typeof__(name(0))				\
____##name(unsigned long long *ctx __attribute__((unused)), ##args)

#else

#define BPF_PROG(name, args...)	name(args)

#endif

#endif /* __BPF_TRACING_H__ */
