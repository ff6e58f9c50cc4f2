// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ledbatpp: LEDBAT++'s window, for judging what a model says of algorithms that it never saw.
 *
 *	delay below 60 ms: + gain per round trip, gain = 1 / min(16, ceil(120 ms / base)); above: + gain -
 *	w (delay / 60 ms - 1), at most a half less; two round trips after slow start, and then after nine
 *	times as long as it took, two packets for two round trips and slow start back; a half after a loss
 *
 * Reference: Balasubramanian, Ertugay, Havey, "LEDBAT++: congestion control for background traffic"
 * (draft-irtf-iccrg-ledbat-plus-plus-01), §4.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, target_us, 60000, 1000, 1000000, "us", "of queueing delay");

#define NO_RTT	(~0U)

enum phase { STEADY, DOWN, BACK };

struct ledbatpp {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	last_us;
	u32	credit_milli;
	u32	phase;
	u32	until_ms;	/* of the phase; STEADY: 0 while slow start comes first */
	u32	from_ms;	/* of the slowdown */
	u32	kept;		/* the window before it */
};
CA_PRIV(struct ledbatpp);

SEC("struct_ops")
void BPF_PROG(ledbatpp_init, struct sock *sk)
{
	struct ledbatpp *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(ledbatpp_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct ledbatpp *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

static __always_inline u32 now_ms(const struct tcp_sock *tp)
{
	return tp->tcp_mstamp / USEC_PER_MSEC;
}

static __always_inline u32 gain_milli(const struct ledbatpp *ca)
{
	u32 times = (2 * target_us + ca->base_us - 1) / max(ca->base_us, 1U);

	return 1000 / min(max(times, 1U), 16U);
}

/* Where a slowdown begins or ends. Whether the window is not to grow now. */
static __always_inline bool ledbatpp_slows(struct tcp_sock *tp, struct ledbatpp *ca)
{
	u32 now = now_ms(tp);

	if (ca->phase == STEADY && ca->until_ms && !before(now, ca->until_ms)) {
		ca->phase = DOWN;
		ca->kept = tp->snd_cwnd;
		ca->from_ms = now;
		ca->until_ms = now + 2 * max(ca->base_us / 1000, 1U);
		tp->snd_ssthresh = tp->snd_cwnd;
		tp->snd_cwnd = 2;
	}
	if (ca->phase == DOWN) {
		if (before(now, ca->until_ms)) {
			tp->snd_cwnd = 2;
			return true;
		}
		ca->phase = BACK;
		tp->snd_ssthresh = max(ca->kept, 2U);
	}
	if (ca->phase == BACK && !tcp_in_slow_start(tp)) {
		ca->phase = STEADY;
		ca->until_ms = now + 9 * max(now - ca->from_ms, 1U);
	}
	return false;
}

static __always_inline void ledbatpp_round(struct tcp_sock *tp, struct ledbatpp *ca)
{
	u32 queue_us, less;

	ca->last_us = ca->rtt_us == NO_RTT ? ca->last_us : ca->rtt_us;
	ca->rtt_us = NO_RTT;
	queue_us = ca->last_us > ca->base_us ? ca->last_us - ca->base_us : 0;
	ca->credit_milli += gain_milli(ca);
	if (queue_us > target_us) {
		less = (u64)tp->snd_cwnd * (queue_us - target_us) / max(target_us, 1U);
		tp->snd_cwnd -= min(less, tp->snd_cwnd / 2);
	}
	tp->snd_cwnd = max(tp->snd_cwnd + ca->credit_milli / 1000, 2U);
	tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
	ca->credit_milli %= 1000;
}

SEC("struct_ops")
void BPF_PROG(ledbatpp_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ledbatpp *ca = inet_csk_ca(sk);

	if (ledbatpp_slows(tp, ca))
		return;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		/* The first slow start also ends at three quarters of the target. */
		if (!ca->until_ms && ca->rtt_us != NO_RTT && ca->rtt_us > ca->base_us + target_us / 4 * 3)
			tp->snd_ssthresh = tp->snd_cwnd;
	}
	if (!ca->until_ms && !tcp_in_slow_start(tp))
		ca->until_ms = now_ms(tp) + 2 * max(ca->base_us / 1000, 1U);
	if (before(ack, ca->round_end))
		return;
	ca->round_end = tp->snd_nxt;
	if (!tcp_in_slow_start(tp))
		ledbatpp_round(tp, ca);
	else
		ca->rtt_us = NO_RTT;
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}

SEC("struct_ops")
u32 BPF_PROG(ledbatpp_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(ledbatpp_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops ledbatpp = {
	.init		= (void *)ledbatpp_init,
	.pkts_acked	= (void *)ledbatpp_pkts_acked,
	.cong_avoid	= (void *)ledbatpp_cong_avoid,
	.ssthresh	= (void *)ledbatpp_ssthresh,
	.undo_cwnd	= (void *)ledbatpp_undo_cwnd,
	.name		= "ledbatpp",
};
