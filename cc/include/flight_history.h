/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was in flight, and lost so far, when a packet left.
 *
 * draft-ietf-ccwg-bbr stamps each packet with C.delivered, C.inflight and C.lost as it is sent
 * (P.delivered, P.tx_in_flight, P.lost). Linux keeps the first of the three only, and returns it
 * with the packet's ACK (rate_sample's prior_delivered). The other two follow from it: a packet
 * whose stamp is d left after the ACK that made C.delivered d and before the next one. So the
 * socket is recorded at every ACK, with C.delivered as the key.
 *
 * C.lost is then exact except for losses that a timer detects between two ACKs. C.inflight is that
 * of the last packet sent between them. In windows of more than 64 packets a record serves a 64th
 * of the window, which is then the accuracy; 128 records are two windows.
 */
#ifndef __FLIGHT_HISTORY_H__
#define __FLIGHT_HISTORY_H__

#include "net_tcp.h"

#define FLIGHTS			128U	/* a power of 2 */
#define FLIGHTS_PER_WINDOW	64U

struct flight {
	u32	delivered;	/* tp->delivered when it left */
	u32	inflight;	/* with it; [pkts] */
	u32	lost;		/* tp->lost when it left */
};

struct flight_history {
	u32	newest;
	u32	count;
	struct flight at[FLIGHTS];
};

/* Packets sent from now on are sent in the socket's present state. */
static __always_inline void flight_history_note(struct flight_history *h,
						const struct tcp_sock *tp)
{
	struct flight *f = &h->at[h->newest & (FLIGHTS - 1)];
	u32 window = max(tp->snd_cwnd, tp->packets_out);

	if (h->count && (tp->delivered == f->delivered ||
			 tp->delivered - f->delivered < window / FLIGHTS_PER_WINDOW))
		return;
	h->newest = (h->newest + 1) & (FLIGHTS - 1);
	h->count = min(h->count + 1, FLIGHTS);
	f = &h->at[h->newest & (FLIGHTS - 1)];
	f->delivered = tp->delivered;
	f->inflight = tcp_packets_in_flight(tp);
	f->lost = tp->lost;
}

static __always_inline void flight_history_reset(struct flight_history *h,
						 const struct tcp_sock *tp)
{
	h->newest = 0;
	h->count = 0;
	flight_history_note(h, tp);
}

/* An ACK arrives at `inflight` packets: that was reached since the last one. */
static __always_inline void flight_history_sent(struct flight_history *h, u32 inflight)
{
	h->at[h->newest & (FLIGHTS - 1)].inflight = inflight;
}

/* The flight of a packet that left at `delivered`; the oldest known if it is older. */
static __always_inline struct flight flight_history_find(const struct flight_history *h,
							 u32 delivered)
{
	u32 young = 0, old = max(h->count, 1U) - 1;	/* ages */
	u32 i;

	for (i = 0; i < 8; i++) {	/* halves 128 until one is left */
		u32 age = (young + old) / 2;

		if (young >= old)
			break;
		if (after(h->at[(h->newest - age) & (FLIGHTS - 1)].delivered, delivered))
			young = age + 1;
		else
			old = age;
	}
	return h->at[(h->newest - young) & (FLIGHTS - 1)];
}

#endif /* __FLIGHT_HISTORY_H__ */
