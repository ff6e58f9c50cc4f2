/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's names for compiler attributes, and its checks at compile time. */
#ifndef __DUMBBELL_COMPILER_H__
#define __DUMBBELL_COMPILER_H__

#ifndef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#endif
#define noinline		__attribute__((noinline))
#define __pure			__attribute__((pure))
#define __attribute_const__	__attribute__((const))
#define __packed		__attribute__((packed))
#define __aligned(x)		__attribute__((aligned(x)))
#define __used			__attribute__((used))
#define __unused		__attribute__((unused))
#define __maybe_unused		__attribute__((unused))
#define __always_unused		__attribute__((unused))
#define __must_check
#define __read_mostly
#define __ro_after_init
#define __init
#define __exit
#define __net_init
#define __net_exit
#define __initdata
#define __force
#define __rcu
#define __user
#define __cold			__attribute__((cold))
#define __hot
#define __visible
#define __printf(format, first)	__attribute__((format(printf, format, first)))
#define __bpf_kfunc		__attribute__((used))
#define __bpf_kfunc_start_defs()
#define __bpf_kfunc_end_defs()
#define ____cacheline_aligned
#define ____cacheline_aligned_in_smp
#define fallthrough		__attribute__((fallthrough))

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ volatile("" : : : "memory")

/* A congestion control runs on one thread, so these are plain reads and writes that happen once. */
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#define smp_mb()		barrier()
#define smp_rmb()		barrier()
#define smp_wmb()		barrier()
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define data_race(x)		(x)
#define cmpxchg(p, expected, value) ({			\
	__typeof__(*(p)) __found = *(p);		\
	if (__found == (expected))			\
		*(p) = (value);				\
	__found;					\
})
#define xchg(p, value) ({				\
	__typeof__(*(p)) __found = *(p);		\
	*(p) = (value);					\
	__found;					\
})

#define offsetof(type, member)		__builtin_offsetof(type, member)
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))

#define static_assert(x, ...)		_Static_assert(x, "" #x)
#define BUILD_BUG_ON(x)			_Static_assert(!(x), "not to be: " #x)
#define BUILD_BUG_ON_MSG(x, message)	_Static_assert(!(x), message)

/* A kernel continues after WARN_ON; so does the simulator. */
#define WARN_ON(x)		unlikely(!!(x))
#define WARN_ON_ONCE(x)		unlikely(!!(x))
#define WARN(x, ...)		unlikely(!!(x))
#define WARN_ONCE(x, ...)	unlikely(!!(x))
#define DEBUG_NET_WARN_ON_ONCE(x) ((void)(x))
#define BUG()			__builtin_trap()
#define __db_paste(a, b)	a##b
#define __db_bug(line)		__db_paste(__db_bug_, line)
/* What is known to be wrong when it is compiled, such as a state that is too large, is an error then. */
#define BUG_ON(x) do {								\
	if (__builtin_constant_p(x) && (x)) {					\
		extern void __db_bug(__LINE__)(void)				\
			__attribute__((error("not to be: " #x)));		\
		__db_bug(__LINE__)();						\
	}									\
	if (unlikely(x))							\
		BUG();								\
} while (0)

/* Options that are set, tested with IS_ENABLED(): none. */
#define IS_ENABLED(option)	0
#define IS_BUILTIN(option)	0
#define IS_MODULE(option)	0

#endif /* __DUMBBELL_COMPILER_H__ */
