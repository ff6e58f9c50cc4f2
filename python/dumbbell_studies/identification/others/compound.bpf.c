// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compound: Compound TCP's window, for judging what a model says of algorithms that it never saw.
 *
 *	w = cwnd + dwnd; per round trip cwnd grows by 1, and of diff = w (rtt - base_rtt) / rtt packets
 *	that wait: diff < gamma: dwnd += alpha w^k - 1; else dwnd -= zeta diff
 *	a loss: w (1 - beta)
 *
 * Reference: Tan, Song, Zhang, Sridharan, "A Compound TCP approach for high-speed and long distance
 * networks" (INFOCOM 2006): alpha = beta = 1/8, k = 3/4, gamma = 30 packets, zeta = 1.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "square_root.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, gamma_pkts, 30, 1, 10000, "pkts", "fewer than this wait: the delay window grows");

#define NO_RTT	(~0U)

struct compound {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	cwnd;		/* the part by loss; snd_cwnd has both */
	u32	dwnd;
};
CA_PRIV(struct compound);

SEC("struct_ops")
void BPF_PROG(compound_init, struct sock *sk)
{
	struct compound *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(compound_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct compound *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

SEC("struct_ops")
void BPF_PROG(compound_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct compound *ca = inet_csk_ca(sk);
	u32 window = tp->snd_cwnd, grows, waits;

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		ca->cwnd = tp->snd_cwnd;
		ca->dwnd = 0;
		return;
	}
	if (before(ack, ca->round_end))
		return;
	ca->round_end = tp->snd_nxt;
	waits = ca->rtt_us == NO_RTT ? 0 : (u64)window * (ca->rtt_us - ca->base_us) / max(ca->rtt_us, 1U);
	ca->rtt_us = NO_RTT;
	ca->cwnd = window > ca->dwnd ? window - ca->dwnd + 1 : 2;
	/* w^(3/4) is the root of w times the root of that root, in eighths. */
	grows = square_root(window) * square_root((u64)square_root(window) * 64) / 64;
	if (waits < gamma_pkts)
		ca->dwnd += grows > 1 ? grows - 1 : 0;
	else
		ca->dwnd -= min(waits, ca->dwnd);
	tp->snd_cwnd = min(max(ca->cwnd + ca->dwnd, 2U), tp->snd_cwnd_clamp);
}

SEC("struct_ops")
u32 BPF_PROG(compound_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct compound *ca = inet_csk_ca(sk);
	u32 window = tp->snd_cwnd, left = window - window / 8;

	/* The part by loss is halved; the other makes it an eighth less in all. */
	ca->cwnd = max(ca->cwnd / 2, 2U);
	ca->dwnd = left > ca->cwnd ? left - ca->cwnd : 0;
	return max(left, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(compound_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops compound = {
	.init		= (void *)compound_init,
	.pkts_acked	= (void *)compound_pkts_acked,
	.cong_avoid	= (void *)compound_cong_avoid,
	.ssthresh	= (void *)compound_ssthresh,
	.undo_cwnd	= (void *)compound_undo_cwnd,
	.name		= "compound",
};
