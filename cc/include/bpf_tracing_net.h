/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What vmlinux.h cannot carry: the kernel's constants and static inline
 * functions that congestion controls use (include/net/tcp.h by behaviour).
 */
#ifndef __BPF_TRACING_NET_H__
#define __BPF_TRACING_NET_H__

#include "bpf/bpf_core_read.h"

#define TCP_INFINITE_SSTHRESH	0x7fffffff
#define TCP_INIT_CWND		10
#define USEC_PER_MSEC		1000ULL
#define USEC_PER_SEC		1000000ULL
#define NSEC_PER_USEC		1000ULL
#define NSEC_PER_SEC		1000000000ULL
#define BITS_PER_U32		32

#define TCP_CONG_NON_RESTRICTED	(1 << 0)
#define TCP_CONG_NEEDS_ECN	(1 << 1)

/* Flags of cong_control(): what the ACK did. */
#define FLAG_DATA_ACKED		0x04
#define FLAG_LOST_RETRANS	0x80
#define FLAG_ECE		0x40

#ifndef min
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#endif
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define before(a, b)		((s32)((u32)(a) - (u32)(b)) < 0)
#define after(a, b)		before(b, a)

/* Implemented by the kernel (kfuncs) and by cc/include/native.c. */
extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) __ksym;
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

static __always_inline struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static __always_inline void *inet_csk_ca(const struct sock *sk)
{
	return (void *)inet_csk(sk)->icsk_ca_priv;
}

static __always_inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline bool tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static __always_inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/* In slow start cwnd may grow to twice what was ever used of it. */
	if (tcp_in_slow_start(tp))
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return !!BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
}

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

#endif /* __BPF_TRACING_NET_H__ */
