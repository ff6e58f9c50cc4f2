/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel's BPF congestion controls included up to Linux 6.8, before
 * vmlinux.h and bpf_tracing_net.h: the accessors of a socket, the shorthands
 * that later sources define themselves, and BPF_STRUCT_OPS.
 */
#ifndef __BPF_TCP_HELPERS_H
#define __BPF_TCP_HELPERS_H

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"

/* A callback whose section names it, as libbpf once required. */
#define BPF_STRUCT_OPS(name, args...)	SEC("struct_ops/" #name) BPF_PROG(name, args)

#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
/* The smaller, where 0 means not set. */
#define min_not_zero(a, b) ({						\
	__typeof__(a) __a = (a);					\
	__typeof__(b) __b = (b);					\
	!__a ? __b : !__b ? __a : min(__a, __b);			\
})

static __always_inline bool before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

#define after(a, b)		before(b, a)

/* Whether two names of congestion controls are the same. */
static __always_inline bool tcp_cc_eq(const char *a, const char *b)
{
	int i;

	for (i = 0; i < TCP_CA_NAME_MAX && a[i] == b[i]; i++)
		if (!a[i])
			return true;
	return i == TCP_CA_NAME_MAX;
}

#endif /* __BPF_TCP_HELPERS_H */
