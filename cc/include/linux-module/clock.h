/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time: the simulator's clock in the kernel's units. A jiffy is a millisecond, HZ=1000. */
#ifndef __DUMBBELL_CLOCK_H__
#define __DUMBBELL_CLOCK_H__

#define HZ		1000
#define MSEC_PER_SEC	1000L
#define USEC_PER_MSEC	1000L
#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define USEC_PER_SEC	1000000L
#define NSEC_PER_SEC	1000000000L
#define USEC_PER_JIFFY	(USEC_PER_SEC / HZ)

/* Of this instance, ns, set by the host before every call. */
extern u64 dumbbell_now_ns;

#define jiffies			((unsigned long)(dumbbell_now_ns / (NSEC_PER_SEC / HZ)))
#define get_jiffies_64()	((u64)jiffies)
#define tcp_jiffies32		((u32)jiffies)
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define time_after32(a, b)	((s32)((u32)(b) - (u32)(a)) < 0)
#define time_before32(a, b)	time_after32(b, a)

/* Conversions to jiffies round up, so that a wait is never shorter than requested. */
static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return ((u64)us + USEC_PER_JIFFY - 1) / USEC_PER_JIFFY;
}

static inline unsigned long msecs_to_jiffies(unsigned int ms) { return (u64)ms * HZ / MSEC_PER_SEC; }
static inline unsigned long nsecs_to_jiffies(u64 ns) { return ns / (NSEC_PER_SEC / HZ); }
static inline unsigned int jiffies_to_usecs(unsigned long j) { return j * USEC_PER_JIFFY; }
static inline unsigned int jiffies_to_msecs(unsigned long j) { return j * (MSEC_PER_SEC / HZ); }
static inline u64 jiffies_to_nsecs(unsigned long j) { return (u64)j * (NSEC_PER_SEC / HZ); }

typedef s64 ktime_t;

static inline ktime_t ktime_get(void) { return dumbbell_now_ns; }
static inline u64 ktime_get_ns(void) { return dumbbell_now_ns; }
static inline u64 local_clock(void) { return dumbbell_now_ns; }
static inline u64 sched_clock(void) { return dumbbell_now_ns; }
#define get_seconds()		((unsigned long)(dumbbell_now_ns / NSEC_PER_SEC))
#define ktime_get_seconds()	((s64)(dumbbell_now_ns / NSEC_PER_SEC))
#define ktime_get_real_seconds()	ktime_get_seconds()
#define ktime_get_boottime_ns()	ktime_get_ns()
#define ktime_get_raw_ns()	ktime_get_ns()
#define ktime_get_raw()		ktime_get()
#define ktime_get_real()	ktime_get()
#define ktime_get_real_ns()	ktime_get_ns()
#define ktime_get_boottime()	ktime_get()
#define ktime_to_ns(t)		((s64)(t))
#define ktime_to_us(t)		((s64)(t) / NSEC_PER_USEC)
#define ktime_to_ms(t)		((s64)(t) / NSEC_PER_MSEC)
#define ns_to_ktime(ns)		((ktime_t)(ns))
#define us_to_ktime(us)		((ktime_t)(us) * NSEC_PER_USEC)
#define ms_to_ktime(ms)		((ktime_t)(ms) * NSEC_PER_MSEC)
#define ktime_sub(a, b)		((a) - (b))
#define ktime_add(a, b)		((a) + (b))
#define ktime_add_ns(t, ns)	((t) + (s64)(ns))
#define ktime_add_us(t, us)	((t) + (s64)(us) * NSEC_PER_USEC)
#define ktime_sub_us(t, us)	((t) - (s64)(us) * NSEC_PER_USEC)
#define ktime_us_delta(a, b)	ktime_to_us((a) - (b))
#define ktime_ms_delta(a, b)	ktime_to_ms((a) - (b))
#define ktime_after(a, b)	((a) > (b))
#define ktime_before(a, b)	((a) < (b))
#define ktime_compare(a, b)	((a) < (b) ? -1 : (a) > (b))

#endif /* __DUMBBELL_CLOCK_H__ */
