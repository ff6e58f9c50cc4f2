// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DCTCP: reduces cwnd in proportion to the share of packets that the queue marked.
 *
 *	once per window: M = marked / delivered packets, alpha = (1 - g) alpha + g M
 *	first mark of a window: cwnd = cwnd (1 - alpha / 2)
 *	a loss or a timeout: as Reno; growth: as Reno
 *
 * The switch marks above a threshold (`--ecn-threshold`), and the receiver echoes each packet's
 * mark (§3.2). In Linux that is the receiving socket's congestion control, here `dctcp_on_data`;
 * the simulated receiver's is in crates/tcp.
 *
 * References: RFC 8257 (section numbers below are its own); Alizadeh et al., "Data center TCP
 * (DCTCP)" (SIGCOMM 2010). What the RFC leaves open follows Linux's behaviour.
 *
 * Differences from Linux:
 *  1. alpha has 20 fractional bits; Linux's has 10, and falls from 1.5 % to 0 at once.
 *  2. A connection without ECN keeps this name: it never receives a mark, and so behaves as Reno.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define ALPHA_SHIFT	20
#define ALPHA_ONE	(1U << ALPHA_SHIFT)
#define DCTCP_MIN_CWND	2U	/* pkts */

PARAM(u32, g_shift, 4, 1, 10, "", "g = 1 / 2^g_shift: weight of the last window (§4.2)");
PARAM(u32, initial_alpha_pct, 100, 0, 100, "%", "alpha before the first window has passed (§3.3)");

struct dctcp {
	u32	alpha;			/* << ALPHA_SHIFT */
	u32	window_end;		/* snd_nxt when the window began */
	u32	window_delivered;	/* `delivered` then, pkts */
	u32	window_delivered_ce;
	u32	marked;			/* share of the last window, << ALPHA_SHIFT */
	u32	prior_cwnd;		/* before the last reduction, pkts */
	u32	ce;			/* of the last data packet that arrived */
	u32	prior_rcv_nxt;		/* rcv_nxt after it arrived, bytes */
};
CA_PRIV(struct dctcp);

SERIES_SCALED(struct dctcp, alpha, "alpha", "", 1, 1 << 20, 0, "estimate of the share of marked packets");
SERIES_SCALED(struct dctcp, marked, "marked_share", "", 1, 1 << 20, 0, "share marked in the last window");

static __always_inline void dctcp_begin_window(const struct tcp_sock *tp, struct dctcp *ca)
{
	ca->window_end = tp->snd_nxt;
	ca->window_delivered = tp->delivered;
	ca->window_delivered_ce = tp->delivered_ce;
}

SEC("struct_ops")
void BPF_PROG(dctcp_init, struct sock *sk)
{
	struct dctcp *ca = inet_csk_ca(sk);

	ca->alpha = (u64)ALPHA_ONE * initial_alpha_pct / 100;
	ca->marked = 0;
	ca->prior_cwnd = 0;
	ca->ce = 0;
	ca->prior_rcv_nxt = tcp_sk(sk)->rcv_nxt;
	dctcp_begin_window(tcp_sk(sk), ca);
}

/* §3.3: alpha moves once per window of data. */
static __always_inline void dctcp_update_alpha(const struct tcp_sock *tp, struct dctcp *ca)
{
	u32 delivered = tp->delivered - ca->window_delivered;
	u32 delivered_ce = tp->delivered_ce - ca->window_delivered_ce;
	u64 marked = ((u64)delivered_ce << ALPHA_SHIFT) / max(delivered, 1U);

	ca->marked = min(marked, (u64)ALPHA_ONE);
	ca->alpha += (ca->marked >> g_shift) - (ca->alpha >> g_shift);
	ca->alpha = min(ca->alpha, ALPHA_ONE);
}

SEC("struct_ops")
void BPF_PROG(dctcp_in_ack_event, struct sock *sk, u32 flags)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct dctcp *ca = inet_csk_ca(sk);

	if (before(tp->snd_una, ca->window_end))
		return;
	dctcp_update_alpha(tp, ca);
	dctcp_begin_window(tp, ca);
}

/* §3.3: called by TCP when the first mark of a window is echoed. */
SEC("struct_ops")
u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct dctcp *ca = inet_csk_ca(sk);
	u32 cut = ((u64)tp->snd_cwnd * ca->alpha) >> (ALPHA_SHIFT + 1);

	ca->prior_cwnd = tp->snd_cwnd;
	return max(tp->snd_cwnd - cut, DCTCP_MIN_CWND);
}

/* §3.5: the response to a loss is the conventional TCP's. */
static __always_inline void dctcp_on_loss(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dctcp *ca = inet_csk_ca(sk);

	ca->prior_cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = max(tp->snd_cwnd >> 1, DCTCP_MIN_CWND);
}

SEC("struct_ops")
void BPF_PROG(dctcp_set_state, struct sock *sk, u8 new_state)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	if (new_state == TCP_CA_Recovery && state != TCP_CA_Recovery)
		dctcp_on_loss(sk);
}

/* §3.2: while this is set, ACKs carry ECE. */
static __always_inline void dctcp_echo(struct sock *sk, u32 ce)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (ce)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/*
 * §3.2, a data packet: if its mark differs from its predecessor's, packets that await their ACK get
 * one with the old mark first, and this one gets its own at once.
 */
static __always_inline void dctcp_on_data(struct sock *sk, u32 ce)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct dctcp *ca = inet_csk_ca(sk);

	if (ca->ce != ce) {
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			dctcp_echo(sk, ca->ce);
			bpf_tcp_send_ack(sk, ca->prior_rcv_nxt);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	ca->prior_rcv_nxt = tcp_sk(sk)->rcv_nxt;
	ca->ce = ce;
	dctcp_echo(sk, ce);
}

SEC("struct_ops")
void BPF_PROG(dctcp_cwnd_event, struct sock *sk, enum tcp_ca_event ev)
{
	if (ev == CA_EVENT_LOSS)
		dctcp_on_loss(sk);
	else if (ev == CA_EVENT_ECN_IS_CE || ev == CA_EVENT_ECN_NO_CE)
		dctcp_on_data(sk, ev == CA_EVENT_ECN_IS_CE);
}

SEC("struct_ops")
void BPF_PROG(dctcp_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
u32 BPF_PROG(dctcp_undo_cwnd, struct sock *sk)
{
	const struct dctcp *ca = inet_csk_ca(sk);

	return max(tcp_sk(sk)->snd_cwnd, ca->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops dctcp = {
	.init		= (void *)dctcp_init,
	.ssthresh	= (void *)dctcp_ssthresh,
	.cong_avoid	= (void *)dctcp_cong_avoid,
	.set_state	= (void *)dctcp_set_state,
	.cwnd_event	= (void *)dctcp_cwnd_event,
	.in_ack_event	= (void *)dctcp_in_ack_event,
	.undo_cwnd	= (void *)dctcp_undo_cwnd,
	.flags		= TCP_CONG_NEEDS_ECN,
	.name		= "dctcp",
};
