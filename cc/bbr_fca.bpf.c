// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * BBR-FCA (a reconstruction): BBR with the window that CUBIC would have at the observed loss
 * intervals.
 *
 *	T      = mean time between loss events		[the RTT falls when CUBIC backs off]
 *	target = max(CUBIC's mean window at T, 3/2 T/RTT)	[packets]
 *	w      = w + theta (target - w) at each loss event
 *	cwnd   = w;  pacing_rate = 1.2 w/RTT, so that cwnd binds
 *
 *	BBR --loss in PROBE_BW--> competing --empty queue, or no loss event for long--> BBR
 *
 * Everything else is BBR version 1 (bbr_v1.h). While it competes it does not probe: its own probes
 * would shorten T, and PROBE_RTT would cost throughput and only measure others' queues.
 *
 * "Fair to CUBIC based on mathematical analysis" is Utsumi's and Hasegawa's (IFIP Networking 2022).
 * Only the final report of KAKENHI 20K11786 was available: a model of CUBIC's throughput on the
 * packet-loss-detection interval, and a BBR that uses it. The rest is derived here; docs/bbr-fca.md
 * has it in full, with its results and the plain reconstruction as a set of parameters.
 *
 * The model: after a loss at W_max CUBIC's window is W_max - C (K - t)^3 (RFC 9438 §4.2), back
 * at W_max at K = cbrt((1 - beta) W_max/C). With T = K the mean is C (3 + beta)/(4 (1 - beta))
 * T^3, 1.2333 T^3 packets for C = 0.4 and beta = 0.7. Linux's CUBIC differs in three points:
 *  - fast convergence (§4.7): every second epoch aims at (1 + beta)/2 W_max and lasts 2^(2/3) K.
 *    T is 1.2937 K, the mean 0.879 W_max instead of 0.925: 0.439 times 1.2333 T^3;
 *  - whole packets: it is within one of W_max cbrt(1/C) before K;
 *  - a round trip of recovery, in which it does not grow.
 * In the Reno-friendly region (§4.3) it grows by 3 (1 - beta)/(1 + beta) per RTT: 3/2 T/RTT.
 *
 * Fixed point: Q packets are in flight when the buffer overflows, BDP and buffer. N_C CUBIC flows
 * that lose together and N_B of ours have W_max = (Q - N_B w)/N_C, so with m = 0.879 (0.925) w* = m
 * Q/(N_C + m N_B), CUBIC's mean window: fair for any buffer, without knowing N or Q.
 *
 * Stability: the target's slope there is -m N_B/N_C, and a step of theta is stable for
 * theta < 2/(1 + m N_B/N_C): 0.43 for four against one, 0.13 for sixteen against one.
 *
 * Whose losses: a flow of constant window loses at few of the overflows, and T enters as T^3. The
 * RTT shows each back-off. Where CUBIC flows do not back off together it shows more back-offs than
 * each flow has; their depth, compared with the deepest recent one, tells how many of them make
 * one.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "win_minmax.h"
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
PARAM(u32, cubic_grain_ms, 1357, 0, 100000, "ms",
      "counting whole packets it is back at W_max this much before K: cbrt(1/C)");
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
PARAM(u32, lone_losses_most, 3, 0, 1000, "",
      "losses of one's own that no back-off follows are events if there are more in a row");
PARAM(u32, interval_gain, 64, 1, 256, "/256", "step of T's mean per event");

/* What it does then. */
PARAM(u32, window_gain, 32, 1, 256, "/256", "theta: step of the window per event");
PARAM(u32, window_gain_first, 128, 0, 256, "/256",
      "the k-th step is this over k, as long as that is more");
PARAM(u32, window_step_most, 1024, 257, 25600, "/256",
      "most the window changes by in a step, times or through");
PARAM(u32, window_pacing_gain, 307, 256, 2047, "/256",
      "pacing rate over w/RTT when competing: 120 %, Linux's tcp_pacing_ca_ratio");
PARAM(u32, loss_decrease, 256, 0, 256, "/256",
      "the window less this much of each packet lost: what the buffer has no room for");
PARAM(u32, quiet_ms, 30000, 1, 600000, "ms",
      "without a loss event for this and 2 T it is BBR again; K of 36,000 packets");
PARAM(u32, empty_queue, 8, 0, 256, "/256",
      "an RTT this close to the least ever seen is an empty queue: BBR again");

struct fca {
	u64	event_us;	/* the last loss event */
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

/* Mean window of a CUBIC flow that loses every `interval_us`; [pkts << W_SHIFT] */
static u32 fca_cubic_window(u32 interval_us, u32 rtt_us)
{
	u64 recovery_us = (u64)rtt_us * recovery_rtts >> 8;
	u64 ms = min(tcp_stamp_us_delta(interval_us, recovery_us) / USEC_PER_MSEC, INTERVAL_MAX_MS);
	u64 reno = (ms * USEC_PER_MSEC * 3 << (W_SHIFT - 1)) / max(rtt_us, 1U);
	u32 beta = min(cubic_beta_milli, 990U);
	/* C (3 + beta)/(4 (1 - beta)) in 1/1000: below 2^24 */
	u64 factor = (u64)cubic_c_milli * (3000 + beta) / (4 * (1000 - beta));
	u64 cubic;

	/* Every second epoch aims at (1 + beta)/2 W_max: T and the mean window differ. */
	if (fast_convergence)
		factor = factor * 439 / 1000;
	/* Every second epoch is on the plateau of W_max when it ends. */
	ms = min(ms + (cubic_grain_ms >> (fast_convergence ? 1 : 0)), INTERVAL_MAX_MS);
	/* 10^10 * 2^24 / 10^6 = 2^37.3; times 10^5 and 2^8 is 2^62 */
	cubic = (ms * ms * factor / 1000000 * ms << W_SHIFT) / 1000000;
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

static void fca_learn(struct fca *st, u64 us, u32 events)
{
	u32 rtt_us = st->rtt_count ? st->rtt_sum_us / st->rtt_count : 0;
	u32 gain, keep = GAIN_UNIT - min(interval_gain, GAIN_UNIT);

	st->rtt_sum_us = st->rtt_count = 0;
	if (!rtt_us)
		return;
	us = min(us, INTERVAL_MAX_MS * USEC_PER_MSEC);
	st->time_ms = ((u64)st->time_ms * keep >> GAIN_SCALE) + us / USEC_PER_MSEC;
	st->count = (st->count * keep >> GAIN_SCALE) + events;
	us = st->time_ms * (USEC_PER_MSEC << GAIN_SCALE) / max(st->count, 1U);
	st->interval_us = min(us, INTERVAL_MAX_MS * USEC_PER_MSEC);
	st->target = fca_cubic_window(st->interval_us, rtt_us);
	st->steps++;
	gain = max(window_gain, window_gain_first / st->steps);
	st->window = fca_step(st->window, st->target, gain);
}

static void fca_on_event(struct fca *st, u64 now, u32 events)
{
	fca_learn(st, now - st->event_us, events);
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
	st->event_us = now;
	st->settled_us = now;
	st->peak_us = st->trough_us = 0;
	st->lost_us = st->lone_losses = 0;
	st->rtt_sum_us = st->rtt_count = 0;
	st->time_ms = st->count = st->depth = 0;
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

/* When all windows together exceed what path and buffer hold, they shrink to that. */
static void fca_take_off_losses(struct fca *st, u32 losses)
{
	u64 lost = (u64)losses * loss_decrease;
	u32 least = cwnd_min_target << W_SHIFT;

	st->window = st->window > lost + least ? st->window - lost : min(st->window, least);
}

/* Does another flow still fill the buffer? */
static bool fca_is_alone(const struct sock *sk, const struct fca *st, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 quiet_us = tp->tcp_mstamp - st->event_us;
	u64 empty_us = (u64)tcp_min_rtt(tp) * (GAIN_UNIT + empty_queue) >> GAIN_SCALE;

	if (rs->rtt_us > 0 && (u64)rs->rtt_us < empty_us)
		return true;
	return quiet_us > max(2ULL * st->interval_us, quiet_ms * USEC_PER_MSEC);
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
		fca_on_event(st, now, events);
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
	st->event_us = st->settled_us = tcp_sk(sk)->tcp_mstamp;
	st->rtt_sum_us = st->rtt_count = 0;
	st->round_rtt_us = st->peak_us = st->trough_us = st->depth = 0;
	st->lost_us = st->lone_losses = 0;
	st->time_ms = st->count = st->interval_us = 0;
	st->window = st->target = st->steps = 0;
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
