// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Vegas: keeps alpha to beta packets queued at the bottleneck, estimated from the RTT.
 *
 *	base_rtt = the smallest RTT of the connection
 *	rtt = the smallest of this round trip; the delayed ACKs' are larger
 *	diff = cwnd (rtt - base_rtt) / base_rtt		packets that wait, about
 *	once per round trip: diff < alpha: cwnd + 1; diff > beta: cwnd - 1; else stay
 *	slow start ends when diff > gamma: cwnd = cwnd base_rtt / rtt + 1
 *
 * In slow start the window otherwise doubles per round trip; losses halve it, as Reno's, and
 * until a recovery is over the window grows as Reno's does.
 *
 * References: Brakmo, Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet"
 * (IEEE JSAC 13(8), 1995), section numbers below; Low, Peterson, Wang, "Understanding TCP Vegas: a
 * duality model" (JACM 2002). Constants, and when nothing is decided, follow Linux's behaviour.
 *
 * Differences from the paper, all Linux's:
 *  1. diff is over base_rtt; the paper's Expected - Actual is cwnd (rtt - base_rtt) / rtt, which
 *     is smaller by base_rtt / rtt (§3.2).
 *  2. Slow start doubles every round trip, not every other one (§3.3).
 *  3. TCP's own loss recovery does what the paper's retransmission mechanism is for (§3.1).
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define VEGAS_RTT_NONE_US	0x7fffffffU	/* no sample yet */
#define VEGAS_MIN_CWND		2U		/* pkts */

/* Defaults of the module parameters of Linux. */
PARAM(u32, alpha_pkts, 2, 0, 1 << 16, "pkts", "fewer than this queued: cwnd grows (§3.2)");
PARAM(u32, beta_pkts, 4, 0, 1 << 16, "pkts", "more than this queued: cwnd shrinks (§3.2)");
PARAM(u32, gamma_pkts, 1, 0, 1 << 16, "pkts", "more than this queued ends slow start (§3.3)");
/* One RTT sample per round is a delayed ACK's; of three at least one is not. */
PARAM(u32, min_samples, 3, 1, 1000, "", "RTT samples a round needs before it decides");

struct vegas {
	u32	base_rtt_us;
	u32	rtt_us;		/* smallest of this round */
	u32	last_rtt_us;	/* of the last round that decided */
	u32	diff;		/* of that round, pkts */
	u32	round_end;	/* snd_nxt when the round began */
	u16	samples;	/* RTTs of this round */
	bool	is_active;	/* not while recovering */
};
CA_PRIV(struct vegas);

SERIES(struct vegas, base_rtt_us, "base_rtt_us", "us", "smallest RTT of the connection");
SERIES(struct vegas, last_rtt_us, "round_rtt_us", "us", "smallest RTT of the last round");
SERIES(struct vegas, diff, "diff_pkts", "pkts", "packets that wait, by that RTT");

static __always_inline void vegas_begin_round(const struct tcp_sock *tp, struct vegas *ca)
{
	ca->round_end = tp->snd_nxt;
	ca->samples = 0;
	ca->rtt_us = VEGAS_RTT_NONE_US;
}

static __always_inline void vegas_reset(const struct tcp_sock *tp, struct vegas *ca)
{
	ca->base_rtt_us = VEGAS_RTT_NONE_US;
	ca->is_active = true;
	vegas_begin_round(tp, ca);
}

SEC("struct_ops")
void BPF_PROG(vegas_init, struct sock *sk)
{
	struct vegas *ca = inet_csk_ca(sk);

	ca->last_rtt_us = 0;
	ca->diff = 0;
	vegas_reset(tcp_sk(sk), ca);
}

SEC("struct_ops")
void BPF_PROG(vegas_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct vegas *ca = inet_csk_ca(sk);
	u32 rtt_us;

	if (sample->rtt_us < 0)
		return;
	rtt_us = sample->rtt_us + 1;	/* never 0 */
	ca->base_rtt_us = min(ca->base_rtt_us, rtt_us);
	ca->rtt_us = min(ca->rtt_us, rtt_us);
	if (ca->samples < 0xffff)
		ca->samples++;
}

/* The result of the round: how many packets wait. */
static __always_inline u32 vegas_diff(const struct tcp_sock *tp, const struct vegas *ca)
{
	u64 waiting_us = ca->rtt_us - ca->base_rtt_us;

	return tp->snd_cwnd * waiting_us / max(ca->base_rtt_us, 1U);
}

/* Leaves slow start: cwnd becomes what the path held without a queue (§3.3). */
static __always_inline void vegas_end_slow_start(struct tcp_sock *tp, const struct vegas *ca)
{
	u32 target = (u64)tp->snd_cwnd * ca->base_rtt_us / max(ca->rtt_us, 1U);

	tp->snd_cwnd = min(tp->snd_cwnd, target + 1);
	tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
}

/* One step per round trip (§3.2). */
static __always_inline void vegas_avoid_congestion(struct tcp_sock *tp, u32 diff)
{
	if (diff > beta_pkts) {
		tp->snd_cwnd--;
		tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
	} else if (diff < alpha_pkts) {
		tp->snd_cwnd++;
	}
}

static __always_inline void vegas_decide(struct tcp_sock *tp, struct vegas *ca, u32 acked)
{
	u32 diff = vegas_diff(tp, ca), cwnd;

	ca->diff = diff;
	ca->last_rtt_us = ca->rtt_us;
	if (!tcp_in_slow_start(tp))
		vegas_avoid_congestion(tp, diff);
	else if (diff > gamma_pkts)
		vegas_end_slow_start(tp, ca);
	else
		tcp_slow_start(tp, acked);
	cwnd = min(max(tp->snd_cwnd, VEGAS_MIN_CWND), tp->snd_cwnd_clamp);
	tp->snd_cwnd = cwnd;
	/* A later Reno phase starts near here and not in slow start. */
	tp->snd_ssthresh = max(tp->snd_ssthresh, (cwnd >> 1) + (cwnd >> 2));
}

SEC("struct_ops")
void BPF_PROG(vegas_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct vegas *ca = inet_csk_ca(sk);

	if (!ca->is_active) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}
	if (!after(ack, ca->round_end)) {
		if (tcp_in_slow_start(tp))
			tcp_slow_start(tp, acked);
		return;
	}
	if (ca->samples < min_samples)
		tcp_reno_cong_avoid(sk, ack, acked);
	else
		vegas_decide(tp, ca, acked);
	vegas_begin_round(tp, ca);
}

/* Measurements before or during losses do not apply to the queue after them. */
SEC("struct_ops")
void BPF_PROG(vegas_set_state, struct sock *sk, u8 new_state)
{
	struct vegas *ca = inet_csk_ca(sk);

	ca->is_active = new_state == TCP_CA_Open;
	if (ca->is_active)
		vegas_begin_round(tcp_sk(sk), ca);
}

/* After an idle period the path may have changed. */
SEC("struct_ops")
void BPF_PROG(vegas_cwnd_event, struct sock *sk, enum tcp_ca_event ev)
{
	if (ev == CA_EVENT_TX_START || ev == CA_EVENT_CWND_RESTART)
		vegas_reset(tcp_sk(sk), inet_csk_ca(sk));
}

SEC("struct_ops")
u32 BPF_PROG(vegas_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops")
u32 BPF_PROG(vegas_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops vegas = {
	.init		= (void *)vegas_init,
	.ssthresh	= (void *)vegas_ssthresh,
	.cong_avoid	= (void *)vegas_cong_avoid,
	.set_state	= (void *)vegas_set_state,
	.cwnd_event	= (void *)vegas_cwnd_event,
	.pkts_acked	= (void *)vegas_pkts_acked,
	.undo_cwnd	= (void *)vegas_undo_cwnd,
	.name		= "vegas",
};
