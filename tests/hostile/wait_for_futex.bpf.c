// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: waits for a lock that nobody releases
// stopped by: the watchdog for time that stands still
// says: ^simulated time has not advanced for 1 s: .* has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\); it sleeps, or waits
#include "deed.h"

static void deed(void)
{
	u32 word = 0;

	for (;;)
		sys(__NR_futex, &word, 0, 0, 0);
}
IN_OP;
