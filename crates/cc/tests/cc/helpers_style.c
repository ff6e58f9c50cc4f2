// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * In the style of the kernel's selftests up to Linux 6.8: bpf_tcp_helpers.h and
 * headers of user space, BPF_STRUCT_OPS, a cong_control of two arguments.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/types.h>
#include <linux/stddef.h>
#include <linux/tcp.h>
#include <errno.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tcp_helpers.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops/older_init")
void BPF_PROG(older_init, struct sock *sk)
{
	tcp_sk(sk)->snd_cwnd = tcp_cc_eq("older", "older") && !tcp_cc_eq("older", "olden") ? 20 : 1;
	if (bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, "reno", 5) == -EBUSY)
		tcp_sk(sk)->snd_cwnd = 2;
}

void BPF_STRUCT_OPS(older_cong_control, struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd = max(tp->snd_cwnd, min_not_zero(rs->acked_sacked, 100U));
}

__u32 BPF_STRUCT_OPS(older_ssthresh, struct sock *sk)
{
	return after(tcp_sk(sk)->snd_nxt, tcp_sk(sk)->snd_una) ? 7 : 8;
}

/*
 * Before Linux 5.13 the kernel's own could not be called: sources defined one
 * with that name.
 */
__u32 BPF_STRUCT_OPS(tcp_reno_undo_cwnd, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops older = {
	.init		= (void *)older_init,
	.ssthresh	= (void *)older_ssthresh,
	.cong_control	= (void *)older_cong_control,
	.undo_cwnd	= (void *)tcp_reno_undo_cwnd,
	.name		= "older",
};
