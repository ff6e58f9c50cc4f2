/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shorthands of the kernel that dumbbell's own congestion controls use
 * (include/net/tcp.h, include/linux/minmax.h by behaviour). A source that
 * defines them itself includes dumbbell_decl.h instead of dumbbell.h.
 */
#ifndef __NET_TCP_H__
#define __NET_TCP_H__

#include "bpf_tracing_net.h"

#define TCP_INIT_CWND		10
#define USEC_PER_MSEC		1000ULL
#define USEC_PER_SEC		1000000ULL
#define NSEC_PER_USEC		1000ULL
#define NSEC_PER_SEC		1000000000ULL
#define BITS_PER_U32		32

#ifndef min
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#endif
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define before(a, b)		((s32)((u32)(a) - (u32)(b)) < 0)
#define after(a, b)		before(b, a)

static __always_inline u32 tcp_left_out(const struct tcp_sock *tp)
{
	return tp->sacked_out + tp->lost_out;
}

static __always_inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tcp_left_out(tp) + tp->retrans_out;
}

static __always_inline u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->rtt_min.s[0].v;
}

static __always_inline u64 tcp_stamp_us_delta(u64 t1, u64 t0)
{
	return (s64)(t1 - t0) > 0 ? t1 - t0 : 0;
}

#endif /* __NET_TCP_H__ */
