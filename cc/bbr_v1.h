/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machinery of BBR version 1 that bbr.bpf.c and its variants (l3dr.bpf.c, bbr_fca.bpf.c) share:
 * parameters, state, time series, path model, state machine, pacing, cwnd, and the ops that are the
 * same in all. bbr.bpf.c's header comment explains it and names the sources.
 *
 * A file that includes it after the other headers has its own
 *
 *	bbr_update_bw()		what a valid delivery-rate sample does to the bandwidth estimate
 *	bbr_phase_is_over()	when the gain cycle moves on
 *	init, cong_control	of bbr_start(), bbr_update_model() and bbr_apply_model()
 *	struct tcp_congestion_ops
 */
#ifndef __BBR_V1_H__
#define __BBR_V1_H__

#define BW_SCALE	24		/* bw in packets per µs << 24: 715 bit/s .. 2.9 Tbit/s */
#define BW_UNIT		(1ULL << BW_SCALE)
#define GAIN_SCALE	8		/* gains and ratios are in 1/256 */
#define GAIN_UNIT	(1U << GAIN_SCALE)
#define CYCLE_LEN	8U		/* phases of PROBE_BW's gain cycle: up, down, 6 cruising */
#define NO_RTT		(~0U)		/* min_rtt_us before the first sample */
#define TSO_MAX_BYTES	65215U		/* largest TSO burst: 64 kB less one and the headers */
#define TSO_MAX_SEGS	127U
#define ACK_EPOCH_MAX	((1U << 20) - 1) /* largest value of ack_epoch_acked's 20 bits */

/* A variant's default may be another. */
#ifndef PACING_MARGIN_PCT
#define PACING_MARGIN_PCT	1
#endif

enum bbr_mode {
	BBR_STARTUP,	/* double bw every round until the pipe is full */
	BBR_DRAIN,	/* drain the queue that STARTUP made */
	BBR_PROBE_BW,	/* cruise, and probe for more every eighth phase */
	BBR_PROBE_RTT,	/* empty the queue to measure the path's RTT */
};

enum bbr_phase {
	PHASE_UP,	/* probe_bw_up_gain; raise inflight to that many BDPs */
	PHASE_DOWN,	/* probe_bw_down_gain; drain what PHASE_UP queued */
	PHASE_CRUISE,	/* 1; to the end of the cycle */
};

/* Source of the defaults: tcp_bbr.c's constants (Linux 6.12). */
PARAM(u32, high_gain, 739, 256, 2047, "/256",
      "STARTUP's gain: 2/ln2 = 2.885, bw doubles per round");
PARAM(u32, drain_gain, 88, 1, 256, "/256", "DRAIN's pacing gain: ln2/2");
PARAM(u32, cwnd_gain, 512, 256, 2047, "/256",
      "BDPs that cwnd allows in PROBE_BW: room for late ACKs");
PARAM(u32, probe_bw_up_gain, 320, 256, 2047, "/256",
      "PROBE_BW's pacing gain when it probes: 5/4");
PARAM(u32, probe_bw_down_gain, 192, 1, 256, "/256", "PROBE_BW's pacing gain after that: 3/4");
PARAM(u32, bw_window_rounds, 10, 1, 1000, "RTTs",
      "window of the bandwidth filter: cycle of 8 and 2");
PARAM(u32, min_rtt_window_ms, 10000, 1, 86400000, "ms", "window of the minimum-RTT filter");
PARAM(u32, min_rtt_tie_renews, 0, 0, 1, "",
      "a sample equal to min_rtt renews it, as before Linux 5.10 (1b9e2a8c99a5)");
PARAM(u32, probe_rtt_ms, 200, 0, 60000, "ms",
      "time at cwnd_min_target in PROBE_RTT; 0: never probe");
PARAM(u32, cwnd_min_target, 4, 1, 1000, "pkts",
      "smallest cwnd: two flights of two, for delayed ACKs");
PARAM(u32, pacing_margin_pct, PACING_MARGIN_PCT, 0, 99, "%",
      "pace this much below bw, to let queues drain");
PARAM(u32, min_tso_rate_bps, 1200000, 0, 1000000000, "bit/s",
      "below it bursts may be single segments");
PARAM(u32, full_bw_thresh, 320, 257, 2047, "/256",
      "growth of bw that says the pipe is not full: 5/4");
PARAM(u32, full_bw_count, 3, 1, 15, "RTTs", "rounds without such growth that say it is full");
PARAM(u32, lt_bw_enable, 1, 0, 1, "", "look for a token-bucket policer (long-term bw)");
PARAM(u32, lt_intvl_min_rounds, 4, 1, 31, "RTTs",
      "shortest policer sampling interval; longest: 4 times");
PARAM(u32, lt_loss_thresh, 50, 0, 256, "/256", "lost/delivered that may be a policer: 20 %");
PARAM(u32, lt_bw_ratio, 32, 0, 256, "/256",
      "intervals agree if their bw differs by no more: 1/8");
PARAM(u32, lt_bw_diff_bps, 4000, 0, 1000000000, "bit/s", "... or by no more than this");
PARAM(u32, lt_bw_max_rounds, 48, 1, 127, "RTTs", "how long a policer's rate is believed");
PARAM(u32, extra_acked_gain, 256, 0, 2047, "/256",
      "share of ACK aggregation added to cwnd; 0: none");
PARAM(u32, extra_acked_window_rounds, 5, 1, 31, "RTTs", "each of aggregation's two max windows");
PARAM(u32, extra_acked_max_ms, 100, 0, 10000, "ms", "aggregation is at most bw times this");

/*
 * What BBR did before Linux changed it; 0 is Linux 6.12's. docs/bbr.md has the sets that make the
 * BBR of 4.12 and of 4.15.
 */
PARAM(u32, unpaced, 0, 0, 1, "", "ask for no pacing, as before Linux 4.13: only fq paced");
PARAM(u32, rate_header_bytes, 0, 0, 256, "bytes",
      "the pacing rate counts these too per packet; before Linux 4.19: 52, the MTU's");
PARAM(u32, timer_burst_bytes, 0, 0, 256, "bytes",
      "the pacer charges these too per burst; TCP's own in Linux 4.13 to 4.19: 32, a TCP header");
PARAM(u32, timer_packet_bytes, 0, 0, 256, "bytes",
      "... and these per packet; fq before Linux 4.20: 66, all headers");
PARAM(u32, cut_after_startup, 0, 0, 1, "",
      "the pacing rate may fall outside STARTUP, as before Linux 4.13; 0: once the pipe was full");
PARAM(u32, first_rtt_ignored, 0, 0, 1, "",
      "the first RTT leaves the initial pacing rate alone, as before Linux 4.13");
PARAM(u32, undo_keeps_model, 0, 0, 1, "",
      "an undo resets neither full_bw nor long-term bw, as before Linux 4.15");
PARAM(u32, delayed_ack_renews, 0, 0, 1, "",
      "a delayed ACK's RTT renews an expired min_rtt, as before Linux 4.16");
PARAM(u32, lt_bw_cycles, 0, 0, 1, "",
      "gains cycle at a policer's rate too, as before Linux 4.16");
PARAM(u32, any_ack_ends_idle, 0, 0, 1, "",
      "an ACK of nothing new ends the restart from idle too, as before Linux 4.17");
PARAM(u32, tso_goal_of_device, 0, 0, 1, "",
      "the burst budget obeys the device's largest burst, as before Linux 4.17");
PARAM(u32, no_probe_budget, 0, 0, 1, "",
      "cwnd has no 2 packets more in the probing phase, as before Linux 4.18");
PARAM(u32, probe_rtt_needs_acked, 0, 0, 1, "",
      "PROBE_RTT cuts and restores cwnd on ACKs of data only, as before Linux 4.19");
PARAM(u32, inflight_at_ack, 0, 0, 1, "",
      "inflight is that of the ACK, not of the next departure, as before Linux 4.20");

struct bbr {
	u64	cycle_mstamp;		/* start of this phase of the gain cycle; [µs] */
	u64	ack_epoch_mstamp;	/* start of the ACK aggregation epoch; [µs] */
	struct minmax bw;		/* max filter over rounds; [packets/µs << 24] */
	u32	rtt_cnt;		/* rounds so far, the filter's time */
	u32	next_rtt_delivered;	/* the round ends when a packet sent after this is acked */
	u32	min_rtt_us;
	u32	min_rtt_stamp;		/* when min_rtt_us was seen; [ms] */
	u32	probe_rtt_done_stamp;	/* PROBE_RTT ends after this; 0: still draining; [ms] */
	u32	prior_cwnd;		/* to restore after recovery or PROBE_RTT; [pkts] */
	u32	full_bw;		/* bw at the last sign of growth; [packets/µs << 24] */
	u32	lt_bw;			/* long-term bw, a policer's rate; [packets/µs << 24] */
	u32	lt_last_delivered;	/* at the start of the interval: tp->delivered */
	u32	lt_last_lost;		/* tp->lost */
	u32	lt_last_stamp;		/* tp->delivered_mstamp; [ms] */
	u16	extra_acked;		/* most acked beyond bw in this window; [pkts] */
	u16	extra_acked_prev;	/* ... in the window before; [pkts] */
	u16	pacing_gain;		/* [1/256] */
	u16	cwnd_gain;		/* [1/256] */
	u8	mode;			/* enum bbr_mode */
	u8	cycle_idx;		/* phase of the gain cycle, enum bbr_phase */
	u8	full_bw_reached;	/* the pipe has been filled */
	u8	lt_use_bw;		/* a policer is assumed: lt_bw instead of bw */
	u32	ack_epoch_acked:20,	/* acked in the aggregation epoch; [pkts] */
		extra_acked_win_rtts:5,	/* age of the current window; [rounds] */
		full_bw_cnt:4,		/* rounds without growth */
		has_seen_rtt:1,
		lt_is_sampling:1;	/* since the first loss */
	u32	lt_rtt_cnt:7,		/* age of the interval, or of lt_use_bw; [rounds] */
		prev_ca_state:3,	/* enum tcp_ca_state at the last ACK */
		packet_conservation:1,	/* first round of recovery */
		round_start:1,		/* this ACK starts a round */
		idle_restart:1,		/* no ACK yet since sending resumed */
		probe_rtt_round_done:1,	/* a round at the smallest cwnd is over */
		restore_cwnd:1,		/* to prior_cwnd, at the next ACK of data */
		lt_unity:1;		/* the phase in which lt_use_bw began */
};
CA_PRIV(struct bbr);

SERIES_STATE(struct bbr, mode, "mode", "startup,drain,probe_bw,probe_rtt", "state machine");
SERIES_SCALED(struct bbr, bw.s[0].v, "bw_bps", "bit/s", 8000000, 1 << BW_SCALE, PER_MSS,
	      "bandwidth estimate, in BBR the max delivery rate of 10 rounds");
SERIES(struct bbr, min_rtt_us, "min_rtt_us", "µs", "minimum RTT of 10 s");
SERIES(struct bbr, pacing_gain, "pacing_gain", "/256", "pacing rate over bandwidth");
SERIES(struct bbr, cwnd_gain, "cwnd_gain", "/256", "cwnd over BDP");
SERIES(struct bbr, cycle_idx, "cycle_phase", "",
       "phase of PROBE_BW: 0 probes, 1 drains, 2-7 cruise");
SERIES_STATE(struct bbr, full_bw_reached, "full_bw_reached", "no,yes", "STARTUP filled the pipe");
SERIES_STATE(struct bbr, lt_use_bw, "lt_use_bw", "no,yes",
       "a policer's rate is used as bandwidth");
SERIES_SCALED(struct bbr, lt_bw, "lt_bw_bps", "bit/s", 8000000, 1 << BW_SCALE, PER_MSS,
	      "long-term bandwidth: a policer's rate");
SERIES(struct bbr, prior_cwnd, "prior_cwnd_pkts", "pkts", "cwnd to restore after recovery");
SERIES(struct bbr, rtt_cnt, "round", "", "packet-timed round trips so far");

/* The including file's: a valid sample. bbr_max_bw() is the estimate; ca->bw holds it. */
static void bbr_update_bw(struct sock *sk, const struct rate_sample *rs);

/* The including file's: is this phase of the gain cycle over? */
static bool bbr_phase_is_over(const struct sock *sk, const struct rate_sample *rs);

/* `packets` per `us` as a bandwidth. */
static u32 bbr_rate(u32 packets, u64 us)
{
	u64 bw = packets * BW_UNIT / max(us, 1ULL);

	return min(bw, (u64)~0U);
}

/* Packets that arrive at `bw` in `us`. */
static u64 bbr_packets(u32 bw, u32 us)
{
	return ((u64)bw * us) >> BW_SCALE;
}

/* Bytes per second; no overflow to 2.9 Tbit/s at a gain of 2.89. */
static u64 bbr_bytes_per_sec(const struct tcp_sock *tp, u32 bw, u32 gain)
{
	u64 rate = (u64)bw * (tp->mss_cache + rate_header_bytes) * gain >> GAIN_SCALE;

	return rate * (USEC_PER_SEC / 100 * (100 - min(pacing_margin_pct, 99U))) >> BW_SCALE;
}

static u32 bbr_now_ms(const struct tcp_sock *tp)
{
	return tp->tcp_mstamp / USEC_PER_MSEC;
}

static u32 bbr_max_bw(const struct bbr *ca)
{
	return minmax_get(&ca->bw);
}

static u32 bbr_bw(const struct bbr *ca)
{
	return ca->lt_use_bw ? ca->lt_bw : bbr_max_bw(ca);
}

/* gain * bw * min_rtt, rounded up so that inflight and bw do not shrink each other; [pkts] */
static u32 bbr_bdp(const struct bbr *ca, u32 bw, u32 gain)
{
	u64 bdp;

	/* Everything acked so far was retransmitted: stay at something safe. */
	if (ca->min_rtt_us == NO_RTT)
		return TCP_INIT_CWND;
	/* bw below 2^26 (4 packets/µs), min_rtt below 2^27 (134 s), gain below 2^11 */
	bdp = (u64)bw * ca->min_rtt_us * gain >> GAIN_SCALE;
	return (bdp + BW_UNIT - 1) >> BW_SCALE;
}

static u32 bbr_tso_min(const struct sock *sk)
{
	return sk->sk_pacing_rate < min_tso_rate_bps >> 3 ? 1 : 2;
}

/* Segments TCP sends in one burst at the current pacing rate. */
static u32 bbr_tso_goal(const struct sock *sk)
{
	u64 bytes = (u64)sk->sk_pacing_rate >> (sk->sk_pacing_shift & 31);
	u32 segs = min(bytes, (u64)TSO_MAX_BYTES) / max(tcp_sk(sk)->mss_cache, 1U);

	segs = min(max(segs, bbr_tso_min(sk)), TSO_MAX_SEGS);
	if (tso_goal_of_device)
		segs = min(segs, max((u32)sk->sk_gso_max_segs, 1U));
	return segs;
}

/*
 * A pacer that charges headers takes that much longer for a burst. TCP's now charges the payload,
 * so the rate falls instead. A rate is below 2^41, a burst below 2^18 bytes.
 */
static u64 bbr_charge_headers(const struct sock *sk, u64 rate)
{
	u32 segs, payload, charged;

	if (!timer_burst_bytes && !timer_packet_bytes)
		return rate;
	segs = min(bbr_tso_goal(sk), max((u32)sk->sk_gso_max_segs, 1U));
	payload = segs * tcp_sk(sk)->mss_cache;
	charged = payload + segs * timer_packet_bytes + timer_burst_bytes;
	return rate * payload / max(charged, 1U);
}

/*
 * On top of a target, three bursts: in the sender's queue, in its NIC, and waiting at the
 * receiver for an ACK. Even, for ACKs of two. And two to probe with where a BDP is tiny.
 */
static u32 bbr_add_burst_budget(const struct sock *sk, u32 target)
{
	const struct bbr *ca = inet_csk_ca(sk);

	target += 3 * bbr_tso_goal(sk);
	target = (target + 1) & ~1U;
	if (ca->mode == BBR_PROBE_BW && ca->cycle_idx == PHASE_UP && !no_probe_budget)
		target += 2;
	return target;
}

static u32 bbr_target_inflight(const struct sock *sk, u32 bw, u32 gain)
{
	return bbr_add_burst_budget(sk, bbr_bdp(inet_csk_ca(sk), bw, gain));
}

/*
 * What will be in the network when the pacer sends the next burst (the earliest departure time):
 * less what arrives until then; plus that burst, if the question is whether inflight has risen
 * enough.
 */
static u32 bbr_inflight_at_edt(const struct sock *sk, u32 inflight)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct bbr *ca = inet_csk_ca(sk);
	u64 now_ns = tp->tcp_clock_cache;
	u64 wait_us = tp->tcp_wstamp_ns > now_ns ? (tp->tcp_wstamp_ns - now_ns) / NSEC_PER_USEC : 0;
	u64 arrived = bbr_packets(bbr_bw(ca), min(wait_us, (u64)~0U));

	if (inflight_at_ack)
		return inflight;
	if (ca->pacing_gain > GAIN_UNIT)
		inflight += bbr_tso_goal(sk);
	return inflight > arrived ? inflight - arrived : 0;
}

/* Before bw is known: high_gain * cwnd / srtt, or per 1 ms before srtt is known. */
static void bbr_init_pacing_rate(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	u32 rtt_us = USEC_PER_MSEC;
	u64 rate;

	if (tp->srtt_us) {
		rtt_us = max(tp->srtt_us >> 3, 1U);
		ca->has_seen_rtt = 1;
	}
	rate = bbr_bytes_per_sec(tp, bbr_rate(tp->snd_cwnd, rtt_us), high_gain);
	sk->sk_pacing_rate = min(bbr_charge_headers(sk, rate), (u64)sk->sk_max_pacing_rate);
}

/* Until the pipe is full the rate only rises: early samples of bw are too low. */
static void bbr_set_pacing_rate(struct sock *sk, u32 bw, u32 gain)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct bbr *ca = inet_csk_ca(sk);
	u64 rate = bbr_charge_headers(sk, bbr_bytes_per_sec(tp, bw, gain));
	bool may_fall = cut_after_startup ? ca->mode != BBR_STARTUP : ca->full_bw_reached;

	rate = min(rate, (u64)sk->sk_max_pacing_rate);
	if (!ca->has_seen_rtt && tp->srtt_us && !first_rtt_ignored)
		bbr_init_pacing_rate(sk);
	if (may_fall || rate > sk->sk_pacing_rate)
		sk->sk_pacing_rate = rate;
}

/* Remember a cwnd that is not itself the result of recovery or PROBE_RTT. */
static void bbr_save_cwnd(struct sock *sk)
{
	struct bbr *ca = inet_csk_ca(sk);
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	if (ca->prev_ca_state < TCP_CA_Recovery && ca->mode != BBR_PROBE_RTT)
		ca->prior_cwnd = cwnd;
	else
		ca->prior_cwnd = max(ca->prior_cwnd, cwnd);
}

static void bbr_enter_phase(struct sock *sk, u32 phase)
{
	struct bbr *ca = inet_csk_ca(sk);

	ca->cycle_idx = phase % CYCLE_LEN;
	ca->cycle_mstamp = tcp_sk(sk)->delivered_mstamp;
	ca->lt_unity = 0;
}

/* Start anywhere in the cycle except where it drains, so that flows do not probe in step. */
static void bbr_enter_probe_bw(struct sock *sk)
{
	struct bbr *ca = inet_csk_ca(sk);
	u32 phase = (u64)bpf_get_prandom_u32() * (CYCLE_LEN - 1) >> 32;

	ca->mode = BBR_PROBE_BW;
	bbr_enter_phase(sk, phase < PHASE_DOWN ? phase : phase + 1);
}

static void bbr_enter_probe_rtt(struct sock *sk)
{
	struct bbr *ca = inet_csk_ca(sk);

	/* The mode first, as Linux: an older prior_cwnd survives if it is larger. */
	ca->mode = BBR_PROBE_RTT;
	bbr_save_cwnd(sk);
	ca->probe_rtt_done_stamp = 0;
}

static void bbr_leave_probe_rtt(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);

	ca->min_rtt_stamp = bbr_now_ms(tp);
	if (probe_rtt_needs_acked)
		ca->restore_cwnd = 1;
	else
		tp->snd_cwnd = max(tp->snd_cwnd, ca->prior_cwnd);
	if (ca->full_bw_reached)
		bbr_enter_probe_bw(sk);
	else
		ca->mode = BBR_STARTUP;
}

static void bbr_start_lt_interval(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);

	ca->lt_last_stamp = tp->delivered_mstamp / USEC_PER_MSEC;
	ca->lt_last_delivered = tp->delivered;
	ca->lt_last_lost = tp->lost;
	ca->lt_rtt_cnt = 0;
}

static void bbr_reset_lt_bw(struct sock *sk)
{
	struct bbr *ca = inet_csk_ca(sk);

	ca->lt_bw = 0;
	ca->lt_use_bw = 0;
	ca->lt_is_sampling = 0;
	bbr_start_lt_interval(sk);
}

/* An interval with a policer's loss rate is over; two of the same bw make a policer. */
static void bbr_finish_lt_interval(struct sock *sk, u32 bw)
{
	struct bbr *ca = inet_csk_ca(sk);
	u32 diff = bw > ca->lt_bw ? bw - ca->lt_bw : ca->lt_bw - bw;

	if (ca->lt_bw &&
	    ((u64)diff << GAIN_SCALE <= (u64)lt_bw_ratio * ca->lt_bw ||
	     bbr_bytes_per_sec(tcp_sk(sk), diff, GAIN_UNIT) <= lt_bw_diff_bps >> 3)) {
		ca->lt_bw = ((u64)bw + ca->lt_bw) >> 1;
		ca->lt_use_bw = 1;
		ca->lt_unity = 1;
		ca->lt_rtt_cnt = 0;
		ca->pacing_gain = GAIN_UNIT;
		return;
	}
	ca->lt_bw = bw;
	bbr_start_lt_interval(sk);
}

/* Was this interval, from loss to loss, lossy enough? Then it has a bandwidth. */
static void bbr_check_lt_interval(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	u32 lost = tp->lost - ca->lt_last_lost;
	u32 delivered = tp->delivered - ca->lt_last_delivered;
	u32 ms = (u32)(tp->delivered_mstamp / USEC_PER_MSEC) - ca->lt_last_stamp;

	if (!delivered || (u64)lost << GAIN_SCALE < (u64)lt_loss_thresh * delivered)
		return;
	if ((s32)ms < 1)
		return;
	/* Older than an hour: it no longer applies. */
	if (ms >= ~0U / USEC_PER_MSEC) {
		bbr_reset_lt_bw(sk);
		return;
	}
	bbr_finish_lt_interval(sk, bbr_rate(delivered, ms * USEC_PER_MSEC));
}

/*
 * Long-term bandwidth: a policer's bucket lets bursts through, so the max filter overestimates and
 * a fifth is lost. Intervals start and end with a loss, when the bucket is empty, and then the
 * average rate is the policer's.
 */
static void bbr_update_lt_bw(struct sock *sk, bool losses, bool is_app_limited)
{
	struct bbr *ca = inet_csk_ca(sk);

	if (!lt_bw_enable)
		return;
	if (ca->lt_use_bw) {
		/* The policer may be gone: check again after a while. */
		if (ca->mode == BBR_PROBE_BW && ca->round_start &&
		    ++ca->lt_rtt_cnt >= lt_bw_max_rounds) {
			bbr_reset_lt_bw(sk);
			bbr_enter_probe_bw(sk);
		}
		return;
	}
	if (!ca->lt_is_sampling) {
		if (!losses)
			return;
		bbr_start_lt_interval(sk);
		ca->lt_is_sampling = 1;
	}
	/* The average of an application that pauses does not measure the path. */
	if (is_app_limited) {
		bbr_reset_lt_bw(sk);
		return;
	}
	if (ca->round_start)
		ca->lt_rtt_cnt++;
	if (ca->lt_rtt_cnt < lt_intvl_min_rounds)
		return;
	if (ca->lt_rtt_cnt > 4 * lt_intvl_min_rounds)
		bbr_reset_lt_bw(sk);
	else if (losses)
		bbr_check_lt_interval(sk);
}

/* A round ends when a packet is acked that was sent after the round began. */
static void bbr_update_round(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *ca = inet_csk_ca(sk);

	if (before(rs->prior_delivered, ca->next_rtt_delivered))
		return;
	ca->next_rtt_delivered = tcp_sk(sk)->delivered;
	ca->rtt_cnt++;
	ca->round_start = 1;
	ca->packet_conservation = 0;
}

/* Application-limited samples count only if they are not lower. */
static void bbr_update_max_bw(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *ca = inet_csk_ca(sk);
	u32 bw = bbr_rate(rs->delivered, rs->interval_us);

	if (!rs->is_app_limited || bw >= bbr_max_bw(ca))
		minmax_running_max(&ca->bw, bw_window_rounds, ca->rtt_cnt, bw);
}

/* Every few rounds a new window of extra_acked begins, and the one before last is dropped. */
static void bbr_rotate_extra_acked(struct bbr *ca)
{
	ca->extra_acked_win_rtts = min(ca->extra_acked_win_rtts + 1U, 31U);
	if (ca->extra_acked_win_rtts < extra_acked_window_rounds)
		return;
	ca->extra_acked_win_rtts = 0;
	ca->extra_acked_prev = ca->extra_acked;
	ca->extra_acked = 0;
}

/* How many more packets than bw explains do ACKs deliver at once? */
static void bbr_update_extra_acked(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	u64 expected, extra;
	u32 epoch_us, acked;

	if (!extra_acked_gain || !rs->acked_sacked)
		return;
	if (ca->round_start)
		bbr_rotate_extra_acked(ca);

	epoch_us = tcp_stamp_us_delta(tp->delivered_mstamp, ca->ack_epoch_mstamp);
	expected = bbr_packets(bbr_bw(ca), epoch_us);
	/* Slower than bw, or counted for too long: a new epoch. */
	if (ca->ack_epoch_acked <= expected ||
	    ca->ack_epoch_acked + rs->acked_sacked > ACK_EPOCH_MAX) {
		ca->ack_epoch_acked = 0;
		ca->ack_epoch_mstamp = tp->delivered_mstamp;
		expected = 0;
	}
	acked = min(ca->ack_epoch_acked + rs->acked_sacked, ACK_EPOCH_MAX);
	ca->ack_epoch_acked = acked;
	extra = min(acked - expected, (u64)min(tp->snd_cwnd, 0xffffU));
	ca->extra_acked = max((u32)extra, ca->extra_acked);
}

static bool bbr_phase_lasted(const struct sock *sk)
{
	const struct bbr *ca = inet_csk_ca(sk);
	u64 us = tcp_stamp_us_delta(tcp_sk(sk)->delivered_mstamp, ca->cycle_mstamp);

	return us > ca->min_rtt_us;
}

/* Has this phase of the gain cycle brought inflight to its target? */
static bool bbr_phase_is_done(const struct sock *sk, const struct rate_sample *rs)
{
	const struct bbr *ca = inet_csk_ca(sk);
	bool lasted = bbr_phase_lasted(sk);
	u32 inflight;

	if (ca->pacing_gain == GAIN_UNIT)
		return lasted;
	inflight = bbr_inflight_at_edt(sk, rs->prior_in_flight);
	/* Up, until inflight reaches the target, or the buffer proves too small for it. */
	if (ca->pacing_gain > GAIN_UNIT)
		return lasted &&
		       (rs->losses ||
			inflight >= bbr_target_inflight(sk, bbr_max_bw(ca), ca->pacing_gain));
	/* Down, until the queue is gone; longer would leave the link idle. */
	return lasted || inflight <= bbr_target_inflight(sk, bbr_max_bw(ca), GAIN_UNIT);
}

static void bbr_update_phase(struct sock *sk, const struct rate_sample *rs)
{
	const struct bbr *ca = inet_csk_ca(sk);

	if (ca->mode == BBR_PROBE_BW && bbr_phase_is_over(sk, rs))
		bbr_enter_phase(sk, ca->cycle_idx + 1);
}

/* The pipe is full when bw stops growing: once per round, if there was enough to send. */
static void bbr_check_full_bw(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *ca = inet_csk_ca(sk);
	u32 bw = bbr_max_bw(ca);

	if (ca->full_bw_reached || !ca->round_start || rs->is_app_limited)
		return;
	if (bw >= (u64)ca->full_bw * full_bw_thresh >> GAIN_SCALE) {
		ca->full_bw = bw;
		ca->full_bw_cnt = 0;
		return;
	}
	ca->full_bw_cnt++;
	ca->full_bw_reached = ca->full_bw_cnt >= full_bw_count;
}

static void bbr_check_drain(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);

	if (ca->mode == BBR_STARTUP && ca->full_bw_reached) {
		ca->mode = BBR_DRAIN;
		tp->snd_ssthresh = bbr_target_inflight(sk, bbr_max_bw(ca), GAIN_UNIT);
	}
	if (ca->mode == BBR_DRAIN &&
	    bbr_inflight_at_edt(sk, tcp_packets_in_flight(tp)) <=
	    bbr_target_inflight(sk, bbr_max_bw(ca), GAIN_UNIT))
		bbr_enter_probe_bw(sk);
}

/* A delayed ACK's RTT may lower min_rtt, but does not renew it when it has expired. */
static void bbr_update_min_rtt(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	u32 now_ms = bbr_now_ms(tp);
	bool expired = after(now_ms, ca->min_rtt_stamp + min_rtt_window_ms);

	if (rs->rtt_us >= 0 &&
	    ((u64)rs->rtt_us < (u64)ca->min_rtt_us + min_rtt_tie_renews ||
	     (expired && (!rs->is_ack_delayed || delayed_ack_renews)))) {
		ca->min_rtt_us = rs->rtt_us;
		ca->min_rtt_stamp = now_ms;
	}
	if (expired && probe_rtt_ms && !ca->idle_restart && ca->mode != BBR_PROBE_RTT)
		bbr_enter_probe_rtt(sk);
}

static void bbr_check_probe_rtt_done(struct sock *sk)
{
	const struct bbr *ca = inet_csk_ca(sk);

	if (ca->probe_rtt_done_stamp &&
	    after(bbr_now_ms(tcp_sk(sk)), ca->probe_rtt_done_stamp))
		bbr_leave_probe_rtt(sk);
}

/* First inflight must fall; then stay there for probe_rtt_ms and a round. */
static void bbr_update_probe_rtt(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	u32 inflight = tcp_packets_in_flight(tp);

	if (ca->mode != BBR_PROBE_RTT)
		return;
	/* Its low rates are not the path's: mark what is sent as application-limited. */
	tp->app_limited = max(tp->delivered + inflight, 1U);

	if (!ca->probe_rtt_done_stamp) {
		if (inflight > cwnd_min_target)
			return;
		ca->probe_rtt_done_stamp = max(bbr_now_ms(tp) + probe_rtt_ms, 1U);
		ca->probe_rtt_round_done = 0;
		ca->next_rtt_delivered = tp->delivered;
		return;
	}
	if (ca->round_start)
		ca->probe_rtt_round_done = 1;
	if (ca->probe_rtt_round_done)
		bbr_check_probe_rtt_done(sk);
}

static u32 bbr_phase_gain(const struct bbr *ca)
{
	if (ca->lt_use_bw && (!lt_bw_cycles || ca->lt_unity))
		return GAIN_UNIT;
	if (ca->cycle_idx >= PHASE_CRUISE)
		return GAIN_UNIT;
	return ca->cycle_idx == PHASE_UP ? probe_bw_up_gain : probe_bw_down_gain;
}

static void bbr_update_gains(struct bbr *ca)
{
	switch (ca->mode) {
	case BBR_STARTUP:
		ca->pacing_gain = high_gain;
		ca->cwnd_gain = high_gain;
		break;
	case BBR_DRAIN:
		ca->pacing_gain = drain_gain;
		ca->cwnd_gain = high_gain;	/* the pacer drains, not cwnd */
		break;
	case BBR_PROBE_BW:
		ca->pacing_gain = bbr_phase_gain(ca);
		ca->cwnd_gain = cwnd_gain;
		break;
	case BBR_PROBE_RTT:
		ca->pacing_gain = GAIN_UNIT;
		ca->cwnd_gain = GAIN_UNIT;
		break;
	}
}

/* Updates of the model by an ACK, in the order in which one step needs another's result. */
static void bbr_update_model(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *ca = inet_csk_ca(sk);

	ca->round_start = 0;
	if (rs->delivered >= 0 && rs->interval_us > 0) {	/* a valid sample */
		bbr_update_round(sk, rs);
		bbr_update_lt_bw(sk, rs->losses != 0, rs->is_app_limited);
		bbr_update_bw(sk, rs);
		bbr_update_extra_acked(sk, rs);
	}
	bbr_update_phase(sk, rs);
	bbr_check_full_bw(sk, rs);
	bbr_check_drain(sk);
	bbr_update_min_rtt(sk, rs);
	bbr_update_probe_rtt(sk);
	if (rs->delivered > 0 || any_ack_ends_idle)
		ca->idle_restart = 0;
	bbr_update_gains(ca);
}

/* Allowance to keep sending while waiting for the ACKs of an aggregate. */
static u32 bbr_aggregation_budget(const struct bbr *ca)
{
	u32 extra = max(ca->extra_acked, ca->extra_acked_prev);
	u64 most;

	if (!extra_acked_gain || !ca->full_bw_reached)
		return 0;
	most = bbr_packets(bbr_bw(ca), extra_acked_max_ms * USEC_PER_MSEC);
	return min((u64)extra * extra_acked_gain >> GAIN_SCALE, most);
}

/*
 * Recovery: packets lost leave cwnd at once. In its first round send a packet per packet acked;
 * then grow by what is acked, as always. After it the old cwnd is restored.
 */
static u32 bbr_recovery_cwnd(struct sock *sk, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;
	u32 conserved = tcp_packets_in_flight(tp) + rs->acked_sacked;
	u32 cwnd = tp->snd_cwnd;

	if (rs->losses > 0)
		cwnd = cwnd > (u32)rs->losses ? cwnd - rs->losses : 1;

	if (state == TCP_CA_Recovery && ca->prev_ca_state != TCP_CA_Recovery) {
		ca->packet_conservation = 1;
		ca->next_rtt_delivered = tp->delivered;
		cwnd = conserved;
	} else if (state < TCP_CA_Recovery && ca->prev_ca_state >= TCP_CA_Recovery) {
		ca->packet_conservation = 0;
		ca->restore_cwnd = 1;
	}
	ca->prev_ca_state = state;
	if (ca->restore_cwnd) {
		cwnd = max(cwnd, ca->prior_cwnd);
		ca->restore_cwnd = 0;
	}
	return ca->packet_conservation ? max(cwnd, conserved) : cwnd;
}

/* Towards the target by what is acked; down to it at once, but only when the pipe was full. */
static u32 bbr_target_cwnd(struct sock *sk, u32 cwnd, u32 acked, u32 bw)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct bbr *ca = inet_csk_ca(sk);
	u32 target = bbr_bdp(ca, bw, ca->cwnd_gain) + bbr_aggregation_budget(ca);

	target = bbr_add_burst_budget(sk, target);
	if (ca->full_bw_reached)
		cwnd = min(cwnd + acked, target);
	else if (cwnd < target || tp->delivered < TCP_INIT_CWND)
		cwnd += acked;
	return max(cwnd, cwnd_min_target);
}

static void bbr_set_cwnd(struct sock *sk, const struct rate_sample *rs, u32 bw)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct bbr *ca = inet_csk_ca(sk);
	u32 cwnd = tp->snd_cwnd;

	if (rs->acked_sacked) {
		cwnd = bbr_recovery_cwnd(sk, rs);
		if (!ca->packet_conservation)
			cwnd = bbr_target_cwnd(sk, cwnd, rs->acked_sacked, bw);
	}
	if (ca->mode == BBR_PROBE_RTT && (rs->acked_sacked || !probe_rtt_needs_acked))
		cwnd = min(cwnd, cwnd_min_target);
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
}

/* Pace at the estimate and bound inflight: call it from cong_control(), after the model. */
static void bbr_apply_model(struct sock *sk, const struct rate_sample *rs)
{
	const struct bbr *ca = inet_csk_ca(sk);
	u32 bw = bbr_bw(ca);

	bbr_set_pacing_rate(sk, bw, ca->pacing_gain);
	bbr_set_cwnd(sk, rs, bw);
}

/* A flow begins: call it from init(). */
static void bbr_start(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);

	ca->mode = BBR_STARTUP;
	ca->min_rtt_us = tcp_min_rtt(tp);
	ca->min_rtt_stamp = bbr_now_ms(tp);
	ca->probe_rtt_done_stamp = 0;
	ca->probe_rtt_round_done = 0;
	ca->idle_restart = 0;
	ca->rtt_cnt = 0;
	ca->next_rtt_delivered = 0;
	ca->round_start = 0;
	ca->prior_cwnd = 0;
	ca->prev_ca_state = TCP_CA_Open;
	ca->packet_conservation = 0;
	ca->full_bw_reached = 0;
	ca->full_bw = 0;
	ca->full_bw_cnt = 0;
	ca->cycle_idx = 0;
	ca->cycle_mstamp = 0;
	ca->restore_cwnd = 0;
	ca->lt_unity = 0;
	minmax_reset(&ca->bw, 0, 0);
	bbr_reset_lt_bw(sk);

	ca->ack_epoch_mstamp = tp->tcp_mstamp;
	ca->ack_epoch_acked = 0;
	ca->extra_acked_win_rtts = 0;
	ca->extra_acked = 0;
	ca->extra_acked_prev = 0;
	bbr_update_gains(ca);

	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	ca->has_seen_rtt = 0;
	bbr_init_pacing_rate(sk);
	if (!unpaced && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* Loss recovery begins. BBR's window does not depend on ssthresh. */
SEC("struct_ops")
u32 BPF_PROG(bbr_ssthresh, struct sock *sk)
{
	bbr_save_cwnd(sk);
	return tcp_sk(sk)->snd_ssthresh;
}

/* A timeout ends the round, counts as a loss for the policer detection, and resets full_bw. */
SEC("struct_ops")
void BPF_PROG(bbr_set_state, struct sock *sk, u8 new_state)
{
	struct bbr *ca = inet_csk_ca(sk);

	if (new_state != TCP_CA_Loss)
		return;
	ca->prev_ca_state = TCP_CA_Loss;
	ca->full_bw = 0;
	ca->round_start = 1;
	bbr_update_lt_bw(sk, true, false);
}

/* After an idle period bw is enough. */
SEC("struct_ops")
void BPF_PROG(bbr_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);

	if (event != CA_EVENT_TX_START || !tp->app_limited)
		return;
	ca->idle_restart = 1;
	ca->ack_epoch_mstamp = tp->tcp_mstamp;
	ca->ack_epoch_acked = 0;
	if (ca->mode == BBR_PROBE_BW)
		bbr_set_pacing_rate(sk, bbr_bw(ca), GAIN_UNIT);
	else if (ca->mode == BBR_PROBE_RTT && !probe_rtt_needs_acked)
		bbr_check_probe_rtt_done(sk);
}

SEC("struct_ops")
u32 BPF_PROG(bbr_min_tso_segs, struct sock *sk)
{
	return bbr_tso_min(sk);
}

/* The loss was spurious: undo its effects. cwnd is restored when recovery ends. */
SEC("struct_ops")
u32 BPF_PROG(bbr_undo_cwnd, struct sock *sk)
{
	struct bbr *ca = inet_csk_ca(sk);

	if (!undo_keeps_model) {
		ca->full_bw = 0;
		ca->full_bw_cnt = 0;
		bbr_reset_lt_bw(sk);
	}
	return tcp_sk(sk)->snd_cwnd;
}

/* Three cwnds of send buffer: inflight may double even in recovery. */
SEC("struct_ops")
u32 BPF_PROG(bbr_sndbuf_expand, struct sock *sk)
{
	return 3;
}

#endif /* __BBR_V1_H__ */
