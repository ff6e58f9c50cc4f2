/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rounds: a round lasts until what is sent after its beginning is delivered, a round trip at least
 * (BBR.UpdateRound of draft-ietf-ccwg-bbr).
 */
#ifndef __ROUNDS_H__
#define __ROUNDS_H__

#include "net_tcp.h"

struct rounds {
	u32	next_delivered;	/* tp->delivered at whose delivery this round ends */
	u32	count;		/* rounds that ended */
};

static __always_inline void rounds_begin(struct rounds *rounds, const struct tcp_sock *tp)
{
	rounds->next_delivered = tp->delivered;
}

/* Whether this ACK ends the round; then the next has begun. */
static __always_inline bool rounds_end(struct rounds *rounds, const struct tcp_sock *tp,
				       const struct rate_sample *rs)
{
	if (rs->delivered <= 0 || before(rs->prior_delivered, rounds->next_delivered))
		return false;
	rounds->count++;
	rounds_begin(rounds, tp);
	return true;
}

#endif /* __ROUNDS_H__ */
