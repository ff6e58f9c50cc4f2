// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: ignores every signal and puts in its own handlers, so that no crash is reported
// stopped by: the watchdog for CPU time
// says: has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time; bound its loops$
#include "deed.h"

static void loop(void)
{
	for (;;)
		__asm__ volatile("");
}

static void deed(void)
{
	u64 action[4] = { (u64)loop, 0x04000000, (u64)loop, 0 };

	for (int signal = 1; signal <= 64; signal++)
		sys(__NR_rt_sigaction, signal, action, 0, 8);
	*(volatile int *)0x40 = 1;
}
IN_OP;
