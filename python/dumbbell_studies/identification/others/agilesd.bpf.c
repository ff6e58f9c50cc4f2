// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * agilesd: Agile-SD's window, for judging what a model says of algorithms that it never saw.
 *
 *	per round trip + lambda, lambda = max(3 (w_loss - w) / (w_loss - w_left), 1): fast after a loss, as
 *	Reno near the window of the last loss; a loss leaves 0.95 of the window, one in slow start 0.9
 *
 * Reference: Alrshah, Othman, Ali, Hanapi, "Agile-SD: a Linux-based TCP congestion control algorithm for
 * supporting high-speed and short-distance networks" (J. Network and Computer Applications 2015), §4.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, most_milli, 3000, 1000, 100000, "pkts/1000", "growth per round trip after a loss");
PARAM(u32, left_pct, 95, 50, 99, "%", "of the window is left after a loss");
PARAM(u32, first_left_pct, 90, 50, 99, "%", "of the window is left after one in slow start");

struct agilesd {
	u32	loss;		/* window before the last loss */
	u32	left;		/* and after it */
	u32	credit_milli;
};
CA_PRIV(struct agilesd);

SEC("struct_ops")
void BPF_PROG(agilesd_init, struct sock *sk)
{
	struct agilesd *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
}

SEC("struct_ops")
void BPF_PROG(agilesd_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct agilesd *ca = inet_csk_ca(sk);
	u32 gap, lambda_milli;

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	gap = ca->loss > tp->snd_cwnd ? ca->loss - tp->snd_cwnd : 0;
	lambda_milli = (u64)most_milli * gap / max(ca->loss > ca->left ? ca->loss - ca->left : 1U, 1U);
	lambda_milli = max(min(lambda_milli, most_milli), 1000U);
	ca->credit_milli += (u64)lambda_milli * acked / max(tp->snd_cwnd, 1U);
	if (ca->credit_milli >= 1000) {
		tp->snd_cwnd = min(tp->snd_cwnd + ca->credit_milli / 1000, tp->snd_cwnd_clamp);
		ca->credit_milli %= 1000;
	}
}

SEC("struct_ops")
u32 BPF_PROG(agilesd_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct agilesd *ca = inet_csk_ca(sk);

	ca->loss = tp->snd_cwnd;
	ca->left = max((u32)((u64)tp->snd_cwnd
			     * (tcp_in_slow_start(tp) ? first_left_pct : left_pct) / 100), 2U);
	return ca->left;
}

SEC("struct_ops")
u32 BPF_PROG(agilesd_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops agilesd = {
	.init		= (void *)agilesd_init,
	.cong_avoid	= (void *)agilesd_cong_avoid,
	.ssthresh	= (void *)agilesd_ssthresh,
	.undo_cwnd	= (void *)agilesd_undo_cwnd,
	.name		= "agilesd",
};
