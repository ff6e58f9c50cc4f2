/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sender, as in net/ipv4/tcp_output.c, tcp_timer.c and tcp_input.c. */
#ifndef STORM_SENDER_H
#define STORM_SENDER_H

#include "calls.h"

/* Largest number of packets out: windows beyond it are not filled. */
#define MAX_FLIGHT	(1U << 25)

static void send(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	u32 in_flight = tcp_packets_in_flight(tp);
	u32 limit = min(tp->snd_cwnd, MAX_FLIGHT);
	u32 room = limit > in_flight ? limit - in_flight : 0;
	u32 count = chance(700) ? room : (room ? (u32)between(0, room) : 0);

	if (tp->packets_out > MAX_FLIGHT)
		count = 0;
	if (f->weather.app_limited && chance(500))
		count /= 2;
	tp->is_cwnd_limited = count == room;
	/* A window that is not used decays (RFC 7661); vegas in slow start grows it regardless. */
	if (count < room || tp->snd_cwnd > MAX_FLIGHT)
		tp->snd_cwnd = min(tp->snd_cwnd, 2 * MAX_FLIGHT);
	if (count == 0)
		return;
	call_min_tso_segs(f);
	if (in_flight == 0) {
		if (f->ops->cwnd_event_tx_start)
			CALL(f, CWND_EVENT_TX_START, cwnd_event_tx_start, f->sk);
		else
			CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_TX_START);
		tp->first_tx_mstamp = tp->delivered_mstamp = tp->tcp_mstamp;
	}
	if (count < room && f->weather.app_limited)
		tp->app_limited = (tp->delivered + in_flight) ?: 1;
	tp->packets_out += count;
	tp->snd_nxt += count * tp->mss_cache;
	tp->write_seq = tp->snd_nxt;
	tp->data_segs_out += count;
	tp->bytes_sent += (u64)count * tp->mss_cache;
	tp->max_packets_out = max(tp->max_packets_out, tp->packets_out);
	tp->lsndtime = tp->tcp_mstamp / 1000;
}

static void idle(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	tp->delivered += tp->packets_out - tp->sacked_out;
	tp->snd_una = tp->snd_nxt;
	tp->packets_out = tp->sacked_out = tp->lost_out = tp->retrans_out = 0;
	set_state(f, TCP_CA_Open);
	advance(f, magnitude(20, 42));		/* 1 ms to 2 h */
	if (chance(500)) {
		CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_CWND_RESTART);
		tp->snd_cwnd = min(tp->snd_cwnd, (u32)TCP_INIT_CWND);
	}
}

static void reduce(struct flow *f, u8 state)
{
	struct tcp_sock *tp = f->tp;

	f->high_seq_pkts = tp->delivered + tp->packets_out;
	tp->high_seq = tp->snd_nxt;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->prior_ssthresh = tp->snd_ssthresh;
	tp->undo_marker = tp->snd_una ?: 1;
	tp->prr_delivered = tp->prr_out = 0;
	tp->snd_ssthresh = call_ssthresh(f);
	set_state(f, state);
}

static void timeout(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	if (tp->packets_out == 0)
		return;
	tp->inet_conn.icsk_retransmits++;
	if (tp->inet_conn.icsk_ca_state != TCP_CA_Loss) {
		tp->prior_cwnd = tp->snd_cwnd;
		tp->prior_ssthresh = tp->snd_ssthresh;
		tp->snd_ssthresh = call_ssthresh(f);
		CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_LOSS);
	}
	tp->lost += tp->packets_out - tp->sacked_out - tp->lost_out;
	tp->lost_out = tp->packets_out - tp->sacked_out;
	tp->retrans_out = 0;
	tp->snd_cwnd = 1;
	tp->snd_cwnd_cnt = 0;
	f->high_seq_pkts = tp->delivered + tp->packets_out;
	tp->high_seq = tp->snd_nxt;
	set_state(f, TCP_CA_Loss);
}

static void undo(struct flow *f)
{
	struct tcp_sock *tp = f->tp;

	tp->snd_cwnd = call_undo_cwnd(f);
	if (tp->prior_ssthresh > tp->snd_ssthresh)
		tp->snd_ssthresh = tp->prior_ssthresh;
	tp->undo_marker = 0;
	tp->lost_out = tp->retrans_out = 0;
	set_state(f, TCP_CA_Open);
}

static void recover(struct flow *f)
{
	struct tcp_sock *tp = f->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	if (state != TCP_CA_Loss && !f->ops->cong_control && tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		tp->snd_cwnd = clamp(tp->snd_ssthresh, 1U, MAX_CWND);
	if (state != TCP_CA_Loss)
		CALL(f, CWND_EVENT, cwnd_event, f->sk, CA_EVENT_COMPLETE_CWR);
	tp->inet_conn.icsk_retransmits = 0;
	set_state(f, TCP_CA_Open);
}

#endif /* STORM_SENDER_H */
