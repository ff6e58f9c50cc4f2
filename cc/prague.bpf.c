// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prague: DCTCP made fit for the Internet. It reduces cwnd in proportion to the share of packets
 * that were marked, grows at a pace that short RTTs do not speed up, and paces every packet.
 *
 *	once per round, 25 ms at least: alpha += (marked / delivered packets - alpha) / 16
 *	a mark, once in the same time: cwnd = cwnd (1 - alpha / 2); the first mark of all: cwnd / 2
 *	each packet acknowledged without a mark: cwnd += min(1, RTT / 25 ms)^2 / cwnd
 *	a loss: cwnd / 2
 *
 * In the steady state, at a share p of marks: rate = (1/p - 1) packets per 12.5 ms, about
 * (1/p - 1) Mbit/s with packets of 1500 bytes, whatever the RTT below 25 ms.
 *
 * It needs a queue that marks ECT(1) packets early and often (`--queue dualpi2`), and a receiver that
 * counts marks (AccECN, RFC 9768). Without AccECN it is Reno (L4S's requirement, RFC 9331 §4.3). Where a
 * queue of RFC 3168 marks, `classic_fallback` finds out (classic_aqm.h); it is off, as in v0.7.
 *
 * References: draft-briscoe-iccrg-prague-congestion-control-04 (section numbers below are its own);
 * RFC 9331 §4.3; RFC 9332. Constants that the draft leaves open are those of the L4S team's Linux
 * implementation, v0.7, which was read for its behaviour; none of it is here.
 *
 * Differences from that implementation:
 *  1. cwnd has 32 fractional bits instead of 20, and falls below 2 packets by itself: pacing follows
 *     it down to 100 kbit/s. There is no second mode that keeps a rate, and no smaller segments,
 *     which a BPF congestion control cannot have.
 *  2. A reduction may come as soon as a round and 25 ms have passed since the last one, not only at
 *     the next start of TCP's CWR state.
 *  3. The pacing rate alternates at all windows, not only below 4 packets.
 *  4. The size of a burst is the kernel's (1 ms of the pacing rate, but a packet at least), not 250 µs.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"
#include "classic_aqm.h"

char _license[] SEC("license") = "Dual BSD/GPL";

#define CWND_SHIFT	32
#define CWND_ONE	(1ULL << CWND_SHIFT)
#define CWND_MAX	(1ULL << 56)	/* 16 million pkts: products below stay within 64 bits */
#define ALPHA_SHIFT	24
#define ALPHA_ONE	(1U << ALPHA_SHIFT)
#define G_SHIFT		4		/* g = 1/16 (§2.3.2) */
#define RATIO_SHIFT	16		/* RTT / virtual RTT */
#define MIN_CWND	2U		/* pkts: for delayed ACKs; pacing goes below */
#define MIN_RATE	12500ULL	/* bytes per second: 100 kbit/s */
#define MAX_RTT_US	1000000ULL	/* in the smallest window, so that it fits */
#define PACING_UNIT	128U
#define RENO_PACING_PCT	120U		/* Linux's net.ipv4.tcp_pacing_ca_ratio */

PARAM(u32, rtt_virt_us, 25000, 1, 1000000, "us", "RTT that flows with a shorter one grow as if they had (§2.4.4)");
PARAM(u32, rtt_indep, 1, 0, 1, "", "whether short RTTs behave as rtt_virt_us (0: as DCTCP, per RTT)");
PARAM(u32, rtt_transition_rounds, 4, 0, 1000, "RTTs", "rounds after slow start before they do");
PARAM(u32, first_ce_mode, 0, 0, 1, "", "the first mark: 0 halves cwnd and alpha starts at 0; 1: alpha starts at 1");
PARAM(u32, classic_fallback, 0, 0, 2, "", "1: in a queue of RFC 3168 marks reduce cwnd as CUBIC's losses; 2: detect only");
PARAM(u32, pacing_swing, 4, 0, 127, "1/128", "pacing is this much above cwnd/RTT in one half of a round, below in the other");

struct prague {
	struct classic_aqm aqm;		/* with classic_fallback */
	u64	cwnd;			/* pkts << CWND_SHIFT; below 2 only pacing knows */
	u64	prior_cwnd;		/* before the last loss */
	u32	alpha;			/* << ALPHA_SHIFT + G_SHIFT: the rest of the EWMA is kept */
	u32	marked;			/* share of the last round, << ALPHA_SHIFT */
	u32	round_end;		/* snd_nxt when the round began */
	u32	round_us;		/* when it began */
	u32	round_delivered;	/* `delivered` then, pkts */
	u32	round_delivered_ce;
	u32	seen_delivered_ce;	/* at the last ACK */
	u32	cut_end;		/* snd_nxt at the last reduction */
	u32	cut_us;			/* when it was */
	u32	rounds;			/* since slow start ended */
	u8	has_ce;			/* something on the path marks */
	u8	in_loss;		/* a loss is being repaired: no growth */
	u8	mode;			/* enum prague_mode */
};
CA_PRIV(struct prague);

#define PRAGUE_FALL_BACK	1	/* classic_fallback; 2 would only detect */

enum prague_mode {
	PRAGUE_SCALABLE,
	PRAGUE_RENO,			/* no AccECN */
};

SERIES_SCALED(struct prague, alpha, "alpha", "", 1, 1 << 28, 0, "estimate of the share of marked packets");
SERIES_SCALED(struct prague, marked, "marked_share", "", 1, 1 << 24, 0, "share marked in the last round");
SERIES_SCALED(struct prague, cwnd, "cwnd_fractional_pkts", "pkts", 1, 1ULL << 32, 0, "cwnd with its fraction");
SERIES_SCALED(struct prague, aqm.score, "classic_score", "", 1, 1 << 16, DUMBBELL_SIGNED, "1 and more: a classic AQM marks; 0 and less: one of L4S");
SERIES_STATE(struct prague, mode, "mode", "prague,reno", "reno: the receiver does not count marks");

static __always_inline u32 prague_now_us(const struct tcp_sock *tp)
{
	return (u32)tp->tcp_mstamp;
}

static __always_inline u64 prague_srtt_us(const struct tcp_sock *tp)
{
	return max((u64)(tp->srtt_us >> 3), 1ULL);
}

/* §2.4.4: only long flows need to be fair to long RTTs, so the first rounds go by the RTT. */
static __always_inline bool prague_is_rtt_independent(const struct tcp_sock *tp, const struct prague *ca)
{
	return rtt_indep && ca->mode == PRAGUE_SCALABLE && !tcp_in_slow_start(tp) &&
	       ca->rounds >= rtt_transition_rounds;
}

/* The time that a round takes at least. */
static __always_inline u32 prague_least_round_us(const struct tcp_sock *tp, const struct prague *ca)
{
	return prague_is_rtt_independent(tp, ca) ? rtt_virt_us : 0;
}

static __always_inline u32 prague_cwnd_pkts(const struct tcp_sock *tp, const struct prague *ca)
{
	u64 pkts = (ca->cwnd + CWND_ONE - 1) >> CWND_SHIFT;

	return min((u32)max(pkts, (u64)MIN_CWND), tp->snd_cwnd_clamp);
}

/* The window at the lowest rate; Reno's is 2 packets. */
static __always_inline u64 prague_min_cwnd(const struct tcp_sock *tp, const struct prague *ca)
{
	u64 rtt_us = min(prague_srtt_us(tp), MAX_RTT_US);

	if (ca->mode == PRAGUE_RENO)
		return (u64)MIN_CWND << CWND_SHIFT;
	return ((MIN_RATE * rtt_us / 1000) << CWND_SHIFT) / (1000ULL * max(tp->mss_cache, 1U));
}

static __always_inline void prague_reduce(const struct tcp_sock *tp, struct prague *ca, u64 by)
{
	u64 least = prague_min_cwnd(tp, ca);

	ca->cwnd = ca->cwnd > least + by ? ca->cwnd - by : min(ca->cwnd, least);
}

static __always_inline void prague_begin_round(const struct tcp_sock *tp, struct prague *ca)
{
	ca->round_end = tp->snd_nxt;
	ca->round_us = prague_now_us(tp);
	ca->round_delivered = tp->delivered;
	ca->round_delivered_ce = tp->delivered_ce;
}

SEC("struct_ops")
void BPF_PROG(prague_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *ca = inet_csk_ca(sk);

	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	ca->cwnd = (u64)tp->snd_cwnd << CWND_SHIFT;
	ca->prior_cwnd = 0;
	ca->alpha = first_ce_mode ? ALPHA_ONE << G_SHIFT : 0;
	ca->marked = 0;
	ca->seen_delivered_ce = tp->delivered_ce;
	ca->cut_end = tp->snd_una;
	ca->cut_us = prague_now_us(tp);
	ca->rounds = 0;
	ca->has_ce = 0;
	ca->in_loss = 0;
	ca->mode = PRAGUE_SCALABLE;
	classic_init(&ca->aqm);
	prague_begin_round(tp, ca);
}

/* §2.3.2: alpha moves once per round, by a sixteenth, and not before the path has marked at all. */
static __always_inline void prague_update_alpha(const struct tcp_sock *tp, struct prague *ca)
{
	u32 delivered = max(tp->delivered - ca->round_delivered, 1U);
	u32 delivered_ce = tp->delivered_ce - ca->round_delivered_ce;

	if (!ca->has_ce)
		return;
	ca->marked = (u32)(((u64)min(delivered_ce, delivered) << ALPHA_SHIFT) / delivered);
	ca->alpha = min(ca->alpha - (ca->alpha >> G_SHIFT) + ca->marked, ALPHA_ONE << G_SHIFT);
}

static __always_inline void prague_end_round(const struct tcp_sock *tp, struct prague *ca)
{
	if (before(tp->snd_una, ca->round_end) ||
	    prague_now_us(tp) - ca->round_us < prague_least_round_us(tp, ca))
		return;
	prague_update_alpha(tp, ca);
	if (classic_fallback && ca->has_ce)
		classic_update_score(&ca->aqm, tcp_min_rtt(tp));
	if (!tcp_in_slow_start(tp) && ca->rounds < rtt_transition_rounds)
		ca->rounds++;
	prague_begin_round(tp, ca);
}

/* The share of marks, or what a classic AQM would have it be; << ALPHA_SHIFT. */
static __always_inline u32 prague_alpha(const struct prague *ca)
{
	u32 alpha = ca->alpha >> G_SHIFT;

	if (classic_fallback != PRAGUE_FALL_BACK)
		return alpha;
	return max(alpha, classic_least_alpha(&ca->aqm) << (ALPHA_SHIFT - CLASSIC_SHIFT));
}

/* cwnd has been reduced. */
static __always_inline void prague_set_ssthresh(struct tcp_sock *tp, struct prague *ca)
{
	tp->snd_ssthresh = prague_cwnd_pkts(tp, ca);
	if (classic_fallback)
		classic_on_reduction(&ca->aqm, tp->snd_ssthresh);
}

/* §2.4.2: cwnd (1 - alpha / 2), once per round; RFC 9331 §4.3: Reno's half without AccECN. */
static __always_inline void prague_on_mark(struct tcp_sock *tp, struct prague *ca)
{
	bool is_first = !ca->has_ce;
	u64 by;

	ca->has_ce = 1;
	if (ca->in_loss)
		return;
	if (!is_first && (before(tp->snd_una, ca->cut_end) ||
			  prague_now_us(tp) - ca->cut_us < prague_least_round_us(tp, ca)))
		return;
	if (ca->mode == PRAGUE_RENO || (is_first && !first_ce_mode))
		by = ca->cwnd >> 1;
	else
		by = ((ca->cwnd >> ALPHA_SHIFT) * prague_alpha(ca)) >> 1;
	prague_reduce(tp, ca, by);
	ca->cut_end = tp->snd_nxt;
	ca->cut_us = prague_now_us(tp);
	prague_set_ssthresh(tp, ca);
}

/* What a packet without a mark adds to a window of one packet. */
static __always_inline u64 prague_growth(const struct tcp_sock *tp, const struct prague *ca)
{
	u64 rtt_us = prague_srtt_us(tp);
	u64 ratio;

	if (!prague_is_rtt_independent(tp, ca) || rtt_us >= rtt_virt_us)
		return CWND_ONE;
	ratio = (rtt_us << RATIO_SHIFT) / rtt_virt_us;
	return ratio * ratio;
}

/*
 * Whether the window, or the pacing that follows it, limits what is sent. Pacing below cwnd/RTT in
 * half of a round keeps the window from ever being full.
 */
static __always_inline bool prague_is_limited(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_is_cwnd_limited(sk) || 4 * (tp->max_packets_out + 1) >= 3 * tp->snd_cwnd;
}

/* §2.4.3, §2.4.5: `unmarked` packets were acknowledged. */
static __always_inline void prague_grow(struct sock *sk, struct prague *ca, u32 unmarked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 pkts;

	if (!unmarked || ca->in_loss || !prague_is_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		unmarked = tcp_slow_start(tp, unmarked);
		ca->cwnd = (u64)tp->snd_cwnd << CWND_SHIFT;
		if (!unmarked)
			return;
	}
	pkts = max(ca->cwnd >> 20, 1ULL);	/* << 12 */
	ca->cwnd += ((u64)min(unmarked, 65535U) * prague_growth(tp, ca) << 12) / pkts;
	ca->cwnd = min(ca->cwnd, CWND_MAX);
}

/* Towards the window, in steps that neither burst nor pause. */
static __always_inline void prague_set_cwnd(struct tcp_sock *tp, const struct prague *ca, u32 acked)
{
	u32 target = prague_cwnd_pkts(tp, ca);
	u32 step = max(acked >> 1, 1U);

	if (tp->snd_cwnd > target)
		tp->snd_cwnd = tp->snd_cwnd - target > step ? tp->snd_cwnd - step : target;
	else
		tp->snd_cwnd = min(tp->snd_cwnd + acked, target);
}

/* §2.5.1: a little above cwnd/RTT in the first half of a round and below it in the second. */
static __always_inline void prague_set_pacing(struct sock *sk, const struct prague *ca)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 rtt_us = prague_srtt_us(tp);
	u64 bytes = ((ca->cwnd >> 16) * max(tp->mss_cache, 1U)) >> 8;	/* << 8 */
	u64 round_us = max(rtt_us, (u64)prague_least_round_us(tp, ca));
	u64 rate;

	rate = bytes / rtt_us * USEC_PER_SEC + bytes % rtt_us * USEC_PER_SEC / rtt_us;
	rate >>= 8;
	if (tp->snd_cwnd < tp->snd_ssthresh / 2)
		rate *= 2;
	else if (ca->mode == PRAGUE_RENO)
		rate = rate * RENO_PACING_PCT / 100;
	else if (2 * (u64)(prague_now_us(tp) - ca->round_us) < round_us)
		rate = rate / PACING_UNIT * (PACING_UNIT + pacing_swing);
	else
		rate = rate / PACING_UNIT * (PACING_UNIT - pacing_swing);
	rate = max(rate, MIN_RATE);
	sk->sk_pacing_rate = min(rate, (u64)sk->sk_max_pacing_rate);
}

SEC("struct_ops")
void BPF_PROG(prague_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *ca = inet_csk_ca(sk);
	u32 acked = rs->acked_sacked;
	u32 marked = tp->delivered_ce - ca->seen_delivered_ce;

	ca->seen_delivered_ce = tp->delivered_ce;
	if (classic_fallback && rs->rtt_us >= 0)
		classic_on_rtt(&ca->aqm, (u32)min((u64)rs->rtt_us, (u64)CLASSIC_RTT_MAX_US));
	ca->mode = tp->ecn_flags & TCP_ECN_MODE_ACCECN ? PRAGUE_SCALABLE : PRAGUE_RENO;
	if (marked)
		prague_on_mark(tp, ca);
	prague_grow(sk, ca, acked > marked ? acked - marked : 0);
	prague_end_round(tp, ca);
	prague_set_cwnd(tp, ca, acked);
	prague_set_pacing(sk, ca);
}

/* A mark ends slow start; how far cwnd falls is up to prague_on_mark() and prague_on_loss(). */
SEC("struct_ops")
u32 BPF_PROG(prague_ssthresh, struct sock *sk)
{
	return max(tcp_sk(sk)->snd_cwnd, MIN_CWND);
}

/* §2.4.1: the response to a loss is Reno's. */
static __always_inline void prague_on_loss(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *ca = inet_csk_ca(sk);

	ca->prior_cwnd = ca->cwnd;
	prague_reduce(tp, ca, ca->cwnd >> 1);
	ca->in_loss = 1;
	prague_set_ssthresh(tp, ca);
}

SEC("struct_ops")
void BPF_PROG(prague_set_state, struct sock *sk, u8 new_state)
{
	struct prague *ca = inet_csk_ca(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;

	if (new_state == TCP_CA_Recovery && state != TCP_CA_Recovery)
		prague_on_loss(sk);
	else if (new_state < TCP_CA_Recovery)
		ca->in_loss = 0;
}

SEC("struct_ops")
void BPF_PROG(prague_cwnd_event, struct sock *sk, enum tcp_ca_event ev)
{
	if (ev == CA_EVENT_LOSS)
		prague_on_loss(sk);
}

SEC("struct_ops")
u32 BPF_PROG(prague_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct prague *ca = inet_csk_ca(sk);

	ca->cwnd = max(ca->cwnd, ca->prior_cwnd);
	ca->in_loss = 0;
	return max(tp->snd_cwnd, prague_cwnd_pkts(tp, ca));
}

/* §2.5.2: packets that leave together wait for each other, and at low rates longer than a step allows. */
SEC("struct_ops")
u32 BPF_PROG(prague_min_tso_segs, struct sock *sk)
{
	return 1;
}

SEC(".struct_ops")
struct tcp_congestion_ops prague = {
	.init		= (void *)prague_init,
	.ssthresh	= (void *)prague_ssthresh,
	.set_state	= (void *)prague_set_state,
	.cwnd_event	= (void *)prague_cwnd_event,
	.min_tso_segs	= (void *)prague_min_tso_segs,
	.cong_control	= (void *)prague_cong_control,
	.undo_cwnd	= (void *)prague_undo_cwnd,
	.flags		= TCP_CONG_NEEDS_ECN | TCP_CONG_NEEDS_ACCECN | TCP_CONG_ECT_1_NEGOTIATION,
	.name		= "prague",
};
