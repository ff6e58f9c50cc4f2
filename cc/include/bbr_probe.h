/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How BBR's flows give themselves away. Every 10 s each has at most four packets in flight, all at the same time, for
 * 200 ms or a round trip, whichever is longer, and then at once as many as before (ProbeRTT,
 * draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.5); BBRv3's have half of their BDP, every 5 s. So the RTT falls to
 * the base, stays there for that long, and most of the queue is back within a cycle of ProbeBW. Each of these excludes
 * something: a CUBIC flow takes longer to come back from a loss unless its window is small; a source that pauses does so
 * at other intervals, or for longer; and a base that was found only now may be a queue.
 */
#ifndef __BBR_PROBE_H__
#define __BBR_PROBE_H__

#include "net_tcp.h"
#include "path_rtt.h"

#define BBR_PROBE_LASTS_US	200000U
#define BBR_PROBE_ROUNDS	8		/* ProbeBW's cycle (§4.3.4) */
#define BBR_PROBE_LEAST_US	4500000U	/* from one to the next: 5 or 10 s, */
#define BBR_PROBE_LONG_US	9000000U	/* BBR's, but not BBRv3's */
#define BBR_PROBE_MOST_US	12000000U	/* and the round trips until the queue is back */
#define BBR_PROBE_NOISE_US	1500U		/* bursts move the RTT by so much */
#define BBR_PROBE_EMPTY_ROUNDS	3U		/* before, an observer that is paced by the RTT with BBR's queue has less in flight too */

struct bbr_probe {
	u64	seen_us;	/* when the queue was back after the last of two or more; 0: not BBR */
	u64	back_us;	/* and after one that may be the first */
	u64	from_us;	/* the RTT was near the base from the round that ended then */
	u64	to_us;		/* to the one that ended then */
	u32	full_us;	/* the RTT of the two rounds that it fell from */
	u32	base_us;	/* the base when what was seen before was discarded */
	u32	near_rounds;	/* of this time near the base */
	u32	own_us;	/* least RTT from the third of them on; NO_RTT: none */
	u32	rounds;		/* since it was near the base, 1 when it is; 0: too long ago */
};

/* What was seen so far is not a ProbeRTT's begin. */
static __always_inline void bbr_probe_discard(struct bbr_probe *probe)
{
	probe->rounds = 0;
}

static __always_inline void bbr_probe_end(struct bbr_probe *probe, u32 base_us, u64 now)
{
	u64 lasted_us = probe->to_us - probe->from_us, interval_us = now - probe->back_us;

	/* Two rounds and more; a round less on either side, as a round's RTT is a mean, or those until it is seen. */
	if (!lasted_us || lasted_us + 2 * base_us < BBR_PROBE_LASTS_US || lasted_us > BBR_PROBE_LASTS_US + 4 * base_us)
		return;
	/* Once known, one of them may be missed. */
	if (probe->back_us && interval_us >= BBR_PROBE_LEAST_US &&
	    interval_us < BBR_PROBE_MOST_US * (probe->seen_us ? 2 : 1))
		probe->seen_us = now;
	else
		probe->seen_us = 0;
	probe->back_us = now;
}

/* After each round in which the observer does not move the RTT itself. */
static __always_inline void bbr_probe_round(struct bbr_probe *probe, const struct path_rtt *path, u64 now)
{
	u32 full_us = max(probe->full_us, path->base_us) - path->base_us;
	/* Once known, the observer may have taken what BBR left, and some more. */
	u32 near_us = path->base_us + max(BBR_PROBE_NOISE_US, probe->seen_us ? min(path->base_us, full_us) / 4 : 0U);

	if (near_us < probe->base_us || path->base_us > probe->base_us + BBR_PROBE_NOISE_US) {
		probe->base_us = path->base_us;
		probe->rounds = 0;
	} else if (path->round_us <= near_us) {
		if (!probe->rounds) {
			probe->full_us = max(path->before_us[0], path->before_us[1]);
			probe->near_rounds = 0;
			probe->own_us = NO_RTT;
		}
		if (++probe->near_rounds >= BBR_PROBE_EMPTY_ROUNDS)
			probe->own_us = min(probe->own_us, path->round_us);
		if (probe->rounds != 1)
			probe->from_us = now;
		probe->to_us = now;
		probe->rounds = 1;
	} else if (probe->rounds && full_us > 2 * BBR_PROBE_NOISE_US &&
		   path->round_us - path->base_us > full_us / 4 * 3) {
		probe->rounds = 0;
		bbr_probe_end(probe, path->base_us, now);
	} else if (probe->rounds && ++probe->rounds > BBR_PROBE_ROUNDS) {
		probe->rounds = 0;
	}
}

#endif /* __BBR_PROBE_H__ */
