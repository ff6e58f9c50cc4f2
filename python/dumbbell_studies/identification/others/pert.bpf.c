// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pert: PERT's window, for judging what a model says of algorithms that it never saw.
 *
 *	+1 per round trip; by chance 35 % less, at most once per round trip: with srtt the mean of RTTs of
 *	weight 0.99, never below base + 5 ms, up to 5 % of the ACKs at base + 10 ms, all at base + 20 ms;
 *	a half after a loss
 *
 * Reference: Bhandarkar, Reddy, Zhang, Loguinov, "Emulating AQM from end hosts" (SIGCOMM 2007), §3, §4.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, low_us, 5000, 100, 100000, "us", "of delay: no response yet");
PARAM(u32, high_us, 10000, 200, 100000, "us", "of delay: the chance is the first maximum");
PARAM(u32, chance_pct, 5, 1, 100, "%", "the first maximum");
PARAM(u32, beta_pct, 65, 10, 98, "%", "of the window is left after a response");

#define NO_RTT	(~0U)

struct pert {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	srtt_us;
	u32	acted_end;	/* snd_nxt when it responded last */
};
CA_PRIV(struct pert);

SEC("struct_ops")
void BPF_PROG(pert_init, struct sock *sk)
{
	struct pert *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
	ca->acted_end = tcp_sk(sk)->snd_una;
}

SEC("struct_ops")
void BPF_PROG(pert_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct pert *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
	ca->srtt_us = ca->srtt_us ? (99ULL * ca->srtt_us + sample->rtt_us) / 100 : (u32)sample->rtt_us;
}

/* In millionths. */
static __always_inline u32 pert_chance(const struct pert *ca)
{
	u32 queue_us = ca->srtt_us > ca->base_us ? ca->srtt_us - ca->base_us : 0, first = chance_pct * 10000;

	if (queue_us <= low_us)
		return 0;
	if (queue_us <= high_us)
		return (u64)first * (queue_us - low_us) / max(high_us - low_us, 1U);
	if (queue_us >= 2 * high_us)
		return 1000000;
	return first + (u64)(1000000 - first) * (queue_us - high_us) / max(high_us, 1U);
}

SEC("struct_ops")
void BPF_PROG(pert_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct pert *ca = inet_csk_ca(sk);

	if (!before(ack, ca->acted_end) && (u64)bpf_get_prandom_u32() * 1000000 >> 32 < pert_chance(ca)) {
		ca->acted_end = tp->snd_nxt;
		tp->snd_cwnd = max((u32)((u64)tp->snd_cwnd * beta_pct / 100), 2U);
		tp->snd_ssthresh = tp->snd_cwnd;
		return;
	}
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		tcp_slow_start(tp, acked);
	else
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

SEC("struct_ops")
u32 BPF_PROG(pert_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct pert *ca = inet_csk_ca(sk);

	ca->acted_end = tp->snd_nxt;
	return max(tp->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(pert_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops pert = {
	.init		= (void *)pert_init,
	.pkts_acked	= (void *)pert_pkts_acked,
	.cong_avoid	= (void *)pert_cong_avoid,
	.ssthresh	= (void *)pert_ssthresh,
	.undo_cwnd	= (void *)pert_undo_cwnd,
	.name		= "pert",
};
