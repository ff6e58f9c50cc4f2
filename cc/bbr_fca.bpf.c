// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * BBR-FCA (a reconstruction): BBR with the window that CUBIC would have at the observed loss
 * intervals.
 *
 *	loss events: the RTT falls when CUBIC backs off
 *	target = mean window of a CUBIC flow that lost at these events	[packets]
 *	w      = w + theta (target - w) at each of its losses
 *	cwnd   = w;  pacing_rate = 1.2 w/RTT, so that cwnd binds
 *
 *	BBR --loss in PROBE_BW--> competing --empty queue, or no loss event for long--> BBR
 *
 * Everything else is BBR version 1 (bbr_v1.h). While it competes it does not probe: its own probes
 * would shorten T, and PROBE_RTT would cost throughput and only measure others' queues.
 *
 * "Fair to CUBIC based on mathematical analysis" is Utsumi's and Hasegawa's (IFIP Networking 2022).
 * Only the final report of KAKENHI 20K11786 was available: a model of CUBIC's throughput on the
 * packet-loss-detection interval, and a BBR that uses it. The rest is derived here; docs/notes/bbr-fca.md
 * has it in full, with its results and the plain reconstruction as a set of parameters.
 *
 * The model: from the window that we had when we began to compete, or that of the first interval
 * if that is more, up to fourfold, a CUBIC flow is followed through the intervals as they come. After a loss at W its window is beta W, stays there for a
 * round trip of recovery, and is aim - C (K - t)^3 then (RFC 9438 §4.2), RTT - min_rtt late,
 * K = cbrt((aim - beta W)/C); at least Reno's (§4.3). The next loss is at what it has reached. It
 * aims at W, or at (1 + beta)/2 W if W is less than the last aim (fast convergence, §4.7).
 *
 * Why not from the mean interval T, as with trajectory=0: CUBIC flows that share a bottleneck do
 * not all lose together, so intervals are very unequal, and the window is a cube of each. From T,
 * K = (T + h/2 - delays)/1.2937, W_max = C K^3/(1 - beta), and the mean is (2.2743 K - h)/
 * (2.5874 K - h) W_max. An epoch after fast convergence passes W_max by what it grows by until the
 * loss is seen, so the next one overflows the buffer h = cbrt(1.89 K^2 RTT) before K. delays are
 * recovery, seeing the loss, and RTT - min_rtt behind the curve.
 *
 * Fixed point: Q packets are in flight when the buffer overflows, BDP and buffer. N_C CUBIC flows
 * that lose together and N_B of ours have W_max = (Q - N_B w)/N_C, so with m = 0.87,
 * w* = m Q/(N_C + m N_B), CUBIC's mean window: fair for any buffer, without knowing N or Q.
 *
 * Stability: a window computed from T answers it at once, by T^3: a step of theta is stable for
 * theta < 2/(1 + m N_B/N_C). A window that is followed has CUBIC's inertia, and N_B of ours compete as
 * so many CUBIC flows. Then theta only averages epochs.
 *
 * Whose losses: a flow of constant window loses at few of the overflows, and T enters as T^3. The
 * RTT shows each back-off. Where CUBIC flows do not back off together it shows more back-offs than
 * each flow has; their depth, compared with the deepest recent one, tells how many of them make
 * one. The CUBIC flow that is followed has our place in the queue, so what we lose is a loss of it
 * too, and comes off its window.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "win_minmax.h"
#include "cube_root.h"
#include "dumbbell.h"
#include "bbr_v1.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define W_SHIFT		8		/* windows are in packets << 8 */
#define W_MAX		(1ULL << 22)	/* pkts */
#define INTERVAL_MAX_MS	100000ULL	/* larger T count as this: 10^15 ms^3 */
#define DEPTH_SHIFT	5		/* the deepest back-off fades by 1/32 per event */
#define RTT_MAX_US	(1L << 27)	/* 134 s, above TCP's largest RTO */

/* The CUBIC it is fair to. Source of the defaults: RFC 9438 §4.1.2, §4.6, §4.7. */
PARAM(u32, cubic_c_milli, 400, 1, 10000, "/1000", "C");
PARAM(u32, cubic_beta_milli, 700, 1, 990, "/1000", "beta");
PARAM(u32, fast_convergence, 1, 0, 1, "", "it releases bandwidth early, as Linux's");
PARAM(u32, unseen_growth, 1, 0, 1, "",
      "of the mean interval: it grows until its loss is seen, RTT - min_rtt behind its curve");
PARAM(u32, trajectory, 1, 0, 1, "",
      "its window is followed through the intervals as they come; 0: that of the mean interval");
PARAM(u32, recovery_rtts, 256, 0, 2560, "/256 RTTs",
      "between two loss events it does not grow for this long");

/* When it loses. */
PARAM(u32, event_by_rtt, 1, 0, 1, "",
      "a loss event is others' back-off, seen by the RTT; 0: a loss of one's own");
PARAM(u32, backoff_drop, 8, 1, 256, "/256",
      "it takes this much off the RTT's peak: less than one flow of nine that backs off");
PARAM(u32, backoff_rtts, 3, 1, 100, "RTTs",
      "and is over by then: losses are seen, repaired, and the queue shows it");
PARAM(u32, weigh_events, 1, 0, 1, "",
      "a back-off counts by its depth, against the deepest of late; 0: each is one");
PARAM(u32, lone_losses_most, 0, 0, 1000, "",
      "losses of one's own that no back-off follows are events after this many in a row");
PARAM(u32, interval_gain, 64, 1, 256, "/256", "step of T's mean per event, and of the window's");

/* What it does then. */
PARAM(u32, window_gain, 64, 1, 256, "/256", "theta: step of the window per event");
PARAM(u32, window_gain_first, 0, 0, 256, "/256",
      "the k-th step is this over k, as long as that is more");
PARAM(u32, window_step_most, 1024, 257, 25600, "/256",
      "most the window changes by in a step, times or through");
PARAM(u32, window_pacing_gain, 307, 256, 2047, "/256",
      "pacing rate over w/RTT when competing: 120 %, Linux's tcp_pacing_ca_ratio");
PARAM(u32, loss_decrease, 256, 0, 256, "/256",
      "the window less this much of each packet lost: what the buffer has no room for");
PARAM(u32, quiet_ms, 47600, 1, 600000, "ms",
      "without a loss event for this and quiet_rtts, and 2 T, it is BBR again");
PARAM(u32, quiet_rtts, 3, 0, 100, "RTTs",
      "CUBIC's longest epoch: 2^(2/3) K, 47.6 s for 36,000 packets, recovery, seeing the loss, lag");
PARAM(u32, empty_queue, 8, 0, 256, "/256",
      "an RTT this close to the least ever seen is an empty queue: BBR again");

struct fca {
	u64	event_us;	/* the last loss event */
	u64	began_us;	/* it has competed since then */
	u64	settled_us;	/* others' back-off is over */
	u64	lost_us;	/* a loss of our own that no flow has backed off for yet; 0: none */
	u64	rtt_sum_us;	/* of the samples since the last event */
	u32	rtt_count;
	u32	round_rtt_us;	/* least of this round; 0: none yet */
	u32	peak_us;	/* largest round_rtt_us since the last event */
	u32	trough_us;	/* least since then; 0: none in progress */
	u32	depth;		/* of the deepest recent back-off; [1/65536 of the peak] */
	u32	time_ms;	/* decaying sum over events */
	u32	count;		/* of events, decaying as it; [1/256] */
	u32	interval_us;	/* T; 0: not known yet */
	u64	area;		/* of the CUBIC flow: decaying sum of window x time; [pkts << 8, ms] */
	u32	area_ms;
	u32	epoch_ms;	/* up to the last event, since that flow lost */
	u32	peak;		/* its window when it lost; [pkts << 8] */
	u32	aim;		/* what the epoch before that aimed at; [pkts << 8] */
	s32	credit;		/* of events in which it has not lost yet; [1/256] */
	u32	window;		/* w; [pkts << 8] */
	u32	target;		/* [pkts << 8] */
	u32	lone_losses;	/* without a back-off, in a row */
	u32	steps;		/* since it competes */
	u8	competing;
};
STORAGE(struct fca);

STORAGE_SERIES_STATE(struct fca, competing, "competing", "no,yes", "has CUBIC's window, not BBR's");
STORAGE_SERIES(struct fca, interval_us, "loss_interval_us", "µs", "T: time between loss events");
STORAGE_SERIES_SCALED(struct fca, window, "window_pkts", "pkts", 1, 1 << W_SHIFT, 0,
		      "w: cwnd when competing");
STORAGE_SERIES_SCALED(struct fca, target, "cubic_window_pkts", "pkts", 1, 1 << W_SHIFT, 0,
		      "a CUBIC flow's mean window at T");
STORAGE_SERIES_SCALED(struct fca, peak, "cubic_peak_pkts", "pkts", 1, 1 << W_SHIFT, 0,
		      "that flow's window when it lost last");
STORAGE_SERIES(struct fca, peak_us, "peak_rtt_us", "µs", "largest RTT since the last loss event");
STORAGE_SERIES(struct fca, steps, "steps", "", "steps of the window since it competes");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fca);
} fca_storage SEC(".maps");

static struct fca *fca_of(struct sock *sk)
{
	return bpf_sk_storage_get(&fca_storage, sk, NULL, 0);
}

/* The best of bw_window_rounds rounds, as BBR. */
static void bbr_update_bw(struct sock *sk, const struct rate_sample *rs)
{
	bbr_update_max_bw(sk, rs);
}

static bool bbr_phase_is_over(const struct sock *sk, const struct rate_sample *rs)
{
	return bbr_phase_is_done(sk, rs);
}

/* What T is longer by than the curve takes: recovery, seeing the loss, growing behind the curve. */
static u32 fca_delays_us(u32 rtt_us, u32 base_us)
{
	u32 recovery_us = (u64)rtt_us * recovery_rtts >> 8;

	if (!unseen_growth)
		return recovery_us;
	return recovery_us + rtt_us + rtt_us - min(base_us, rtt_us);
}

/*
 * Mean window of a CUBIC flow that loses every `interval_us`, its RTT being `rtt_us` on average and
 * `base_us` without a queue; [pkts << W_SHIFT]
 */
static u32 fca_cubic_window(u32 interval_us, u32 rtt_us, u32 base_us)
{
	u64 growing_us = tcp_stamp_us_delta(interval_us, fca_delays_us(rtt_us, base_us));
	u64 ms = min(growing_us / USEC_PER_MSEC, INTERVAL_MAX_MS);
	u64 reno = (ms * USEC_PER_MSEC * 3 << (W_SHIFT - 1)) / max(rtt_us, 1U);
	u32 beta = min(cubic_beta_milli, 990U);
	/* W_max = C K^3/(1 - beta); below 10^6 */
	u64 factor = (u64)cubic_c_milli * 1000 / (1000 - beta);
	u64 k_ms = ms, early_ms = 0, mean = (3000 + beta) / 4;
	u64 cubic;
	u32 i;

	/* Every second epoch aims at (1 + beta)/2 W_max: the two last 2^(2/3) K and K - early. */
	for (i = 0; fast_convergence && i < 4; i++) {
		k_ms = min((ms + early_ms / 2) * 10000 / 12937, INTERVAL_MAX_MS);
		/* 3 C K_1^2 RTT packets were unseen when the first ended, K_1 = K/cbrt(2) */
		if (unseen_growth)
			early_ms = min((u64)cube_root(k_ms * k_ms * (rtt_us / USEC_PER_MSEC) / 100 * 189), k_ms);
	}
	if (fast_convergence)
		mean = (k_ms * (1587 * (1000 + beta) / 2000 + (3000 + beta) / 4) - early_ms * 1000) /
		       max((k_ms * 2587 - early_ms * 1000) / 1000, 1ULL);
	/* 10^10 * 10^6 / 10^6 * 10^5 * 2^8 is below 2^58; / 10^6 * 10^3 below 2^48 */
	cubic = (k_ms * k_ms * factor / 1000000 * k_ms << W_SHIFT) / 1000000 * mean / 1000;
	return min(max(cubic, reno), W_MAX << W_SHIFT);
}

/* Towards the target by `gain`, but not by more than window_step_most. */
static u32 fca_step(u32 window, u32 target, u32 gain)
{
	u64 most = (u64)window * window_step_most >> GAIN_SCALE;
	u64 least = ((u64)window << GAIN_SCALE) / max(window_step_most, 1U);
	s64 next = (s64)window + (((s64)target - window) * gain >> GAIN_SCALE);

	return clamp((u64)next, least, most);
}

/* C ms^3 in packets << 8; below 2^17 ms */
static s64 fca_cubed(s64 square, s64 ms)
{
	u64 positive = ms < 0 ? -ms : ms;
	u64 grown = square * positive / 1000000 * cubic_c_milli * 256 / 1000000;

	return ms < 0 ? -(s64)grown : (s64)grown;
}

/* CUBIC's epoch of `ms` from a loss at st->peak; returns its window's integral over time. */
static u64 fca_epoch(struct fca *st, u32 ms, u32 rtt_us, u32 lag_us)
{
	u32 beta = min(cubic_beta_milli, 990U);
	u32 c_milli = max(cubic_c_milli, 1U);
	u32 rtt_ms = max(rtt_us / (u32)USEC_PER_MSEC, 1U);
	u32 recovery = min((u32)((u64)rtt_us * recovery_rtts / 256000), ms);
	u32 growing = ms - recovery;
	bool converges = fast_convergence && st->peak < st->aim;
	u32 aim = converges ? (u64)st->peak * (1000 + beta) / 2000 : st->peak;
	u32 start = max((u64)st->peak * beta / 1000, 2ULL << W_SHIFT);
	u64 area = (u64)recovery * (st->peak + start) / 2;
	s64 from, to, mean, end;
	u64 friendly;

	aim = max(aim, start);
	/* K: (packets << 8) 10^9 / 256 ms^3 */
	from = -(s64)(cube_root((u64)(aim - start) * 1000 / c_milli * 3906250) +
		      lag_us / (u32)USEC_PER_MSEC);
	from = max(from, -(s64)INTERVAL_MAX_MS);
	to = from + growing;
	/* The mean of a cube is (to^4 - from^4)/(4 (to - from)). */
	mean = aim + (fca_cubed(to * to + from * from, to + from) >> 2);
	end = aim + fca_cubed(to * to, to);
	friendly = 768ULL * (1000 - beta) * growing / ((1000 + beta) * rtt_ms);
	mean = max(mean, (s64)(start + friendly / 2));
	end = max(end, (s64)(start + friendly));
	st->peak = clamp((u64)end, (u64)start, W_MAX << W_SHIFT);
	st->aim = aim;
	return area + growing * min((u64)mean, W_MAX << W_SHIFT);
}

/*
 * The mean window of a CUBIC flow that had our window when we began to compete, and has lost at the
 * events since that are one of it.
 */
static u32 fca_follow_trajectory(struct fca *st, u32 ms, u32 rtt_us, u32 base_us)
{
	u32 keep = GAIN_UNIT - min(interval_gain, GAIN_UNIT);
	u64 area;

	/* BBR's window may be far below CUBIC's, which only grows by some packets per epoch then. */
	if (!st->area_ms) {
		u32 steady = fca_cubic_window(ms * (u32)USEC_PER_MSEC, rtt_us, base_us);

		st->peak = max(st->peak, fca_step(st->peak, steady, GAIN_UNIT));
		st->aim = st->peak;
	}
	area = fca_epoch(st, ms, rtt_us, rtt_us - min(base_us, rtt_us));
	st->area = (st->area >> GAIN_SCALE) * keep + area;
	st->area_ms = ((u64)st->area_ms * keep >> GAIN_SCALE) + ms;
	return min(st->area / max(st->area_ms, 1U), W_MAX << W_SHIFT);
}

/* A back-off of some flows is one of this one when those that were not add up to one; [ms] */
static u32 fca_loses(struct fca *st, u64 us, u32 events)
{
	u32 ms = min(st->epoch_ms + us / USEC_PER_MSEC, INTERVAL_MAX_MS);

	st->credit += events;
	if (st->credit < (s32)GAIN_UNIT / 2) {
		st->epoch_ms = ms;
		return 0;
	}
	st->credit -= GAIN_UNIT;
	st->epoch_ms = 0;
	return ms;
}

static void fca_learn(struct fca *st, u64 us, u32 events, u32 base_us)
{
	u32 rtt_us = st->rtt_count ? st->rtt_sum_us / st->rtt_count : 0;
	u32 gain, keep = GAIN_UNIT - min(interval_gain, GAIN_UNIT);
	u32 epoch_ms;

	st->rtt_sum_us = st->rtt_count = 0;
	if (!rtt_us)
		return;
	us = min(us, INTERVAL_MAX_MS * USEC_PER_MSEC);
	epoch_ms = fca_loses(st, us, events);
	st->time_ms = ((u64)st->time_ms * keep >> GAIN_SCALE) + us / USEC_PER_MSEC;
	st->count = (st->count * keep >> GAIN_SCALE) + events;
	us = st->time_ms * (USEC_PER_MSEC << GAIN_SCALE) / max(st->count, 1U);
	st->interval_us = min(us, INTERVAL_MAX_MS * USEC_PER_MSEC);
	if (!trajectory)
		st->target = fca_cubic_window(st->interval_us, rtt_us, base_us);
	else if (epoch_ms)
		st->target = fca_follow_trajectory(st, epoch_ms, rtt_us, base_us);
	else
		return;
	st->steps++;
	gain = max(window_gain, window_gain_first / st->steps);
	st->window = fca_step(st->window, st->target, gain);
}

static void fca_on_event(struct fca *st, u64 now, u32 events, u32 base_us, u32 rtt_us)
{
	/* At first others back off from the overflow in which we lost. */
	u64 same_us = 2ULL * backoff_rtts * rtt_us;

	if (!event_by_rtt || st->count || now - st->began_us > same_us)
		fca_learn(st, now - st->event_us, events, base_us);
	st->event_us = now;
}

/* BBR had filled the pipe, and the buffer overflowed: another flow fills it too. */
static void fca_compete(struct sock *sk, struct fca *st, const struct rate_sample *rs)
{
	u64 now = tcp_sk(sk)->tcp_mstamp;

	st->competing = 1;
	st->steps = 0;
	st->interval_us = 0;
	st->window = min((u64)rs->prior_in_flight, W_MAX) << W_SHIFT;
	st->event_us = st->began_us = now;
	st->settled_us = now;
	st->peak_us = st->trough_us = 0;
	st->lost_us = st->lone_losses = 0;
	st->rtt_sum_us = st->rtt_count = 0;
	st->time_ms = st->count = st->depth = 0;
	st->area = st->area_ms = st->epoch_ms = 0;
	st->credit = 0;
	st->peak = st->aim = st->window;
}

/*
 * The RTT rises while CUBIC grows and falls when it backs off. Returns the number of events, in
 * 1/256, when that is over: its depth relative to the deepest, because when not all flows back off
 * together, each does so less often than observed.
 */
static u32 fca_backed_off(struct sock *sk, struct fca *st)
{
	const struct bbr *ca = inet_csk_ca(sk);
	u64 now = tcp_sk(sk)->tcp_mstamp;
	u32 rtt_us = st->round_rtt_us;
	u32 keep = GAIN_UNIT - min(backoff_drop, GAIN_UNIT);
	bool settled = (s64)(now - st->settled_us) >= 0;
	u32 depth;

	if (!ca->round_start || !rtt_us)
		return 0;
	st->round_rtt_us = 0;
	if (!st->trough_us) {
		/* The effect of w's own step on the RTT is not a back-off. */
		st->peak_us = settled ? max(st->peak_us, rtt_us) : rtt_us;
		if (rtt_us >= (u64)st->peak_us * keep >> GAIN_SCALE)
			return 0;
		st->trough_us = rtt_us;
		st->settled_us = now + (u64)rtt_us * backoff_rtts;
		return 0;
	}
	st->trough_us = min(st->trough_us, rtt_us);
	if (!settled)
		return 0;
	depth = st->peak_us - min(st->trough_us, st->peak_us);
	depth = ((u64)depth << 16) / max(st->peak_us, 1U);
	st->depth = max(depth, st->depth - (st->depth >> DEPTH_SHIFT));
	st->peak_us = rtt_us;
	st->trough_us = 0;
	st->settled_us = now + (u64)rtt_us * backoff_rtts;
	return weigh_events ? (depth << GAIN_SCALE) / max(st->depth, 1U) : GAIN_UNIT;
}

/*
 * A loss of our own that no back-off follows is an event too: nothing else can be observed when w
 * is too large, the buffer always full and CUBIC without a window to back off from.
 */
static u32 fca_lost_alone(struct sock *sk, struct fca *st, bool has_lost)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 wait_us = (u64)(tp->srtt_us >> 3) * (backoff_rtts + 1);

	if (st->trough_us)
		st->lost_us = st->lone_losses = 0;
	else if (has_lost && !st->lost_us)
		st->lost_us = tp->tcp_mstamp;
	if (!st->lost_us || tp->tcp_mstamp - st->lost_us < wait_us)
		return 0;
	st->lost_us = 0;
	st->lone_losses++;
	return st->lone_losses > lone_losses_most ? GAIN_UNIT : 0;
}

/* When all windows together exceed what path and buffer hold, ours and its model shrink to that. */
static void fca_take_off_losses(struct fca *st, u32 losses)
{
	u64 lost = (u64)losses * loss_decrease;
	u32 least = cwnd_min_target << W_SHIFT;

	st->window = st->window > lost + least ? st->window - lost : min(st->window, least);
	st->peak = st->peak > lost + least ? st->peak - lost : min(st->peak, least);
}

/* Does another flow still fill the buffer? */
static bool fca_is_alone(const struct sock *sk, const struct fca *st, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 quiet_us = tp->tcp_mstamp - st->event_us;
	u64 empty_us = (u64)tcp_min_rtt(tp) * (GAIN_UNIT + empty_queue) >> GAIN_SCALE;

	if (rs->rtt_us > 0 && (u64)rs->rtt_us < empty_us)
		return true;
	return quiet_us > max(2ULL * st->interval_us,
			      quiet_ms * USEC_PER_MSEC + (u64)quiet_rtts * (tp->srtt_us >> 3));
}

static void fca_observe(struct sock *sk, struct fca *st, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct bbr *ca = inet_csk_ca(sk);
	u64 now = tp->tcp_mstamp;
	bool has_lost = rs->losses > 0 && now - st->event_us > max(tp->srtt_us >> 3, 1U);
	u32 events = fca_backed_off(sk, st);

	if (rs->rtt_us > 0 && !rs->is_ack_delayed) {
		u32 rtt_us = min(rs->rtt_us, RTT_MAX_US);

		st->rtt_sum_us += rtt_us;
		st->rtt_count++;
		st->round_rtt_us = st->round_rtt_us ? min(st->round_rtt_us, rtt_us) : rtt_us;
	}
	if (!st->competing) {
		if (has_lost && ca->mode == BBR_PROBE_BW)
			fca_compete(sk, st, rs);
		return;
	}
	fca_take_off_losses(st, max(rs->losses, 0));
	if (!event_by_rtt)
		events = has_lost ? GAIN_UNIT : 0;
	else if (!events)
		events = fca_lost_alone(sk, st, has_lost);
	if (events)
		fca_on_event(st, now, events, tcp_min_rtt(tp), tp->srtt_us >> 3);
	if (fca_is_alone(sk, st, rs))
		st->competing = 0;
}

/* cwnd = w, through BBR's loss recovery; paced a little faster, so that cwnd binds. */
static void fca_apply_window(struct sock *sk, const struct fca *st, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	const struct bbr *ca = inet_csk_ca(sk);
	u32 window = max(st->window >> W_SHIFT, cwnd_min_target);
	u32 cwnd = tp->snd_cwnd;

	bbr_set_pacing_rate(sk, bbr_rate(window, tp->srtt_us >> 3), window_pacing_gain);
	if (rs->acked_sacked) {
		cwnd = bbr_recovery_cwnd(sk, rs);
		if (!ca->packet_conservation)
			cwnd = max(min(cwnd + rs->acked_sacked, window), cwnd_min_target);
	}
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
}

SEC("struct_ops")
void BPF_PROG(fca_init, struct sock *sk)
{
	struct fca *st = bpf_sk_storage_get(&fca_storage, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	bbr_start(sk);
	if (!st)
		return;
	st->event_us = st->began_us = st->settled_us = tcp_sk(sk)->tcp_mstamp;
	st->rtt_sum_us = st->rtt_count = 0;
	st->round_rtt_us = st->peak_us = st->trough_us = st->depth = 0;
	st->lost_us = st->lone_losses = 0;
	st->time_ms = st->count = st->interval_us = 0;
	st->window = st->target = st->steps = 0;
	st->area = st->area_ms = st->epoch_ms = st->peak = st->aim = 0;
	st->credit = 0;
	st->competing = 0;
}

SEC("struct_ops")
void BPF_PROG(fca_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct bbr *ca = inet_csk_ca(sk);
	struct fca *st = fca_of(sk);

	/* A minimum from before others filled the queue is the path's: no PROBE_RTT is needed. */
	if (st && st->competing && ca->mode == BBR_PROBE_BW)
		ca->min_rtt_stamp = bbr_now_ms(tcp_sk(sk));
	bbr_update_model(sk, rs);
	if (st)
		fca_observe(sk, st, rs);
	if (st && st->competing && ca->mode == BBR_PROBE_BW)
		fca_apply_window(sk, st, rs);
	else
		bbr_apply_model(sk, rs);
}

SEC(".struct_ops")
struct tcp_congestion_ops bbr_fca = {
	.init		= (void *)fca_init,
	.ssthresh	= (void *)bbr_ssthresh,
	.cong_control	= (void *)fca_cong_control,
	.set_state	= (void *)bbr_set_state,
	.cwnd_event	= (void *)bbr_cwnd_event,
	.min_tso_segs	= (void *)bbr_min_tso_segs,
	.undo_cwnd	= (void *)bbr_undo_cwnd,
	.sndbuf_expand	= (void *)bbr_sndbuf_expand,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "bbr_fca",
};
