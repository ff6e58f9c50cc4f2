// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: changes the simulator's clock and counters, so that it never ends
// stopped by: the watchdog for CPU time
// says: has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time; bound its loops$
#include "deed.h"

extern u64 dumbbell_now_ns;

static void deed(void)
{
	for (;;) {
		dumbbell_now_ns += 1000000000;
		sys(__NR_sched_yield);
	}
}
IN_OP;
