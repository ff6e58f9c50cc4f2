// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * BBR version 3: BBR that also reacts to loss, and probes for bandwidth only every 2 to 3 s.
 *
 *	max_bw  = max delivery rate of two ProbeBW cycles;  min_rtt = min RTT of 10 s
 *	bw      = min(max_bw, bw_shortterm)
 *	pacing_rate = pacing_gain bw;  cwnd = cwnd_gain bw min_rtt + extra_acked, capped by
 *	inflight_longterm   what a probe found to lose more than 2 %
 *	inflight_shortterm  what was delivered while losses came between two probes
 *
 *	Startup --plateau or loss--> Drain --inflight <= BDP, or 3 rounds--> DOWN
 *	 2.77                        0.5
 *	DOWN --drained--> CRUISE --2 to 3 s, or as Reno would--> REFILL --a round--> UP --> DOWN
 *	0.9               1                                      1                   1.25
 *	any --min_rtt not seen for 5 s--> ProbeRTT (BDP/2, 200 ms and a round) --> CRUISE, Startup
 *
 * The names are those of draft-ietf-ccwg-bbr (working group's text of 2026-08-03, after -06),
 * sections 2 and 5, and every default is its constant. docs/bbr3.md has the table, Google's values
 * as a parameter set, and how the draft is read where it contradicts itself. Google's code
 * (google/bbr, branch v3) was read for its behaviour; none of it is here.
 *
 * Differences from the draft:
 *  1. P.tx_in_flight and P.lost come from flight_history.h: Linux does not keep them.
 *  2. Linux reports losses once per ACK. They are treated as one burst that left with the packet of
 *     the ACK's sample, and as one sequence range, as in Google's code.
 *  3. Precaution (ProbeBW_UP) uses inflight before the ACK. Without what was just acked it is never
 *     at the cap.
 *  4. In RTO recovery the first inflight_shortterm is from the cwnd before the timeout, as in
 *     Google's code, not from inflight + 1.
 *  5. An idle restart resets extra_acked_delivered with the interval it was counted over.
 *  6. A ProbeBW cycle in which nothing was delivered does not age max_bw.
 *  7. C.send_quantum is the kernel's: a ms of pacing rate, at least 2 and at most 64 kB.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "win_minmax.h"
#include "flight_history.h"
#include "dumbbell.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define BW_SCALE	24		/* bw in packets per µs << 24: 715 bit/s .. 2.9 Tbit/s */
#define BW_UNIT		(1ULL << BW_SCALE)
#define UNIT_PCT	100U		/* a gain of 1 */
#define NO_BOUND	(~0U)		/* infinity, for bw and inflight */
#define NO_RTT		(~0U)
#define QUANTUM_MAX	65536U		/* bytes */
#define SMSS		1U		/* everything is counted in segments */
#define ACKED_SHIFT	8		/* cwnd / 2^rounds is in packets << 8 */
#define UP_ROUNDS_MAX	30U		/* doublings of inflight_longterm's slope */

enum bbr3_state {
	BBR3_STARTUP,
	BBR3_DRAIN,
	BBR3_DOWN,	/* ProbeBW_DOWN and so on: from here to BBR3_UP the flow is in ProbeBW */
	BBR3_CRUISE,
	BBR3_REFILL,
	BBR3_UP,
	BBR3_PROBE_RTT,
	BBR3_NO_STATE,	/* undo_state: no state to return to */
};

/* What the ACKs reveal about the bandwidth probe. */
enum bbr3_ack_phase {
	ACKS_INIT,		/* nothing: no probe */
	ACKS_REFILLING,		/* nothing yet: the pipe is being filled */
	ACKS_PROBE_STARTING,	/* nothing yet: what is acked left before the probe */
	ACKS_PROBE_FEEDBACK,	/* first results */
	ACKS_PROBE_STOPPING,	/* it is over, but its ACKs still arrive */
};

/* Source of the defaults: section 2 of the draft, "Terminology", unless stated otherwise. */
PARAM(u32, startup_pacing_gain_pct, 277, 100, 1000, "%", "StartupPacingGain: 4 ln2, doubles bw");
PARAM(u32, drain_pacing_gain_pct, 50, 1, 100, "%", "DrainPacingGain");
PARAM(u32, drain_max_rounds, 3, 0, 1000, "RTTs", "leave Drain after this many; 0: when drained");
PARAM(u32, probe_down_pacing_gain_pct, 90, 1, 100, "%", "pacing gain of ProbeBW_DOWN");
PARAM(u32, probe_up_pacing_gain_pct, 125, 100, 1000, "%", "pacing gain of ProbeBW_UP");
PARAM(u32, pacing_margin_pct, 1, 0, 99, "%", "PacingMarginPercent: pace this much below bw");
PARAM(u32, cwnd_gain_pct, 200, 100, 1000, "%", "DefaultCwndGain: BDPs that cwnd allows");
PARAM(u32, probe_up_cwnd_gain_pct, 225, 100, 1000, "%", "the same in ProbeBW_UP");
PARAM(u32, probe_rtt_cwnd_gain_pct, 50, 0, 100, "%", "ProbeRTTCwndGain: the same in ProbeRTT");
PARAM(u32, min_pipe_cwnd, 4, 1, 1000, "pkts", "MinPipeCwnd: smallest cwnd, for delayed ACKs");
PARAM(u32, full_bw_thresh_pct, 125, 101, 1000, "%", "growth that says the pipe is not full");
PARAM(u32, full_bw_rounds, 3, 1, 100, "RTTs", "rounds without such growth that say it is full");
PARAM(u32, startup_full_loss_count, 6, 0, 1000, "",
      "StartupFullLossCnt: losses in a round that may end Startup; 0: none do");
PARAM(u32, loss_thresh_pct, 2, 0, 99, "%", "LossThresh: most lost per round while probing");
PARAM(u32, beta_pct, 70, 1, 100, "%", "Beta: what a round with losses leaves at least");
PARAM(u32, headroom_pct, 15, 0, 100, "%", "Headroom: share of inflight_longterm left to others");
PARAM(u32, min_rtt_window_ms, 10000, 1, 86400000, "ms", "MinRTTFilterLen");
PARAM(u32, probe_rtt_interval_ms, 5000, 1, 86400000, "ms", "ProbeRTTInterval");
PARAM(u32, probe_rtt_ms, 200, 0, 60000, "ms", "ProbeRTTDuration; 0: never probe");
PARAM(u32, probe_wait_ms, 2000, 0, 600000, "ms", "wait between probes for bandwidth");
PARAM(u32, probe_wait_random_ms, 1000, 0, 600000, "ms", "... plus up to this, at random");
PARAM(u32, probe_wait_rounds, 63, 1, 10000, "RTTs",
      "... but this or a BDP of rounds at most, as Reno would");
PARAM(u32, probe_wait_random_rounds, 1, 0, 1000, "RTTs", "... less up to this, at random");
PARAM(u32, extra_acked_window_rounds, 10, 1, 1000, "RTTs", "ExtraAckedFilterLen");
PARAM(u32, extra_acked_max_ms, 0, 0, 10000, "ms",
      "aggregation is at most bw times this; 0: at most cwnd (the draft)");

struct bbr3 {
	/* Model: what the path delivers. */
	u64	min_rtt_mstamp;		/* when min_rtt_us was seen; [µs] */
	u64	probe_rtt_min_mstamp;	/* when probe_rtt_min_us was */
	u32	min_rtt_us;		/* of MinRTTFilterLen */
	u32	probe_rtt_min_us;	/* of ProbeRTTInterval: probe_rtt_min_delay */
	u32	bw;			/* min of the two below; [packets/µs << 24], as all bw */
	u32	max_bw;			/* max of the filter */
	u32	max_bw_filter[2];	/* ProbeBW cycle before this one; this one */
	u32	bw_shortterm;		/* NO_BOUND: none */
	u32	inflight_shortterm;	/* NO_BOUND: none; [pkts], as all inflight */
	u32	inflight_longterm;	/* NO_BOUND: none */
	u32	bw_latest;		/* max of the round */
	u32	inflight_latest;	/* most delivered in a packet's flight, of the round */
	u32	full_bw;		/* bw at the last sign of growth */

	/* Rounds: a round ends when a packet is acked that was sent after the round began. */
	u32	round_count;
	u32	next_round_delivered;
	u32	loss_round_delivered;	/* the same for the round that losses are counted over */
	u32	drain_start_round;
	u32	rounds_since_probe_up;
	u32	lost_seen;		/* tp->lost at the last ACK */
	u32	loss_events_in_round;	/* ACKs that reported losses, in Startup */

	/* The probe for bandwidth. */
	u64	cycle_mstamp;		/* start of the ProbeBW cycle; [µs] */
	u32	bw_probe_wait_ms;
	u32	bw_probe_up_rounds;	/* rounds that inflight_longterm has grown */
	u64	bw_probe_up_acked;	/* since it last grew; [pkts << 8] */
	u64	probe_up_acked_per_inc;	/* ... by a packet; [pkts << 8] */

	/* ACK aggregation. */
	u64	extra_acked_mstamp;	/* start of the interval; [µs] */
	u32	extra_acked_delivered;	/* in it; [pkts] */
	u32	extra_acked;		/* max of the filter; [pkts] */
	struct minmax extra_acked_filter;

	/* Control. */
	u64	probe_rtt_done_mstamp;	/* ProbeRTT ends after this; 0: still draining; [µs] */
	u32	prior_cwnd;		/* to restore after recovery or ProbeRTT; [pkts] */
	u32	undo_bw_shortterm;	/* before these losses, if they prove spurious */
	u32	undo_inflight_shortterm;
	u32	undo_inflight_longterm;
	u32	pacing_gain_pct;
	u32	cwnd_gain_pct;

	u8	state;			/* enum bbr3_state */
	u8	undo_state;		/* the same: state that losses ended */
	u8	ack_phase;		/* enum bbr3_ack_phase */
	u8	prev_ca_state;		/* enum tcp_ca_state at the last ACK */
	u8	full_bw_count;		/* rounds without growth */
	u8	full_bw_now;		/* the pipe is full, by the current search */
	u8	full_bw_reached;	/* ... by any */
	u8	round_start;		/* this ACK starts a round */
	u8	loss_round_start;	/* ... a round of losses */
	u8	is_loss_in_round;
	u8	is_bw_probe_sample;	/* losses are caused by the probe */
	u8	prev_probe_too_high;	/* the last probe lost too much */
	u8	prev_probe_precautionary; /* ... or stopped where the previous one did */
	u8	probe_rtt_expired;
	u8	probe_rtt_round_done;	/* a round at the smallest cwnd is over */
	u8	idle_restart;		/* no ACK yet since sending resumed */
	u8	has_seen_rtt;

	struct flight_history flights;
};
STORAGE(struct bbr3);

#define BW_SERIES(field, name, doc)						\
	STORAGE_SERIES_SCALED(struct bbr3, field, name, "bit/s", 8000000, 1 << BW_SCALE, PER_MSS, doc)

STORAGE_SERIES_STATE(struct bbr3, state, "state",
		     "startup,drain,down,cruise,refill,up,probe_rtt", "state machine");
BW_SERIES(bw, "bw_bps", "bandwidth to pace by: min of max_bw and bw_shortterm");
BW_SERIES(max_bw, "max_bw_bps", "max delivery rate of this ProbeBW cycle and the last");
BW_SERIES(bw_shortterm, "bw_shortterm_bps", "bandwidth that losses leave; 256 packets/µs: no bound");
STORAGE_SERIES(struct bbr3, min_rtt_us, "min_rtt_us", "µs", "minimum RTT of 10 s");
STORAGE_SERIES(struct bbr3, inflight_longterm, "inflight_longterm_pkts", "pkts",
	       "inflight that probing found safe; 2^32-1: no bound");
STORAGE_SERIES(struct bbr3, inflight_shortterm, "inflight_shortterm_pkts", "pkts",
	       "inflight that losses leave until the next probe; 2^32-1: no bound");
STORAGE_SERIES(struct bbr3, extra_acked, "extra_acked_pkts", "pkts", "ACK aggregation");
STORAGE_SERIES(struct bbr3, pacing_gain_pct, "pacing_gain_pct", "%", "pacing rate over bw");
STORAGE_SERIES(struct bbr3, cwnd_gain_pct, "cwnd_gain_pct", "%", "cwnd over BDP");
STORAGE_SERIES(struct bbr3, full_bw_count, "full_bw_count", "RTTs", "rounds without growth of bw");
STORAGE_SERIES_STATE(struct bbr3, full_bw_now, "full_bw_now", "no,yes", "this search filled the pipe");
STORAGE_SERIES_STATE(struct bbr3, full_bw_reached, "full_bw_reached", "no,yes", "any search did");
STORAGE_SERIES_STATE(struct bbr3, idle_restart, "idle_restart", "no,yes",
		     "sending resumed, no ACK yet");
STORAGE_SERIES(struct bbr3, prior_cwnd, "prior_cwnd_pkts", "pkts", "cwnd to restore after recovery");
STORAGE_SERIES(struct bbr3, round_count, "round", "", "packet-timed round trips so far");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct bbr3);
} bbr3_storage SEC(".maps");

/* The sample of the current ACK: the draft's RS. */
struct bbr3_sample {
	u32	delivery_rate;		/* 0: none; [packets/µs << 24] */
	u32	delivered;		/* since the packet left that it is about; [pkts] */
	u32	prior_delivered;	/* C.delivered then */
	u32	tx_in_flight;		/* C.inflight then */
	u32	lost;			/* since then; [pkts] */
	u32	newly_acked;		/* [pkts] */
	u32	prior_in_flight;	/* C.inflight before this ACK */
	bool	has_data;		/* it is about a packet */
	bool	is_app_limited;
};

/* `packets` per `us` as a bandwidth. */
static u32 bbr3_rate(u32 packets, u64 us)
{
	u64 bw = packets * BW_UNIT / max(us, 1ULL);

	return min(bw, (u64)NO_BOUND - 1);
}

/* Packets that arrive at `bw` in `us`: no overflow below 4 packets/µs and 19 hours. */
static u64 bbr3_packets(u32 bw, u64 us)
{
	return (u64)bw * us >> BW_SCALE;
}

/* pct % of value, without overflow for pct <= 1000. */
static u32 bbr3_share(u32 value, u32 pct)
{
	return min((u64)value * pct / 100, (u64)NO_BOUND);
}

static bool bbr3_in_probe_bw(const struct bbr3 *ca)
{
	return ca->state >= BBR3_DOWN && ca->state <= BBR3_UP;
}

static bool bbr3_is_probing_bw(const struct bbr3 *ca)
{
	return ca->state == BBR3_STARTUP || ca->state == BBR3_REFILL || ca->state == BBR3_UP;
}

/* gain bw min_rtt, rounded up so that inflight and bw do not shrink each other; [pkts] */
static u32 bbr3_bdp(const struct bbr3 *ca, u32 bw, u32 gain_pct)
{
	u64 bdp;

	if (ca->min_rtt_us == NO_RTT)
		return TCP_INIT_CWND;
	/* bw below 2^26 (4 packets/µs), min_rtt below 2^27 (134 s), gain below 2^10 */
	bdp = ((u64)bw * ca->min_rtt_us >> 10) * gain_pct / 100;
	return (bdp + (BW_UNIT >> 10) - 1) >> (BW_SCALE - 10);
}

/* 3 bursts: in the sender's queue, in its NIC, and waiting at the receiver for an ACK; [pkts] */
static u32 bbr3_offload_budget(const struct sock *sk)
{
	u64 bytes = (u64)sk->sk_pacing_rate / 1000;

	return 3 * max(min(bytes, (u64)QUANTUM_MAX) / max(tcp_sk(sk)->mss_cache, 1U), 2ULL * SMSS);
}

/* QuantizationBudget() */
static u32 bbr3_quantize(const struct sock *sk, const struct bbr3 *ca, u32 inflight)
{
	inflight = max(inflight, bbr3_offload_budget(sk));
	inflight = max(inflight, min_pipe_cwnd);
	return ca->state == BBR3_UP ? inflight + 2 * SMSS : inflight;
}

/* Inflight(gain) */
static u32 bbr3_inflight(const struct sock *sk, const struct bbr3 *ca, u32 bw)
{
	return bbr3_quantize(sk, ca, bbr3_bdp(ca, bw, UNIT_PCT));
}

/* Target for inflight: the BDP, unless congestion reduced cwnd. */
static u32 bbr3_target_inflight(const struct sock *sk, const struct bbr3 *ca)
{
	return min(bbr3_bdp(ca, ca->bw, UNIT_PCT), tcp_sk(sk)->snd_cwnd);
}

/* Leaves room in the path for others. */
static u32 bbr3_inflight_with_headroom(const struct bbr3 *ca)
{
	u32 headroom = max(bbr3_share(ca->inflight_longterm, headroom_pct), SMSS);

	if (ca->inflight_longterm == NO_BOUND)
		return NO_BOUND;
	return max(ca->inflight_longterm - min(headroom, ca->inflight_longterm), min_pipe_cwnd);
}

static u32 bbr3_probe_rtt_cwnd(const struct bbr3 *ca)
{
	return max(bbr3_bdp(ca, ca->bw, probe_rtt_cwnd_gain_pct), min_pipe_cwnd);
}

static void bbr3_start_round(const struct sock *sk, struct bbr3 *ca)
{
	ca->next_round_delivered = tcp_sk(sk)->delivered;
}

static void bbr3_reset_full_bw(struct bbr3 *ca)
{
	ca->full_bw = 0;
	ca->full_bw_count = 0;
	ca->full_bw_now = 0;
}

static void bbr3_reset_congestion_signals(struct bbr3 *ca)
{
	ca->is_loss_in_round = 0;
	ca->bw_latest = 0;
	ca->inflight_latest = 0;
}

static void bbr3_reset_short_term_model(struct bbr3 *ca)
{
	ca->bw_shortterm = NO_BOUND;
	ca->inflight_shortterm = NO_BOUND;
}

/* Remember a cwnd that is not itself the result of recovery or ProbeRTT. */
static void bbr3_save_cwnd(const struct sock *sk, struct bbr3 *ca)
{
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	if (ca->prev_ca_state < TCP_CA_Recovery && ca->state != BBR3_PROBE_RTT)
		ca->prior_cwnd = cwnd;
	else
		ca->prior_cwnd = max(ca->prior_cwnd, cwnd);
}

static void bbr3_restore_cwnd(struct sock *sk, const struct bbr3 *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd = max(tp->snd_cwnd, ca->prior_cwnd);
}

/* A loss may turn out to be spurious. */
static void bbr3_save_state_upon_loss(const struct sock *sk, struct bbr3 *ca)
{
	bbr3_save_cwnd(sk, ca);
	ca->undo_state = BBR3_NO_STATE;
	ca->undo_bw_shortterm = ca->bw_shortterm;
	ca->undo_inflight_shortterm = ca->inflight_shortterm;
	ca->undo_inflight_longterm = ca->inflight_longterm;
}

/* Wait 2 to 3 s, or about as many rounds as Reno takes from one loss to the next. */
static void bbr3_pick_probe_wait(struct bbr3 *ca)
{
	ca->rounds_since_probe_up =
		(u64)bpf_get_prandom_u32() * (probe_wait_random_rounds + 1ULL) >> 32;
	ca->bw_probe_wait_ms =
		probe_wait_ms + ((u64)bpf_get_prandom_u32() * (probe_wait_random_ms + 1ULL) >> 32);
}

static void bbr3_start_down(const struct sock *sk, struct bbr3 *ca)
{
	bbr3_reset_congestion_signals(ca);
	ca->probe_up_acked_per_inc = NO_BOUND;
	bbr3_pick_probe_wait(ca);
	ca->cycle_mstamp = tcp_sk(sk)->tcp_mstamp;
	ca->ack_phase = ACKS_PROBE_STOPPING;
	bbr3_start_round(sk, ca);
	ca->state = BBR3_DOWN;
}

static void bbr3_start_refill(const struct sock *sk, struct bbr3 *ca)
{
	bbr3_reset_short_term_model(ca);
	ca->bw_probe_up_rounds = 0;
	ca->bw_probe_up_acked = 0;
	ca->prev_probe_precautionary = 0;
	ca->ack_phase = ACKS_REFILLING;
	bbr3_start_round(sk, ca);
	ca->state = BBR3_REFILL;
}

/* By 1, 2, 4, 8, ... packets per round. */
static void bbr3_raise_inflight_longterm_slope(const struct sock *sk, struct bbr3 *ca)
{
	u32 growth = 1U << min(ca->bw_probe_up_rounds, UP_ROUNDS_MAX);

	ca->bw_probe_up_rounds = min(ca->bw_probe_up_rounds + 1, UP_ROUNDS_MAX);
	ca->probe_up_acked_per_inc = max(((u64)tcp_sk(sk)->snd_cwnd << ACKED_SHIFT) / growth,
					 (u64)SMSS << ACKED_SHIFT);
}

static void bbr3_start_up(const struct sock *sk, struct bbr3 *ca, const struct bbr3_sample *rs)
{
	ca->ack_phase = ACKS_PROBE_STARTING;
	bbr3_start_round(sk, ca);
	bbr3_reset_full_bw(ca);
	ca->full_bw = rs->delivery_rate;
	ca->state = BBR3_UP;
	bbr3_raise_inflight_longterm_slope(sk, ca);
}

static void bbr3_enter_drain(struct bbr3 *ca)
{
	ca->state = BBR3_DRAIN;
	ca->drain_start_round = ca->round_count;
}

/* Do the losses show that too much was in flight? */
static bool bbr3_is_inflight_too_high(const struct bbr3_sample *rs)
{
	return (u64)rs->lost * 100 > (u64)rs->tx_in_flight * loss_thresh_pct;
}

static void bbr3_handle_inflight_too_high(const struct sock *sk, struct bbr3 *ca,
					  u32 tx_in_flight, bool is_app_limited)
{
	ca->prev_probe_too_high = 1;
	ca->is_bw_probe_sample = 0;	/* once per probe */
	if (!is_app_limited)
		ca->inflight_longterm = max(tx_in_flight,
					    bbr3_share(bbr3_target_inflight(sk, ca), beta_pct));
	if (ca->state == BBR3_UP) {
		ca->undo_state = BBR3_UP;
		bbr3_start_down(sk, ca);
	}
}

/*
 * InflightAtLoss(): inflight when the share of lost packets crossed LossThresh, somewhere in
 * the burst of `size` packets that was lost:
 *	(lost_prev + lost_prefix) / (inflight_prev + lost_prefix) = LossThresh
 */
static u32 bbr3_inflight_at_loss(const struct bbr3_sample *rs, u32 size)
{
	u32 inflight_prev = rs->tx_in_flight - min(size, rs->tx_in_flight);
	u64 lost_prev = rs->lost - min(size, rs->lost);
	u64 tolerated = (u64)inflight_prev * loss_thresh_pct;

	if (lost_prev * 100 >= tolerated)
		return inflight_prev;
	return inflight_prev +
	       (u32)((tolerated - lost_prev * 100) / max(100 - min(loss_thresh_pct, 99U), 1U));
}

/* HandleLostPacket(), for the losses detected since the last ACK with a sample. */
static void bbr3_handle_losses(const struct sock *sk, struct bbr3 *ca,
			       const struct bbr3_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 newly_lost = tp->lost - ca->lost_seen;

	if (!newly_lost || !rs->has_data)
		return;
	ca->lost_seen = tp->lost;
	if (!ca->is_loss_in_round) {
		ca->loss_round_delivered = tp->delivered;
		bbr3_save_state_upon_loss(sk, ca);
	}
	ca->is_loss_in_round = 1;
	ca->loss_events_in_round++;
	if (ca->is_bw_probe_sample && bbr3_is_inflight_too_high(rs))
		bbr3_handle_inflight_too_high(sk, ca, bbr3_inflight_at_loss(rs, newly_lost),
					      rs->is_app_limited);
}

static void bbr3_update_latest_delivery_signals(const struct sock *sk, struct bbr3 *ca,
						const struct bbr3_sample *rs)
{
	ca->loss_round_start = 0;
	if (!rs->has_data)
		return;
	ca->bw_latest = max(ca->bw_latest, rs->delivery_rate);
	ca->inflight_latest = max(ca->inflight_latest, rs->delivered);
	if (!before(rs->prior_delivered, ca->loss_round_delivered)) {
		ca->loss_round_delivered = tcp_sk(sk)->delivered;
		ca->loss_round_start = 1;
	}
}

static void bbr3_advance_latest_delivery_signals(struct bbr3 *ca, const struct bbr3_sample *rs)
{
	if (!ca->loss_round_start)
		return;
	ca->bw_latest = rs->delivery_rate;
	ca->inflight_latest = rs->delivered;
}

static void bbr3_update_round(const struct sock *sk, struct bbr3 *ca,
			      const struct bbr3_sample *rs)
{
	ca->round_start = 0;
	if (!rs->has_data || before(rs->prior_delivered, ca->next_round_delivered))
		return;
	bbr3_start_round(sk, ca);
	ca->round_count++;
	ca->rounds_since_probe_up++;
	ca->round_start = 1;
}

/* Application-limited samples count only if they are not lower. */
static void bbr3_update_max_bw(struct bbr3 *ca, const struct bbr3_sample *rs)
{
	if (!rs->delivery_rate || (rs->is_app_limited && rs->delivery_rate < ca->max_bw))
		return;
	ca->max_bw_filter[1] = max(ca->max_bw_filter[1], rs->delivery_rate);
	ca->max_bw = max(ca->max_bw_filter[0], ca->max_bw_filter[1]);
}

/* A ProbeBW cycle is over: forget the one before it. */
static void bbr3_advance_max_bw_filter(struct bbr3 *ca)
{
	if (!ca->max_bw_filter[1])
		return;
	ca->max_bw_filter[0] = ca->max_bw_filter[1];
	ca->max_bw_filter[1] = 0;
	ca->max_bw = ca->max_bw_filter[0];
}

/* Losses without a probe: the path delivers less now. Once per round. */
static void bbr3_adapt_lower_bounds(const struct sock *sk, struct bbr3 *ca)
{
	u32 cwnd = tcp_sk(sk)->snd_cwnd;

	if (bbr3_is_probing_bw(ca) || !ca->is_loss_in_round)
		return;
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		cwnd = max(cwnd, ca->prior_cwnd);
	if (ca->bw_shortterm == NO_BOUND)
		ca->bw_shortterm = ca->max_bw;
	if (ca->inflight_shortterm == NO_BOUND)
		ca->inflight_shortterm = cwnd;
	ca->bw_shortterm = max(ca->bw_latest, bbr3_share(ca->bw_shortterm, beta_pct));
	ca->inflight_shortterm = max(ca->inflight_latest,
				     bbr3_share(ca->inflight_shortterm, beta_pct));
}

static void bbr3_update_congestion_signals(const struct sock *sk, struct bbr3 *ca,
					   const struct bbr3_sample *rs)
{
	bbr3_update_round(sk, ca, rs);
	bbr3_update_max_bw(ca, rs);
	if (!ca->loss_round_start)
		return;
	bbr3_adapt_lower_bounds(sk, ca);
	ca->is_loss_in_round = 0;
}

/* How many more packets than bw explains do ACKs deliver at once? */
static void bbr3_update_ack_aggregation(const struct sock *sk, struct bbr3 *ca,
					const struct bbr3_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 us = tcp_stamp_us_delta(tp->tcp_mstamp, ca->extra_acked_mstamp);
	u64 expected = bbr3_packets(ca->bw, us);
	u64 extra;

	if (!rs->newly_acked)
		return;
	if (ca->extra_acked_delivered <= expected) {
		ca->extra_acked_delivered = 0;
		ca->extra_acked_mstamp = tp->tcp_mstamp;
		expected = 0;
	}
	ca->extra_acked_delivered += rs->newly_acked;
	extra = ca->extra_acked_delivered - min(expected, (u64)ca->extra_acked_delivered);
	extra = min(extra, (u64)tp->snd_cwnd);
	if (extra_acked_max_ms)
		extra = min(extra, bbr3_packets(ca->bw, extra_acked_max_ms * USEC_PER_MSEC));
	ca->extra_acked = minmax_running_max(&ca->extra_acked_filter,
					     ca->full_bw_reached ? extra_acked_window_rounds : 1,
					     ca->round_count, extra);
}

/* The pipe is full when bw stops growing: once per round, if there was enough to send. */
static void bbr3_check_full_bw_reached(struct bbr3 *ca, const struct bbr3_sample *rs)
{
	if (ca->full_bw_now || !ca->round_start || rs->is_app_limited || !rs->delivery_rate)
		return;
	if ((u64)rs->delivery_rate * 100 >= (u64)ca->full_bw * full_bw_thresh_pct) {
		bbr3_reset_full_bw(ca);
		ca->full_bw = rs->delivery_rate;
		return;
	}
	ca->full_bw_count++;
	ca->full_bw_now = ca->full_bw_count >= full_bw_rounds;
	ca->full_bw_reached |= ca->full_bw_now;
}

/* The pipe is also full when a round of recovery lost too much, and not in one burst. */
static void bbr3_check_startup_high_loss(const struct sock *sk, struct bbr3 *ca,
					 const struct bbr3_sample *rs)
{
	bool high = ca->loss_events_in_round >= max(startup_full_loss_count, 1U) &&
		    bbr3_is_inflight_too_high(rs);

	if (!ca->loss_round_start)
		return;
	ca->loss_events_in_round = 0;
	if (ca->full_bw_reached || !startup_full_loss_count || !high ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery)
		return;
	ca->undo_state = BBR3_STARTUP;
	ca->full_bw_now = 1;
	ca->full_bw_reached = 1;
	ca->inflight_longterm = max(bbr3_bdp(ca, ca->bw, UNIT_PCT), ca->inflight_latest);
}

static void bbr3_check_startup_done(const struct sock *sk, struct bbr3 *ca,
				    const struct bbr3_sample *rs)
{
	bbr3_check_startup_high_loss(sk, ca, rs);
	if (ca->state == BBR3_STARTUP && ca->full_bw_reached)
		bbr3_enter_drain(ca);
}

static void bbr3_check_drain_done(const struct sock *sk, struct bbr3 *ca)
{
	u32 rounds = ca->round_count - ca->drain_start_round;

	if (ca->state == BBR3_DRAIN &&
	    (tcp_packets_in_flight(tcp_sk(sk)) <= bbr3_inflight(sk, ca, ca->bw) ||
	     (drain_max_rounds && rounds > drain_max_rounds)))
		bbr3_start_down(sk, ca);
}

/* While inflight_longterm limits cwnd, raise it. */
static void bbr3_probe_inflight_longterm_upward(const struct sock *sk, struct bbr3 *ca,
						const struct bbr3_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 per_inc = max(ca->probe_up_acked_per_inc, (u64)SMSS << ACKED_SHIFT);
	u64 delta;

	if (!BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) || tp->snd_cwnd < ca->inflight_longterm)
		return;
	ca->bw_probe_up_acked += (u64)rs->newly_acked << ACKED_SHIFT;
	delta = ca->bw_probe_up_acked / per_inc;
	ca->bw_probe_up_acked -= delta * per_inc;
	ca->inflight_longterm += delta * SMSS;
	if (ca->round_start)
		bbr3_raise_inflight_longterm_slope(sk, ca);
}

/* AdaptLongTermModel(); returns whether it changed the state. */
static bool bbr3_adapt_long_term_model(const struct sock *sk, struct bbr3 *ca,
				       const struct bbr3_sample *rs)
{
	if (ca->ack_phase == ACKS_PROBE_STARTING && ca->round_start)
		ca->ack_phase = ACKS_PROBE_FEEDBACK;
	if (ca->ack_phase == ACKS_PROBE_STOPPING && ca->round_start) {
		ca->is_bw_probe_sample = 0;
		ca->ack_phase = ACKS_INIT;
		if (bbr3_in_probe_bw(ca) && !rs->is_app_limited)
			bbr3_advance_max_bw_filter(ca);
		/* This probe lost nothing where the previous one lost too much: continue. */
		if (bbr3_in_probe_bw(ca) && ca->prev_probe_precautionary &&
		    !ca->prev_probe_too_high) {
			bbr3_start_refill(sk, ca);
			return true;
		}
	}
	if (!rs->has_data || bbr3_is_inflight_too_high(rs) || ca->inflight_longterm == NO_BOUND)
		return false;
	ca->inflight_longterm = max(ca->inflight_longterm, rs->tx_in_flight);
	if (ca->state == BBR3_UP)
		bbr3_probe_inflight_longterm_upward(sk, ca, rs);
	return false;
}

static bool bbr3_is_time_to_probe_bw(const struct sock *sk, const struct bbr3 *ca)
{
	u64 us = tcp_stamp_us_delta(tcp_sk(sk)->tcp_mstamp, ca->cycle_mstamp);
	u32 reno_rounds = bbr3_target_inflight(sk, ca);
	u32 rounds = probe_wait_rounds;

	return us > ca->bw_probe_wait_ms * USEC_PER_MSEC ||
	       ca->rounds_since_probe_up >= min(reno_rounds, rounds);
}

static bool bbr3_is_time_to_cruise(const struct sock *sk, const struct bbr3 *ca)
{
	u32 inflight = tcp_packets_in_flight(tcp_sk(sk));

	return inflight <= bbr3_inflight_with_headroom(ca) &&
	       inflight <= bbr3_inflight(sk, ca, ca->max_bw);
}

static bool bbr3_is_time_to_go_down(const struct sock *sk, struct bbr3 *ca,
				    const struct bbr3_sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/* Reached the point at which the last probe lost too much: wait for the effect first. */
	if (ca->prev_probe_too_high && rs->prior_in_flight >= ca->inflight_longterm) {
		ca->prev_probe_precautionary = 1;
		return true;
	}
	/* No growth of bw, but none was possible. */
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) && tp->snd_cwnd >= ca->inflight_longterm) {
		bbr3_reset_full_bw(ca);
		ca->full_bw = rs->delivery_rate;
		return false;
	}
	return ca->full_bw_now;
}

static void bbr3_update_probe_bw_cycle_phase(const struct sock *sk, struct bbr3 *ca,
					     const struct bbr3_sample *rs)
{
	if (!ca->full_bw_reached || bbr3_adapt_long_term_model(sk, ca, rs))
		return;
	switch (ca->state) {
	case BBR3_DOWN:
	case BBR3_CRUISE:
		if (bbr3_is_time_to_probe_bw(sk, ca))
			bbr3_start_refill(sk, ca);
		else if (ca->state == BBR3_DOWN && bbr3_is_time_to_cruise(sk, ca))
			ca->state = BBR3_CRUISE;
		break;
	case BBR3_REFILL:
		if (ca->round_start) {
			ca->is_bw_probe_sample = 1;
			bbr3_start_up(sk, ca, rs);
		}
		break;
	case BBR3_UP:
		if (bbr3_is_time_to_go_down(sk, ca, rs)) {
			ca->prev_probe_too_high = 0;
			bbr3_start_down(sk, ca);
		}
		break;
	}
}

static void bbr3_update_min_rtt(const struct sock *sk, struct bbr3 *ca, long rtt_us)
{
	u64 now = tcp_sk(sk)->tcp_mstamp;

	ca->probe_rtt_expired =
		now > ca->probe_rtt_min_mstamp + probe_rtt_interval_ms * USEC_PER_MSEC;
	if (rtt_us >= 0 && ((u64)rtt_us < ca->probe_rtt_min_us || ca->probe_rtt_expired)) {
		ca->probe_rtt_min_us = rtt_us;
		ca->probe_rtt_min_mstamp = now;
	}
	if (ca->probe_rtt_min_us < ca->min_rtt_us ||
	    now > ca->min_rtt_mstamp + min_rtt_window_ms * USEC_PER_MSEC) {
		ca->min_rtt_us = ca->probe_rtt_min_us;
		ca->min_rtt_mstamp = ca->probe_rtt_min_mstamp;
	}
}

/* It ends where inflight is below the BDP, so DOWN has nothing to do. */
static void bbr3_exit_probe_rtt(const struct sock *sk, struct bbr3 *ca)
{
	bbr3_reset_short_term_model(ca);
	if (ca->full_bw_reached) {
		bbr3_start_down(sk, ca);
		ca->state = BBR3_CRUISE;
	} else {
		ca->state = BBR3_STARTUP;
	}
}

static void bbr3_check_probe_rtt_done(struct sock *sk, struct bbr3 *ca)
{
	u64 now = tcp_sk(sk)->tcp_mstamp;

	if (!ca->probe_rtt_done_mstamp || now <= ca->probe_rtt_done_mstamp)
		return;
	ca->probe_rtt_min_mstamp = now;
	bbr3_restore_cwnd(sk, ca);
	bbr3_exit_probe_rtt(sk, ca);
}

/* First inflight must fall; then stay there for ProbeRTTDuration and a round. */
static void bbr3_handle_probe_rtt(struct sock *sk, struct bbr3 *ca)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 inflight = tcp_packets_in_flight(tp);

	/* Its low rates are not the path's: mark what is sent as application-limited. */
	tp->app_limited = max(tp->delivered + inflight, 1U);
	if (!ca->probe_rtt_done_mstamp) {
		if (inflight > bbr3_probe_rtt_cwnd(ca))
			return;
		ca->probe_rtt_done_mstamp = tp->tcp_mstamp + probe_rtt_ms * USEC_PER_MSEC;
		ca->probe_rtt_round_done = 0;
		bbr3_start_round(sk, ca);
		return;
	}
	if (ca->round_start)
		ca->probe_rtt_round_done = 1;
	if (ca->probe_rtt_round_done)
		bbr3_check_probe_rtt_done(sk, ca);
}

static void bbr3_check_probe_rtt(struct sock *sk, struct bbr3 *ca, const struct bbr3_sample *rs)
{
	if (ca->state != BBR3_PROBE_RTT && ca->probe_rtt_expired && !ca->idle_restart &&
	    probe_rtt_ms) {
		ca->state = BBR3_PROBE_RTT;
		bbr3_save_cwnd(sk, ca);
		ca->probe_rtt_done_mstamp = 0;
		ca->ack_phase = ACKS_PROBE_STOPPING;
		bbr3_start_round(sk, ca);
	}
	if (ca->state == BBR3_PROBE_RTT)
		bbr3_handle_probe_rtt(sk, ca);
	if (rs->has_data)
		ca->idle_restart = 0;
}

/* The table of section 5.6.1. */
static void bbr3_update_gains(struct bbr3 *ca)
{
	ca->pacing_gain_pct = UNIT_PCT;
	ca->cwnd_gain_pct = cwnd_gain_pct;
	switch (ca->state) {
	case BBR3_STARTUP:
		ca->pacing_gain_pct = startup_pacing_gain_pct;
		break;
	case BBR3_DRAIN:
		ca->pacing_gain_pct = drain_pacing_gain_pct;
		break;
	case BBR3_DOWN:
		ca->pacing_gain_pct = probe_down_pacing_gain_pct;
		break;
	case BBR3_UP:
		ca->pacing_gain_pct = probe_up_pacing_gain_pct;
		ca->cwnd_gain_pct = probe_up_cwnd_gain_pct;
		break;
	case BBR3_PROBE_RTT:
		ca->cwnd_gain_pct = probe_rtt_cwnd_gain_pct;
		break;
	}
}

/* Bytes per second, 1 % below gain bw. */
static u64 bbr3_pacing_rate(const struct sock *sk, u32 bw, u32 gain_pct)
{
	u64 rate = (u64)bw * tcp_sk(sk)->mss_cache * gain_pct / 100;

	rate = rate * (USEC_PER_SEC / 100 * (100 - min(pacing_margin_pct, 99U))) >> BW_SCALE;
	return min(rate, (u64)sk->sk_max_pacing_rate);
}

/* Before bw is known: gain cwnd / srtt, or per 1 ms before srtt is known. */
static void bbr3_init_pacing_rate(struct sock *sk, struct bbr3 *ca)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = USEC_PER_MSEC;

	if (tp->srtt_us) {
		rtt_us = max(tp->srtt_us >> 3, 1U);
		ca->has_seen_rtt = 1;
	}
	sk->sk_pacing_rate = bbr3_pacing_rate(sk, bbr3_rate(tp->snd_cwnd, rtt_us),
					      startup_pacing_gain_pct);
}

/* Until the pipe is full the rate only rises: early samples of bw are too low. */
static void bbr3_set_pacing_rate(struct sock *sk, struct bbr3 *ca, u32 gain_pct)
{
	u64 rate = bbr3_pacing_rate(sk, ca->bw, gain_pct);

	if (!ca->has_seen_rtt && tcp_sk(sk)->srtt_us)
		bbr3_init_pacing_rate(sk, ca);
	if (ca->full_bw_reached || rate > sk->sk_pacing_rate)
		sk->sk_pacing_rate = rate;
}

/* BoundCwndForModel(): the column "Volume Cap" of the table. */
static u32 bbr3_cwnd_cap(const struct bbr3 *ca)
{
	u32 cap = ca->inflight_longterm;

	if (ca->state == BBR3_STARTUP)
		cap = NO_BOUND;
	else if (ca->state == BBR3_CRUISE || ca->state == BBR3_PROBE_RTT)
		cap = bbr3_inflight_with_headroom(ca);
	return max(min(cap, ca->inflight_shortterm), min_pipe_cwnd);
}

/* Towards the target by what is acked; down to it at once, but only when the pipe was full. */
static void bbr3_set_cwnd(struct sock *sk, const struct bbr3 *ca, const struct bbr3_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 target = bbr3_bdp(ca, ca->bw, ca->cwnd_gain_pct) + ca->extra_acked;
	u32 cwnd = tp->snd_cwnd;

	target = bbr3_quantize(sk, ca, target);
	if (ca->full_bw_reached)
		cwnd = min(cwnd + rs->newly_acked, target);
	else if (cwnd < target || tp->delivered < TCP_INIT_CWND)
		cwnd += rs->newly_acked;
	cwnd = max(cwnd, min_pipe_cwnd);
	if (ca->state == BBR3_PROBE_RTT)
		cwnd = min(cwnd, bbr3_probe_rtt_cwnd(ca));
	cwnd = min(cwnd, bbr3_cwnd_cap(ca));
	tp->snd_cwnd = min(cwnd, tp->snd_cwnd_clamp);
}

/* GenerateRateSample() */
static void bbr3_read_sample(const struct sock *sk, struct bbr3 *ca,
			     const struct rate_sample *rs, struct bbr3_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct flight sent;

	flight_history_sent(&ca->flights, rs->prior_in_flight);
	sent = flight_history_find(&ca->flights, rs->prior_delivered);
	sample->has_data = rs->delivered >= 0;
	sample->is_app_limited = rs->is_app_limited;
	sample->newly_acked = rs->acked_sacked;
	sample->prior_in_flight = rs->prior_in_flight;
	sample->prior_delivered = rs->prior_delivered;
	sample->delivered = sample->has_data ? rs->delivered : 0;
	sample->tx_in_flight = sample->has_data ? sent.inflight : 0;
	sample->lost = sample->has_data ? tp->lost - sent.lost : 0;
	sample->delivery_rate = sample->has_data && rs->interval_us > 0 ?
				bbr3_rate(rs->delivered, rs->interval_us) : 0;
}

/* When recovery is over, restore the cwnd before it, as far as the model allows. */
static void bbr3_follow_recovery(struct sock *sk, struct bbr3 *ca)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	if (ca->prev_ca_state >= TCP_CA_Recovery && state < TCP_CA_Recovery)
		bbr3_restore_cwnd(sk, ca);
	ca->prev_ca_state = state;
}

SEC("struct_ops")
void BPF_PROG(bbr3_init, struct sock *sk)
{
	struct bbr3 *ca = bpf_sk_storage_get(&bbr3_storage, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ca)
		return;
	/* The storage outlives a change of congestion control: clear any earlier use. */
	ca->min_rtt_us = tcp_min_rtt(tp);
	ca->probe_rtt_min_us = ca->min_rtt_us;
	ca->min_rtt_mstamp = ca->probe_rtt_min_mstamp = tp->tcp_mstamp;
	ca->bw = ca->max_bw = ca->max_bw_filter[0] = ca->max_bw_filter[1] = 0;
	bbr3_reset_short_term_model(ca);
	bbr3_reset_congestion_signals(ca);
	bbr3_reset_full_bw(ca);
	ca->full_bw_reached = 0;
	ca->inflight_longterm = NO_BOUND;

	ca->round_count = 0;
	ca->next_round_delivered = ca->loss_round_delivered = tp->delivered;
	ca->round_start = ca->loss_round_start = 0;
	ca->drain_start_round = 0;
	ca->rounds_since_probe_up = 0;
	ca->lost_seen = tp->lost;
	ca->loss_events_in_round = 0;

	ca->cycle_mstamp = 0;
	ca->bw_probe_wait_ms = 0;
	ca->bw_probe_up_rounds = ca->bw_probe_up_acked = 0;
	ca->probe_up_acked_per_inc = NO_BOUND;
	ca->is_bw_probe_sample = 0;
	ca->prev_probe_too_high = ca->prev_probe_precautionary = 0;
	ca->ack_phase = ACKS_INIT;

	ca->extra_acked_mstamp = tp->tcp_mstamp;
	ca->extra_acked_delivered = ca->extra_acked = 0;
	minmax_reset(&ca->extra_acked_filter, 0, 0);

	ca->probe_rtt_done_mstamp = 0;
	ca->probe_rtt_expired = ca->probe_rtt_round_done = 0;
	ca->idle_restart = 0;
	ca->prev_ca_state = TCP_CA_Open;
	ca->prior_cwnd = 0;
	ca->undo_state = BBR3_NO_STATE;
	ca->undo_bw_shortterm = ca->undo_inflight_shortterm = ca->undo_inflight_longterm = 0;

	ca->state = BBR3_STARTUP;
	bbr3_update_gains(ca);
	flight_history_reset(&ca->flights, tp);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	ca->has_seen_rtt = 0;
	bbr3_init_pacing_rate(sk, ca);
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* Recovery or a timeout begins. BBR's window does not depend on ssthresh. */
SEC("struct_ops")
u32 BPF_PROG(bbr3_ssthresh, struct sock *sk)
{
	struct bbr3 *ca = bpf_sk_storage_get(&bbr3_storage, sk, NULL, 0);

	if (ca)
		bbr3_save_state_upon_loss(sk, ca);
	return tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops")
void BPF_PROG(bbr3_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct bbr3 *ca = bpf_sk_storage_get(&bbr3_storage, sk, NULL, 0);
	struct bbr3_sample sample;

	if (!ca)
		return;
	bbr3_read_sample(sk, ca, rs, &sample);
	bbr3_handle_losses(sk, ca, &sample);

	bbr3_update_latest_delivery_signals(sk, ca, &sample);
	bbr3_update_congestion_signals(sk, ca, &sample);
	bbr3_update_ack_aggregation(sk, ca, &sample);
	bbr3_check_full_bw_reached(ca, &sample);
	bbr3_check_startup_done(sk, ca, &sample);
	bbr3_check_drain_done(sk, ca);
	bbr3_update_probe_bw_cycle_phase(sk, ca, &sample);
	bbr3_update_min_rtt(sk, ca, rs->rtt_us);
	bbr3_check_probe_rtt(sk, ca, &sample);
	bbr3_advance_latest_delivery_signals(ca, &sample);
	ca->bw = min(ca->max_bw, ca->bw_shortterm);

	bbr3_update_gains(ca);
	bbr3_set_pacing_rate(sk, ca, ca->pacing_gain_pct);
	bbr3_follow_recovery(sk, ca);
	bbr3_set_cwnd(sk, ca, &sample);
	flight_history_note(&ca->flights, tcp_sk(sk));
}

SEC("struct_ops")
void BPF_PROG(bbr3_set_state, struct sock *sk, u8 new_state)
{
	struct bbr3 *ca = bpf_sk_storage_get(&bbr3_storage, sk, NULL, 0);

	if (ca && new_state == TCP_CA_Loss)
		ca->prev_ca_state = TCP_CA_Loss;
}

/* HandleRestartFromIdle(): after an idle period bw is enough. */
SEC("struct_ops")
void BPF_PROG(bbr3_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct bbr3 *ca = bpf_sk_storage_get(&bbr3_storage, sk, NULL, 0);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!ca || event != CA_EVENT_TX_START || !tp->app_limited)
		return;
	ca->idle_restart = 1;
	ca->extra_acked_mstamp = tp->tcp_mstamp;
	ca->extra_acked_delivered = 0;
	if (bbr3_in_probe_bw(ca))
		bbr3_set_pacing_rate(sk, ca, UNIT_PCT);
	else if (ca->state == BBR3_PROBE_RTT)
		bbr3_check_probe_rtt_done(sk, ca);
}

/* HandleSpuriousLossDetection(): the loss was spurious, so undo its effects. */
SEC("struct_ops")
u32 BPF_PROG(bbr3_undo_cwnd, struct sock *sk)
{
	struct bbr3 *ca = bpf_sk_storage_get(&bbr3_storage, sk, NULL, 0);

	if (!ca)
		return tcp_sk(sk)->snd_cwnd;
	ca->lost_seen = tcp_sk(sk)->lost;
	ca->is_loss_in_round = 0;
	bbr3_reset_full_bw(ca);
	ca->bw_shortterm = max(ca->bw_shortterm, ca->undo_bw_shortterm);
	ca->inflight_shortterm = max(ca->inflight_shortterm, ca->undo_inflight_shortterm);
	ca->inflight_longterm = max(ca->inflight_longterm, ca->undo_inflight_longterm);
	if (ca->undo_state == BBR3_STARTUP && ca->state != BBR3_STARTUP) {
		ca->full_bw_reached = 0;
		if (ca->state != BBR3_PROBE_RTT)
			ca->state = BBR3_STARTUP;
	} else if (ca->undo_state == BBR3_UP && ca->state != BBR3_UP &&
		   ca->state != BBR3_PROBE_RTT) {
		bbr3_start_refill(sk, ca);
	}
	ca->undo_state = BBR3_NO_STATE;
	return max(tcp_sk(sk)->snd_cwnd, ca->prior_cwnd);
}

/* Three cwnds of send buffer: inflight may double even in recovery. */
SEC("struct_ops")
u32 BPF_PROG(bbr3_sndbuf_expand, struct sock *sk)
{
	return 3;
}

SEC(".struct_ops")
struct tcp_congestion_ops bbr3 = {
	.init		= (void *)bbr3_init,
	.ssthresh	= (void *)bbr3_ssthresh,
	.cong_control	= (void *)bbr3_cong_control,
	.set_state	= (void *)bbr3_set_state,
	.cwnd_event	= (void *)bbr3_cwnd_event,
	.undo_cwnd	= (void *)bbr3_undo_cwnd,
	.sndbuf_expand	= (void *)bbr3_sndbuf_expand,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "bbr3",
};
