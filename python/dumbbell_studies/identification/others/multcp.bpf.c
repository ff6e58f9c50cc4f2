// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * multcp: MulTCP's window, for judging what a model says of algorithms that it never saw.
 *
 *	as N Renos of which a loss meets one: per round trip + N, a loss: - w / (2 N)
 *
 * Reference: Crowcroft and Oechslin, "Differentiated end-to-end Internet services using a weighted
 * proportional fair sharing TCP" (CCR 1998), section 3; N = 4.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, flows, 4, 1, 64, "", "Renos that it stands for");

SEC("struct_ops")
void BPF_PROG(multcp_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, max(tp->snd_cwnd / flows, 1U), acked);
}

SEC("struct_ops")
u32 BPF_PROG(multcp_ssthresh, struct sock *sk)
{
	u32 window = tcp_sk(sk)->snd_cwnd;

	return max(window - window / (2 * flows), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(multcp_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops multcp = {
	.cong_avoid	= (void *)multcp_cong_avoid,
	.ssthresh	= (void *)multcp_ssthresh,
	.undo_cwnd	= (void *)multcp_undo_cwnd,
	.name		= "multcp",
};
