// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: calls itself without end
// stopped by: its own process
// says: used the bad address 0x[0-9a-f]+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSEGV$
#include "deed.h"

static __attribute__((noinline)) u32 deeper(volatile u32 *above)
{
	volatile u32 here[64];

	here[0] = *above + 1;
	return deeper(here) + here[0];
}

static void deed(void)
{
	volatile u32 start = 1;

	start = deeper(&start);
}
IN_OP;
