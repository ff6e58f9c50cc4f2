// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * binomial: SQRT's window, for judging what a model says of algorithms that it never saw.
 *
 *	+ a / root(w) per round trip; - b root(w) after a loss
 *
 * Reference: Bansal, Balakrishnan, "Binomial congestion control algorithms" (INFOCOM 2001): k = l = 1/2.
 * The gains are such that 30 s have some losses.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "square_root.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, a_milli, 6000, 1, 100000, "pkts/1000", "growth per round trip, times the root");
PARAM(u32, b_milli, 1500, 1, 100000, "pkts/1000", "reduction, over the root");

#define NO_RTT	(~0U)

struct binomial {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	credit_milli;
};
CA_PRIV(struct binomial);

SEC("struct_ops")
void BPF_PROG(binomial_init, struct sock *sk)
{
	struct binomial *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(binomial_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct binomial *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

SEC("struct_ops")
void BPF_PROG(binomial_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct binomial *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return;
	}
	if (before(ack, ca->round_end))
		return;
	ca->round_end = tp->snd_nxt;
	/* The root of 100 w is ten times that of w. */
	ca->credit_milli += 10 * a_milli / max(square_root(100ULL * tp->snd_cwnd), 1U);
	tp->snd_cwnd = min(tp->snd_cwnd + ca->credit_milli / 1000, tp->snd_cwnd_clamp);
	ca->credit_milli %= 1000;
}

SEC("struct_ops")
u32 BPF_PROG(binomial_ssthresh, struct sock *sk)
{
	u32 window = tcp_sk(sk)->snd_cwnd;
	u32 less = (u64)b_milli * square_root(100ULL * window) / 10000;

	return max(window - min(less, window), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(binomial_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops binomial = {
	.init		= (void *)binomial_init,
	.pkts_acked	= (void *)binomial_pkts_acked,
	.cong_avoid	= (void *)binomial_cong_avoid,
	.ssthresh	= (void *)binomial_ssthresh,
	.undo_cwnd	= (void *)binomial_undo_cwnd,
	.name		= "binomial",
};
