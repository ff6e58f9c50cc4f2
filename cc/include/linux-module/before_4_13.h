/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interfaces that Linux had until 4.12. The host compiles a source with DUMBBELL_BEFORE_4_13 when it
 * turns out to need them: tcp_time_stamp was the jiffies, not a function of the socket, and times had
 * a type of their own, which is as large as the u64 that replaced it.
 */
#ifndef __DUMBBELL_BEFORE_4_13_H__
#define __DUMBBELL_BEFORE_4_13_H__

struct skb_mstamp {
	union {
		unsigned long long v64;		/* µs */
		struct {
			unsigned int stamp_us;
			unsigned int stamp_jiffies;
		};
	};
};
#define __mstamp	struct skb_mstamp

#define skb_mstamp_get(now)	((void)((now)->v64 = tcp_clock_us()))
#define skb_mstamp_us_delta(t1, t0) ((u32)max((s32)((t1)->stamp_us - (t0)->stamp_us), 0))
#define skb_mstamp_after(t1, t0) ((t1)->v64 > (t0)->v64)
#define tcp_time_stamp		tcp_jiffies32

#endif /* __DUMBBELL_BEFORE_4_13_H__ */
