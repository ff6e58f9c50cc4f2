// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drawn: a family of algorithms that are in no use. With drawn parameters it stands for those that a
 * model was never shown: a law of growth, a share left after a loss, a reaction to delay, a cycle;
 * and, where a queue is to decide, a second law and a second share.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "square_root.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

PARAM(u32, law, 0, 0, 5, "", "growth: constant, by window, its root, time, distance to the peak, time squared");
PARAM(u32, gain_milli, 1000, 1, 100000, "pkts/1000", "growth per round trip, in the law's unit");
PARAM(u32, tau_ms, 1000, 10, 60000, "ms", "the law's time");
PARAM(u32, beta_pct, 50, 10, 98, "%", "of the window is left after a loss");
PARAM(u32, delay_law, 0, 0, 4, "", "of a queue: none, shrink, slow down, cut, keep so many packets");
PARAM(u32, target_us, 10000, 100, 1000000, "us", "the queueing delay at which it acts");
PARAM(u32, cut_pct, 80, 10, 99, "%", "of the window is left after that, per round trip");
PARAM(u32, cut_rounds, 1, 1, 64, "round trips", "between two cuts");
PARAM(u32, kept_pkts, 10, 1, 1000, "pkts", "in the queue, where so many are to be kept");
PARAM(u32, second_law, 0, 0, 5, "", "growth while the queue is above its threshold");
PARAM(u32, second_gain_milli, 1000, 1, 100000, "pkts/1000", "of the second law");
PARAM(u32, switch_us, 0, 0, 1000000, "us", "the queueing delay from which the second law holds; 0: none");
PARAM(u32, queued_beta_pct, 0, 0, 98, "%", "left after a loss with such a queue; 0: as without");
PARAM(u32, path_pct, 0, 0, 150, "%", "of what the path holds without a queue is left; 0: no");
PARAM(u32, period_rounds, 0, 0, 64, "round trips", "between pulses of the window; 0: none");
PARAM(u32, pulse_pct, 25, 1, 100, "%", "that a pulse adds");
PARAM(u32, pause_ms, 0, 0, 60000, "ms", "between pauses with few packets; 0: none");
PARAM(u32, pause_lasts_ms, 200, 20, 2000, "ms", "of a pause");
PARAM(u32, paced, 1, 0, 1, "", "whether packets are paced");

#define NO_RTT		(~0U)
#define PAUSE_PKTS	6U
#define MOST_PER_RTT	((s64)400 * 1000)	/* pkts/1000 */

struct drawn {
	u32	w_max;
	u32	loss_ms;
	u32	base_us;
	u32	rtt_us;		/* least of the round */
	u32	last_us;	/* of the last one */
	u32	round_end;	/* snd_nxt when the round began */
	u32	round;
	u32	cut_round;	/* of the last cut */
	u32	pulse;		/* packets that the pulse added */
	u32	pause_from_ms;	/* of the next pause, and then of this one */
	u32	kept;		/* the window before the pause; 0: none */
	s32	credit_milli;
};
CA_PRIV(struct drawn);

static __always_inline u32 now_ms(const struct tcp_sock *tp)
{
	return tp->tcp_mstamp / USEC_PER_MSEC;
}

SEC("struct_ops")
void BPF_PROG(drawn_init, struct sock *sk)
{
	struct drawn *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	__builtin_memset(ca, 0, sizeof(*ca));
	ca->base_us = ca->rtt_us = NO_RTT;
	ca->round_end = tp->snd_nxt;
	ca->loss_ms = ca->pause_from_ms = now_ms(tp);
	if (paced)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(drawn_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct drawn *ca = inet_csk_ca(sk);

	if (sample->rtt_us <= 0)
		return;
	ca->base_us = min(ca->base_us, (u32)sample->rtt_us);
	ca->rtt_us = min(ca->rtt_us, (u32)sample->rtt_us);
}

static __always_inline u32 drawn_queue_us(const struct drawn *ca)
{
	return ca->last_us > ca->base_us ? ca->last_us - ca->base_us : 0;
}

/* Growth per round trip by a law, pkts/1000. */
static __always_inline s64 drawn_law(const struct tcp_sock *tp, const struct drawn *ca, u32 law,
				     u32 gain_milli)
{
	u32 window = tp->snd_cwnd, since_ms = now_ms(tp) - ca->loss_ms;
	u64 times = 1000 + (u64)since_ms * 1000 / max(tau_ms, 1U);

	switch (law) {
	case 1:
		return (u64)gain_milli * window / 100;
	case 2:
		return (u64)gain_milli * square_root(window);
	case 3:
		return (u64)gain_milli * times / 1000;
	case 4:
		return (u64)gain_milli * (window < ca->w_max ? ca->w_max - window : 2) / 16;
	case 5:
		return (u64)gain_milli * (times * times / 1000) / 1000;
	default:
		return gain_milli;
	}
}

static __always_inline void drawn_round(struct tcp_sock *tp, struct drawn *ca)
{
	u32 queue_us;

	ca->round_end = tp->snd_nxt;
	ca->round++;
	ca->last_us = ca->rtt_us == NO_RTT ? ca->last_us : ca->rtt_us;
	ca->rtt_us = NO_RTT;
	queue_us = drawn_queue_us(ca);
	tp->snd_cwnd = max(tp->snd_cwnd - min(ca->pulse, tp->snd_cwnd), 2U);
	ca->pulse = 0;
	if (delay_law && queue_us > target_us && tcp_in_slow_start(tp))
		tp->snd_ssthresh = tp->snd_cwnd;
	if (delay_law == 3 && queue_us > target_us && ca->round - ca->cut_round >= cut_rounds) {
		ca->cut_round = ca->round;
		tp->snd_cwnd = max((u32)((u64)tp->snd_cwnd * cut_pct / 100), 2U);
		tp->snd_ssthresh = min(tp->snd_ssthresh, tp->snd_cwnd);
	}
	if (period_rounds && !tcp_in_slow_start(tp) && ca->round % period_rounds == 0) {
		ca->pulse = (u64)tp->snd_cwnd * pulse_pct / 100;
		tp->snd_cwnd += ca->pulse;
	}
}

/* Whether it pauses now. */
static __always_inline bool drawn_pauses(struct tcp_sock *tp, struct drawn *ca)
{
	u32 since_ms = now_ms(tp) - ca->pause_from_ms;

	if (!pause_ms)
		return false;
	if (!ca->kept && since_ms > pause_ms) {
		ca->kept = tp->snd_cwnd;
		ca->pause_from_ms = now_ms(tp);
		tp->snd_cwnd = min(tp->snd_cwnd, PAUSE_PKTS);
		return true;
	}
	if (ca->kept && since_ms > pause_lasts_ms) {
		tp->snd_cwnd = max(tp->snd_cwnd, ca->kept);
		ca->kept = 0;
	}
	return ca->kept != 0;
}

SEC("struct_ops")
void BPF_PROG(drawn_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct drawn *ca = inet_csk_ca(sk);
	u32 queue_us;
	s64 grows;

	if (!before(ack, ca->round_end))
		drawn_round(tp, ca);
	if (drawn_pauses(tp, ca) || !tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	queue_us = drawn_queue_us(ca);
	if (switch_us && queue_us > switch_us)
		grows = drawn_law(tp, ca, second_law, second_gain_milli);
	else
		grows = drawn_law(tp, ca, law, gain_milli);
	if (delay_law == 1 && queue_us > target_us)
		grows = -(s64)((u64)tp->snd_cwnd * (100 - cut_pct) * 10);
	else if (delay_law == 2)
		grows = queue_us >= target_us ? 0
			: (s64)((u64)grows * (target_us - queue_us) / max(target_us, 1U));
	else if (delay_law == 4 && (u64)tp->snd_cwnd * queue_us > (u64)kept_pkts * ca->last_us)
		grows = -grows;
	grows = grows > MOST_PER_RTT ? MOST_PER_RTT : grows < -MOST_PER_RTT ? -MOST_PER_RTT : grows;
	/* Division is unsigned: the sign is kept apart. */
	if (grows >= 0)
		ca->credit_milli += (u64)grows * acked / max(tp->snd_cwnd, 1U);
	else
		ca->credit_milli -= (u64)(-grows) * acked / max(tp->snd_cwnd, 1U);
	if (ca->credit_milli >= 1000) {
		u32 more = (u32)ca->credit_milli / 1000;

		tp->snd_cwnd = min(tp->snd_cwnd + more, tp->snd_cwnd_clamp);
		ca->credit_milli -= more * 1000;
	} else if (ca->credit_milli <= -1000) {
		u32 less = (u32)(-ca->credit_milli) / 1000;

		tp->snd_cwnd = max(tp->snd_cwnd - min(less, tp->snd_cwnd), 2U);
		ca->credit_milli += less * 1000;
	}
}

SEC("struct_ops")
u32 BPF_PROG(drawn_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct drawn *ca = inet_csk_ca(sk);
	u32 share = beta_pct;

	ca->w_max = tp->snd_cwnd;
	ca->loss_ms = now_ms(tp);
	ca->pulse = 0;
	if (path_pct && ca->last_us)
		/* Without a queue that may be more than the window: no loss makes it larger. */
		return clamp((u32)((u64)tp->snd_cwnd * min(ca->base_us, ca->last_us) / ca->last_us
				   * path_pct / 100), 2U, max(tp->snd_cwnd, 2U));
	if (queued_beta_pct && switch_us && drawn_queue_us(ca) > switch_us)
		share = queued_beta_pct;
	return max((u32)((u64)tp->snd_cwnd * share / 100), 2U);
}

SEC("struct_ops")
u32 BPF_PROG(drawn_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops")
struct tcp_congestion_ops drawn = {
	.init		= (void *)drawn_init,
	.pkts_acked	= (void *)drawn_pkts_acked,
	.cong_avoid	= (void *)drawn_cong_avoid,
	.ssthresh	= (void *)drawn_ssthresh,
	.undo_cwnd	= (void *)drawn_undo_cwnd,
	.name		= "drawn",
};
