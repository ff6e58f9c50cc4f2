// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fusion: TCP-Fusion's window, for judging what a model says of algorithms that it never saw.
 *
 *	q = w (rtt - base) / rtt packets wait; a = w × least / rtt
 *	q < a: + what arrives in `least` per round trip; q > 3a: - (q - a) per round trip; else nothing
 *	never less than Reno's window beside it; after a loss w × base / rtt is left, at least a half
 *
 * Reference: Kaneko, Fujikawa, Su, Katto, "TCP-Fusion: a hybrid congestion control algorithm for
 * high-speed networks" (PFLDnet 2007), table 1; the rate is w / rtt.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, least_us, 4000, 100, 100000, "us", "of queueing delay is aimed at");

#define NO_RTT	(~0U)

struct fusion {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	last_us;
	u32	reno_milli;	/* pkts/1000 */
};
CA_PRIV(struct fusion);

SEC("struct_ops")
void BPF_PROG(fusion_init, struct sock *sk)
{
	struct fusion *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(fusion_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct fusion *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

static __always_inline void fusion_round(struct tcp_sock *tp, struct fusion *ca)
{
	u32 rtt_us = ca->rtt_us == NO_RTT ? ca->last_us : ca->rtt_us, waits, aim, window = tp->snd_cwnd;

	ca->last_us = rtt_us;
	ca->rtt_us = NO_RTT;
	if (!rtt_us || rtt_us < ca->base_us)
		return;
	waits = (u64)window * (rtt_us - ca->base_us) / rtt_us;
	aim = max((u32)((u64)window * least_us / rtt_us), 1U);
	if (waits < aim)
		window += aim;
	else if (waits > 3 * aim)
		window -= min(waits - aim, window);
	ca->reno_milli += 1000;
	tp->snd_cwnd = min(max(max(window, ca->reno_milli / 1000), 2U), tp->snd_cwnd_clamp);
	tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
}

SEC("struct_ops")
void BPF_PROG(fusion_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fusion *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		ca->reno_milli = tp->snd_cwnd * 1000;
	}
	if (before(ack, ca->round_end))
		return;
	ca->round_end = tp->snd_nxt;
	if (!tcp_in_slow_start(tp))
		fusion_round(tp, ca);
}

SEC("struct_ops")
u32 BPF_PROG(fusion_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct fusion *ca = inet_csk_ca(sk);
	u32 rtt_us = max(ca->last_us, ca->base_us), left = tp->snd_cwnd / 2;

	if (ca->base_us != NO_RTT)
		left = max(left, (u32)((u64)tp->snd_cwnd * ca->base_us / max(rtt_us, 1U)));
	ca->reno_milli = tp->snd_cwnd * 500;
	return max(left, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(fusion_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops fusion = {
	.init		= (void *)fusion_init,
	.pkts_acked	= (void *)fusion_pkts_acked,
	.cong_avoid	= (void *)fusion_cong_avoid,
	.ssthresh	= (void *)fusion_ssthresh,
	.undo_cwnd	= (void *)fusion_undo_cwnd,
	.name		= "fusion",
};
