// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * swift: Swift's window, for judging what a model says of algorithms that it never saw.
 *
 *	an ACK's RTT below the target: + ai / w per packet; above it, once per round trip:
 *	w *= max(1 - beta (rtt - target) / rtt, 1 - most); a loss, once per round trip: w *= 1 - most
 *	target = base + target_us + range (1 / root(w) - 1 / root(100)) / (1 / root(0.1) - 1 / root(100))
 *
 * Reference: Kumar et al., "Swift: delay is simple and effective for congestion control in the
 * datacenter" (SIGCOMM 2020), algorithm 1 and §3.5: ai = 1, beta = 0.8, most = 0.5. The base is the path's
 * least RTT, target_us and the range are 5 ms: paths here are longer than a datacenter's. Windows below one
 * packet are left out.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "square_root.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, target_us, 5000, 100, 1000000, "us", "the queueing delay that large windows keep");
PARAM(u32, range_us, 5000, 0, 1000000, "us", "by which small windows may exceed it");

#define NO_RTT	(~0U)
/* In per cent: beta, the largest cut. */
#define BETA_PCT	80U
#define MOST_PCT	50U
/* 1000 / root(100), and 1000 / root(0.1) less that. */
#define FLAT_MILLI	100U
#define STEEP_MILLI	3062U

struct swift {
	u32	base_us;
	u32	rtt_us;		/* of the last ACK */
	u32	cut_ms;		/* when it was last cut */
};
CA_PRIV(struct swift);

static __always_inline u32 now_ms(const struct tcp_sock *tp)
{
	return (u32)(tp->tcp_mstamp / USEC_PER_MSEC);
}

SEC("struct_ops")
void BPF_PROG(swift_init, struct sock *sk)
{
	struct swift *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = NO_RTT;
}

SEC("struct_ops")
void BPF_PROG(swift_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct swift *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->rtt_us = (u32)sample->rtt_us;
	ca->base_us = min(ca->base_us, ca->rtt_us);
}

static __always_inline u32 swift_target_us(const struct tcp_sock *tp, const struct swift *ca)
{
	u32 milli = 1000 / max(square_root(tp->snd_cwnd), 1U);
	u32 more_us = milli > FLAT_MILLI ? (u64)range_us * (milli - FLAT_MILLI) / STEEP_MILLI : 0;

	return ca->base_us + target_us + min(more_us, range_us);
}

SEC("struct_ops")
void BPF_PROG(swift_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct swift *ca = inet_csk_ca(sk);
	u32 goal_us, cut_pct, now = now_ms(tp);

	if (!ca->rtt_us)
		return;
	goal_us = swift_target_us(tp, ca);
	if (ca->rtt_us < goal_us) {
		if (!tcp_is_cwnd_limited(sk))
			return;
		if (tcp_in_slow_start(tp)) {
			tcp_slow_start(tp, acked);
			return;
		}
		tcp_cong_avoid_ai(tp, max(tp->snd_cwnd, 1U), acked);
	} else if (now - ca->cut_ms >= ca->rtt_us / USEC_PER_MSEC) {
		cut_pct = min((u32)((u64)BETA_PCT * (ca->rtt_us - goal_us) / ca->rtt_us), MOST_PCT);
		tp->snd_cwnd = max((u32)((u64)tp->snd_cwnd * (100 - cut_pct) / 100), 2U);
		tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
		ca->cut_ms = now;
	}
}

SEC("struct_ops")
u32 BPF_PROG(swift_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct swift *ca = inet_csk_ca(sk);
	u32 now = now_ms(tp);

	if (now - ca->cut_ms < ca->rtt_us / USEC_PER_MSEC)
		return tp->snd_cwnd;
	ca->cut_ms = now;
	return max(tp->snd_cwnd - tp->snd_cwnd * MOST_PCT / 100, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(swift_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops swift = {
	.init		= (void *)swift_init,
	.pkts_acked	= (void *)swift_pkts_acked,
	.cong_avoid	= (void *)swift_cong_avoid,
	.ssthresh	= (void *)swift_ssthresh,
	.undo_cwnd	= (void *)swift_undo_cwnd,
	.name		= "swift",
};
