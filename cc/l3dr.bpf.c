// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * L3DR (a reconstruction): BBR that paces at a weighted mean of delivery rates, not their maximum.
 *
 *	B   = g (acked / time) (sum(sent / gain) / sent)	over the last cycle of gains, g = 1.036
 *	B_c = B (1 - kappa (1 - min_rtt/RTT)) + alpha/RTT	[RTT: the round's least]
 *	alpha = c root(B min_rtt)				[packets]
 *	pacing_rate = pacing_gain B_c;  cwnd = cwnd_gain B_c min_rtt + headroom for bursts
 *
 * Everything else is BBR version 1 (bbr_v1.h), except that phases of the gain cycle have one
 * length, STARTUP also ends when there is a queue or too many losses, PROBE_RTT halves the pacing
 * rate, and losses bound cwnd.
 *
 * "Low latency and low drop rate" is Utsumi's and Hasegawa's (CQR 2021, ICUFN 2023). Only the final
 * report of KAKENHI 20K11786 was available: pace on a weighted moving average of the observed
 * throughput instead of its latest maximum, and correct the estimated bandwidth by the RTT's
 * variation. The rest is derived here; docs/notes/l3dr.md has it in full, with its results and the plain
 * reconstruction as a set of parameters.
 *
 * Why not the maximum: a flow of share s that paces at 5/4 gets 1.25/(1 + s/4) of its share from
 * a busy link, so N maxima sum to 1.25 N/(N + 1/4) of it. The mean has no such bias, but a flow
 * must grow on an idle link: g is the mean gain of the phases that do not drain.
 *
 * Why sent / gain: a phase of one min_rtt holds a few whole bursts, so the mean gain that a flow has
 * sent with over a cycle is not exactly 1, and stays what it is. Each per cent of that would put its
 * share off by some 2 root(BDP/N)/c per cent, for good.
 *
 * Queue: a busy link delivers C whatever is sent, so sum(B) = g C, and sum(B_c) = C where
 *	kappa (1 - min_rtt/RTT) = g - 1 + c root(N/BDP)
 * Stability: near it q' = -kappa/min_rtt q(t - tau). tau is a round trip, half a round until the
 * round's RTT is known, half until the next: 2 min_rtt. Stable for kappa < pi/4 (0.78).
 * Fairness: kappa takes a share of B, alpha gives more to the small: differences fade by e in
 * 2 root(BDP/N)/c cycles of 8 round trips. The probes alone would take 28 N cycles.
 *
 * PROBE_RTT: a flow whose min_rtt expires while the others do not probe sees their queue only, and
 * would not yield to it until they probe. So min_rtt here is the least of two of BBR's windows, as
 * draft-ietf-ccwg-bbr's is of two probes (MinRTTFilterLen, ProbeRTTInterval).
 *
 * Short paths: below an RTT of some 3 ms Linux sends bursts of up to 64 kB (tcp_tso_autosize), more
 * than a BDP there. So a phase ends only after it has sent a burst, the pause after a burst counts
 * for the phase that paced it, B_c is never below least_pkts per RTT (an ACK's RTT has the time of
 * two packets on the link, which is no queue), and a buffer smaller than a burst bounds cwnd: TCP
 * puts at most half of cwnd into a burst.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "square_root.h"
#include "win_minmax.h"
#include "dumbbell.h"
/* The RTT's correction drains the queue, but a lone flow should fill the link. */
#define PACING_MARGIN_PCT	0
#include "bbr_v1.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define PHASES		64U	/* kept: those in flight and those of the mean */
#define WINDOW_MAX	32U	/* of them in the mean */
#define NO_BOUND	(~0U)	/* cwnd_bound before the first losses */
#define RTT_MAX_US	(1L << 27)	/* 134 s, above TCP's largest RTO */

/* The samples whose mean is the bandwidth. */
PARAM(u32, mean_by_phase, 1, 0, 1, "",
      "a sample is a gain phase: its packets over its time; 0: the delivery rate of each round");
PARAM(u32, mean_window, 8, 1, 32, "", "samples in the mean: phases, a cycle has 8, or rounds");
PARAM(u32, weight_up, 1, 0, 255, "", "weight of samples sent at a gain above 1");
PARAM(u32, weight_cruise, 1, 0, 255, "", "weight of samples sent at a gain of 1");
PARAM(u32, weight_down, 0, 0, 255, "", "weight of samples sent at a gain below 1");
PARAM(u32, by_gain, 1, 0, 1, "",
      "a phase's weight is 1, the mean for a mean gain of 1, times the growth on an idle link");

/* The correction by the RTT. */
PARAM(u32, rtt_correction, 128, 0, 512, "/256",
      "kappa: how much of (1 - min_rtt/RTT) comes off the bandwidth; stable below 200");
PARAM(u32, correction_most, 192, 0, 256, "/256", "at most this share of it comes off");
PARAM(u32, floor_windows, 2, 1, 2, "",
      "the RTT without a queue is the least of this many windows of min_rtt");
PARAM(u32, rtt_least, 1, 0, 1, "", "RTT is the least of a round; 0: the mean");
PARAM(u32, add_root, 96, 0, 2560, "/256",
      "c: alpha over the root of the flow's own BDP in packets");
/* RFC 5681, 4.2: an ACK for at least every second packet. Fewer in the network are no queue. */
PARAM(u32, least_pkts, 2, 0, 100, "pkts", "B_c is at least this per RTT");

/* Where BBR differs. */
PARAM(u32, phase_by_inflight, 0, 0, 1, "",
      "phases end as BBR's, by inflight; 0: each lasts a min_rtt");
PARAM(u32, startup_queue, 64, 0, 2560, "/256",
      "STARTUP ends when a round's RTT is this much of min_rtt above it; 0: by bandwidth only");
PARAM(u32, probe_rtt_gain, 128, 1, 256, "/256",
      "PROBE_RTT's pacing gain: drains when cwnd_min_target is more than a flow's BDP");

/* Losses. Sources: BBR.LossThresh and BBR.Beta of draft-ietf-ccwg-bbr; RFC 5681, 3.1. */
PARAM(u32, loss_thresh, 5, 0, 256, "/256",
      "a round that loses more lowers the bound on cwnd: 2 %; 256: never");
PARAM(u32, loss_beta, 179, 1, 256, "/256",
      "... to this share: 0.7, at least a BDP; a round that does not raises it by a packet");
PARAM(u32, startup_loss, 1, 0, 1, "", "and a round that does ends STARTUP; 0: only a queue does");

/* A phase of the gain cycle, and what has been acked of what it sent. */
struct l3dr_phase {
	u32	start;		/* tp->delivered when it began to send */
	u32	weight;
	u32	gain;		/* [1/256] */
	u32	segs;		/* tp->data_segs_out when it began to send */
	u32	acked;		/* [pkts] */
	u32	us;		/* in this time */
};

struct l3dr_sample {
	u32	bw;		/* [packets/µs << 24] */
	u32	weight;
};

struct l3dr {
	u64	ack_mstamp;	/* the last ACK; [µs] */
	u64	rtt_sum_us;	/* of this round's samples */
	u32	rtt_count;
	u32	delivered;	/* tp->delivered at the last ACK */
	u32	rtt_least_us;	/* of this round's samples */
	u32	rtt_us;		/* of the last round with samples: their least, or mean */
	u32	mean_bw;	/* B; 0: none yet; [packets/µs << 24] */
	u32	sending;	/* phases begun; the last of them sends */
	u32	acking;		/* the phase that sent what is being acked */
	u32	samples;	/* of rounds so far */
	u32	cwnd_bound;	/* what losses have shown to fit; [pkts] */
	u32	round_delivered;	/* when this round began: tp->delivered */
	u32	round_lost;	/* tp->lost */
	u32	last_min_us;	/* min_rtt of the window before; NO_RTT: there was none */
	u32	phase_key;	/* mode and cycle_idx of the phase that sends */
	struct l3dr_phase phases[PHASES];
	struct l3dr_sample rounds[WINDOW_MAX];
};
STORAGE(struct l3dr);

STORAGE_SERIES_SCALED(struct l3dr, mean_bw, "mean_bw_bps", "bit/s", 8000000, 1 << BW_SCALE,
		      PER_MSS, "weighted mean of delivery rates, before the RTT's correction");
STORAGE_SERIES(struct l3dr, rtt_us, "round_rtt_us", "µs", "the last round's RTT: its least or mean");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct l3dr);
} l3dr_storage SEC(".maps");

static struct l3dr *l3dr_of(struct sock *sk)
{
	return bpf_sk_storage_get(&l3dr_storage, sk, NULL, 0);
}

static u32 l3dr_weight(const struct bbr *ca)
{
	if (ca->mode != BBR_PROBE_BW)
		return 0;
	if (by_gain)
		return 1;
	if (ca->pacing_gain > GAIN_UNIT)
		return weight_up;
	return ca->pacing_gain == GAIN_UNIT ? weight_cruise : weight_down;
}

/* Packets sent from now on are of a new phase, if the gain cycle has moved on. */
static void l3dr_follow_cycle(struct sock *sk, struct l3dr *st)
{
	const struct bbr *ca = inet_csk_ca(sk);
	u32 key = ca->mode << 8 | ca->cycle_idx;
	struct l3dr_phase *phase;

	if (key == st->phase_key)
		return;
	st->phase_key = key;
	st->sending++;
	/*
	 * Packets of more than half of the phases in flight: those of the oldest no longer count.
	 */
	if (st->sending - st->acking > PHASES - WINDOW_MAX)
		st->acking = st->sending - (PHASES - WINDOW_MAX);
	phase = &st->phases[st->sending & (PHASES - 1)];
	phase->start = tcp_sk(sk)->delivered;
	phase->segs = tcp_sk(sk)->data_segs_out;
	phase->weight = l3dr_weight(ca);
	phase->gain = ca->pacing_gain;
	phase->acked = 0;
	phase->us = 0;
}

/* Has the phase that sends now sent anything? */
static bool l3dr_has_sent(const struct sock *sk, const struct l3dr *st)
{
	return tcp_sk(sk)->data_segs_out != st->phases[st->sending & (PHASES - 1)].segs;
}

/* Finds the phase that sent the packet with the stamp `delivered`; returns whether it changed. */
static bool l3dr_find_phase(struct l3dr *st, u32 delivered)
{
	u32 before_it = st->acking;
	u32 i;

	for (i = 0; i < PHASES && st->acking != st->sending; i++) {
		if (before(delivered, st->phases[(st->acking + 1) & (PHASES - 1)].start))
			break;
		st->acking++;
	}
	return st->acking != before_it;
}

/*
 * Packets over time of the phases whose packets have all been acked; 0 if none counts. With by_gain
 * times sum(sent / gain) / sent: what the flow would have sent in that time at a gain of 1.
 */
static u32 l3dr_mean_of_phases(const struct l3dr *st)
{
	u64 pkts = 0, us = 0, sent = 0, paced = 0, bw;
	u32 i;

	for (i = 1; i <= WINDOW_MAX; i++) {
		const struct l3dr_phase *phase = &st->phases[(st->acking - i) & (PHASES - 1)];
		const struct l3dr_phase *next = &st->phases[(st->acking - i + 1) & (PHASES - 1)];
		u32 segs = min(next->segs - phase->segs, 1U << 26);

		if (i > mean_window)
			break;
		/* 2^8 * 2^26 of each, and 2^5 of them: below 2^40 */
		pkts += (u64)phase->weight * min(phase->acked, 1U << 26);
		us += (u64)phase->weight * min(phase->us, 1U << 26);
		sent += (u64)phase->weight * segs;
		/* In 1/65536 of 1/256: below 2^64 */
		paced += ((u64)phase->weight * segs << (3 * GAIN_SCALE)) / max(phase->gain, 1U);
	}
	if (!us)
		return 0;
	bw = min(pkts * BW_UNIT / us, (u64)~0U);
	if (by_gain && sent)
		bw = bw * (paced / sent) >> (2 * GAIN_SCALE);
	return min(bw, (u64)~0U);
}

static u32 l3dr_mean_of_rounds(const struct l3dr *st)
{
	u64 sum = 0, weights = 0;
	u32 i;

	for (i = 1; i <= WINDOW_MAX; i++) {
		const struct l3dr_sample *sample = &st->rounds[(st->samples - i) & (WINDOW_MAX - 1)];

		if (i > mean_window)
			break;
		sum += (u64)sample->weight * sample->bw;
		weights += sample->weight;
	}
	return weights ? sum / weights : 0;
}

/* Times the mean gain of a cycle's phases but the one that drains: one that probes, six at 1. */
static u32 l3dr_grown(u32 bw)
{
	u64 grown = (u64)bw * (probe_bw_up_gain + 6 * GAIN_UNIT) / (7 * GAIN_UNIT);

	return min(grown, (u64)~0U);
}

/* The bandwidth less the queue that the RTT shows, plus alpha packets per RTT. */
static u32 l3dr_corrected(const struct l3dr *st, u32 min_rtt_us)
{
	u32 rtt_us = max(st->rtt_us, 1U);
	u32 excess_us = rtt_us > min_rtt_us ? rtt_us - min_rtt_us : 0;
	u32 most = min(correction_most, GAIN_UNIT) << 8;
	/* In 1/65536: 2^9 * 2^8 * 2^27 */
	u32 off = ((u64)rtt_correction << 8) * excess_us / rtt_us;
	u64 bw = st->mean_bw;
	/* Of the flow alone, in 1/256 packets. */
	u64 bdp = bw * min_rtt_us >> (BW_SCALE - 8);

	bw -= bw * min(off, most) >> (GAIN_SCALE + 8);
	/* Root of the BDP in 1/16 packets, times 1/256: 12 fractional bits of BW_SCALE's 24. */
	bw += ((u64)add_root * square_root(bdp) << (BW_SCALE - 12)) / rtt_us;
	bw = max(bw, least_pkts * BW_UNIT / rtt_us);
	return min(bw, (u64)~0U);
}

static void l3dr_add_rtt(struct l3dr *st, const struct rate_sample *rs)
{
	u32 rtt_us = min(rs->rtt_us, RTT_MAX_US);

	/*
	 * A delayed ACK's RTT is the receiver's, not the queue's. That of a retransmission is from
	 * TCP's timestamps, in whole ms: too coarse for short paths.
	 */
	if (rs->rtt_us <= 0 || rs->is_ack_delayed || rs->is_retrans)
		return;
	st->rtt_least_us = st->rtt_count ? min(st->rtt_least_us, rtt_us) : rtt_us;
	st->rtt_sum_us += rtt_us;
	st->rtt_count++;
}

static void l3dr_close_round(struct l3dr *st, const struct rate_sample *rs, u32 weight)
{
	struct l3dr_sample *sample = &st->rounds[st->samples & (WINDOW_MAX - 1)];

	if (st->rtt_count)
		st->rtt_us = rtt_least ? st->rtt_least_us : st->rtt_sum_us / st->rtt_count;
	st->rtt_sum_us = 0;
	st->rtt_count = 0;
	if (!weight)
		return;
	sample->bw = bbr_rate(rs->delivered, rs->interval_us);
	sample->weight = weight;
	st->samples++;
}

/* A queue that stood for a whole round: the link is full, whichever flow filled it. */
static bool l3dr_has_queued(const struct bbr *ca, const struct l3dr *st)
{
	u64 bound = (u64)ca->min_rtt_us * (GAIN_UNIT + startup_queue) >> GAIN_SCALE;

	return startup_queue && ca->min_rtt_us != NO_RTT && st->rtt_us > bound;
}

/*
 * Adds what this ACK delivered to the phase that sent it. The time since the last ACK belongs to the
 * phase of that one: its gain paced what came next. Returns whether a phase is complete.
 */
static bool l3dr_count(struct sock *sk, struct l3dr *st, const struct rate_sample *rs, bool counts)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct l3dr_phase *previous = &st->phases[st->acking & (PHASES - 1)];
	bool is_complete = l3dr_find_phase(st, rs->prior_delivered);
	struct l3dr_phase *phase = &st->phases[st->acking & (PHASES - 1)];

	if (counts) {
		phase->acked += tp->delivered - st->delivered;
		previous->us += tcp_stamp_us_delta(tp->delivered_mstamp, st->ack_mstamp);
	}
	st->delivered = tp->delivered;
	st->ack_mstamp = tp->delivered_mstamp;
	return is_complete;
}

/*
 * A flow whose min_rtt expires while the others do not probe sees their queue only. It would yield
 * to none of it until they probe, so what it knew before counts for one more window.
 */
static u32 l3dr_floor_us(const struct bbr *ca, const struct l3dr *st)
{
	return floor_windows > 1 ? min(ca->min_rtt_us, st->last_min_us) : ca->min_rtt_us;
}

static void bbr_update_bw(struct sock *sk, const struct rate_sample *rs)
{
	struct bbr *ca = inet_csk_ca(sk);
	struct l3dr *st = l3dr_of(sk);
	bool counts, is_complete;
	u32 bw, weight;

	if (!st)
		return;
	/* A sender that was idle, or waited for a timeout, does not measure the path. */
	counts = !rs->is_app_limited && inet_csk(sk)->icsk_ca_state != TCP_CA_Loss;
	is_complete = l3dr_count(sk, st, rs, counts);
	weight = counts ? st->phases[st->acking & (PHASES - 1)].weight : 0;
	l3dr_add_rtt(st, rs);
	if (ca->round_start)
		l3dr_close_round(st, rs, weight);

	if (!ca->full_bw_reached) {
		bbr_update_max_bw(sk, rs);
		ca->full_bw_reached = ca->round_start && l3dr_has_queued(ca, st);
		return;
	}
	if (!ca->round_start && !(mean_by_phase && is_complete))
		return;
	bw = mean_by_phase ? l3dr_mean_of_phases(st) : l3dr_mean_of_rounds(st);
	if (bw)
		st->mean_bw = by_gain ? l3dr_grown(bw) : bw;
	if (st->mean_bw && st->rtt_us && ca->min_rtt_us != NO_RTT)
		minmax_reset(&ca->bw, ca->rtt_cnt, l3dr_corrected(st, l3dr_floor_us(ca, st)));
}

/*
 * BBR probes until inflight is 5/4 BDP and drains until it is 1, both with the burst budget on top.
 * Where that is more than the BDP, probing lasts and draining does not: the mean gain exceeds 1.
 * A phase without a burst of its own would measure nothing.
 */
static bool bbr_phase_is_over(const struct sock *sk, const struct rate_sample *rs)
{
	const struct l3dr *st = l3dr_of((struct sock *)sk);

	if (phase_by_inflight)
		return bbr_phase_is_done(sk, rs);
	return bbr_phase_lasted(sk) && st && l3dr_has_sent(sk, st);
}

/*
 * Once per round: too many losses lower the bound; otherwise it rises, if it is one. It is never
 * below a BDP: the mean is of what cwnd lets through, so a bound of u < 1/g of a BDP would lower
 * the BDP by u g, and then itself. One loss in less than 50 packets is above 2 %, so at 1 % of
 * random losses a flow would end at root(1/(0.3 * 0.01)), 18 packets, whatever the link is.
 */
static void l3dr_update_bound(struct sock *sk, struct l3dr *st)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	u32 delivered = tp->delivered - st->round_delivered;
	u32 lost = tp->lost - st->round_lost;
	u32 target = bbr_target_inflight(sk, bbr_bw(ca), ca->cwnd_gain);
	u32 least = max(bbr_bdp(ca, bbr_bw(ca), GAIN_UNIT), cwnd_min_target);

	st->round_delivered = tp->delivered;
	st->round_lost = tp->lost;
	if ((u64)lost << GAIN_SCALE > (u64)loss_thresh * (lost + delivered)) {
		u64 bound = (u64)min(st->cwnd_bound, target) * loss_beta >> GAIN_SCALE;

		if (startup_loss)
			ca->full_bw_reached = 1;
		if (ca->full_bw_reached)
			st->cwnd_bound = max(bound, (u64)least);
	} else if (st->cwnd_bound < target) {
		st->cwnd_bound++;
	}
}

SEC("struct_ops")
void BPF_PROG(l3dr_init, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct l3dr *st = bpf_sk_storage_get(&l3dr_storage, sk, NULL,
					     BPF_SK_STORAGE_GET_F_CREATE);
	u32 i;

	bbr_start(sk);
	if (!st)
		return;
	/* The storage outlives a change of congestion control: clear any earlier use. */
	for (i = 0; i < PHASES; i++)
		st->phases[i].weight = 0;
	for (i = 0; i < WINDOW_MAX; i++)
		st->rounds[i].weight = 0;
	st->sending = st->acking = st->samples = st->phase_key = 0;
	st->rtt_sum_us = st->rtt_count = st->rtt_us = st->mean_bw = 0;
	st->delivered = st->round_delivered = tp->delivered;
	st->round_lost = tp->lost;
	st->cwnd_bound = NO_BOUND;
	st->last_min_us = NO_RTT;
	st->ack_mstamp = tp->tcp_mstamp;
}

SEC("struct_ops")
void BPF_PROG(l3dr_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *ca = inet_csk_ca(sk);
	struct l3dr *st = l3dr_of(sk);
	u32 min_rtt_us = ca->min_rtt_us, stamp = ca->min_rtt_stamp;
	bool expired = after(bbr_now_ms(tp), stamp + min_rtt_window_ms);

	bbr_update_model(sk, rs);
	if (st && expired && ca->min_rtt_stamp != stamp)
		st->last_min_us = min_rtt_us;
	if (ca->mode == BBR_PROBE_RTT)
		ca->pacing_gain = probe_rtt_gain;
	bbr_apply_model(sk, rs);
	if (!st)
		return;
	if (ca->round_start)
		l3dr_update_bound(sk, st);
	tp->snd_cwnd = min(tp->snd_cwnd, st->cwnd_bound);
	l3dr_follow_cycle(sk, st);
}

SEC(".struct_ops")
struct tcp_congestion_ops l3dr = {
	.init		= (void *)l3dr_init,
	.ssthresh	= (void *)bbr_ssthresh,
	.cong_control	= (void *)l3dr_cong_control,
	.set_state	= (void *)bbr_set_state,
	.cwnd_event	= (void *)bbr_cwnd_event,
	.min_tso_segs	= (void *)bbr_min_tso_segs,
	.undo_cwnd	= (void *)bbr_undo_cwnd,
	.sndbuf_expand	= (void *)bbr_sndbuf_expand,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "l3dr",
};
