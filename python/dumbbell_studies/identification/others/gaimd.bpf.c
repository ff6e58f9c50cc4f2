// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gaimd: GAIMD's window, for judging what a model says of algorithms that it never saw.
 *
 *	per round trip + 0.31, a loss: - w / 8
 *
 * Reference: Yang and Lam, "General AIMD congestion control" (ICNP 2000): alpha = 4 (1 - beta^2) / 3 is
 * as fair as Reno; beta = 7/8 gives 0.31.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, alpha_milli, 310, 1, 10000, "pkts/1000", "growth per round trip");

struct gaimd {
	u32	credit_milli;
};
CA_PRIV(struct gaimd);

SEC("struct_ops")
void BPF_PROG(gaimd_init, struct sock *sk)
{
	struct gaimd *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
}

SEC("struct_ops")
void BPF_PROG(gaimd_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct gaimd *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	ca->credit_milli += (u64)alpha_milli * acked / max(tp->snd_cwnd, 1U);
	if (ca->credit_milli >= 1000) {
		tp->snd_cwnd = min(tp->snd_cwnd + ca->credit_milli / 1000, tp->snd_cwnd_clamp);
		ca->credit_milli %= 1000;
	}
}

SEC("struct_ops")
u32 BPF_PROG(gaimd_ssthresh, struct sock *sk)
{
	u32 window = tcp_sk(sk)->snd_cwnd;

	return max(window - window / 8, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(gaimd_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops gaimd = {
	.init		= (void *)gaimd_init,
	.cong_avoid	= (void *)gaimd_cong_avoid,
	.ssthresh	= (void *)gaimd_ssthresh,
	.undo_cwnd	= (void *)gaimd_undo_cwnd,
	.name		= "gaimd",
};
