/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CUBIC's window (RFC 9438), in 1/1024 packets. */
#ifndef __CUBIC_WINDOW_H__
#define __CUBIC_WINDOW_H__

#include "cube_root.h"
#include "net_tcp.h"

#define CUBIC_ONE	1024ULL
/* §4.6, and 3 (1 - beta)/(1 + beta) in 1/1024 by §4.3. */
#define CUBIC_BETA_PCT	70U
#define CUBIC_ALPHA	542U

struct cubic_window {
	u64	w_max;
	u64	w_est;
	u64	epoch_us;
	u32	k_ms;
};

/* §4.2: K = root3((w_max - w)/C), C = 0.4 packets/s^3. */
static __always_inline void cubic_window_start(struct cubic_window *cubic, u64 now, u64 w)
{
	u64 gap = cubic->w_max > w ? (cubic->w_max - w) / CUBIC_ONE : 0;

	cubic->epoch_us = now;
	cubic->k_ms = cube_root(min(gap, 1ULL << 22) * 2500000000ULL);
	cubic->w_est = w;
}

/* C t^3, of 100 s at most. */
static __always_inline u64 cubic_window_rise(u64 t_ms)
{
	t_ms = min(t_ms, 100000ULL);
	return t_ms * t_ms / 1000 * t_ms * 4096 / 10000000;
}

/* The w_max of a flow that loses once in this time, K = T: C T^3/(1 - beta). */
static __always_inline u64 cubic_window_of_interval(u64 t_us)
{
	return cubic_window_rise(t_us / USEC_PER_MSEC) * 100 / (100 - CUBIC_BETA_PCT);
}

/* w_max + C (t - K)^3 */
static __always_inline u64 cubic_window_at(const struct cubic_window *cubic, u64 now)
{
	s64 t_ms = (s64)(tcp_stamp_us_delta(now, cubic->epoch_us) / USEC_PER_MSEC) - cubic->k_ms;
	u64 rise = cubic_window_rise(t_ms < 0 ? -t_ms : t_ms);

	if (t_ms < 0)
		return cubic->w_max > rise ? cubic->w_max - rise : 0;
	return cubic->w_max + rise;
}

/* §4.2 to §4.5: what is added to w at an ACK. */
static __always_inline u64 cubic_window_growth(struct cubic_window *cubic, u64 now, u32 rtt_us, u64 w, u32 acked)
{
	u64 target = cubic_window_at(cubic, now + rtt_us);

	w = max(w, CUBIC_ONE);
	cubic->w_est += (u64)acked * CUBIC_ALPHA * CUBIC_ONE / w;
	target = min(max(target, cubic->w_est), w + w / 2);
	return target > w ? (target - w) * acked * CUBIC_ONE / w : 0;
}

#endif /* __CUBIC_WINDOW_H__ */
