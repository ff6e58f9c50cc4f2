// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: blocks every signal, then loops
// stopped by: the watchdog for CPU time
// says: has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time; bound its loops$
#include "deed.h"

static void deed(void)
{
	const u64 all = ~0ULL;

	sys(__NR_rt_sigprocmask, 0, &all, 0, 8);
	for (;;)
		__asm__ volatile("");
}
IN_OP;
