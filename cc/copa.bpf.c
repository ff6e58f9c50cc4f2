// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copa: steers the rate to 1/(delta * queueing delay); against buffer-fillers it lowers delta.
 *
 *	d_q = RTT_standing - RTT_min		target rate = 1 / (delta d_q), in packets
 *	rate = cwnd / RTT_standing <= target:	cwnd += v acked / (delta cwnd), else -=
 *	v doubles while cwnd keeps its direction, and is 1 again when it turns
 *	pacing rate = 2 cwnd / RTT_min
 *
 *	              min RTT of the last 10 srtt > RTT_min + 10 % (max - RTT_min) + 100 us
 *	 +---------+ ----------------------------------------------> +-------------+ <- start,
 *	 | default | delta = 1/2                     1/delta by AIMD | competitive |    18 RTT_min
 *	 +---------+ <---------------------------------------------- +-------------+
 *	              otherwise: the queue was nearly empty
 *	any mode -> loss, when >= 10 % of a 2 RTT_min cycle was lost, as ccp_copa counts that
 *
 * The defaults are the Copa that most measurements ran: ccp_copa (2020-10-20), a user-space agent
 * that gets a report every RTT_min/2 and decides on reports that are >= srtt/2 apart; RTT_standing
 * is the smallest RTT since the last decision. The paper's Copa is a set of parameters
 * (docs/copa.md lists it). With both report intervals 0, every ACK decides.
 *
 * References: Arun, Balakrishnan, "Copa: practical delay-based congestion control for the
 * Internet" (NSDI 2018), section numbers below; ccp_copa and its CCP datapath by behaviour.
 *
 * Differences from ccp_copa (docs/copa.md has each with its reason):
 *  1. A decision acts at the ACK that closes its report, not after that (agent_delay_us).
 *  2. Nothing panics: where the agent would, velocity stays or the arithmetic is guarded.
 *  3. No pacing before the first RTT sample; the agent's first rate is 2000 bytes/s.
 *  4. A retransmission timeout is one report without loss, not two (rto_reports), and cwnd is then
 *     the stack's until the next ACK (rto_keeps_cwnd).
 *  5. The target has no factor 1460/1448; windows are packets with 20 fractional bits.
 *  6. cwnd stops at 2^22 packets, its change at 2^20 per RTT, 1/delta at 2^16.
 *  7. Intervals closer than srtt/4 share one slot of the detector, which has 128.
 * With loss_cut_pct, which neither ccp_copa nor the paper has, losses cut cwnd in every mode: where
 * the buffer is smaller than what Copa wants to queue, the delay cannot tell.
 * With drain_ms and compete_as_cubic, which neither has, flows drain the queue together, and next to
 * a buffer-filler the window is CUBIC's (docs/copa.md, "Many flows, and CUBIC").
 * Imitated although unintended: RTT_min is the lifetime's; loss mode mixes bytes and packets; ACKs
 * without a valid rate sample are skipped with their losses; 1/delta grows with each report.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "win_minmax.h"
#include "cubic_window.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define CWND_SHIFT	20		/* cwnd is in packets << 20: a step per ACK is a fraction */
#define CWND_MAX	(1ULL << 22)	/* pkts; 6 GB in flight */
#define INV_DELTA_SHIFT	10		/* 1/delta is in 1/1024: halving leaves fractions */
#define STEP_MAX	(1ULL << 20)	/* pkts per RTT: v / delta stops here */
#define RTT_MAX_US	(1L << 27)	/* 134 s, above TCP's largest RTO */
#define RTT_NONE_US	(~0U)		/* no sample in this interval yet */
#define PACING_MIN	2000ULL		/* bytes/s */
#define PACING_GAIN	2ULL		/* over cwnd / RTT_min (§2.1) */
#define EWMA_SHIFT	4		/* srtt moves by 1/16 of the difference; it is kept << 4 */
#define CUBIC_SHIFT	10		/* cwnd >> this is a window in cubic_window.h's 1/1024 packets */
#define OTHERS_US	100U		/* an RTT that falls by more fell by what others did: ccp_copa's margin */
#define INTERVALS	128		/* slots of the detector: 30 srtt at 4 per srtt */

enum copa_mode {
	COPA_DEFAULT,		/* delta is fixed, losses do not matter */
	COPA_COMPETITIVE,	/* 1/delta: +1 per report, halved on loss */
	COPA_LOSS,		/* delta doubles with every report of losses */
};

enum copa_direction {
	COPA_NONE,
	COPA_UP,
	COPA_DOWN,
};

/* When to decide, and on what. */
PARAM(u32, report_rtt_min_pct, 50, 0, 400, "% of RTT_min", "time between reports; 0: every ACK");
PARAM(u32, report_srtt_pct, 50, 0, 400, "% of srtt", "time between decisions; 0: every report");
PARAM(u32, rtt_min_window_ms, 0, 0, 600000, "ms", "RTT_min forgets older samples; 0: never");
PARAM(u32, rtt_min_known_us, 0, 0, 60000000, "µs",
      "RTT_min is known to be at most this, from flows before; 0: not known");
PARAM(u32, standing_window_pct, 0, 0, 400, "% of srtt",
      "RTT_standing is the minimum over this; 0: since the last decision");
PARAM(u32, default_inv_delta, 2, 1, 1000, "pkts", "1/delta in default mode, and its least value");

/* Default or competitive. */
PARAM(u32, mode_switching, 1, 0, 1, "", "compete with buffer-filling flows; 0: default mode only");
PARAM(u32, competitive_start_windows, 10, 0, 40, "2 RTT_min",
      "competitive mode until this many windows have begun; 0: default mode at once");
PARAM(u32, mode_window_rtts, 10, 1, 30, "srtt",
      "default mode if the queue was nearly empty in it");
PARAM(u32, mode_max_window_rtts, 10, 1, 30, "srtt",
      "the largest RTT in it is that of a full queue");
PARAM(u32, mode_max_of_minima, 1, 0, 1, "", "largest of the RTT_standing's; 0: of all RTT samples");
PARAM(u32, mode_threshold_pct, 10, 0, 100, "%", "nearly empty: this much of the largest queueing");
PARAM(u32, mode_margin_us, 100, 0, 100000, "µs", "nearly empty: plus this");

/* What time and losses do to 1/delta in competitive mode. */
PARAM(u32, inv_delta_per_rtt, 0, 0, 1, "", "raise 1/delta per srtt without loss; 0: per decision");
PARAM(u32, competitive_decrease_extra, 1, 0, 1, "pkts", "cwnd decreases with 1/delta plus this");
PARAM(u32, inv_delta_max, 65536, 1, 65536, "pkts", "1/delta stops here");
PARAM(u32, loss_cut_per_srtt, 0, 0, 1, "", "halve 1/delta once per srtt; 0: once per RTT_min");
PARAM(u32, loss_mode, 1, 0, 1, "", "have ccp_copa's loss mode");
PARAM(u32, rto_restart, 1, 0, 1, "", "an RTO restarts slow start at the initial window");
PARAM(u32, rto_halves_inv_delta, 0, 0, 1, "", "an RTO halves 1/delta; 0: it raises it as a report");

/* Velocity, window, pacing. */
PARAM(u32, velocity_check_rtts, 2, 1, 10, "RTTs", "time between looks at the direction");
PARAM(u32, velocity_delay_rtts, 3, 0, 20, "RTTs", "velocity doubles after this in one direction");
PARAM(u32, velocity_by_cwnd, 0, 0, 1, "", "direction is that of cwnd; 0: of most decisions");
PARAM(u32, velocity_max, 65535, 1, 1048576, "", "velocity stops here");
PARAM(u32, cwnd_min_pkts, 0, 0, 1000, "pkts", "least cwnd; 0: the initial window");
PARAM(u32, loss_cut_pct, 0, 0, 100, "%",
      "an srtt that loses more than this cuts cwnd by 3/10 and ends slow start; 0: none does");
PARAM(u32, pacing_on_standing, 0, 0, 1, "", "pace at 2 cwnd / RTT_standing; 0: 2 cwnd / RTT_min");

/* Ours: drains, which show RTT_min and whose queue it is; and CUBIC's window (docs/copa.md). */
PARAM(u32, drain_ms, 0, 0, 600000, "ms", "time between drains of the queue; 0: none, and none is joined");
PARAM(u32, drain_pct, 50, 10, 100, "%", "of what a flow has on the path itself, a drain leaves this");
PARAM(u32, compete_after_ms, 0, 0, 600000, "ms",
      "a flow competes at this age, and CUBIC's window begins when the queue was a filler's for so long");
PARAM(u32, compete_as_cubic, 0, 0, 1, "",
      "the window is CUBIC's after a loss while competing, or next to a filler");
PARAM(u32, filler_pct, 0, 0, 100000, "% of RTT_min",
      "a queue longer than this is a buffer-filler's; 0: only losses tell");
PARAM(u32, cubic_interval_max, 0, 0, 100, "",
      "CUBIC's w_max is that of the interval between losses, up to this times cwnd; 0: cwnd");
PARAM(u32, cubic_hold_ms, 0, 0, 600000, "ms",
      "CUBIC's window survives a nearly empty queue for this long after a loss");
PARAM(u32, look_ms, 0, 0, 600000, "ms",
      "time between drains while the window is CUBIC's, begun at a loss; 0: none");

/* The agent and its datapath in the kernel (docs/copa.md has the set that is ccp-kernel's). */
PARAM(u32, agent_delay_us, 0, 0, 1000000, "µs",
      "a decision acts at the first ACK that comes this long after its report; 0: at once");
PARAM(u32, rto_keeps_cwnd, 0, 0, 1, "",
      "an RTO leaves cwnd as it was until the agent has answered; 0: it is the stack's");
PARAM(u32, rto_reports, 1, 1, 2, "", "reports of an RTO: at it, and again at the ACK after it");
PARAM(u32, undo_doubles_ssthresh, 0, 0, 1, "",
      "ssthresh is cwnd/2, and an undo raises cwnd to twice that; 0: neither");

struct copa_interval {
	u64	time_us;		/* of its last decision */
	u32	min_us;			/* RTT_standing; 0: never used */
	u32	max_us;			/* RTT_standing, or of all samples */
};

struct copa {
	u64	cwnd;			/* [pkts << CWND_SHIFT] */
	u64	checked_cwnd;		/* cwnd at the last velocity check */
	u64	report_us;		/* last report */
	u64	decision_us;		/* last report that decided */
	u64	check_us;		/* last velocity check */
	u64	turn_us;		/* when velocity was last reset */
	u64	raise_us;		/* when 1/delta was last raised, or losses seen */
	u64	cut_us;			/* when 1/delta was last halved in competitive mode */
	u64	cycle_us;		/* start of the loss-rate cycle */
	u64	start_window_us;	/* start of the last of start_windows */
	u64	interval_us;		/* start of the detector's open interval */
	u64	in_force;		/* cwnd that acts; [pkts << CWND_SHIFT] */
	u64	answer_us;		/* when cwnd is to act, from then on; 0: it does */

	u32	rtt_min_us;		/* RTT_min; 0: no sample yet */
	u32	rtt_standing_us;	/* RTT_standing at the last decision */
	u32	report_srtt;		/* of the RTTs at reports; [µs << EWMA_SHIFT] */
	u32	srtt;			/* of the decisions' RTTs; [µs << EWMA_SHIFT] */
	u32	sample_min_us;		/* smallest RTT since the last decision */
	u32	sample_max_us;		/* largest RTT since the last decision */
	u32	delivered;		/* cumulatively acknowledged by then; [pkts] */

	u32	inv_delta;		/* 1/delta; [pkts << INV_DELTA_SHIFT] */
	u32	delta_ppm;		/* delta, for the series; [1e-6 / pkts] */
	u32	velocity;		/* v */
	s32	net_direction;		/* decisions up minus down since the last check */
	u32	cycle_lost;		/* in this loss-rate cycle; [pkts] */
	u64	cycle_acked;		/* in this loss-rate cycle; [bytes] */
	u32	start_windows;		/* begun so far, up to competitive_start_windows */
	u32	init_cwnd;		/* [pkts] */

	u32	closed_min_us;		/* over the closed intervals of mode_window_rtts */
	u32	closed_max_us;		/* over the closed intervals of mode_max_window_rtts */
	u32	low_us;			/* smallest RTT_standing of mode_window_rtts */
	u32	nearly_empty_us;	/* largest RTT of a nearly empty queue */
	u32	interval_head;		/* slot of the open interval */

	u8	mode;			/* enum copa_mode */
	u8	direction;		/* enum copa_direction, at the last check */
	u8	slow_start;
	u8	lossy;			/* the last cycle lost >= 10 % */
	u8	rto_again;		/* the next ACK reports the timeout again */

	u64	round_us;		/* start of the srtt in which losses are counted */
	u32	round_lost;		/* in it; [pkts] */
	u32	round_delivered;	/* tp->delivered at its start */

	u64	start_us;		/* of the flow */
	u64	below_us;		/* when the queue was last too short for a buffer-filler's */
	u64	drain_us;		/* when this drain began; 0: none */
	u64	drained_us;		/* when the last one did */
	u64	drain_cwnd;		/* cwnd and RTT_standing then */
	u32	drain_rtt_us;
	u32	before_rtt_min_us;	/* RTT_min and low_us at the last decision */
	u32	before_low_us;
	u64	usual;			/* cwnd without a queue, when it was last nearly empty */
	struct cubic_window cubic;
	u8	in_cubic;		/* cwnd is CUBIC's; the mode is competitive */
	u8	look_due;		/* a loss since the last drain */

	struct minmax rtt_min;		/* filters, times in µs */
	struct minmax rtt_standing;
	struct copa_interval intervals[INTERVALS];
};
STORAGE(struct copa);

STORAGE_SERIES_STATE(struct copa, mode, "mode", "default,competitive,loss", "what delta follows");
STORAGE_SERIES_SCALED(struct copa, delta_ppm, "delta", "1/pkts", 1, 1000000, 0,
		      "1 / packets to keep queued");
STORAGE_SERIES_SCALED(struct copa, inv_delta, "inv_delta_pkts", "pkts", 1, 1 << INV_DELTA_SHIFT, 0,
		      "1/delta: packets to keep queued");
STORAGE_SERIES(struct copa, velocity, "velocity", "", "cwnd moves by velocity / delta per RTT");
STORAGE_SERIES_STATE(struct copa, direction, "direction", "none,up,down", "where cwnd is going");
STORAGE_SERIES_STATE(struct copa, slow_start, "slow_start", "no,yes", "cwnd doubles per RTT");
STORAGE_SERIES(struct copa, rtt_min_us, "rtt_min_us", "µs", "RTT_min");
STORAGE_SERIES(struct copa, rtt_standing_us, "rtt_standing_us", "µs", "RTT_standing");
STORAGE_SERIES(struct copa, low_us, "mode_low_rtt_us", "µs",
	       "smallest RTT_standing of the mode window; competing if above the threshold");
STORAGE_SERIES(struct copa, nearly_empty_us, "mode_threshold_rtt_us", "µs",
	       "largest RTT of a nearly empty queue");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct copa);
} copa_storage SEC(".maps");

/* pct % of us; us < 2^32 and pct <= 400. */
static u64 copa_share(u64 us, u32 pct)
{
	return us * pct / 100;
}

static u32 copa_ewma(u32 avg, u32 sample)
{
	return avg + sample - (avg >> EWMA_SHIFT);
}

static u32 copa_srtt_us(const struct copa *ca)
{
	return ca->srtt >> EWMA_SHIFT;
}

/* What of a window at an RTT is on the path itself, not in the queue. */
static u64 copa_on_path(const struct copa *ca, u64 cwnd, u32 rtt_us)
{
	return cwnd / max(rtt_us, 1U) * ca->rtt_min_us;
}

/* step * acked / cwnd in packets << CWND_SHIFT, for a step of 1/1024 packets per RTT. */
static u64 copa_change(u64 step, u32 acked, u64 cwnd)
{
	/* acked <= cwnd <= 2^22 packets, so 2^60; then 2^30 * 2^28 */
	u64 part = ((u64)acked << 38) / max(cwnd >> (CWND_SHIFT - 10), 1ULL);

	return step * part >> (28 + INV_DELTA_SHIFT - CWND_SHIFT);
}

/* Is cwnd / RTT_standing at most 1 / (delta d_q)? */
static bool copa_below_target(const struct copa *ca)
{
	u64 rtt = ca->rtt_standing_us;
	u64 queueing = tcp_stamp_us_delta(rtt, ca->rtt_min_us);

	/* 2^27 * 2^26 against 2^27 * 2^32 */
	return rtt * ca->inv_delta >
	       queueing * (ca->cwnd >> (CWND_SHIFT - INV_DELTA_SHIFT));
}

static void copa_update_rtt_min(struct copa *ca, u64 now, u32 rtt_us)
{
	if (rtt_min_known_us)
		rtt_us = min(rtt_us, rtt_min_known_us);
	if (!ca->rtt_min_us)
		ca->rtt_min_us = minmax_reset(&ca->rtt_min, now, rtt_us);
	else if (rtt_min_window_ms)
		ca->rtt_min_us = minmax_running_min(&ca->rtt_min,
						    rtt_min_window_ms * USEC_PER_MSEC,
						    now, rtt_us);
	else
		ca->rtt_min_us = min(ca->rtt_min_us, rtt_us);
}

static void copa_update_standing(struct copa *ca, u64 now)
{
	u32 win = min(copa_share(copa_srtt_us(ca), standing_window_pct), 1ULL << 30);

	if (!standing_window_pct)
		ca->rtt_standing_us = ca->sample_min_us;
	else if (!ca->rtt_standing_us)
		ca->rtt_standing_us = minmax_reset(&ca->rtt_standing, now, ca->sample_min_us);
	else
		ca->rtt_standing_us = minmax_running_min(&ca->rtt_standing, win, now,
							 ca->sample_min_us);
}

/* The extremes of the detector's windows, without the open interval. */
static void copa_scan_closed(struct copa *ca, u64 now)
{
	u64 min_window = (u64)copa_srtt_us(ca) * mode_window_rtts;
	u64 max_window = (u64)copa_srtt_us(ca) * mode_max_window_rtts;
	u32 low = RTT_NONE_US, high = 0;
	u32 i;

	for (i = 1; i < INTERVALS; i++) {
		const struct copa_interval *in =
			&ca->intervals[(ca->interval_head - i) & (INTERVALS - 1)];
		u64 age = now - in->time_us;

		if (!in->min_us || (age >= min_window && age >= max_window))
			break;
		if (age < min_window)
			low = min(low, in->min_us);
		if (age < max_window)
			high = max(high, in->max_us);
	}
	ca->closed_min_us = low;
	ca->closed_max_us = high;
}

/* Put this decision's RTT into the detector's open interval, or into a new one. */
static void copa_update_intervals(struct copa *ca, u64 now)
{
	u32 low = ca->rtt_standing_us;
	u32 high = mode_max_of_minima ? low : ca->sample_max_us;
	u32 head = ca->interval_head & (INTERVALS - 1);
	struct copa_interval *in = &ca->intervals[head];

	if (!in->min_us || (now - ca->interval_us) * 4 >= copa_srtt_us(ca)) {
		head = (head + 1) & (INTERVALS - 1);
		in = &ca->intervals[head];
		in->min_us = low;
		in->max_us = high;
		ca->interval_head = head;
		ca->interval_us = now;
		copa_scan_closed(ca, now);
	}
	in->time_us = now;
	in->min_us = min(in->min_us, low);
	in->max_us = max(in->max_us, high);

	ca->low_us = min(ca->closed_min_us, in->min_us);
	high = max(ca->closed_max_us, in->max_us);
	ca->nearly_empty_us = ca->rtt_min_us + mode_margin_us +
			      copa_share(tcp_stamp_us_delta(high, ca->rtt_min_us),
					 mode_threshold_pct);
}

/* A flow competes by default until it has seen enough of the path. */
static void copa_update_start(struct copa *ca, u64 now)
{
	if (ca->start_windows >= competitive_start_windows)
		return;
	if (!ca->start_windows || now - ca->start_window_us > 2ULL * ca->rtt_min_us) {
		ca->start_windows++;
		ca->start_window_us = now;
	}
}

/*
 * The agent's loss rate adds lost packets to acknowledged bytes, so it reaches 10 % in cycles
 * of losses without a decision only: they exist when srtt/2 is above 2 RTT_min.
 */
static void copa_update_loss_rate(struct copa *ca, u64 now, u64 acked_bytes, u32 lost)
{
	ca->cycle_acked += acked_bytes;
	ca->cycle_lost += lost;
	if (now - ca->cycle_us <= 2ULL * ca->rtt_min_us)
		return;
	if (ca->cycle_acked || ca->cycle_lost)
		ca->lossy = 9ULL * ca->cycle_lost >= ca->cycle_acked;
	ca->cycle_us = now;
	ca->cycle_acked = 0;
	ca->cycle_lost = 0;
}

static void copa_cubic_start(struct copa *ca, u64 now)
{
	ca->in_cubic = true;
	ca->cut_us = now;
	cubic_window_start(&ca->cubic, now, ca->cwnd >> CUBIC_SHIFT);
}

/*
 * A loss while competing. Flows that lose every T seconds have w_max = C T^3 / (1 - beta) (RFC 9438
 * §4.2, K = T): a late one aims at it, instead of coming nearer by a third an epoch.
 */
static void copa_cubic_cut(struct copa *ca, u64 now)
{
	u64 w = ca->cwnd >> CUBIC_SHIFT;
	u64 interval_us = now - ca->cut_us;

	if (ca->drain_us || (ca->in_cubic && interval_us <= copa_srtt_us(ca)))
		return;
	ca->cubic.w_max = w;
	if (cubic_interval_max && ca->in_cubic)
		ca->cubic.w_max = clamp(cubic_window_of_interval(interval_us), w,
					w * cubic_interval_max);
	ca->look_due = ca->in_cubic;
	ca->cwnd = max(w * CUBIC_BETA_PCT / 100, 2 * CUBIC_ONE) << CUBIC_SHIFT;
	copa_cubic_start(ca, now);
}

static bool copa_is_fillers(const struct copa *ca)
{
	return ca->rtt_standing_us > ca->rtt_min_us + copa_share(ca->rtt_min_us, filler_pct);
}

/* CUBIC's window begins at a filler's queue with the rate that the flow had before it yielded. */
static void copa_update_cubic(struct copa *ca, u64 now)
{
	if (!copa_is_fillers(ca))
		ca->below_us = now;
	if (ca->in_cubic) {
		ca->in_cubic = ca->low_us > ca->nearly_empty_us ||
			       now - ca->cut_us <= cubic_hold_ms * USEC_PER_MSEC;
	} else if (filler_pct && !ca->slow_start &&
		   now - ca->below_us > compete_after_ms * USEC_PER_MSEC) {
		ca->drain_us = 0;
		ca->cwnd = max(ca->cwnd, ca->usual / max(ca->rtt_min_us, 1U) * ca->rtt_standing_us);
		ca->cwnd = min(ca->cwnd, CWND_MAX << CWND_SHIFT);
		ca->cubic.w_max = ca->cwnd >> CUBIC_SHIFT;
		copa_cubic_start(ca, now);
	}
	if (ca->in_cubic)
		ca->mode = COPA_COMPETITIVE;
}

static void copa_update_mode(struct copa *ca, u64 now)
{
	if (loss_mode && ca->lossy)
		ca->mode = COPA_LOSS;
	else if (mode_switching && now - ca->start_us >= compete_after_ms * USEC_PER_MSEC &&
		 (ca->start_windows < competitive_start_windows ||
		  ca->low_us > ca->nearly_empty_us))
		ca->mode = COPA_COMPETITIVE;
	else
		ca->mode = COPA_DEFAULT;
	if (compete_as_cubic)
		copa_update_cubic(ca, now);
}

static void copa_set_inv_delta(struct copa *ca, u32 inv_delta)
{
	inv_delta = max(inv_delta, default_inv_delta << INV_DELTA_SHIFT);
	inv_delta = min(inv_delta, inv_delta_max << INV_DELTA_SHIFT);
	if (inv_delta == ca->inv_delta)
		return;
	ca->inv_delta = inv_delta;
	ca->delta_ppm = (USEC_PER_SEC << INV_DELTA_SHIFT) / max(inv_delta, 1U);
}

/* Competitive mode: AIMD on 1/delta, as NewReno on cwnd (§2.2). */
static void copa_compete(struct copa *ca, u64 now, bool lost)
{
	u64 hold_us = loss_cut_per_srtt ? copa_srtt_us(ca) : ca->rtt_min_us;

	if (compete_as_cubic && lost) {
		ca->raise_us = now;
		copa_cubic_cut(ca, now);
	}
	if (ca->in_cubic)
		return;
	if (lost) {
		ca->raise_us = now;
		if (now - ca->cut_us > hold_us) {
			ca->cut_us = now;
			copa_set_inv_delta(ca, ca->inv_delta / 2);
		}
	} else if (!inv_delta_per_rtt || now - ca->raise_us > copa_srtt_us(ca)) {
		ca->raise_us = now;
		copa_set_inv_delta(ca, ca->inv_delta + (1U << INV_DELTA_SHIFT));
	}
}

static void copa_update_delta(struct copa *ca, u64 now, bool lost)
{
	switch (ca->mode) {
	case COPA_COMPETITIVE:
		copa_compete(ca, now, lost);
		break;
	case COPA_LOSS:
		copa_set_inv_delta(ca, lost ? ca->inv_delta / 2 : ca->inv_delta);
		break;
	default:
		copa_set_inv_delta(ca, default_inv_delta << INV_DELTA_SHIFT);
	}
}

static void copa_reset_velocity(struct copa *ca, u64 now)
{
	ca->velocity = 1;
	ca->turn_us = now;
}

/* Direction of cwnd since the last check. */
static u8 copa_direction(const struct copa *ca)
{
	s64 net = velocity_by_cwnd ? (s64)(ca->cwnd - ca->checked_cwnd) : ca->net_direction;

	return net > 0 ? COPA_UP : net < 0 ? COPA_DOWN : COPA_NONE;
}

static void copa_update_velocity(struct copa *ca, u64 now, u8 decision)
{
	u64 rtt = ca->rtt_standing_us;
	u8 direction;

	ca->net_direction += decision == COPA_UP ? 1 : -1;
	if (!velocity_by_cwnd && ca->velocity > 1 && ca->direction && decision != ca->direction)
		copa_reset_velocity(ca, now);

	if (ca->slow_start || now - ca->check_us < velocity_check_rtts * rtt)
		return;
	direction = copa_direction(ca);
	if (!direction || direction != ca->direction)
		copa_reset_velocity(ca, now);
	else if (now - ca->turn_us > velocity_delay_rtts * rtt)
		ca->velocity = min(ca->velocity * 2, velocity_max);
	ca->direction = direction;
	ca->check_us = now;
	ca->checked_cwnd = ca->cwnd;
	ca->net_direction = 0;
}

static u64 copa_least_cwnd(const struct copa *ca)
{
	return (u64)(cwnd_min_pkts ? cwnd_min_pkts : ca->init_cwnd) << CWND_SHIFT;
}

static void copa_decrease(struct copa *ca, u64 now, u64 change)
{
	u64 least = copa_least_cwnd(ca);

	if (change + least > ca->cwnd) {
		ca->cwnd = least;
		copa_reset_velocity(ca, now);
	} else {
		ca->cwnd -= change;
	}
}

static void copa_update_cwnd(struct copa *ca, u64 now, u32 acked, u8 decision)
{
	u64 inv_delta = ca->inv_delta;
	u64 step, change;

	acked = min(acked, (u32)(ca->cwnd >> CWND_SHIFT));
	if (ca->in_cubic) {
		ca->cwnd += cubic_window_growth(&ca->cubic, now, ca->rtt_standing_us,
						ca->cwnd >> CUBIC_SHIFT, acked) << CUBIC_SHIFT;
	} else if (ca->slow_start) {
		if (decision == COPA_UP)
			ca->cwnd += (u64)acked << CWND_SHIFT;
		else
			ca->slow_start = false;
	} else {
		if (decision == COPA_DOWN && ca->mode == COPA_COMPETITIVE)
			inv_delta += competitive_decrease_extra << INV_DELTA_SHIFT;
		step = min(inv_delta * ca->velocity, STEP_MAX << INV_DELTA_SHIFT);
		change = copa_change(step, acked, ca->cwnd);
		if (decision == COPA_UP)
			ca->cwnd += change;
		else
			copa_decrease(ca, now, change);
	}
	ca->cwnd = min(ca->cwnd, CWND_MAX << CWND_SHIFT);
}

/*
 * d_q is at most the buffer's Q / C, so no flow aims below C / (delta Q), and N of them below
 * N / (delta Q) times the link: where Q < N / delta only losses say that this is too much. Each srtt
 * that loses more than loss_cut_pct, which 2 makes BBRv3's LossThresh, cuts cwnd to 7/10, BBRv3's
 * Beta (draft-ietf-ccwg-bbr) and CUBIC's (RFC 9438).
 */
static void copa_cut_on_losses(struct copa *ca, u64 now, u32 delivered, u32 lost)
{
	u64 round_delivered;

	ca->round_lost += lost;
	if (now - ca->round_us <= copa_srtt_us(ca))
		return;
	round_delivered = delivered - ca->round_delivered;
	if (100ULL * ca->round_lost > (ca->round_lost + round_delivered) * loss_cut_pct) {
		ca->cwnd = max(ca->cwnd / 10 * 7, copa_least_cwnd(ca));
		ca->slow_start = false;
		copa_reset_velocity(ca, now);
	}
	ca->round_us = now;
	ca->round_lost = 0;
	ca->round_delivered = delivered;
}

/* Packets cumulatively acknowledged so far: ccp_copa's acked. */
static u32 copa_delivered(const struct tcp_sock *tp)
{
	return tp->delivered - tp->sacked_out;
}

/*
 * A drain: cwnd is less than what the path itself holds, until the RTT shows it. RTT_min is found
 * again where flows began on others' queue, and what is left then is not this kind's.
 */
static void copa_drain_begin(struct copa *ca, u64 now)
{
	u64 left = copa_on_path(ca, ca->cwnd, ca->rtt_standing_us) / 100 * drain_pct;

	ca->drain_us = ca->drained_us = now;
	ca->drain_cwnd = ca->cwnd;
	ca->drain_rtt_us = ca->rtt_standing_us;
	ca->look_due = false;
	ca->cwnd = max(left, copa_least_cwnd(ca));
}

static void copa_drain_end(struct copa *ca, u64 now)
{
	ca->drain_us = 0;
	ca->cwnd = ca->drain_cwnd;
	if (!ca->in_cubic)
		ca->cwnd = max(copa_on_path(ca, ca->drain_cwnd, ca->drain_rtt_us),
			       copa_least_cwnd(ca));
	ca->checked_cwnd = ca->cwnd;
	ca->net_direction = 0;
	ca->check_us = now;
	copa_reset_velocity(ca, now);
}

/*
 * Others drain: the RTT fell below what was the path's, or the queue's lowest. Who joins makes the
 * drain deeper, so that all who share the queue see it empty; no clock is shared.
 */
static bool copa_others_drain(const struct copa *ca)
{
	if (ca->rtt_min_us + OTHERS_US < ca->before_rtt_min_us)
		return true;
	return ca->before_low_us > ca->nearly_empty_us && ca->before_low_us != RTT_NONE_US &&
	       ca->rtt_standing_us + OTHERS_US < ca->before_low_us;
}

/* At the low point of an oscillation if there is one, where flows with the same RTT_min are together. */
static bool copa_drain_due(const struct copa *ca, u64 now)
{
	u64 since_us = now - ca->drained_us;
	bool others = copa_others_drain(ca);

	if (ca->slow_start)
		return false;
	if (ca->in_cubic)
		return look_ms && since_us > look_ms * USEC_PER_MSEC && copa_is_fillers(ca) &&
		       (others || ca->look_due);
	return others || since_us > 2ULL * drain_ms * USEC_PER_MSEC ||
	       (since_us > drain_ms * USEC_PER_MSEC && ca->rtt_standing_us <= ca->nearly_empty_us);
}

/* Does a drain hold cwnd? */
static bool copa_drains(struct copa *ca, u64 now)
{
	bool empty = ca->rtt_standing_us <= ca->nearly_empty_us;
	bool is_over;

	if (ca->drain_us) {
		/* The window was CUBIC's, and no others hold the queue. */
		is_over = (ca->in_cubic && empty) ||
			  now - ca->drain_us > (u64)ca->drain_rtt_us + ca->rtt_standing_us;
		ca->in_cubic = ca->in_cubic && !empty;
		if (is_over)
			copa_drain_end(ca, now);
		return true;
	}
	if (ca->mode == COPA_DEFAULT && empty)
		ca->usual = copa_on_path(ca, ca->cwnd, ca->rtt_standing_us);
	if (!copa_drain_due(ca, now))
		return false;
	copa_drain_begin(ca, now);
	return true;
}

/* Slow start ended with up to a window too much: a drain sends it away. */
static void copa_drain_slow_start(struct copa *ca, u64 now)
{
	ca->usual = copa_on_path(ca, ca->cwnd, ca->rtt_standing_us);
	copa_drain_begin(ca, now);
}

static void copa_move(struct copa *ca, u64 now, u32 acked)
{
	u8 decision = copa_below_target(ca) ? COPA_UP : COPA_DOWN;
	bool slow_start = ca->slow_start;

	copa_update_velocity(ca, now, decision);
	copa_update_cwnd(ca, now, acked, decision);
	if (drain_ms && slow_start && !ca->slow_start)
		copa_drain_slow_start(ca, now);
}

/* A report that decides: all of Copa, once per interval. */
static void copa_decide(struct sock *sk, struct copa *ca, u64 now)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 acked = copa_delivered(tp) - ca->delivered;

	acked = (s32)acked > 0 ? acked : 0;
	ca->delivered += acked;

	ca->srtt = ca->srtt ? copa_ewma(ca->srtt, ca->sample_min_us) :
			      ca->sample_min_us << EWMA_SHIFT;
	copa_update_standing(ca, now);
	copa_update_intervals(ca, now);
	copa_update_start(ca, now);
	copa_update_loss_rate(ca, now, (u64)acked * tp->mss_cache, 0);
	copa_update_mode(ca, now);
	copa_update_delta(ca, now, false);
	if (!drain_ms || !copa_drains(ca, now))
		copa_move(ca, now, acked);
	ca->before_rtt_min_us = ca->rtt_min_us;
	ca->before_low_us = ca->low_us;

	ca->sample_min_us = RTT_NONE_US;
	ca->sample_max_us = 0;
}

/* Losses are reported at once; such a report touches delta only, not cwnd. */
static void copa_report_losses(struct copa *ca, u64 now, u32 lost, bool halves)
{
	copa_update_loss_rate(ca, now, 0, lost);
	copa_update_mode(ca, now);
	copa_update_delta(ca, now, halves);
}

/* Is a report due, and one that decides? */
static bool copa_decision_due(struct copa *ca, u64 now, u32 rtt_us)
{
	u64 report = copa_share(ca->rtt_min_us, report_rtt_min_pct);

	if (report && now - ca->report_us <= report)
		return false;
	ca->report_us = now;
	/* Starts from 0, as in the agent: at first every report decides. */
	ca->report_srtt = copa_ewma(ca->report_srtt, rtt_us);
	if (report_srtt_pct &&
	    now - ca->decision_us <= copa_share(ca->report_srtt >> EWMA_SHIFT, report_srtt_pct))
		return false;
	ca->decision_us = now;
	return true;
}

/* The agent has decided on a report of now. A second one does not delay the first one's answer. */
static void copa_answer(struct copa *ca, u64 now)
{
	if (!agent_delay_us)
		ca->in_force = ca->cwnd;
	else if (!ca->answer_us)
		ca->answer_us = now + agent_delay_us;
}

static void copa_take_answer(struct copa *ca, u64 now)
{
	if (!ca->answer_us || now < ca->answer_us)
		return;
	ca->in_force = ca->cwnd;
	ca->answer_us = 0;
}

/* A report of a timeout, which is not a report of its losses. */
static void copa_restart(struct copa *ca)
{
	if (!rto_restart)
		return;
	ca->drain_us = 0;
	ca->in_cubic = false;
	ca->cwnd = (u64)ca->init_cwnd << CWND_SHIFT;
	ca->slow_start = true;
}

static void copa_apply(struct sock *sk, const struct copa *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = pacing_on_standing && ca->rtt_standing_us ? ca->rtt_standing_us :
								 ca->rtt_min_us;
	/* 2^42 * 2^16 >> 20, times 2^21 */
	u64 bytes = ca->in_force * tp->mss_cache >> CWND_SHIFT;
	u64 rate = PACING_GAIN * USEC_PER_SEC * bytes / max(rtt_us, 1U);

	tp->snd_cwnd = min((u32)(ca->in_force >> CWND_SHIFT), tp->snd_cwnd_clamp);
	sk->sk_pacing_rate = max(rate, PACING_MIN);
}

SEC("struct_ops")
void BPF_PROG(copa_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 now = tp->tcp_mstamp;
	struct copa *ca = bpf_sk_storage_get(&copa_storage, sk, NULL,
					     BPF_SK_STORAGE_GET_F_CREATE);
	u32 i;

	if (!ca)
		return;
	/* The storage outlives a change of congestion control: clear any earlier use. */
	for (i = 0; i < INTERVALS; i++)
		ca->intervals[i].min_us = 0;
	ca->interval_head = 0;
	ca->rtt_min_us = ca->rtt_standing_us = ca->low_us = ca->nearly_empty_us = 0;
	ca->report_srtt = ca->srtt = 0;
	ca->start_windows = 0;
	ca->cycle_acked = ca->cycle_lost = 0;
	ca->lossy = false;
	ca->net_direction = 0;
	ca->direction = COPA_NONE;

	ca->report_us = ca->decision_us = ca->check_us = now;
	ca->raise_us = ca->cut_us = ca->cycle_us = now;
	ca->sample_min_us = RTT_NONE_US;
	ca->sample_max_us = 0;
	ca->delivered = copa_delivered(tp);
	ca->round_us = now;
	ca->round_lost = 0;
	ca->round_delivered = tp->delivered;
	ca->start_us = ca->below_us = ca->drained_us = now;
	ca->drain_us = ca->usual = 0;
	ca->before_rtt_min_us = ca->before_low_us = 0;
	ca->in_cubic = ca->look_due = false;
	ca->init_cwnd = max(tp->snd_cwnd, 1U);
	ca->cwnd = (u64)ca->init_cwnd << CWND_SHIFT;
	ca->checked_cwnd = ca->in_force = ca->cwnd;
	ca->answer_us = 0;
	ca->rto_again = false;
	ca->slow_start = true;
	copa_reset_velocity(ca, now);
	copa_set_inv_delta(ca, default_inv_delta << INV_DELTA_SHIFT);
	copa_update_mode(ca, now);
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* Copa has no threshold: losses do not end its slow start. */
SEC("struct_ops")
u32 BPF_PROG(copa_ssthresh, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return undo_doubles_ssthresh ? max(tp->snd_cwnd / 2, 2U) : tp->snd_ssthresh;
}

SEC("struct_ops")
void BPF_PROG(copa_cong_control, struct sock *sk, u32 ack, int flag,
	      const struct rate_sample *rs)
{
	u64 now = tcp_sk(sk)->tcp_mstamp;
	struct copa *ca = bpf_sk_storage_get(&copa_storage, sk, NULL, 0);
	u32 rtt_us;

	/* The CCP datapath skips these; what they acknowledge counts with the next ACK. */
	if (!ca || rs->delivered <= 0 || rs->interval_us <= 0 || rs->rtt_us <= 0)
		return;

	rtt_us = min(rs->rtt_us, RTT_MAX_US);
	copa_update_rtt_min(ca, now, rtt_us);
	ca->sample_min_us = min(ca->sample_min_us, rtt_us);
	ca->sample_max_us = max(ca->sample_max_us, rtt_us);

	copa_take_answer(ca, now);
	if (rs->losses > 0 || ca->rto_again) {
		ca->report_us = now;
		copa_report_losses(ca, now, max(rs->losses, 0),
				   rs->losses > 0 || rto_halves_inv_delta);
	}
	if (ca->rto_again) {
		ca->rto_again = false;
		copa_restart(ca);
		copa_answer(ca, now);
	}
	if (loss_cut_pct && !ca->in_cubic)
		copa_cut_on_losses(ca, now, tcp_sk(sk)->delivered, max(rs->losses, 0));
	if (copa_decision_due(ca, now, rtt_us)) {
		copa_decide(sk, ca, now);
		copa_answer(ca, now);
	}
	copa_apply(sk, ca);
}

/*
 * The stack has set cwnd to what is in flight plus 1; ours follows at the next ACK. ccp-kernel runs
 * its program here, which writes the old one back.
 */
SEC("struct_ops")
void BPF_PROG(copa_set_state, struct sock *sk, u8 new_state)
{
	u64 now = tcp_sk(sk)->tcp_mstamp;
	struct copa *ca = bpf_sk_storage_get(&copa_storage, sk, NULL, 0);

	if (!ca || new_state != TCP_CA_Loss)
		return;
	copa_take_answer(ca, now);
	ca->report_us = now;
	if (rto_keeps_cwnd)
		copa_apply(sk, ca);
	ca->rto_again = rto_reports > 1;
	copa_restart(ca);
	copa_report_losses(ca, now, 0, rto_halves_inv_delta);
	copa_answer(ca, now);
}

/* A spurious loss had not reduced cwnd; ours follows at the next ACK. */
SEC("struct_ops")
u32 BPF_PROG(copa_undo_cwnd, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return undo_doubles_ssthresh ? max(tp->snd_cwnd, 2 * tp->snd_ssthresh) : tp->snd_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops copa = {
	.init		= (void *)copa_init,
	.ssthresh	= (void *)copa_ssthresh,
	.cong_control	= (void *)copa_cong_control,
	.set_state	= (void *)copa_set_state,
	.undo_cwnd	= (void *)copa_undo_cwnd,
	.name		= "copa",
};
