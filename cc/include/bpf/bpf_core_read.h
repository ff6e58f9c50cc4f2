/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a bit-field whose position differs from kernel to kernel. */
#ifndef __BPF_CORE_READ_H__
#define __BPF_CORE_READ_H__

#include "bpf_helpers.h"

#ifdef __bpf__
/* Field information kinds of clang's __builtin_preserve_field_info(). */
enum {
	__DB_FIELD_BYTE_OFFSET	= 0,
	__DB_FIELD_BYTE_SIZE	= 1,
	__DB_FIELD_LSHIFT_U64	= 4,
	__DB_FIELD_RSHIFT_U64	= 5,
};

#define __db_field(s, f, what)	__builtin_preserve_field_info((s)->f, __DB_FIELD_##what)

#define BPF_CORE_READ_BITFIELD(s, f) ({						\
	const char *__p = (const char *)(s) + __db_field(s, f, BYTE_OFFSET);	\
	unsigned long long __v = 0;						\
	asm volatile("" : "=r"(__p) : "0"(__p));				\
	switch (__db_field(s, f, BYTE_SIZE)) {					\
	case 1: __v = *(const volatile u8 *)__p; break;				\
	case 2: __v = *(const volatile u16 *)__p; break;			\
	case 4: __v = *(const volatile u32 *)__p; break;			\
	case 8: __v = *(const volatile u64 *)__p; break;			\
	}									\
	__v <<= __db_field(s, f, LSHIFT_U64);					\
	__v >>= __db_field(s, f, RSHIFT_U64);					\
	__v;									\
})
#else
#define BPF_CORE_READ_BITFIELD(s, f)	((s)->f)
#endif

#endif /* __BPF_CORE_READ_H__ */
