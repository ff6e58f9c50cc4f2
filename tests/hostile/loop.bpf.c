// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: never returns
// stopped by: the watchdog for CPU time
// says: has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time; bound its loops$
#include "deed.h"

static void deed(void)
{
	for (;;)
		__asm__ volatile("");
}
IN_OP;
