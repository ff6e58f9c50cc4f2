// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * c2tcp: C2TCP's condition on delay, over Reno, for judging what a model says of algorithms that it never saw.
 *
 *	in each interval the least RTT: below the target Reno, and + target / rtt packets for each further
 *	interval that is good; above it the window begins with one packet again, and the threshold is half
 *	of what it was; a loss: a half
 *
 * Reference: Abbasloo, Li, Xu, Chao, "Cellular controlled delay TCP (C2TCP)" (IFIP Networking 2018), section
 * III, whose intervals shrink with the square root of their number, as CoDel's do. The target is 1.5 base RTTs,
 * and so is the interval. There it is over Cubic.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define NO_RTT		(~0U)
#define MOST_BAD	16U

struct c2tcp {
	u32	base_us;
	u32	least_us;	/* of the interval */
	u32	began_us;
	u32	bad;		/* intervals in a row above the target */
	bool	good;
};
CA_PRIV(struct c2tcp);

PARAM(u32, target_pct, 150, 101, 1000, "%", "of the base RTT that may not be exceeded");

SEC("struct_ops")
void BPF_PROG(c2tcp_init, struct sock *sk)
{
	struct c2tcp *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->least_us = NO_RTT;
	ca->began_us = (u32)tcp_sk(sk)->tcp_mstamp;
}

SEC("struct_ops")
void BPF_PROG(c2tcp_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct c2tcp *ca = inet_csk_ca(sk);
	u32 target_us, interval_us;

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->least_us = min(ca->least_us, (u32)sample->rtt_us);
	target_us = (u64)ca->base_us * target_pct / 100;
	/* Over the square root of how many were bad: 1, 1/2 from the fourth, 1/3 from the ninth on. */
	interval_us = target_us / (ca->bad >= 9 ? 3 : ca->bad >= 4 ? 2 : 1);
	if ((u32)tp->tcp_mstamp - ca->began_us < interval_us)
		return;
	if (ca->least_us > target_us) {
		ca->bad = min(ca->bad + 1, MOST_BAD);
		ca->good = false;
		tp->snd_ssthresh = max(tp->snd_cwnd / 2, 2U);
		tp->snd_cwnd = 1;
	} else {
		if (ca->good)
			tp->snd_cwnd = min(tp->snd_cwnd + target_us / max(ca->least_us, 1U), tp->snd_cwnd_clamp);
		ca->bad = 0;
		ca->good = true;
	}
	ca->least_us = NO_RTT;
	ca->began_us = (u32)tp->tcp_mstamp;
}

SEC("struct_ops")
void BPF_PROG(c2tcp_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

SEC("struct_ops")
u32 BPF_PROG(c2tcp_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(c2tcp_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops c2tcp = {
	.init		= (void *)c2tcp_init,
	.pkts_acked	= (void *)c2tcp_pkts_acked,
	.cong_avoid	= (void *)c2tcp_cong_avoid,
	.ssthresh	= (void *)c2tcp_ssthresh,
	.undo_cwnd	= (void *)c2tcp_undo_cwnd,
	.name		= "c2tcp",
};
