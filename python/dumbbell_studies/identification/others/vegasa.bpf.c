// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vegasa: Vegas-A's window, for judging what a model says of algorithms that it never saw.
 *
 *	q = w (rtt - base) / rtt packets wait; alpha = 1, beta = 3 at first
 *	alpha <= q <= beta: where the rate rose +1 to all three; q < alpha: +1, but where the rate fell and
 *	alpha > 1 -1 to all three; q > beta: -1 to all three; a half after a loss
 *
 * Reference: Srijith, Jacob, Ananda, "TCP Vegas-A: improving the performance of TCP Vegas" (Computer
 * Communications 2005), §4.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, least_pkts, 1, 1, 100, "pkts", "alpha at first, and at least; beta is 2 more");

#define NO_RTT	(~0U)

struct vegasa {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	last_us;
	u32	alpha;
	u32	rate;		/* of the last round, pkts/s */
};
CA_PRIV(struct vegasa);

SEC("struct_ops")
void BPF_PROG(vegasa_init, struct sock *sk)
{
	struct vegasa *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
	ca->alpha = least_pkts;
}

SEC("struct_ops")
void BPF_PROG(vegasa_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct vegasa *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

static __always_inline void vegasa_round(struct tcp_sock *tp, struct vegasa *ca)
{
	u32 waits, rate, alpha = ca->alpha, beta = ca->alpha + 2;
	bool rose;

	ca->last_us = ca->rtt_us == NO_RTT ? ca->last_us : ca->rtt_us;
	ca->rtt_us = NO_RTT;
	if (!ca->last_us)
		return;
	waits = (u64)tp->snd_cwnd * (ca->last_us - min(ca->base_us, ca->last_us)) / ca->last_us;
	rate = (u64)tp->snd_cwnd * USEC_PER_SEC / ca->last_us;
	rose = rate > ca->rate;
	ca->rate = rate;
	if (tcp_in_slow_start(tp)) {
		if (waits > beta)
			tp->snd_ssthresh = tp->snd_cwnd;
		return;
	}
	if (waits > beta || (waits < alpha && alpha > least_pkts && !rose)) {
		tp->snd_cwnd = max(tp->snd_cwnd - 1, 2U);
		tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
		ca->alpha = max(alpha - 1, least_pkts);
	} else if (waits < alpha) {
		tp->snd_cwnd++;
	} else if (rose) {
		tp->snd_cwnd++;
		ca->alpha++;
	}
}

SEC("struct_ops")
void BPF_PROG(vegasa_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct vegasa *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (!before(ack, ca->round_end)) {
		ca->round_end = tp->snd_nxt;
		vegasa_round(tp, ca);
	}
	if (tcp_in_slow_start(tp))
		tcp_slow_start(tp, acked);
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}

SEC("struct_ops")
u32 BPF_PROG(vegasa_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(vegasa_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops vegasa = {
	.init		= (void *)vegasa_init,
	.pkts_acked	= (void *)vegasa_pkts_acked,
	.cong_avoid	= (void *)vegasa_cong_avoid,
	.ssthresh	= (void *)vegasa_ssthresh,
	.undo_cwnd	= (void *)vegasa_undo_cwnd,
	.name		= "vegasa",
};
