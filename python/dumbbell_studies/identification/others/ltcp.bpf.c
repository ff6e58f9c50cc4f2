// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ltcp: Layered TCP's window, for judging what a model says of algorithms that it never saw.
 *
 *	K layers, of which the K-th begins at w_T (K - 1) K (K + 1) / 6 packets: per round trip + K; a loss:
 *	- 0.15 w; a single layer is Reno
 *
 * Reference: Bhandarkar, Jain, Reddy, "Improving TCP performance in high bandwidth high RTT links using
 * layered congestion control" (PFLDnet 2005): w_T = 50, beta = 0.15.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, second_pkts, 50, 2, 10000, "pkts", "window at which the second layer begins");
PARAM(u32, cut_pct, 15, 1, 50, "%", "of the window that a loss takes");

#define MOST	32U

static __always_inline u32 ltcp_layers(u32 window)
{
	u32 layers = 1;

	for (u32 k = 2; k <= MOST; k++)
		if (window >= second_pkts * ((k - 1) * k * (k + 1) / 6))
			layers = k;
	return layers;
}

SEC("struct_ops")
void BPF_PROG(ltcp_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, max(tp->snd_cwnd / ltcp_layers(tp->snd_cwnd), 1U), acked);
}

SEC("struct_ops")
u32 BPF_PROG(ltcp_ssthresh, struct sock *sk)
{
	u32 window = tcp_sk(sk)->snd_cwnd;

	if (ltcp_layers(window) == 1)
		return max(window / 2, 2U);
	return max(window - window * cut_pct / 100, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(ltcp_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops ltcp = {
	.cong_avoid	= (void *)ltcp_cong_avoid,
	.ssthresh	= (void *)ltcp_ssthresh,
	.undo_cwnd	= (void *)ltcp_undo_cwnd,
	.name		= "ltcp",
};
