// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * iiad: the binomial algorithm IIAD, for judging what a model says of algorithms that it never saw.
 *
 *	per round trip + alpha / w, a loss: - beta
 *
 * Reference: Bansal and Balakrishnan, "Binomial congestion control algorithms" (INFOCOM 2001), section 2:
 * k = 1, l = 0. alpha and beta are such that between losses of a window of 100 packets it does what
 * Reno's mean does there: alpha = 150, beta = 50. Its slow start ends in a half.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, alpha_pkts, 150, 1, 10000, "pkts^2", "growth per round trip, times the window");
PARAM(u32, beta_pkts, 50, 1, 1000, "pkts", "that a loss takes");

struct iiad {
	u32	credit_milli;
};
CA_PRIV(struct iiad);

SEC("struct_ops")
void BPF_PROG(iiad_init, struct sock *sk)
{
	struct iiad *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
}

SEC("struct_ops")
void BPF_PROG(iiad_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct iiad *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	ca->credit_milli += (u64)(alpha_pkts * 1000 / max(tp->snd_cwnd, 1U)) * acked / max(tp->snd_cwnd, 1U);
	if (ca->credit_milli >= 1000) {
		tp->snd_cwnd = min(tp->snd_cwnd + ca->credit_milli / 1000, tp->snd_cwnd_clamp);
		ca->credit_milli %= 1000;
	}
}

SEC("struct_ops")
u32 BPF_PROG(iiad_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tcp_in_slow_start(tp))
		return max(tp->snd_cwnd / 2, 2U);
	return tp->snd_cwnd > beta_pkts + 2 ? tp->snd_cwnd - beta_pkts : max(tp->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(iiad_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops iiad = {
	.init		= (void *)iiad_init,
	.cong_avoid	= (void *)iiad_cong_avoid,
	.ssthresh	= (void *)iiad_ssthresh,
	.undo_cwnd	= (void *)iiad_undo_cwnd,
	.name		= "iiad",
};
