// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gradient: TIMELY's reaction to the RTT's slope, for judging what a model says of algorithms that it
 * never saw.
 *
 *	per round trip: rtt < low: w += delta; rtt > high: w *= 1 - beta (1 - high / rtt)
 *	between: the slope g = (rtt - last) / base_rtt, smoothed: g <= 0: w += n delta, n = 5 after
 *	five such rounds; g > 0: w *= 1 - beta g
 *
 * Reference: Mittal et al., "TIMELY: RTT-based congestion control for the datacenter" (SIGCOMM 2015),
 * algorithm 1: beta = 0.8, smoothing 0.3. low and high are base_rtt / 16 and base_rtt / 2 above
 * base_rtt, and it acts on a window: paths here are longer than a datacenter's.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, delta_pkts, 2, 1, 1000, "pkts", "that the window grows by, per round trip");
PARAM(u32, beta_pct, 80, 1, 100, "%", "of the slope that the window falls by");

#define NO_RTT	(~0U)
#define CALM	5U

struct gradient {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	last_us;
	s32	slope_us;	/* smoothed */
	u32	round_end;
	u32	calm;		/* rounds without a rise */
};
CA_PRIV(struct gradient);

SEC("struct_ops")
void BPF_PROG(gradient_init, struct sock *sk)
{
	struct gradient *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
	sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(gradient_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct gradient *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

static __always_inline void gradient_round(struct tcp_sock *tp, struct gradient *ca)
{
	u32 rtt_us = ca->rtt_us, base_us = max(ca->base_us, 1U), low, high, window = tp->snd_cwnd;
	s32 rise;

	if (rtt_us == NO_RTT)
		return;
	ca->rtt_us = NO_RTT;
	rise = ca->last_us ? (s32)(rtt_us - ca->last_us) : 0;
	ca->last_us = rtt_us;
	/* 0.3 of the new and 0.7 of the old; an arithmetic shift, for division is unsigned. */
	ca->slope_us = (ca->slope_us * 179 + rise * 77) >> 8;
	low = base_us + base_us / 16;
	high = base_us + base_us / 2;
	if (tcp_in_slow_start(tp)) {
		if (rtt_us < low)
			return;
		tp->snd_ssthresh = window;
	}
	if (rtt_us < low) {
		window += delta_pkts;
		ca->calm = 0;
	} else if (rtt_us > high) {
		window -= (u64)window * beta_pct * (rtt_us - high) / 100 / rtt_us;
		ca->calm = 0;
	} else if (ca->slope_us <= 0) {
		window += ++ca->calm >= CALM ? 5 * delta_pkts : delta_pkts;
	} else {
		window -= (u64)window * min(beta_pct * ((u64)ca->slope_us * 100 / base_us), 5000ULL) / 10000;
		ca->calm = 0;
	}
	tp->snd_cwnd = min(max(window, 2U), tp->snd_cwnd_clamp);
	tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
}

SEC("struct_ops")
void BPF_PROG(gradient_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct gradient *ca = inet_csk_ca(sk);

	if (!before(ack, ca->round_end)) {
		ca->round_end = tp->snd_nxt;
		gradient_round(tp, ca);
	}
	if (tcp_in_slow_start(tp) && tcp_is_cwnd_limited(sk))
		tcp_slow_start(tp, acked);
}

SEC("struct_ops")
u32 BPF_PROG(gradient_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(gradient_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops gradient = {
	.init		= (void *)gradient_init,
	.pkts_acked	= (void *)gradient_pkts_acked,
	.cong_avoid	= (void *)gradient_cong_avoid,
	.ssthresh	= (void *)gradient_ssthresh,
	.undo_cwnd	= (void *)gradient_undo_cwnd,
	.name		= "gradient",
};
