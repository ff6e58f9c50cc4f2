// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nagi (a calm sea): a queue of a few milliseconds among its own flows, CUBIC against flows that fill the buffer.
 *
 *	DELAY, once a round:	w += gain (w base/RTT + v alpha - w),	alpha = c root(rate T0)	[packets]
 *	COMPETE:		CUBIC (RFC 9438) towards the window that the loss interval T implies
 *
 * Queue: in equilibrium w (1 - base/RTT) = alpha, so a flow queues c root(T0/rate), and N flows c root(N T0/C):
 * 0.9 ms for one and 1.7 ms for four at 50 Mbit/s. The RTT is not in it: the same rate on any path. The exponent
 * is the compromise between a queue that grows with N (rate = k/d: Copa, Vegas) and a rate that an error of the
 * base RTT moves too much (rate = k/d^4): an error e moves the rate by 2e/d.
 *
 * Ceiling: a flow of this kind at two packets a round trip queues c root(T0 RTT/2): 7.9 ms at 40 ms, 13.5 ms at 116 ms.
 * Above that all of them yield, so a queue that stays above ceiling_us although they do belongs to others: COMPETE. Half of
 * it is enough where packets are lost: a buffer that is full of own flows' queue is shorter. BBR's ProbeRTT is enough too.
 *
 * Then it has yielded to them for a second, so it begins with the rate that it had before.
 *
 * Where the RTT moves by itself the base has a margin, and a fall of a moment that ends with a step is not believed:
 * path_rtt.h.
 *
 * Dip, the way back: no flow can tell its own kind from others by watching. So all of the kind take dip_pct off
 * their windows at once, for three rounds, and put it back for three. When? When the RTT has risen past a quarter octave,
 * which those of one path see together whichever base they believe, or dip_ms after the last. By Little's law the RTT
 * moves by the kind's share S of what is in flight: 1 when alone, and then the queue is theirs to drain. A flow that
 * is one of two kinds stops growing at a half, gives back what is above, and below a quarter aims at twice its
 * window. Against BBR, which keeps twice its estimate in flight however long the queue, any share is an equilibrium
 * at some queue (Ware et al., IMC 2019), and a half is fair. In shallow buffers it ignores the losses that BBR
 * causes: bbr_probe.h.
 *
 * T: CUBIC flows that lose every T seconds have a window of C T^3/(1 - beta) (RFC 9438 §4.2, K = T). A flow that came
 * late would need five of their epochs to get there by its own losses. It takes that window for its w_max instead.
 *
 * docs/notes/nagi.md has the derivations, the stability argument, what is impossible and what fails.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "bbr_probe.h"
#include "cubic_window.h"
#include "dip.h"
#include "quarter_octaves.h"
#include "path_rtt.h"
#include "rounds.h"
#include "square_root.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define W_SHIFT		10		/* windows are in 1/1024 packets */
#define W_ONE		(1ULL << W_SHIFT)
#define W_LEAST		(W_ONE / 8)	/* below two packets the pacing rate is what counts */
#define W_MOST		(1ULL << (22 + W_SHIFT))
#define T0_US		40000U		/* c and the pace of convergence are for this RTT; longer paths take longer */
#define OWN_LEAST_US	1500U		/* bursts of own flows move the RTT by so much, and by part of the queue */
#define GAIN		192U		/* [1/256] of the way to the target per T0 */
#define STARTUP_SAMPLES	8U
#define DIP_ALL_ROUNDS	((u64)DIP_SETTLE_ROUNDS + 2 * DIP_ROUNDS)
#define DEEP_BDP	16U		/* in deeper queues CUBIC's passes a level within each dip (docs/notes/nagi.md) */
#define STEEP_ROUNDS	4U		/* v ends a round after its last step is sent; two more until the RTT is of what follows */

PARAM(u32, root_milli, 280, 1, 4000, "/1000", "c: queueing delay over root(T0/rate)");
PARAM(u32, ceiling_us, 13500, 100, 1000000, "us", "own flows queue no longer; 13.5 ms: at RTTs below 116 ms");
PARAM(u32, drain_ms, 5000, 0, 600000, "ms", "so long without an RTT near the base: drain; 0: never");
PARAM(u32, dip_pct, 30, 0, 90, "%", "off the window to find out whose queue it is, at most; 0: never");
PARAM(u32, dip_ms, 4000, 0, 600000, "ms", "and six round trips after a dip: the next; 0: by the RTT only");
PARAM(u32, enough_pct, 50, 1, 200, "%",
      "at this share of what is in flight it stops growing, what is above goes back; below half w_max is 2w");
PARAM(u32, jitter_us, 20000, 0, 1000000, "us", "the path's RTT moves by no more than that without a queue");
PARAM(u32, by_interval, 1, 0, 1, "", "w_max from the interval between losses; 0: from its own losses only");
PARAM(u32, probe_ms, 12000, 0, 600000, "ms", "how long after a ProbeRTT of BBR's flows losses are ignored; 0: never");
PARAM(u32, lenient_pct, 90, 70, 100, "%", "of w left at losses that come sooner than Reno's could");

enum nagi_mode { STARTUP, DELAY, DRAIN, COMPETE, DIP };

struct nagi {
	u64	w;
	u64	before;		/* w of the round before */
	u64	hold;		/* w before a drain, or when the queue went above the ceiling */
	u64	usual;		/* w when last drained with the base known */
	struct cubic_window cubic;
	u64	cut_us;		/* the last reduction; in DELAY also the last round with losses */
	u64	phase_us;	/* when this drain, or this stay above the ceiling, began, or the last dip ended */
	u64	under_us;	/* when the queue went below half of what is wanted */
	u64	near_us;	/* the last RTT near the base */
	struct rounds round;
	struct path_rtt path;	/* its intervals are from drain to drain */
	struct dip dip;
	struct bbr_probe probe;
	u32	delivered;	/* when the round began: tp->delivered, tp->lost */
	u32	lost;
	u32	rounds;		/* of this drain or stay above the ceiling; in COMPETE below half of it; in STARTUP long RTTs */
	u32	under_rounds;
	u32	velocity;	/* v */
	u32	steep_rounds;	/* as long as the RTT may be of a w that v moved */
	u32	alpha;
	u32	bw;		/* greatest delivery rate of this round; [packets/s] */
	u32	level;		/* of the RTT, in quarter octaves */
	u32	loss_avg;	/* moving average of a round's loss; [1/256 %] */
	u32	early;		/* losses in a row that came too soon for Reno */
	u8	mode;
	u8	rebase;		/* this drain forgets the base */
};
STORAGE(struct nagi);
STORAGE_SERIES_STATE(struct nagi, mode, "mode", "startup,delay,drain,compete,dip", "what it does");
STORAGE_SERIES(struct nagi, path.base_us, "base_us", "us", "base RTT");
STORAGE_SERIES(struct nagi, path.margin_us, "margin_us", "us", "what the path adds to it at times");
STORAGE_SERIES(struct nagi, path.round_us, "round_rtt_us", "us", "RTT of the last round");
STORAGE_SERIES(struct nagi, velocity, "velocity", "", "v");
STORAGE_SERIES(struct nagi, dip.share_pct, "own_share_pct", "%", "S, the kind's share by the last dip");
STORAGE_SERIES_SCALED(struct nagi, alpha, "alpha_pkts", "pkts", 1, 1 << W_SHIFT, 0, "packets to queue");
STORAGE_SERIES_SCALED(struct nagi, w, "w_pkts", "pkts", 1, 1 << W_SHIFT, 0, "w");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct nagi);
} nagi_storage SEC(".maps");

/* Whether an RTT shows a queue: RFC 9406 §4.3's threshold, but below the ceiling. */
static bool nagi_queued(const struct nagi *ca, u32 rtt)
{
	return rtt > ca->path.base_us + clamp(ca->path.base_us / 8, 2000U, max(ceiling_us / 2, 2000U));
}

/* c root(rate T0) */
static u32 nagi_alpha(const struct nagi *ca)
{
	u64 pkts = ca->w * T0_US / max(ca->path.round_us, 1U);

	return (u64)root_milli * square_root(pkts << W_SHIFT) / 1000;
}

/* The queue that this flow wants: alpha/rate. */
static u32 nagi_wanted_us(const struct nagi *ca)
{
	return (u64)ca->alpha * ca->path.round_us / max(ca->w, W_LEAST);
}

/* BBR probes with 1.25 times the rate, so a fifth can be lost. With much of its own in flight it no longer sees the base. */
static bool nagi_knows_bbr(const struct nagi *ca, u64 now)
{
	return ca->probe.seen_us && now - ca->probe.seen_us < probe_ms * USEC_PER_MSEC && ca->loss_avg < 20 * 256;
}

static void nagi_cubic_grow(struct nagi *ca, u64 now, u32 acked)
{
	/* Where BBR loses packets the buffer is short, and so is the queue that growing makes. */
	if (ca->dip.share_pct >= enough_pct || (nagi_knows_bbr(ca, now) && ca->loss_avg < 256)) {
		ca->cubic.w_max = ca->w;
		cubic_window_start(&ca->cubic, now, ca->w);
		return;
	}
	ca->w = min(ca->w + cubic_window_growth(&ca->cubic, now, ca->path.round_us, ca->w, acked), W_MOST);
}

/*
 * Reno's epoch, w/2 round trips (RFC 5681: from w/2 to w, one a round), is the shortest of any sender that
 * reacts to losses. Losses that come sooner are caused by BBR, which ignores losses of less than a fifth.
 */
static void nagi_cut(struct nagi *ca, u64 now, bool is_timeout, u32 lost_pct)
{
	u64 interval_us = tcp_stamp_us_delta(now, ca->cut_us);
	u64 reno_us = (ca->w >> (W_SHIFT + 1)) * ca->path.round_us;
	u32 left = CUBIC_BETA_PCT;

	ca->early = !is_timeout && interval_us < reno_us / 3 ? ca->early + 1 : 0;
	if (ca->early >= 2 && lost_pct < 20)
		left = lenient_pct;
	ca->cubic.w_max = ca->w;
	ca->w = max(ca->w * left / 100, 2 * W_ONE);
	if (by_interval && !is_timeout && ca->cut_us > max(ca->near_us, ca->probe.seen_us))
		ca->cubic.w_max = clamp(cubic_window_of_interval(interval_us), ca->cubic.w_max, 4 * ca->cubic.w_max);
	ca->cut_us = now;
	cubic_window_start(&ca->cubic, now, ca->w);
	/* What the RTT does now is neither the dip's doing nor BBR's. */
	if (ca->mode == DIP)
		ca->mode = COMPETE;
	bbr_probe_discard(&ca->probe);
}

static void nagi_enter_delay(struct nagi *ca)
{
	ca->mode = DELAY;
	ca->rounds = ca->under_rounds = ca->steep_rounds = 0;
	ca->velocity = 1;
}

static void nagi_enter_drain(struct nagi *ca, u64 now, u64 w, bool rebase)
{
	ca->hold = rebase ? w : ca->w;
	ca->w = max(w * 85 / 100, 2 * W_ONE);
	ca->mode = DRAIN;
	ca->phase_us = now;
	ca->rounds = 0;
	ca->rebase = rebase;
	bbr_probe_discard(&ca->probe);
	if (rebase)
		ca->path.mins[0] = ca->path.mins[1] = ca->path.mins[2] = NO_RTT;
}

static void nagi_enter_compete(struct nagi *ca, u64 now, u64 w)
{
	ca->mode = COMPETE;
	/* The rate that it had before it yielded to them. */
	ca->w = max(w, min(ca->usual * ca->path.round_us / max(ca->path.base_us, 1U), W_MOST));
	ca->cubic.w_max = ca->w;
	ca->level = quarter_octaves(ca->path.round_us);
	ca->rounds = ca->dip.share_pct = 0;
	ca->phase_us = now;
	cubic_window_start(&ca->cubic, now, ca->w);
	bbr_probe_discard(&ca->probe);
}

/*
 * The queue is above the ceiling: counts for how long, and returns whether it belongs to other flows. A flow that does
 * not know its usual rate may be seeing the starts of its own kind, so it waits for longer.
 */
static bool nagi_is_alien(struct nagi *ca, u64 now)
{
	u64 stay_us;

	if (!ca->rounds++) {
		ca->hold = ca->w;
		ca->phase_us = now;
	}
	stay_us = now - ca->phase_us;
	return (ca->usual && ca->rounds >= 8 && stay_us > USEC_PER_SEC / 2) ||
	       (ca->rounds >= 4 && stay_us > 2 * USEC_PER_SEC);
}

/* More than 2 % of a round was lost, or all of it, within the last two seconds. */
static bool nagi_is_losing(const struct nagi *ca, u64 now)
{
	return ca->cut_us && now - ca->cut_us < 2 * USEC_PER_SEC;
}

/* v doubles every two rounds, and T0, that find less than half of the queue wanted: the link is free. */
static void nagi_set_velocity(struct nagi *ca, u64 now, u32 queue, u32 wanted, bool is_lossy)
{
	if (queue >= wanted / 2 || is_lossy)
		ca->under_rounds = 0;
	else if (!ca->under_rounds++)
		ca->under_us = now;
	if (queue >= wanted || nagi_is_losing(ca, now))
		ca->velocity = 1;
	else if (ca->under_rounds >= 2 && now - ca->under_us >= T0_US)
		ca->velocity = min(ca->velocity * 2, 1U << 20);
}

/*
 * The packets in flight that fit without a queue. The RTT is that of the window one round ago. While v moves w, and until
 * the RTT shows where it has got to, that is another one: to go down by the RTT of a window and from the next would go too
 * far down, v would start again, and the queue would swing.
 */
static u64 nagi_empty(struct nagi *ca, u32 rtt, u32 queue)
{
	u64 seen = ca->steep_rounds ? max(ca->before, ca->w) : ca->w;

	ca->before = ca->w;
	return seen * (rtt - min(queue, rtt)) / rtt;
}

static void nagi_delay_round(struct nagi *ca, u64 now, bool is_limited, u32 lost_pct)
{
	u32 rtt = max(ca->path.round_us, 1U), queue, wanted;
	u64 alpha, empty, target;
	/* The same pace at any RTT up to T0: else short paths take what long ones look for. */
	u64 step = min(GAIN, GAIN * min(rtt, T0_US) / T0_US);
	bool is_lossy = lost_pct > 2, is_losing = nagi_is_losing(ca, now);

	alpha = ca->alpha = nagi_alpha(ca);
	wanted = nagi_wanted_us(ca);
	path_rtt_learn_noise(&ca->path, max(OWN_LEAST_US, wanted * 3 / 5), jitter_us);
	queue = path_rtt_queue_us(&ca->path);
	empty = nagi_empty(ca, rtt, queue);
	if (queue <= (is_losing ? ceiling_us / 2 : ceiling_us)) {
		ca->rounds = 0;
	} else if (nagi_is_alien(ca, now)) {
		nagi_enter_compete(ca, now, ca->hold);
		return;
	}
	if (is_lossy) {
		if (lost_pct > 5)
			ca->w = ca->w * 80 / 100;
		ca->cut_us = now;
	}
	nagi_set_velocity(ca, now, queue, wanted, is_lossy);
	ca->steep_rounds = ca->velocity > 1 ? STEEP_ROUNDS : ca->steep_rounds - !!ca->steep_rounds;
	/* v times alpha, but w grows by half at most; half of it where packets are lost. */
	target = empty + (is_losing ? alpha / 2 : min(alpha * ca->velocity, max(ca->w / 2, alpha)));
	if (target < ca->w)
		ca->w -= (ca->w - target) * step >> 8;
	else if (is_limited && !is_lossy)
		ca->w += (target - ca->w) * step >> 8;
	ca->w = clamp(ca->w, W_LEAST, W_MOST);
	if (drain_ms && !ca->rounds && now - ca->near_us > drain_ms * USEC_PER_MSEC)
		nagi_enter_drain(ca, now, empty, false);
}

/* Two rounds, and 0.2 s for longer paths to see it; when the base is forgotten the first two see the queue go. */
static void nagi_drain_round(struct nagi *ca, u64 now)
{
	if (++ca->rounds < (ca->rebase ? 4 : 2) || now - ca->phase_us < USEC_PER_SEC / 5)
		return;
	ca->w = ca->hold;
	ca->usual = ca->rebase ? 0 : ca->w;
	ca->near_us = now;
	/* A dip says whose the queue is, not that the path is another: the old base counts in one more interval. */
	if (ca->rebase && ca->dip.share_pct && ca->path.mins[0] <= ca->path.base_us + ceiling_us)
		ca->path.mins[1] = ca->path.base_us;
	path_rtt_next_interval(&ca->path);
	nagi_enter_delay(ca);
}

/*
 * Quarters of an octave above twice the base, halves below: there the queue is short, and a dip at each quarter of it costs
 * more than it finds. In buffers of more than DEEP_BDP the others' queue passes levels while this flow dips, and a flow that only
 * dips does not grow: there it grows for as long as a dip takes before the next.
 */
static bool nagi_is_at_next_level(const struct nagi *ca, u64 now, u32 level)
{
	u32 queue = path_rtt_queue_us(&ca->path), base = ca->path.base_us;

	if (queue > DEEP_BDP * base && now - ca->phase_us <= DIP_ALL_ROUNDS * ca->path.round_us)
		return false;
	return queue > base ? level > ca->level : level / 2 > ca->level / 2;
}

/*
 * The queue is nearly empty: part of the link is unused. Next to BBR's flows that is so while they have left for
 * ProbeRTT, from the third round on; a step is seen after two rounds, and goes over the BDP by an eighth at most.
 */
static void nagi_take_unused(struct nagi *ca, u64 now)
{
	ca->alpha = nagi_alpha(ca);
	if (path_rtt_queue_us(&ca->path) >= nagi_wanted_us(ca))
		return;
	if (!nagi_knows_bbr(ca, now))
		ca->w += ca->alpha * GAIN >> 8;
	else if (ca->rounds >= BBR_PROBE_EMPTY_ROUNDS && ca->rounds % 2)
		ca->w = min(ca->w + ca->w / 8, W_MOST);
}

/* In BBR's ProbeRTT all that is in flight was the kind's own, so its RTT over the base is w over the kind's BDP. */
static void nagi_end_probe(struct nagi *ca, u64 now)
{
	if (ca->probe.seen_us == now && ca->probe.own_us != NO_RTT)
		ca->w = max(ca->w * ca->path.base_us / max(ca->probe.own_us, max(ca->path.base_us, 1U)), 2 * W_ONE);
}

static void nagi_compete_round(struct nagi *ca, u64 now)
{
	u32 level = quarter_octaves(ca->path.round_us);
	/* A small share takes long to become enough. */
	u64 wait_us = (dip_ms * USEC_PER_MSEC + 2ULL * DIP_ROUNDS * ca->path.round_us) * enough_pct /
		      clamp(ca->dip.share_pct, max(enough_pct / 4, 1U), enough_pct);
	bool is_due = nagi_is_at_next_level(ca, now, level) || (dip_ms && now - ca->phase_us > wait_us);

	ca->level = level;
	if (path_rtt_queue_us(&ca->path) < ceiling_us / 2) {
		if (++ca->rounds >= 50) {
			ca->near_us = now;
			nagi_enter_delay(ca);
		}
		nagi_take_unused(ca, now);
		return;
	}
	ca->rounds = 0;
	/* Next to BBR a dip finds too much: what it takes off, BBR's pacing does not put in its place. */
	if (is_due && !nagi_knows_bbr(ca, now)) {
		ca->mode = DIP;
		dip_begin(&ca->dip);
	}
}

static void nagi_dip_round(struct nagi *ca, u64 now)
{
	enum dip_state state = dip_round(&ca->dip, &ca->path, ca->w, dip_pct);
	/* Perhaps BBR's: its pacing does not put in the place of what a dip takes off, so S comes out near 1. */
	bool is_bbr_near = probe_ms && ca->probe.back_us && now - ca->probe.back_us < BBR_PROBE_MOST_US;

	if (state == DIP_GOES_ON)
		return;
	ca->mode = COMPETE;
	ca->rounds = 0;
	ca->phase_us = now;
	if (state == DIP_IS_VOID)
		return;
	ca->level = quarter_octaves(ca->dip.from_us);
	if (ca->dip.share_pct >= 80 && ca->dip.share_pct <= 120 && !is_bbr_near) {
		nagi_enter_drain(ca, now, ca->w * ca->path.base_us / max(ca->dip.from_us, 1U), true);
	} else if (ca->dip.share_pct > enough_pct && ca->dip.share_pct <= 120) {
		ca->w = max(ca->w - ca->w * (min(ca->dip.share_pct, 100U) - min(enough_pct, 100U)) / 100, 2 * W_ONE);
	} else if (ca->dip.share_pct < enough_pct / 2) {
		ca->cubic.w_max = max(ca->cubic.w_max, 2 * ca->w);
		cubic_window_start(&ca->cubic, now, ca->w);
	}
}

/* The window becomes what the link delivers in one base RTT, which fits without a queue. */
static void nagi_end_startup(struct nagi *ca, u64 now)
{
	u64 bdp = ((u64)ca->bw * min(ca->path.base_us, PATH_RTT_MAX_US) << W_SHIFT) / USEC_PER_SEC;

	/* Drained first: for a round trip or two the RTT shows what slow start sent. */
	ca->w = clamp(bdp, 4 * W_ONE, max(ca->w, 4 * W_ONE));
	nagi_enter_drain(ca, now, ca->w, true);
}

/*
 * BBR's queue can stay below the ceiling, and ProbeRTT gives it away then too. Here only that of BBR itself counts, every
 * 10 s: what a path or own drains do comes sooner.
 */
static bool nagi_sees_bbr(struct nagi *ca, u64 now)
{
	u64 back_us = ca->probe.back_us;

	bbr_probe_round(&ca->probe, &ca->path, now);
	return probe_ms && ca->probe.seen_us == now && now - back_us > BBR_PROBE_LONG_US;
}

static void nagi_round(struct nagi *ca, const struct tcp_sock *tp, bool is_limited)
{
	u32 got = tp->delivered - ca->delivered, lost = tp->lost - ca->lost;
	u32 lost_pct = (u64)lost * 100 / max(got + lost, 1U);
	u64 now = tp->tcp_mstamp;

	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
	ca->loss_avg += (s32)(lost_pct * 256 - ca->loss_avg) / 8;
	if (!path_rtt_end_round(&ca->path))
		return;
	path_rtt_learn_base(&ca->path, now, ca->mode == DELAY ? max(nagi_wanted_us(ca), 1U) : 0);
	if (path_rtt_is_near(&ca->path))
		ca->near_us = now;
	switch (ca->mode) {
	case STARTUP:
		if (lost_pct > 2)
			nagi_end_startup(ca, now);
		break;
	case DELAY:
		if (nagi_sees_bbr(ca, now))
			nagi_enter_compete(ca, now, ca->w);
		else
			nagi_delay_round(ca, now, is_limited, lost_pct);
		break;
	case DRAIN:
		nagi_drain_round(ca, now);
		break;
	case COMPETE:
		bbr_probe_round(&ca->probe, &ca->path, now);
		nagi_end_probe(ca, now);
		nagi_compete_round(ca, now);
		break;
	case DIP:
		if (ca->dip.rounds < DIP_SETTLE_ROUNDS)
			bbr_probe_round(&ca->probe, &ca->path, now);
		else
			bbr_probe_discard(&ca->probe);
		nagi_dip_round(ca, now);
		break;
	}
	ca->bw = 0;
}

static void nagi_take_rtt(struct nagi *ca, const struct rate_sample *rs, u64 now)
{
	u32 rtt = min(rs->rtt_us, (long)PATH_RTT_MAX_US);

	if (!rs->is_ack_delayed)
		path_rtt_take(&ca->path, rtt);
	if (ca->mode != STARTUP)
		return;
	ca->path.base_us = min(ca->path.base_us, rtt);
	/* RFC 9406 §4.2: the least of eight samples. */
	ca->rounds = nagi_queued(ca, rtt) ? ca->rounds + 1 : 0;
	if (ca->rounds >= STARTUP_SAMPLES) {
		ca->path.round_us = rtt;
		nagi_end_startup(ca, now);
	}
}

static void nagi_apply(struct sock *sk, const struct nagi *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 w = ca->mode == DIP ? dip_window(&ca->dip, ca->w) : ca->w;
	u32 rtt = ca->path.round_us ? ca->path.round_us : max(tp->srtt_us >> 3, 1U);
	/* By w, dip or not: the dip takes packets off, and ACKs pace what is left. */
	u64 rate = (ca->w * tp->mss_cache >> W_SHIFT) * USEC_PER_SEC / max(rtt, 1U);

	if (ca->mode == STARTUP)
		rate *= 2;
	else if (ca->w >= 2 * W_ONE)
		rate += rate / 4;
	sk->sk_pacing_rate = max(rate, 1ULL);
	tp->snd_cwnd = min(whole_packets(w), tp->snd_cwnd_clamp);
}

SEC("struct_ops")
void BPF_PROG(nagi_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct nagi *ca = bpf_sk_storage_get(&nagi_storage, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!ca)
		return;
	__builtin_memset(ca, 0, sizeof(*ca));
	ca->w = (u64)max(tp->snd_cwnd, 2U) << W_SHIFT;
	ca->near_us = tp->tcp_mstamp;
	path_rtt_begin(&ca->path);
	rounds_begin(&ca->round, tp);
	ca->delivered = tp->delivered;
	ca->lost = tp->lost;
	ca->velocity = 1;
	ca->mode = STARTUP;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(nagi_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 now = tp->tcp_mstamp;
	struct nagi *ca = bpf_sk_storage_get(&nagi_storage, sk, NULL, 0);

	if (!ca)
		return;
	if (rs->delivered > 0 && rs->interval_us > 0)
		ca->bw = max(ca->bw, (u32)((u64)rs->delivered * USEC_PER_SEC / (u64)rs->interval_us));
	/* The SYN is shorter than a segment: its RTT is not the base of what is sent. */
	if (rs->rtt_us > 0 && tp->delivered > 2)
		nagi_take_rtt(ca, rs, now);
	if (ca->mode == STARTUP && rs->acked_sacked && !rs->is_app_limited)
		ca->w = min(ca->w + ((u64)rs->acked_sacked << W_SHIFT), W_MOST);
	if (ca->mode == COMPETE || ca->mode == DIP) {
		if (rs->losses > 0 && now - ca->cut_us > ca->path.round_us && !nagi_knows_bbr(ca, now))
			nagi_cut(ca, now, false, (u32)rs->losses * 100 / max(rs->prior_in_flight, 1U));
		else if (ca->mode == COMPETE && rs->acked_sacked)
			nagi_cubic_grow(ca, now, rs->acked_sacked);
	}
	if (rounds_end(&ca->round, tp, rs))
		nagi_round(ca, tp, !rs->is_app_limited);
	nagi_apply(sk, ca);
}

SEC("struct_ops")
void BPF_PROG(nagi_set_state, struct sock *sk, u8 new_state)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct nagi *ca = bpf_sk_storage_get(&nagi_storage, sk, NULL, 0);

	if (!ca || new_state != TCP_CA_Loss)
		return;
	if (ca->mode == STARTUP)
		nagi_enter_delay(ca);
	nagi_cut(ca, tp->tcp_mstamp, true, 100);
	rounds_begin(&ca->round, tp);
}

SEC("struct_ops")
u32 BPF_PROG(nagi_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops")
u32 BPF_PROG(nagi_undo_cwnd, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, 2U);
}

SEC(".struct_ops")
struct tcp_congestion_ops nagi = {
	.init		= (void *)nagi_init,
	.ssthresh	= (void *)nagi_ssthresh,
	.cong_control	= (void *)nagi_cong_control,
	.set_state	= (void *)nagi_set_state,
	.undo_cwnd	= (void *)nagi_undo_cwnd,
	.name		= "nagi",
};
