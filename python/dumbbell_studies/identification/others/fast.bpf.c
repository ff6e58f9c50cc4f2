// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fast: FAST TCP's law of the window, for judging what a model says of algorithms that it never saw.
 *
 *	every other round trip: w = min(2 w, (1 - gamma) w + gamma (base_rtt / rtt w + alpha))
 *
 * Reference: Wei, Jin, Low, Hegde, "FAST TCP: motivation, architecture, algorithms, performance"
 * (IEEE/ACM ToN 14(6), 2006), eq. 5. A loss halves the window.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, alpha_pkts, 40, 1, 10000, "pkts", "that it keeps in queues");
PARAM(u32, gamma_pct, 50, 1, 100, "%", "of the way to the new window");

#define NO_RTT	(~0U)

struct fast {
	u32	base_us;
	u32	sum_us;		/* of the round's samples, and how many */
	u32	samples;
	u32	round_end;
	u32	rounds;
};
CA_PRIV(struct fast);

SEC("struct_ops")
void BPF_PROG(fast_init, struct sock *sk)
{
	struct fast *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
	sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(fast_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct fast *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	if (ca->samples < 1000 && sample->rtt_us < 1000000) {
		ca->sum_us += sample->rtt_us;
		ca->samples++;
	}
}

SEC("struct_ops")
void BPF_PROG(fast_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fast *ca = inet_csk_ca(sk);
	u32 rtt_us, target, window;

	if (before(ack, ca->round_end)) {
		if (tcp_in_slow_start(tp) && tcp_is_cwnd_limited(sk))
			tcp_slow_start(tp, acked);
		return;
	}
	ca->round_end = tp->snd_nxt;
	rtt_us = ca->samples ? ca->sum_us / ca->samples : 0;
	ca->sum_us = ca->samples = 0;
	if (!rtt_us || !tcp_is_cwnd_limited(sk))
		return;
	/* Slow start ends when half of alpha waits. */
	if (tcp_in_slow_start(tp)) {
		u64 waits = (u64)tp->snd_cwnd * (rtt_us - min(ca->base_us, rtt_us)) / rtt_us;

		if (waits < alpha_pkts / 2)
			return;
		tp->snd_ssthresh = tp->snd_cwnd;
	}
	if (++ca->rounds % 2)
		return;
	window = tp->snd_cwnd;
	target = (u64)window * ca->base_us / rtt_us + alpha_pkts;
	window = ((u64)window * (100 - min(gamma_pct, 100U)) + (u64)target * gamma_pct) / 100;
	tp->snd_cwnd = max(min(window, 2 * tp->snd_cwnd), 2U);
	tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
}

SEC("struct_ops")
u32 BPF_PROG(fast_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(fast_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops fast = {
	.init		= (void *)fast_init,
	.pkts_acked	= (void *)fast_pkts_acked,
	.cong_avoid	= (void *)fast_cong_avoid,
	.ssthresh	= (void *)fast_ssthresh,
	.undo_cwnd	= (void *)fast_undo_cwnd,
	.name		= "fast",
};
