// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dual: DUAL's window, for judging what a model says of algorithms that it never saw.
 *
 *	per round trip +1; every second one, if the RTT is above the middle of the least and the largest
 *	so far: 7/8 of the window; a loss: a half
 *
 * Reference: Wang and Crowcroft, "Eliminating periodic packet losses in the 4.3-Tahoe BSD TCP
 * congestion control algorithm" (CCR 1992), §4.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define NO_RTT	(~0U)

struct dual {
	u32	least_us;
	u32	most_us;
	u32	rtt_us;
	u32	round_end;
	u32	rounds;
};
CA_PRIV(struct dual);

SEC("struct_ops")
void BPF_PROG(dual_init, struct sock *sk)
{
	struct dual *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->least_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(dual_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct dual *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->rtt_us = sample->rtt_us;
	ca->least_us = min(ca->least_us, ca->rtt_us);
	ca->most_us = max(ca->most_us, ca->rtt_us);
}

SEC("struct_ops")
void BPF_PROG(dual_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dual *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (!before(ack, ca->round_end)) {
		ca->round_end = tp->snd_nxt;
		ca->rounds++;
		if (ca->rounds % 2 == 0 && ca->least_us != NO_RTT
		    && ca->rtt_us > ca->least_us / 2 + ca->most_us / 2) {
			tp->snd_cwnd = max(tp->snd_cwnd - tp->snd_cwnd / 8, 2U);
			tp->snd_ssthresh = tp->snd_cwnd;
			return;
		}
	}
	if (tcp_in_slow_start(tp))
		tcp_slow_start(tp, acked);
	else
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

SEC("struct_ops")
u32 BPF_PROG(dual_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(dual_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops dual = {
	.init		= (void *)dual_init,
	.pkts_acked	= (void *)dual_pkts_acked,
	.cong_avoid	= (void *)dual_cong_avoid,
	.ssthresh	= (void *)dual_ssthresh,
	.undo_cwnd	= (void *)dual_undo_cwnd,
	.name		= "dual",
};
