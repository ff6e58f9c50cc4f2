// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * elastic: Elastic-TCP's window, for judging what a model says of algorithms that it never saw.
 *
 *	+ root(longest rtt / rtt × w) packets per round trip; a half is left after a loss
 *
 * Reference: Alrshah, Al-Maqri, Othman, "Elastic-TCP: flexible congestion control algorithm to adapt
 * for high-BDP networks" (IEEE Systems Journal 2019), equations of its weighting function.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "square_root.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, beta_pct, 50, 10, 98, "%", "of the window is left after a loss");

#define NO_RTT	(~0U)

struct elastic {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	most_us;
	u32	last_us;
};
CA_PRIV(struct elastic);

SEC("struct_ops")
void BPF_PROG(elastic_init, struct sock *sk)
{
	struct elastic *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(elastic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct elastic *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
	ca->last_us = sample->rtt_us;
	ca->most_us = max(ca->most_us, (u32)sample->rtt_us);
}

SEC("struct_ops")
void BPF_PROG(elastic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct elastic *ca = inet_csk_ca(sk);
	u32 grows;

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	grows = square_root((u64)tp->snd_cwnd * ca->most_us / max(ca->last_us, 1U));
	tcp_cong_avoid_ai(tp, max(tp->snd_cwnd / max(grows, 1U), 1U), acked);
}

SEC("struct_ops")
u32 BPF_PROG(elastic_ssthresh, struct sock *sk)
{
	return max((u32)((u64)tcp_sk(sk)->snd_cwnd * beta_pct / 100), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(elastic_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops elastic = {
	.init		= (void *)elastic_init,
	.pkts_acked	= (void *)elastic_pkts_acked,
	.cong_avoid	= (void *)elastic_cong_avoid,
	.ssthresh	= (void *)elastic_ssthresh,
	.undo_cwnd	= (void *)elastic_undo_cwnd,
	.name		= "elastic",
};
