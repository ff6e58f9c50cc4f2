// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reno: additive increase by one packet per round trip, halving on loss.
 *
 * References: RFC 5681 §3.1 (slow start, congestion avoidance), §3.2 (ssthresh),
 * in packets and with appropriate byte counting (RFC 3465), as Linux counts.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
u32 BPF_PROG(reno_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd >> 1, 2U);
}

SEC("struct_ops")
void BPF_PROG(reno_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
u32 BPF_PROG(reno_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops reno = {
	.ssthresh	= (void *)reno_ssthresh,
	.cong_avoid	= (void *)reno_cong_avoid,
	.undo_cwnd	= (void *)reno_undo_cwnd,
	.name		= "reno",
};
