/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A segment that was just declared lost, as kernels patched for BBRv2 and BBRv3 pass it to
 * skb_marked_lost(). There is no other `struct sk_buff`. The layout is LostSegment's
 * (crates/cc-abi/src/sock.rs).
 */
#ifndef __DUMBBELL_SKB_H__
#define __DUMBBELL_SKB_H__

/* tcp_skb_cb.sacked */
#define TCPCB_SACKED_ACKED	1
#define TCPCB_SACKED_RETRANS	2
#define TCPCB_LOST		4

struct tcp_skb_cb {
	u32	seq;			/* bytes */
	u32	end_seq;
	u8	sacked;
	struct {
		u8	is_app_limited;
		u16	__reserved;
		u32	delivered_ce;
		u32	delivered;	/* tp->delivered when it left */
		u32	lost;		/* tp->lost when it left */
		u64	first_tx_mstamp;
		u64	delivered_mstamp; /* 0 if it has been delivered */
		u32	in_flight;	/* packets in flight then, it included */
	} __attribute__((packed)) tx;
	u32	__pcount;
};

struct sk_buff {
	struct tcp_skb_cb __cb;
	/* Only of tcp_send_head(). */
	unsigned int len;
};

#define TCP_SKB_CB(skb)		((struct tcp_skb_cb *)&(skb)->__cb)
#define tcp_skb_pcount(skb)	((int)(skb)->__cb.__pcount)
/* Every segment is a packet. */
#define tcp_skb_tx_in_flight_is_suspicious(pcount, sacked, in_flight)	\
	((pcount) > (in_flight) && !((sacked) & TCPCB_LOST))

/* An ACK shows that a loss probe repaired a loss. */
#define CA_EVENT_TLP_RECOVERY	((enum tcp_ca_event)6)
/* Of the receiver's side until Linux 4.19: a sender never sees them. */
#define CA_EVENT_DELAYED_ACK	((enum tcp_ca_event)7)
#define CA_EVENT_NON_DELAYED_ACK ((enum tcp_ca_event)8)

#endif /* __DUMBBELL_SKB_H__ */
