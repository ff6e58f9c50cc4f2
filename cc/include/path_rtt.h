/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a flow learns of its path's RTT, round by round.
 *
 * A round's RTT is the mean of its RTTs, the n-th with weight n. The mean is what Little's law relates to the window, and
 * has less noise than a minimum. The weights cost a third more variance and make it a third of a round old instead of
 * half of one. The base is the least RTT of whole rounds, not of packets: what a path adds to every round, as jitter and
 * slots for ACKs do, is in both, and is not taken for a queue.
 *
 * A base that is too low starves a flow (Arun, Alizadeh and Balakrishnan, SIGCOMM 2022). So a fall of the RTT is not
 * believed if it is short, deeper than bursts go, which is three fifths of the queue that is wanted, and one step since
 * it began is higher than half of it: the path was another for a moment. A queue that was drained fills again by a ramp.
 *
 * And where the RTT moves more than own flows make it, a multiple of that is added to the base: from packet to packet
 * within a round, or from round to round. Own flows' queue moves too, but by a ramp, and not to and fro: what counts is how
 * far an RTT is from the mean of its neighbours', of two packets half of their difference.
 */
#ifndef __PATH_RTT_H__
#define __PATH_RTT_H__

#include "net_tcp.h"

#define NO_RTT			(~0U)
#define PATH_RTT_MAX_US		(1U << 27)	/* 134 s, above TCP's largest RTO */
#define PATH_RTT_HELD_US	500000U		/* a fall that lasts so long is believed at any depth */
/*
 * The least RTT of many rounds is some three standard deviations below their mean, and the noise half of one. Where
 * steps between packets are greater, it is three times the greatest.
 */
#define PATH_RTT_NOISES		6U

struct path_rtt {
	u64	sum_us;		/* of this round's RTTs times their weights */
	u64	weights;
	u64	fell_us;	/* when the RTT fell below the least of this interval */
	u32	taken;		/* RTTs of this round */
	u32	last_us;	/* the last RTT */
	u32	rise_us;	/* greatest rise from one RTT to the next of this round */
	u32	step_us;	/* of the last round */
	u32	jump_us;	/* greatest rise since the round in which the fall began */
	u32	round_us;	/* RTT of the last round */
	u32	before_us[2];	/* and of those before; 0: none */
	u32	mins[3];	/* least RTT of this interval, and of the two before */
	u32	fall_us;	/* least RTT of this fall */
	u32	base_us;
	u32	noise_us;
	u32	margin_us;	/* of the base */
	bool	is_in_doubt;	/* a fall was not believed in this interval */
};

static __always_inline void path_rtt_begin(struct path_rtt *path)
{
	path->mins[0] = path->mins[1] = path->mins[2] = NO_RTT;
	path->base_us = path->fall_us = NO_RTT;
}

static __always_inline void path_rtt_take(struct path_rtt *path, u32 rtt_us)
{
	if (path->last_us && rtt_us > path->last_us)
		path->rise_us = max(path->rise_us, rtt_us - path->last_us);
	path->last_us = rtt_us;
	path->sum_us += (u64)rtt_us * ++path->taken;
	path->weights += path->taken;
}

/* Whether there was an RTT in this round. */
static __always_inline bool path_rtt_end_round(struct path_rtt *path)
{
	if (!path->taken)
		return false;
	path->before_us[1] = path->before_us[0];
	path->before_us[0] = path->round_us;
	path->round_us = path->sum_us / max(path->weights, 1ULL);
	path->step_us = path->rise_us;
	path->sum_us = path->weights = path->taken = path->rise_us = 0;
	return true;
}

/* `wanted_us`: the queue that is wanted; 0 to believe any fall at once. */
static __always_inline void path_rtt_learn_base(struct path_rtt *path, u64 now, u32 wanted_us)
{
	u32 least_us = path->mins[0], depth_us;

	if (path->fall_us == NO_RTT) {
		if (path->round_us >= least_us)
			return;
		path->fell_us = now;
		path->jump_us = 0;
	}
	path->jump_us = max(path->jump_us, path->step_us);
	path->fall_us = min(path->fall_us, path->round_us);
	if (wanted_us && least_us != NO_RTT) {
		depth_us = least_us - path->fall_us;
		if (path->round_us < least_us && now - path->fell_us < PATH_RTT_HELD_US)
			return;
		if (path->round_us >= least_us && depth_us > wanted_us * 3 / 5 && path->jump_us > depth_us / 2) {
			path->is_in_doubt = true;
			path->fall_us = NO_RTT;
			return;
		}
	}
	path->mins[0] = min(path->mins[0], path->fall_us);
	path->base_us = min(path->base_us, path->fall_us);
	path->fall_us = NO_RTT;
}

/* The median, by steps of an eighth, of the greater of both moves. What exceeds `own_us` is the path's. */
static __always_inline void path_rtt_learn_noise(struct path_rtt *path, u32 own_us, u32 most_us)
{
	s64 bend_us = (s64)path->round_us + path->before_us[1] - 2 * (s64)path->before_us[0];
	u32 step_us = path->noise_us / 8 + 1;

	if (path->before_us[1]) {
		if (max(bend_us < 0 ? -bend_us : bend_us, (s64)path->step_us) / 2 > path->noise_us)
			path->noise_us += step_us;
		else
			path->noise_us -= min(step_us, path->noise_us);
	}
	path->margin_us = path->noise_us > own_us ?
			  min((path->noise_us - own_us) * PATH_RTT_NOISES, most_us) : 0;
}

static __always_inline u32 path_rtt_queue_us(const struct path_rtt *path)
{
	u32 empty_us = min(path->base_us, PATH_RTT_MAX_US) + path->margin_us;

	return path->round_us > empty_us ? path->round_us - empty_us : 0;
}

/* Whether the last round saw the path without a queue. */
static __always_inline bool path_rtt_is_near(const struct path_rtt *path)
{
	return !path->is_in_doubt && path->round_us <= path->base_us + path->base_us / 128 + path->margin_us;
}

/* Another interval: what was least two intervals ago no longer counts. What a drain did to the RTT does not count as noise. */
static __always_inline void path_rtt_next_interval(struct path_rtt *path)
{
	path->mins[2] = path->mins[1];
	path->mins[1] = path->mins[0];
	path->mins[0] = NO_RTT;
	path->base_us = min(path->mins[1], path->mins[2]);
	path->before_us[0] = path->before_us[1] = path->round_us = 0;
	path->is_in_doubt = false;
}

#endif /* __PATH_RTT_H__ */
