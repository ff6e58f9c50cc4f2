// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tahoe: Tahoe's window, for judging what a model says of algorithms that it never saw.
 *
 *	a loss: half the window is remembered, and it begins with one packet again: slow start to that half,
 *	then +1 per round trip
 *
 * Reference: Jacobson, "Congestion avoidance and control" (SIGCOMM 1988), appendix B. What was lost is sent
 * again as in Linux, in a fast recovery; slow start follows it.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
void BPF_PROG(tahoe_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_COMPLETE_CWR)
		tcp_sk(sk)->snd_cwnd = 1;
}

SEC("struct_ops")
void BPF_PROG(tahoe_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, max(tp->snd_cwnd, 1U), acked);
}

SEC("struct_ops")
u32 BPF_PROG(tahoe_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(tahoe_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops tahoe = {
	.cwnd_event	= (void *)tahoe_cwnd_event,
	.cong_avoid	= (void *)tahoe_cong_avoid,
	.ssthresh	= (void *)tahoe_ssthresh,
	.undo_cwnd	= (void *)tahoe_undo_cwnd,
	.name		= "tahoe",
};
