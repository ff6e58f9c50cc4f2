/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What vmlinux.h cannot contain and what the kernel's own BPF congestion controls expect in a
 * header of this name: constants and the accessors of a socket (include/net/tcp.h by behaviour).
 * Anything more would clash with what those sources define themselves; ours get it from net_tcp.h,
 * through dumbbell.h.
 */
#ifndef __BPF_TRACING_NET_H__
#define __BPF_TRACING_NET_H__

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>

#define SOL_TCP			6
#define TCP_CONGESTION		13
#define TCP_CA_NAME_MAX		16
#define TCP_INFINITE_SSTHRESH	0x7fffffff

/* Bits of tp->ecn_flags. */
#define TCP_ECN_OK		1	/* negotiated in the handshake */
#define TCP_ECN_QUEUE_CWR	2	/* CWR goes out with the next data */
#define TCP_ECN_DEMAND_CWR	4	/* ACKs carry ECE */
#define TCP_ECN_SEEN		8	/* a packet with an ECT or CE code point arrived */
/* Since Linux 6.18; one of the two, or neither without ECN, once the handshake is done. */
#define TCP_ECN_MODE_RFC3168	TCP_ECN_OK
#define TCP_ECN_MODE_ACCECN	16	/* RFC 9768: tp->delivered_ce counts CE packets exactly */

/* Flags of an ops table. */
#define TCP_CONG_NON_RESTRICTED	0x1
#define TCP_CONG_NEEDS_ECN	0x2
/* Since Linux 7.0 and 6.18's stable releases. */
#define TCP_CONG_NEEDS_ACCECN	0x4
#define TCP_CONG_ECT_1_NEGOTIATION 0x8	/* ECT(1); Linux: only until the connection is established */

/* Flags of cong_control(): what the ACK did. */
#define FLAG_DATA_ACKED		0x04
#define FLAG_SYN_ACKED		0x10
#define FLAG_DATA_SACKED	0x20
#define FLAG_ECE		0x40
#define FLAG_LOST_RETRANS	0x80
#define FLAG_SND_UNA_ADVANCED	0x400
#define FLAG_ACKED		(FLAG_DATA_ACKED | FLAG_SYN_ACKED)
#define FLAG_FORWARD_PROGRESS	(FLAG_ACKED | FLAG_DATA_SACKED)

#define tcp_jiffies32		((__u32)bpf_jiffies64())

/* Implemented by the kernel (kfuncs) and by cc/include/native.c. */
extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) __ksym;
#ifndef __BPF_TCP_HELPERS_H /* such sources declare or define what they call */
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
#endif

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

#endif /* __BPF_TRACING_NET_H__ */
