/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What DCTCP shares with other modules that react to marks (net/ipv4/tcp_dctcp.h): how a receiver
 * acknowledges marked data. No data arrives at a sender, so there is nothing to do.
 */
#ifndef __DUMBBELL_TCP_DCTCP_H__
#define __DUMBBELL_TCP_DCTCP_H__

static inline void dctcp_ece_ack_cwr(struct sock *sk, u32 ce_state)
{
	(void)sk, (void)ce_state;
}

static inline void dctcp_ece_ack_update(struct sock *sk, enum tcp_ca_event event,
					u32 *prior_rcv_nxt, u32 *ce_state)
{
	(void)sk, (void)event, (void)prior_rcv_nxt, (void)ce_state;
}

#endif /* __DUMBBELL_TCP_DCTCP_H__ */
