/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A dip: whose queue it is. Part of the window goes for three rounds and comes back for three. By Little's law the RTT
 * moves by the share of what is in flight that dips: 1 when no others are there. A window that grows would hide it, so a
 * dip begins with two rounds of a steady one. It is seen in whole packets.
 */
#ifndef __DIP_H__
#define __DIP_H__

#include "path_rtt.h"

#define DIP_SETTLE_ROUNDS	2U	/* the RTT shows a window after a round trip */
#define DIP_ROUNDS		3U
#define DIP_LEAST_PCT		5U	/* less is indistinguishable from noise */

enum dip_state { DIP_GOES_ON, DIP_IS_VOID, DIP_IS_OVER };

struct dip {
	u32	rounds;		/* of this dip */
	u32	off_pct;	/* off the window now */
	u32	from_us;	/* RTT before, at the bottom, and after it */
	u32	least_us;
	u32	back_us;
	u32	wanted_us;	/* what the RTT falls by if all of the queue is the kind's */
	u32	share_pct;	/* S, by the last dip */
};

/* A window in 1/1024 packets as one of whole packets, of two at least. */
static __always_inline u32 whole_packets(u64 w)
{
	return max((u32)((w + 512) >> 10), 2U);
}

/* The window during a dip. */
static __always_inline u64 dip_window(const struct dip *dip, u64 w)
{
	return w * (100 - min(dip->off_pct, 100U)) / 100;
}

static __always_inline void dip_begin(struct dip *dip)
{
	dip->rounds = dip->off_pct = 0;
}

/* The RTT is that of a steady window. Not so deep that the queue empties: what would be seen then is the path. */
static __always_inline bool dip_go_down(struct dip *dip, const struct path_rtt *path, u64 w, u32 most_pct)
{
	u32 before = whole_packets(w), off;

	dip->off_pct = min(most_pct, (u32)((u64)path_rtt_queue_us(path) * 80 / max(path->round_us, 1U)));
	off = before - whole_packets(dip_window(dip, w));
	if (dip->off_pct < DIP_LEAST_PCT || !off)
		return false;
	dip->wanted_us = max((u32)((u64)path->round_us * off / max(before, 1U)), 1U);
	dip->from_us = path->round_us;
	dip->least_us = NO_RTT;
	dip->back_us = 0;
	return true;
}

/* Steady for two rounds; down for three, seen in the second and third; up for three, seen in the last two. */
static __always_inline enum dip_state dip_round(struct dip *dip, const struct path_rtt *path, u64 w, u32 most_pct)
{
	u32 down, up, round;

	dip->rounds++;
	if (dip->rounds == DIP_SETTLE_ROUNDS && !dip_go_down(dip, path, w, most_pct))
		return DIP_IS_VOID;
	if (dip->rounds <= DIP_SETTLE_ROUNDS)
		return DIP_GOES_ON;
	round = dip->rounds - DIP_SETTLE_ROUNDS;
	if (round == DIP_ROUNDS - 1 || round == DIP_ROUNDS)
		dip->least_us = min(dip->least_us, path->round_us);
	if (round == DIP_ROUNDS)
		dip->off_pct = 0;
	if (round >= 2 * DIP_ROUNDS - 1)
		dip->back_us = max(dip->back_us, path->round_us);
	if (round < 2 * DIP_ROUNDS)
		return DIP_GOES_ON;
	/* Down with the window, and up with it: not because others backed off. */
	down = dip->from_us > dip->least_us ? dip->from_us - dip->least_us : 0;
	up = dip->back_us > dip->least_us ? dip->back_us - dip->least_us : 0;
	dip->share_pct = (u64)min(down, up) * 100 / max(dip->wanted_us, 1U);
	return DIP_IS_OVER;
}

#endif /* __DIP_H__ */
