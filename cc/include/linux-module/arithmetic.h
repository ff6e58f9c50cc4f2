/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits, minima, divisions and bits: linux/minmax.h, math64.h, log2.h, bitops.h and the like. */
#ifndef __DUMBBELL_ARITHMETIC_H__
#define __DUMBBELL_ARITHMETIC_H__

typedef __SIZE_TYPE__		size_t;
typedef __PTRDIFF_TYPE__	ssize_t;
typedef __UINTPTR_TYPE__	uintptr_t;
typedef unsigned int		uint;
typedef unsigned long		ulong;
typedef unsigned short		ushort;
typedef s64			int64_t;
typedef u64			uint64_t;
typedef s32			int32_t;
typedef u32			uint32_t;
typedef s16			int16_t;
typedef s8			int8_t;
typedef u16			uint16_t;
typedef u8			uint8_t;
typedef u32			gfp_t;

#define U8_MAX		((u8)0xff)
#define U16_MAX		((u16)0xffff)
#define U32_MAX		((u32)0xffffffff)
#define U64_MAX		((u64)0xffffffffffffffff)
#define S8_MAX		((s8)0x7f)
#define S16_MAX		((s16)0x7fff)
#define S32_MAX		((s32)0x7fffffff)
#define S64_MAX		((s64)0x7fffffffffffffff)
#define S32_MIN		((s32)0x80000000)
#define S64_MIN		((s64)0x8000000000000000)
#define INT_MAX		__INT_MAX__
#define INT_MIN		(-__INT_MAX__ - 1)
#define UINT_MAX	0xffffffffU
#define LONG_MAX	__LONG_MAX__
#define ULONG_MAX	(2UL * __LONG_MAX__ + 1)
#define U32_C(x)	x ## U
#define U64_C(x)	x ## ULL
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define GENMASK(high, low)	((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))
#define GENMASK_ULL(high, low)	((~0ULL << (low)) & (~0ULL >> (63 - (high))))
#define BITS_PER_BYTE	8
#define BITS_PER_TYPE(type)	(sizeof(type) * BITS_PER_BYTE)
#define BITS_PER_LONG	(8 * (int)sizeof(long))

/* Each argument is evaluated once. */
#define __db_choose(a, op, b) ({		\
	__auto_type __a = (a);			\
	__auto_type __b = (b);			\
	__a op __b ? __a : __b;			\
})
#define min(a, b)		__db_choose(a, <, b)
#define max(a, b)		__db_choose(a, >, b)
#define min_t(type, a, b)	__db_choose((type)(a), <, (type)(b))
#define max_t(type, a, b)	__db_choose((type)(a), >, (type)(b))
#define umin(a, b)		min((u64)(a), (u64)(b))
#define umax(a, b)		max((u64)(a), (u64)(b))
#define __db_min3(a, b, c) ({			\
	__auto_type __ab = min(a, b);		\
	min(__ab, c);				\
})
#define __db_max3(a, b, c) ({			\
	__auto_type __ab = max(a, b);		\
	max(__ab, c);				\
})
#define min3(a, b, c)		__db_min3(a, b, c)
#define max3(a, b, c)		__db_max3(a, b, c)
#define clamp(v, low, high) ({			\
	__auto_type __v = (v);			\
	__auto_type __low = (low);		\
	__auto_type __high = (high);		\
	__v < __low ? __low : __v > __high ? __high : __v; \
})
#define clamp_t(type, v, low, high)	clamp((type)(v), (type)(low), (type)(high))
#define clamp_val(v, low, high)		clamp_t(__typeof__(v), v, low, high)
#define min_not_zero(a, b) ({			\
	__auto_type __p = (a);			\
	__auto_type __q = (b);			\
	!__p ? __q : !__q ? __p : __p < __q ? __p : __q; \
})
#define abs(v) ({				\
	__auto_type __v = (v);			\
	__v < 0 ? -__v : __v;			\
})
#define abs_diff(a, b) ({			\
	__auto_type __a = (a);			\
	__auto_type __b = (b);			\
	__a < __b ? __b - __a : __a - __b;	\
})
#define swap(a, b) do {				\
	__auto_type __a = (a);			\
	(a) = (b);				\
	(b) = __a;				\
} while (0)

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((u64)(n), d)
/* Halves are rounded away from zero. */
#define DIV_ROUND_CLOSEST(n, d) ({		\
	__auto_type __n = (n);			\
	__auto_type __d = (d);			\
	((__n > 0) == (__d > 0)) ? (__n + __d / 2) / __d : (__n - __d / 2) / __d; \
})
#define round_up(v, to)		((((v) - 1) | ((__typeof__(v))(to) - 1)) + 1)
#define round_down(v, to)	((v) & ~((__typeof__(v))(to) - 1))
#define roundup(v, to)		(DIV_ROUND_UP(v, to) * (to))

/* Divides the variable `n` in place and returns the remainder. */
#define do_div(n, base) ({			\
	u32 __base = (base);			\
	u32 __left = (u64)(n) % __base;		\
	(n) = (u64)(n) / __base;		\
	__left;					\
})

static inline u64 div_u64(u64 n, u32 d) { return n / d; }
static inline s64 div_s64(s64 n, s32 d) { return n / d; }
static inline u64 div64_u64(u64 n, u64 d) { return n / d; }
static inline s64 div64_s64(s64 n, s64 d) { return n / d; }
#define div64_ul(n, d)		div64_u64(n, d)
#define div64_long(n, d)	div64_s64(n, d)
#define div_u64_rem(n, d, left)	({ *(left) = (u64)(n) % (u32)(d); (u64)(n) / (u32)(d); })
#define div64_u64_rem(n, d, left) ({ *(left) = (u64)(n) % (u64)(d); (u64)(n) / (u64)(d); })

#define cpu_to_be16(v)		__builtin_bswap16(v)
#define cpu_to_be32(v)		__builtin_bswap32(v)
#define be16_to_cpu(v)		__builtin_bswap16(v)
#define be32_to_cpu(v)		__builtin_bswap32(v)
#define htons(v)		cpu_to_be16(v)
#define htonl(v)		cpu_to_be32(v)
#define ntohs(v)		be16_to_cpu(v)
#define ntohl(v)		be32_to_cpu(v)

static inline u64 int_pow(u64 base, unsigned int exponent)
{
	u64 power = 1;

	for (; exponent; exponent >>= 1, base *= base)
		if (exponent & 1)
			power *= base;
	return power;
}

static inline u64 mul_u32_u32(u32 a, u32 b) { return (u64)a * b; }

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return (unsigned __int128)a * b >> shift;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 d)
{
	return (unsigned __int128)a * b / d;
}

/* Position of the highest bit that is set, counted from 1; 0 for 0. */
static inline int fls(u32 v) { return v ? 32 - __builtin_clz(v) : 0; }
static inline int fls64(u64 v) { return v ? 64 - __builtin_clzll(v) : 0; }
static inline int ffs(u32 v) { return __builtin_ffs(v); }
#define __fls(v)		((unsigned long)fls64(v) - 1)
#define __ffs(v)		((unsigned long)__builtin_ctzl(v))
#define ilog2(v)		(fls64(v) - 1)
#define is_power_of_2(v)	((v) != 0 && ((v) & ((v) - 1)) == 0)
#define roundup_pow_of_two(v)	(1UL << fls64((u64)(v) - 1))
#define rounddown_pow_of_two(v)	(1UL << ilog2(v))
#define hweight32(v)		((unsigned int)__builtin_popcount(v))
#define hweight64(v)		((unsigned long)__builtin_popcountll(v))

/* The square root, rounded down, bit by bit from above. */
static inline u32 int_sqrt64(u64 v)
{
	u64 root = 0;
	int bit;

	for (bit = 31; bit >= 0; bit--) {
		u64 next = root | (1ULL << bit);

		if (next * next <= v)
			root = next;
	}
	return root;
}
#define int_sqrt(v)		((unsigned long)int_sqrt64(v))

/* Sequence numbers: is `a` before `b`, on a circle of 2^32? */
static inline bool before(u32 a, u32 b) { return (s32)(a - b) < 0; }
#define after(a, b)		before(b, a)
static inline bool between(u32 v, u32 low, u32 high) { return high - low >= v - low; }

#endif /* __DUMBBELL_ARITHMETIC_H__ */
