// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CUBIC: grows cwnd along a cubic of the time since the last reduction; HyStart ends slow start.
 *
 *	W_cubic(t) = C (t - K)^3 + origin	K = cbrt((w_max - cwnd at epoch start) / C)
 *	on loss: w_max = cwnd, ssthresh = beta cwnd, and a new epoch with its first growth
 *	per packet acked: cwnd += 1 / cnt, cnt = cwnd / (W_cubic(t + min_rtt) - cwnd)
 *	not slower than Reno of the same beta: w_est += 1 per 1.875 cwnd packets acked
 *
 * The curve is concave up to w_max (origin), flat around it, convex beyond. HyStart leaves
 * slow start when a round's ACK train is as long as the minimum RTT, or its RTT has risen.
 *
 * References: RFC 9438 (CUBIC; section numbers below are its own); Ha, Rhee, Xu, "CUBIC: a new
 * TCP-friendly high-speed TCP variant" (2008); Ha, Rhee, "Taming the elephants: new TCP slow start"
 * (2011). Integer arithmetic and constants: by behaviour those of Linux 6.14 and later. Where Linux
 * itself differs from RFC 9438: alpha stays 0.53 above w_max (§4.3), an undo restores cwnd and
 * ssthresh only (§4.9), W_cubic is evaluated with the minimum RTT (§4.2).
 *
 * Differences from Linux:
 *  1. Time is in µs. Where Linux counts jiffies, HZ=1000 is imitated (CUBIC_TICK_US,
 *     CUBIC_REFRESH_US), but t itself is not rounded to ticks.
 *  2. The cube root is exact (rounded down); Linux's is off by 0.2 % on average.
 *  3. |t - K| stops at 1024 s, so that the cube cannot overflow (Linux: at about 350 s).
 *  4. Idle time is counted from the last delivery, as in §4.2; Linux counts from the last
 *     transmission, one RTT more.
 *  5. w_est advances by a division instead of a loop; the result is the same.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "cube_root.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define CUBIC_BETA_UNIT		1024U		/* scale of beta */
#define CUBIC_TIME_SHIFT	10		/* t and K are in 1/1024 s */
#define CUBIC_MAX_OFFSET	(1ULL << 20)	/* 1/1024 s; cubed and scaled it still fits u64 */
#define CUBIC_MIN_CNT		2U		/* at most 1.5x per RTT */
#define CUBIC_FIRST_CNT		20U		/* no w_max yet: grow at least 5 % per RTT */
#define CUBIC_TICK_US		1000U		/* follow the curve once per tick, HZ=1000 */
#define CUBIC_REFRESH_US	(USEC_PER_SEC / 32) /* follow it even if cwnd stays: HZ/32 */

#define HYSTART_ACK_TRAIN	1U		/* bits of hystart_detect */
#define HYSTART_DELAY		2U
#define HYSTART_MIN_SAMPLES	8U		/* RTT samples of a round before its RTT counts */
#define HYSTART_DELAY_MIN_US	4000U
#define HYSTART_DELAY_MAX_US	16000U

enum hystart_exit {
	HYSTART_SEARCHING,
	HYSTART_BY_ACK_TRAIN,
	HYSTART_BY_DELAY,
};

/* Names and defaults of Linux's module parameters. */
PARAM(u32, beta, 717, 1, 1023, "/1024", "share of cwnd kept after a loss: 0.7 (RFC 9438 §4.6)");
PARAM(u32, abe, 0, 0, 1, "", "alternative backoff with ECN (RFC 8511): keep more after marks alone");
PARAM(u32, beta_ecn, 870, 1, 1023, "/1024", "share of cwnd kept then: 0.85 (RFC 8511 §3.1)");
PARAM(u32, fast_convergence, 1, 0, 1, "",
      "release bandwidth to new flows when w_max shrinks (RFC 9438 §4.7)");
PARAM(u32, tcp_friendliness, 1, 0, 1, "", "grow at least as Reno would (RFC 9438 §4.3)");
PARAM(u32, bic_scale, 41, 1, 1024, "10/1024",
      "C of the cubic: 41 is 0.4 packets/s³ (RFC 9438 §5)");
PARAM(u32, initial_ssthresh, 0, 0, 0x7fffffff, "pkts",
      "ssthresh to start with, only if hystart is 0; 0: unlimited");
PARAM(u32, hystart, 1, 0, 1, "", "leave slow start early (Ha & Rhee 2011)");
PARAM(u32, hystart_detect, 3, 0, 3, "",
      "by 1: length of the ACK train, 2: rise of the RTT, 3: either");
PARAM(u32, hystart_low_window, 16, 0, 0x7fffffff, "pkts",
      "cwnd below which HyStart does not look");
PARAM(u32, hystart_ack_delta_us, 2000, 0, 1000000, "µs", "largest gap between ACKs of one train");

struct cubic {
	u64	epoch_start_us;		/* first growth after a reduction; 0: none yet */
	u64	updated_us;		/* when cnt last followed the curve */
	u64	round_start_us;		/* HyStart: first ACK of this round */
	u64	train_end_us;		/* HyStart: last ACK that belongs to the train */
	u32	w_max;			/* cwnd before the last reduction; 0: none yet; [pkts] */
	u32	origin;			/* plateau of the curve; [pkts] */
	u32	k;			/* from the epoch's start to the plateau; [1/1024 s] */
	u32	target;			/* W_cubic(t + min_rtt); [pkts] */
	u32	cnt;			/* packets to be acked per packet of growth */
	u32	updated_cwnd;		/* cwnd when cnt last followed the curve; [pkts] */
	u32	w_est;			/* what Reno's cwnd would be; [pkts] */
	u32	w_est_acked;		/* acked since w_est last grew; [pkts] */
	u32	w_est_scale;		/* w_est grows by 1 per cwnd * this / 8 acked */
	u32	min_rtt_us;		/* since the start or the last RTO; 0: none yet */
	u32	round_end_seq;		/* HyStart: the round ends beyond this; [bytes] */
	u32	round_rtt_us;		/* HyStart: smallest RTT of this round */
	u32	reduced_ce;		/* ABE: tp->delivered_ce at the last reduction; [pkts] */
	u8	round_samples;		/* HyStart: RTT samples of this round, up to 8 */
	u8	hystart_exit;		/* enum hystart_exit */
};
CA_PRIV(struct cubic);

SERIES(struct cubic, w_max, "w_max_pkts", "pkts", "cwnd before the last reduction (W_max)");
SERIES_SCALED(struct cubic, k, "k_ms", "ms", 1000, 1 << CUBIC_TIME_SHIFT, 0,
	      "time from the epoch's start to the plateau (K)");
SERIES(struct cubic, epoch_start_us, "epoch_start_us", "µs", "when the epoch began; 0: not yet");
SERIES(struct cubic, target, "w_cubic_pkts", "pkts", "the curve, one minimum RTT ahead");
SERIES(struct cubic, w_est, "w_est_pkts", "pkts", "window Reno would have (W_est)");
SERIES(struct cubic, cnt, "acks_per_increment", "pkts", "packets acked per packet of growth");
SERIES(struct cubic, min_rtt_us, "min_rtt_us", "µs", "smallest RTT since the start or an RTO");
SERIES_STATE(struct cubic, hystart_exit, "hystart_exit", "searching,ack_train,delay",
	     "what made HyStart leave slow start");

/* C in packets/s^3 << 10; below 2^14. */
static u32 cubic_c(void)
{
	return 10 * max(bic_scale, 1U);
}

/* Time from cwnd to w_max along the curve: K = cbrt((w_max - cwnd) / C), in 1/1024 s. */
static u32 cubic_k(u32 w_max, u32 cwnd)
{
	if (cwnd >= w_max)
		return 0;
	/* K^3 is in 2^-30 s^3, C in 2^-10; the product is below 2^37 * 2^26. */
	return cube_root((1ULL << 40) / cubic_c() * min(w_max - cwnd, 1U << 26));
}

/* W_cubic(t), t in 1/1024 s. The largest d^3 is 2^60. */
static u64 cubic_window(const struct cubic *ca, u64 t)
{
	u64 d = t < ca->k ? ca->k - t : t - ca->k;
	u64 dw;

	d = min(d, CUBIC_MAX_OFFSET);
	dw = ((d * d * d >> 10) * cubic_c()) >> 30;
	if (t >= ca->k)
		return ca->origin + dw;
	return ca->origin > dw ? ca->origin - dw : 0;
}

/*
 * RFC 9438 §4.3: alpha = 3 (1 - beta) / (1 + beta), so w_est grows by one per 1 / alpha windows. In
 * eighths, as Linux rounds it: 15/8, where 1 / alpha is 1.89. Not below one window, so that no beta
 * divides by zero.
 */
static u32 cubic_w_est_scale(void)
{
	u32 kept = min(beta, CUBIC_BETA_UNIT - 1);

	return max(8 * (CUBIC_BETA_UNIT + kept) / 3 / (CUBIC_BETA_UNIT - kept), 8U);
}

static void cubic_start_epoch(struct cubic *ca, u32 cwnd, u64 now_us, u32 acked)
{
	ca->epoch_start_us = now_us;
	ca->k = cubic_k(ca->w_max, cwnd);
	ca->origin = max(ca->w_max, cwnd);
	ca->w_est = cwnd;
	ca->w_est_acked = acked;
}

/* How fast must cwnd grow to be on the curve one minimum RTT from now? */
static void cubic_update_curve(struct cubic *ca, u32 cwnd, u64 now_us)
{
	u64 t_us = tcp_stamp_us_delta(now_us, ca->epoch_start_us) + ca->min_rtt_us;
	u64 target = cubic_window(ca, (t_us << CUBIC_TIME_SHIFT) / USEC_PER_SEC);

	ca->target = min(target, (u64)TCP_INFINITE_SSTHRESH);
	if (ca->target > cwnd)
		ca->cnt = cwnd / (ca->target - cwnd);
	else
		ca->cnt = 100 * cwnd;	/* hardly at all */

	/* There is no curve before the first loss. */
	if (!ca->w_max)
		ca->cnt = min(ca->cnt, CUBIC_FIRST_CNT);
}

/* Where would Reno be? If ahead, catch up with it within one round trip. */
static void cubic_update_w_est(struct cubic *ca, u32 cwnd)
{
	u64 per_packet = ((u64)cwnd * ca->w_est_scale) >> 3;

	if (per_packet && ca->w_est_acked > per_packet) {
		u64 grown = (ca->w_est_acked - 1) / per_packet;

		ca->w_est += grown;
		ca->w_est_acked -= grown * per_packet;
	}
	if (ca->w_est > cwnd)
		ca->cnt = min(ca->cnt, cwnd / (ca->w_est - cwnd));
}

static void cubic_update_cnt(struct sock *sk, u32 acked)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *ca = inet_csk_ca(sk);
	u32 cwnd = tp->snd_cwnd;
	u64 now_us = tp->tcp_mstamp;
	u64 since_us = now_us - ca->updated_us;

	ca->w_est_acked += acked;
	if (cwnd == ca->updated_cwnd && since_us <= CUBIC_REFRESH_US)
		return;

	if (!ca->epoch_start_us || since_us >= CUBIC_TICK_US) {
		ca->updated_cwnd = cwnd;
		ca->updated_us = now_us;
		if (!ca->epoch_start_us)
			cubic_start_epoch(ca, cwnd, now_us, acked);
		cubic_update_curve(ca, cwnd, now_us);
	}
	if (tcp_friendliness)
		cubic_update_w_est(ca, cwnd);
	ca->cnt = max(ca->cnt, CUBIC_MIN_CNT);
}

static void hystart_start_round(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *ca = inet_csk_ca(sk);

	ca->round_start_us = tp->tcp_mstamp;
	ca->train_end_us = tp->tcp_mstamp;
	ca->round_end_seq = tp->snd_nxt;
	ca->round_rtt_us = ~0U;
	ca->round_samples = 0;
}

static void hystart_leave(struct sock *sk, enum hystart_exit why)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *ca = inet_csk_ca(sk);

	if (ca->hystart_exit == HYSTART_SEARCHING)
		ca->hystart_exit = why;
	tp->snd_ssthresh = tp->snd_cwnd;
}

/*
 * How long a train may be although the path is not full: four of the largest TSO bursts at the
 * pacing rate (which slow start doubles), 1 ms at most.
 */
static u32 hystart_burst_us(const struct sock *sk)
{
	u64 rate = sk->sk_pacing_rate;

	if (!rate)
		return 0;
	return min((u64)sk->sk_gso_max_size * 4 * USEC_PER_SEC / rate, USEC_PER_MSEC);
}

/* Packets left as one train; as long as the path it fills the path. */
static void hystart_check_ack_train(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *ca = inet_csk_ca(sk);
	u64 now_us = tp->tcp_mstamp;
	u32 limit_us;

	if (now_us - ca->train_end_us > hystart_ack_delta_us)
		return;
	ca->train_end_us = now_us;

	limit_us = ca->min_rtt_us + hystart_burst_us(sk);
	/* Not stretched by pacing, half the round trip is the one-way path. */
	if (sk->sk_pacing_status == SK_PACING_NONE)
		limit_us >>= 1;
	if (now_us - ca->round_start_us > limit_us)
		hystart_leave(sk, HYSTART_BY_ACK_TRAIN);
}

/* Has the RTT risen by an eighth, at least 4 and at most 16 ms, in all of 8 samples? */
static void hystart_check_delay(struct sock *sk, u32 rtt_us)
{
	struct cubic *ca = inet_csk_ca(sk);
	u32 rise_us = clamp(ca->min_rtt_us >> 3, HYSTART_DELAY_MIN_US, HYSTART_DELAY_MAX_US);

	ca->round_rtt_us = min(ca->round_rtt_us, rtt_us);
	if (ca->round_samples < HYSTART_MIN_SAMPLES)
		ca->round_samples++;
	else if (ca->round_rtt_us > ca->min_rtt_us + rise_us)
		hystart_leave(sk, HYSTART_BY_DELAY);
}

static void hystart_update(struct sock *sk, u32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct cubic *ca = inet_csk_ca(sk);

	if (after(tp->snd_una, ca->round_end_seq))
		hystart_start_round(sk);
	if (tp->snd_cwnd < hystart_low_window)
		return;
	if (hystart_detect & HYSTART_ACK_TRAIN)
		hystart_check_ack_train(sk);
	if (hystart_detect & HYSTART_DELAY)
		hystart_check_delay(sk, rtt_us);
}

/* Forget everything learned so far: at the start and after an RTO (§4.8). */
static void cubic_reset(struct sock *sk)
{
	struct cubic *ca = inet_csk_ca(sk);

	ca->epoch_start_us = 0;
	ca->updated_us = 0;
	ca->w_max = 0;
	ca->origin = 0;
	ca->k = 0;
	ca->target = 0;
	ca->cnt = 0;
	ca->updated_cwnd = 0;
	ca->w_est = 0;
	ca->w_est_acked = 0;
	ca->w_est_scale = cubic_w_est_scale();
	ca->min_rtt_us = 0;
	ca->hystart_exit = HYSTART_SEARCHING;
	hystart_start_round(sk);
}

SEC("struct_ops")
void BPF_PROG(cubic_init, struct sock *sk)
{
	cubic_reset(sk);
	if (!hystart && initial_ssthresh)
		tcp_sk(sk)->snd_ssthresh = initial_ssthresh;
}

/*
 * RFC 8511 §3: whether marks are all that this reduction answers. When ssthresh() is called the state is
 * still the one before, but what was declared lost is counted, and so are the marks.
 */
static bool cubic_marked_only(struct cubic *ca, const struct tcp_sock *tp)
{
	bool is_marked = tp->delivered_ce != ca->reduced_ce;

	ca->reduced_ce = tp->delivered_ce;
	return is_marked && !tp->lost_out;
}

SEC("struct_ops")
u32 BPF_PROG(cubic_ssthresh, struct sock *sk)
{
	struct cubic *ca = inet_csk_ca(sk);
	u64 cwnd = tcp_sk(sk)->snd_cwnd;
	u32 kept = abe && cubic_marked_only(ca, tcp_sk(sk)) ? beta_ecn : beta;

	ca->epoch_start_us = 0;
	/* Below the last w_max: others need room, so aim lower than the point of loss. */
	if (fast_convergence && cwnd < ca->w_max)
		ca->w_max = cwnd * (CUBIC_BETA_UNIT + beta) / (2 * CUBIC_BETA_UNIT);
	else
		ca->w_max = cwnd;
	return max(cwnd * kept / CUBIC_BETA_UNIT, 2ULL);
}

SEC("struct_ops")
void BPF_PROG(cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct cubic *ca = inet_csk_ca(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	cubic_update_cnt(sk, acked);
	tcp_cong_avoid_ai(tp, ca->cnt, acked);
}

SEC("struct_ops")
void BPF_PROG(cubic_set_state, struct sock *sk, u8 new_state)
{
	if (new_state == TCP_CA_Loss)
		cubic_reset(sk);
}

/* While nothing was in flight the curve must not have moved on: shift its start (§4.2). */
SEC("struct_ops")
void BPF_PROG(cubic_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *ca = inet_csk_ca(sk);
	u64 idle_us;

	if (event != CA_EVENT_TX_START || !ca->epoch_start_us)
		return;
	idle_us = tcp_stamp_us_delta(tp->tcp_mstamp, tp->delivered_mstamp);
	ca->epoch_start_us = min(ca->epoch_start_us + idle_us, tp->tcp_mstamp);
}

SEC("struct_ops")
void BPF_PROG(cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *ca = inet_csk_ca(sk);
	u32 rtt_us;

	if (sample->rtt_us < 0)
		return;
	/* For a second after a reduction RTTs still reflect the recovery, not the path. */
	if (ca->epoch_start_us &&
	    tcp_stamp_us_delta(tp->tcp_mstamp, ca->epoch_start_us) < USEC_PER_SEC)
		return;

	rtt_us = max((u32)sample->rtt_us, 1U);
	if (!ca->min_rtt_us || rtt_us < ca->min_rtt_us)
		ca->min_rtt_us = rtt_us;
	if (hystart && ca->hystart_exit == HYSTART_SEARCHING && tcp_in_slow_start(tp))
		hystart_update(sk, rtt_us);
}

SEC("struct_ops")
u32 BPF_PROG(cubic_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops cubic = {
	.init		= (void *)cubic_init,
	.ssthresh	= (void *)cubic_ssthresh,
	.cong_avoid	= (void *)cubic_cong_avoid,
	.set_state	= (void *)cubic_set_state,
	.cwnd_event	= (void *)cubic_cwnd_event,
	.pkts_acked	= (void *)cubic_pkts_acked,
	.undo_cwnd	= (void *)cubic_undo_cwnd,
	.name		= "cubic",
};
