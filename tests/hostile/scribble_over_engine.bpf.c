// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes over all memory of the engine that it can find
// stopped by: its own process
// says: used the bad address 0x[0-9a-f]+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSEGV$
#include "deed.h"

static void deed(void)
{
	volatile unsigned long *at = __builtin_frame_address(0);

	for (;;)
		*at++ = 0x5555555555555555UL;
}
IN_OP;
