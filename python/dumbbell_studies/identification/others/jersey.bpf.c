// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jersey: TCP-Jersey's window, for judging what a model says of algorithms that it never saw.
 *
 *	each ACK: the rate R = (rtt R + delivered) / (time since the last one + rtt); a loss, which without a
 *	mark is one of the link's own: what R and the least RTT hold is left; per round trip +1
 *
 * Reference: Xu, Tian, Ansari, "TCP-Jersey for wireless IP communications" (JSAC 2004), section III. Without
 * routers that warn, the rate decides after each loss.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define NO_RTT	(~0U)

struct jersey {
	u32	base_us;
	u32	rtt_us;
	u32	acked_us;	/* time of the last ACK */
	u32	rate;		/* packets per 1024 s */
};
CA_PRIV(struct jersey);

SEC("struct_ops")
void BPF_PROG(jersey_init, struct sock *sk)
{
	struct jersey *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = NO_RTT;
	ca->acked_us = (u32)tcp_sk(sk)->tcp_mstamp;
}

SEC("struct_ops")
void BPF_PROG(jersey_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct jersey *ca = inet_csk_ca(sk);
	u32 now_us = (u32)tcp_sk(sk)->tcp_mstamp, since_us = now_us - ca->acked_us;
	u64 inside;

	if (sample->rtt_us > 0) {
		ca->rtt_us = sample->rtt_us;
		ca->base_us = min(ca->base_us, ca->rtt_us);
	}
	if (!ca->rtt_us)
		return;
	/* rate and time: packets, times 1024 * 10^6 */
	inside = (u64)ca->rate * ca->rtt_us + (u64)sample->pkts_acked * 1024 * 1000000;
	ca->rate = inside / max(since_us + ca->rtt_us, 1U);
	ca->acked_us = now_us;
}

SEC("struct_ops")
void BPF_PROG(jersey_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

static __always_inline u32 jersey_holds(const struct jersey *ca)
{
	if (ca->base_us == NO_RTT)
		return 2;
	return max((u32)((u64)ca->rate * ca->base_us / ((u64)1024 * 1000000)), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(jersey_ssthresh, struct sock *sk)
{
	return min(jersey_holds(inet_csk_ca(sk)), max(tcp_sk(sk)->snd_cwnd, 2U));
}

SEC("struct_ops")
u32 BPF_PROG(jersey_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops jersey = {
	.init		= (void *)jersey_init,
	.pkts_acked	= (void *)jersey_pkts_acked,
	.cong_avoid	= (void *)jersey_cong_avoid,
	.ssthresh	= (void *)jersey_ssthresh,
	.undo_cwnd	= (void *)jersey_undo_cwnd,
	.name		= "jersey",
};
