/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an ACK contains, and how it changes the socket, as in net/ipv4/tcp_input.c. */
#ifndef STORM_ACKS_H
#define STORM_ACKS_H

#include "sender.h"

/* The RTT of an ACK: occasionally one that only clocks or middleboxes can produce. */
static s64 draw_rtt(struct flow *f)
{
	u64 rtt_us = f->weather.rtt_us;

	switch (between(0, 19)) {
	case 0:
		return -1;
	case 1:
		return 0;
	case 2:
		return between(1, 10);
	case 3:
		return between(rtt_us, 100 * rtt_us);
	default:
		return between(rtt_us, rtt_us + rtt_us / 4);
	}
}

static void sample_rtt(struct flow *f, s64 rtt_us)
{
	struct tcp_sock *tp = f->tp;
	u32 us = rtt_us > 0 ? (u32)rtt_us : 1;

	tp->srtt_us = tp->srtt_us ? tp->srtt_us - (tp->srtt_us >> 3) + us : us << 3;
	tp->srtt_us = max(tp->srtt_us, 1U);
	tp->mdev_us = us / 2;
	tp->rttvar_us = us / 2 + 1;
	if (us <= tp->rtt_min.s[0].v || chance(5))
		for (u32 i = 0; i < 3; i++)
			tp->rtt_min.s[i] = (struct minmax_sample){ .t = dumbbell_now_ns / 1000000, .v = us };
}

struct ack {
	u32	acked;		/* cumulatively */
	u32	sacked;
	u32	lost;
	u32	prior_in_flight;
	s64	rtt_us;
	bool	ece;
};

static struct ack draw_ack(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	struct ack a = { .prior_in_flight = tcp_packets_in_flight(tp), .rtt_us = draw_rtt(f) };
	u32 out = tp->packets_out, left;

	a.ece = chance(f->weather.ece_per_mille);
	if (chance(800))
		a.acked = (u32)between(1, min(out, f->weather.max_acked_pkts));
	left = out - a.acked;
	if (tp->inet_conn.icsk_ca_state != TCP_CA_Open && chance(50))
		a.acked = out, left = 0;
	/* Packets that were SACKed or lost before are the first below the cumulative ACK. */
	tp->sacked_out = min(tp->sacked_out, left);
	tp->lost_out = min(tp->lost_out, left - tp->sacked_out);
	tp->retrans_out = min(tp->retrans_out, tp->lost_out);
	left -= tp->sacked_out + tp->lost_out;
	if (left && chance(f->weather.loss_per_mille)) {
		a.lost = (u32)between(1, left);
		left -= a.lost;
	}
	if (left && (a.lost || !a.acked))
		a.sacked = (u32)between(0, min(left, f->weather.max_acked_pkts));
	return a;
}

static struct rate_sample rate_sample(struct flow *f, struct ack *a, u32 delivered)
{
	struct tcp_sock *tp = f->tp;
	u32 known = (u32)between(0, min(tp->delivered, 2 * a->prior_in_flight + 1));
	s64 interval_us = a->rtt_us + between(0, f->weather.rtt_us);
	bool valid = delivered && a->rtt_us >= 0 && chance(950) &&
		     interval_us >= (s64)tp->rtt_min.s[0].v;

	return (struct rate_sample) {
		.prior_mstamp = valid ? tp->delivered_mstamp : 0,
		.prior_delivered = tp->delivered - known,
		.delivered = valid ? (s32)known : -1,
		.delivered_ce = a->ece ? (s32)delivered : 0,
		.interval_us = valid ? interval_us : -1,
		.snd_interval_us = valid ? (u32)interval_us : 0,
		.rcv_interval_us = valid ? (u32)interval_us : 0,
		.rtt_us = a->rtt_us,
		.losses = a->lost,
		.acked_sacked = delivered,
		.prior_in_flight = a->prior_in_flight,
		.last_end_seq = tp->snd_una,
		.is_app_limited = f->weather.app_limited && chance(500),
		.is_retrans = tp->inet_conn.icsk_ca_state >= TCP_CA_Recovery && chance(200),
		.is_ack_delayed = chance(200),
		.is_ece = a->ece,
		.prior_lost = tp->lost - a->lost,
		.tx_in_flight = a->prior_in_flight,
		.lost = a->lost,
	};
}

static void count(struct flow *f, struct ack *a, u32 delivered)
{
	struct tcp_sock *tp = f->tp;

	tp->packets_out -= a->acked;
	tp->snd_una += a->acked * tp->mss_cache;
	tp->bytes_acked += (u64)a->acked * tp->mss_cache;
	tp->sacked_out += a->sacked;
	tp->lost_out += a->lost;
	tp->lost += a->lost;
	tp->delivered += delivered;
	tp->delivered_ce += a->ece ? delivered : 0;
	if (delivered) {
		tp->delivered_mstamp = tp->tcp_mstamp;
		tp->first_tx_mstamp = tp->tcp_mstamp - min((u64)max(a->rtt_us, 0), tp->tcp_mstamp);
	}
	if (tp->app_limited && after(tp->delivered, tp->app_limited))
		tp->app_limited = 0;
	if (tp->lost_out > tp->retrans_out && chance(500))
		tp->retrans_out = tp->lost_out;
}

/* Loss recovery, before the congestion control is called with the ACK. */
static void change_state(struct flow *f, struct ack *a)
{
	struct tcp_sock *tp = f->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	if (state != TCP_CA_Open && state != TCP_CA_Disorder &&
	    !before(tp->delivered, f->high_seq_pkts)) {
		recover(f);
	} else if (state >= TCP_CA_Recovery && chance(30)) {
		undo(f);
	} else if (state < TCP_CA_Recovery && a->lost) {
		reduce(f, TCP_CA_Recovery);
	} else if (state < TCP_CA_CWR && a->ece) {
		reduce(f, TCP_CA_CWR);
	} else if (state == TCP_CA_Open && a->sacked) {
		set_state(f, TCP_CA_Disorder);
	} else if (state == TCP_CA_Disorder && !tp->sacked_out) {
		set_state(f, TCP_CA_Open);
	}
}

static void grow_or_reduce(struct flow *f, u32 delivered)
{
	struct tcp_sock *tp = f->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	if (state == TCP_CA_CWR || state == TCP_CA_Recovery) {
		u32 in_flight = tcp_packets_in_flight(tp);

		tp->prr_delivered += delivered;
		tp->snd_cwnd = clamp(min(in_flight + max(delivered, 1U), tp->snd_cwnd), 1U, MAX_CWND);
	} else if (delivered) {
		CALL(f, CONG_AVOID, cong_avoid, f->sk, tp->snd_una, delivered);
	}
}

static void acknowledge(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	struct ack a;
	struct rate_sample rs;
	u32 delivered;

	if (tp->packets_out == 0)
		return;
	a = draw_ack(f);
	delivered = a.acked + a.sacked;
	if (a.rtt_us >= 0 && delivered)
		sample_rtt(f, a.rtt_us);
	CALL(f, IN_ACK_EVENT, in_ack_event, f->sk,
	     CA_ACK_SLOWPATH | (a.ece ? CA_ACK_ECE : 0));
	rs = rate_sample(f, &a, delivered);
	count(f, &a, delivered);
	if (delivered) {
		struct ack_sample sample = {
			.pkts_acked = a.acked, .rtt_us = (s32)a.rtt_us, .in_flight = a.prior_in_flight,
		};

		CALL(f, PKTS_ACKED, pkts_acked, f->sk, &sample);
	}
	change_state(f, &a);
	if (f->ops->cong_control)
		CALL(f, CONG_CONTROL, cong_control, f->sk, tp->snd_una,
		     (a.acked ? FLAG_DATA_ACKED : 0) | (a.ece ? FLAG_ECE : 0), &rs);
	else
		grow_or_reduce(f, delivered);
}

#endif /* STORM_ACKS_H */
