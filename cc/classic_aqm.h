/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does a classic AQM (RFC 3168) mark these packets, or one of L4S? Both send CE; what differs is the
 * queue in front of them: that of a classic AQM is deeper and varies more. A score, once per round trip
 * since the first mark:
 *
 *	score += V lg(v / V0) + D lg(max(d / D0, 1)),	within -8 and 1 + 8
 *
 * v is the mean deviation of the RTT, d its smoothed value above the minimum. Below 0 it is L4S, above 1
 * classic; between them the response moves from one to the other. The 8 on both sides are so that the
 * score does not leave what it was sure of in a few rounds.
 *
 * References: B. Briscoe, A. S. Ahmed, "TCP Prague Fall-back on Detection of a Classic ECN AQM",
 * arXiv:1911.00710v3 (TR-BB-2019-002), design 2. The equation, its constants, and the gains were taken
 * from the behaviour of the authors' implementation in the L4S team's Linux (tcp_prague.c 0.6); none of
 * it is here. V0 and D0 are at their scale, which later versions of that file lost: F. B. Sarpkaya et al.,
 * "To switch or not to switch to TCP Prague?" (ANRW 2024) met the false positives that this makes.
 *
 * Differences: the logarithm has fractional bits here, theirs is an integer whose remainder is carried to
 * the next round. Like theirs this has no term for flows that limit themselves (S in the paper).
 */
#ifndef __CLASSIC_AQM_H__
#define __CLASSIC_AQM_H__

#include "vmlinux.h"
#include "net_tcp.h"

#define CLASSIC_SHIFT		16
#define CLASSIC_ONE		(1 << CLASSIC_SHIFT)
#define CLASSIC_WEIGHT_SHIFT	1		/* V = D = 1/2 */
#define CLASSIC_LG_V0		625918		/* lg 750 µs, << CLASSIC_SHIFT */
#define CLASSIC_LG_D0		718654		/* lg 2 ms */
#define CLASSIC_STICKY		(8 * CLASSIC_ONE)	/* 16 V */
#define CLASSIC_LG_BITS		12		/* fractional bits of a logarithm */
#define CLASSIC_GAIN_MAX	18		/* before anything is known of the window */
#define CLASSIC_RTT_MAX_US	(1U << 24)

struct classic_aqm {
	u64	srtt;		/* µs << gain */
	u64	mdev;		/* µs << (gain + 1) */
	s32	score;		/* << CLASSIC_SHIFT */
	u8	gain;		/* weight of an RTT in srtt: 1 / 2^gain; in mdev half of that */
};

/* Binary logarithm of `x`, 1 at least, << CLASSIC_SHIFT. */
static __always_inline s32 classic_lg(u32 x)
{
	u32 whole = 0, fraction = 0, i;
	u64 mantissa;

	x = max(x, 1U);
	for (i = 16; i; i >>= 1) {
		u32 by = x >> (whole + i) ? i : 0;

		whole += by;
	}
	mantissa = (u64)x << (31 - whole);	/* 1 to 2, << 31 */
	for (i = 0; i < CLASSIC_LG_BITS; i++) {
		u32 bit;

		mantissa = mantissa * mantissa >> 31;
		bit = mantissa >> 32;		/* the square is 2 or more */
		mantissa >>= bit;
		fraction = fraction << 1 | bit;
	}
	return (whole << CLASSIC_SHIFT) + (fraction << (CLASSIC_SHIFT - CLASSIC_LG_BITS));
}

static __always_inline void classic_init(struct classic_aqm *aqm)
{
	aqm->srtt = 0;
	aqm->mdev = 0;
	aqm->score = -CLASSIC_STICKY;
	aqm->gain = CLASSIC_GAIN_MAX;
}

/* Each ACK's RTT. */
static __always_inline void classic_on_rtt(struct classic_aqm *aqm, u32 rtt_us)
{
	u32 srtt_us = aqm->srtt >> aqm->gain;
	u32 deviation;

	rtt_us = min(rtt_us, CLASSIC_RTT_MAX_US);
	if (!aqm->srtt) {
		aqm->srtt = (u64)rtt_us << aqm->gain;
		return;
	}
	deviation = rtt_us > srtt_us ? rtt_us - srtt_us : srtt_us - rtt_us;
	aqm->srtt = aqm->srtt - srtt_us + rtt_us;
	aqm->mdev = aqm->mdev - (aqm->mdev >> (aqm->gain + 1)) + deviation;
}

/*
 * A reduction to `ssthresh` packets: 1/2 ssthresh^1.5 of weight sees a sawtooth as a whole, which takes
 * the more round trips the larger the window is.
 */
static __always_inline void classic_on_reduction(struct classic_aqm *aqm, u32 ssthresh)
{
	u32 lg = classic_lg(ssthresh) >> CLASSIC_SHIFT;
	u32 gain = min(lg + (lg >> 1) + 1, (u32)CLASSIC_GAIN_MAX);
	u32 old = min((u32)aqm->gain, (u32)CLASSIC_GAIN_MAX);

	aqm->srtt = aqm->srtt >> old << gain;
	aqm->mdev = aqm->mdev >> (old + 1) << (gain + 1);
	aqm->gain = gain;
}

/* Once per round trip, after the first mark. */
static __always_inline void classic_update_score(struct classic_aqm *aqm, u32 min_rtt_us)
{
	u32 gain = min((u32)aqm->gain, (u32)CLASSIC_GAIN_MAX);
	u32 srtt_us = aqm->srtt >> gain;
	s32 by = classic_lg(aqm->mdev >> (gain + 1)) - CLASSIC_LG_V0;
	s32 depth;

	if (!aqm->srtt)
		return;
	if (srtt_us > min_rtt_us) {
		depth = classic_lg(srtt_us - min_rtt_us) - CLASSIC_LG_D0;
		by += max(depth, 0);
	}
	by = aqm->score + (by >> CLASSIC_WEIGHT_SHIFT);
	aqm->score = max(min(by, CLASSIC_ONE + CLASSIC_STICKY), -CLASSIC_STICKY);
}

/* The least alpha for this score: up to 5/8, so that a mark takes 0.31 of cwnd; << CLASSIC_SHIFT. */
static __always_inline u32 classic_least_alpha(const struct classic_aqm *aqm)
{
	u32 share = max(min(aqm->score, CLASSIC_ONE), 0);

	return (share >> 1) + (share >> 3);
}

#endif /* __CLASSIC_AQM_H__ */
