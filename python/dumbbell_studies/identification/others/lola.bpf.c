// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lola: TCP LoLa's window, for judging what a model says of algorithms that it never saw.
 *
 *	delay below 5 ms: CUBIC's growth; above: so many packets are kept in the queue as (t / phi)³, t the
 *	time since then in ms; above 20 ms: the window holds for 250 ms, and then goes to 0.973 of what the
 *	path holds; after a loss 0.7
 *
 * Reference: Hock, Neumeister, Zitterbart, Bless, "TCP LoLa: congestion control for low latencies and
 * high throughput" (LCN 2017), §III, table I.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, low_us, 5000, 100, 100000, "us", "of delay: the queue is there");
PARAM(u32, target_us, 20000, 100, 1000000, "us", "of delay: it is long enough");
PARAM(u32, phi_ms, 35, 1, 1000, "ms", "the curve's time for one packet");
PARAM(u32, hold_ms, 250, 1, 10000, "ms", "between that and the reduction");

#define NO_RTT	(~0U)

enum phase { GROW, BALANCE, HOLD };

struct lola {
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	round_end;
	u32	last_us;
	u32	w_max;
	u32	since_ms;	/* of the growth, of the balance or of the hold */
	u32	phase;
};
CA_PRIV(struct lola);

SEC("struct_ops")
void BPF_PROG(lola_init, struct sock *sk)
{
	struct lola *ca = inet_csk_ca(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(lola_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct lola *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

static __always_inline u32 now_ms(const struct tcp_sock *tp)
{
	return tp->tcp_mstamp / USEC_PER_MSEC;
}

/* The root of the third order, rounded down. */
static __always_inline u32 cube_root(u32 value)
{
	u32 found = 0;

	for (int bit = 9; bit >= 0; bit--) {
		u32 next = found + (1U << bit);

		if ((u64)next * next * next <= value)
			found = next;
	}
	return found;
}

/* CUBIC's window at a time since the reduction to 0.7: 0.4 (t - K)³ + w_max, K³ = 0.3 w_max / 0.4. */
static __always_inline u32 cubic_window(const struct lola *ca, u32 since_ms)
{
	u32 k_ms = cube_root((u32)min((u64)ca->w_max * 750, (u64)1000000000)) * 100;
	u64 off_ms = since_ms > k_ms ? since_ms - k_ms : k_ms - since_ms;
	u64 far = min(off_ms, (u64)20000), pkts = 4 * far * far / 1000 * far / 10000000;

	if (since_ms > k_ms)
		return ca->w_max + pkts;
	return ca->w_max > pkts ? ca->w_max - pkts : 2;
}

static __always_inline void lola_reduce(struct tcp_sock *tp, struct lola *ca, u32 window)
{
	ca->w_max = max(tp->snd_cwnd, 2U);
	ca->since_ms = now_ms(tp);
	ca->phase = GROW;
	tp->snd_cwnd = max(window, 2U);
	tp->snd_ssthresh = tp->snd_cwnd;
}

static __always_inline void lola_round(struct tcp_sock *tp, struct lola *ca)
{
	u32 queue_us, waits, wanted, window = tp->snd_cwnd;
	u64 since_ms;

	ca->last_us = ca->rtt_us == NO_RTT ? ca->last_us : ca->rtt_us;
	ca->rtt_us = NO_RTT;
	queue_us = ca->last_us > ca->base_us ? ca->last_us - ca->base_us : 0;
	waits = (u64)window * queue_us / max(ca->last_us, 1U);
	since_ms = now_ms(tp) - ca->since_ms;
	if (ca->phase == HOLD) {
		if (since_ms >= hold_ms)
			lola_reduce(tp, ca, (u64)(window - waits) * 973 / 1000);
		return;
	}
	if (queue_us > target_us) {
		ca->phase = HOLD;
		ca->since_ms = now_ms(tp);
		return;
	}
	if (queue_us <= low_us) {
		ca->phase = GROW;
		wanted = cubic_window(ca, since_ms);
		tp->snd_cwnd = max(min(wanted, window + window / 2), window);
		return;
	}
	if (ca->phase == GROW) {
		ca->phase = BALANCE;
		ca->since_ms = now_ms(tp);
		return;
	}
	since_ms = min(since_ms / max(phi_ms, 1U), (u64)1000);
	wanted = since_ms * since_ms * since_ms;
	if (wanted > waits)
		tp->snd_cwnd = window + min(wanted - waits, window / 4);
}

SEC("struct_ops")
void BPF_PROG(lola_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct lola *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		if (ca->rtt_us != NO_RTT && ca->rtt_us > ca->base_us + 2 * low_us) {
			ca->last_us = ca->rtt_us;
			lola_reduce(tp, ca, (u64)tp->snd_cwnd * ca->base_us / max(ca->rtt_us, 1U));
		}
		if (!before(ack, ca->round_end)) {
			ca->round_end = tp->snd_nxt;
			ca->rtt_us = NO_RTT;
		}
		return;
	}
	if (before(ack, ca->round_end))
		return;
	ca->round_end = tp->snd_nxt;
	lola_round(tp, ca);
	tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}

SEC("struct_ops")
u32 BPF_PROG(lola_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct lola *ca = inet_csk_ca(sk);

	ca->w_max = tp->snd_cwnd;
	ca->since_ms = now_ms(tp);
	ca->phase = GROW;
	return max(tp->snd_cwnd * 7 / 10, 2U);
}

SEC("struct_ops")
u32 BPF_PROG(lola_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops lola = {
	.init		= (void *)lola_init,
	.pkts_acked	= (void *)lola_pkts_acked,
	.cong_avoid	= (void *)lola_cong_avoid,
	.ssthresh	= (void *)lola_ssthresh,
	.undo_cwnd	= (void *)lola_undo_cwnd,
	.name		= "lola",
};
