// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: has a type that no machine can hold
// stopped by: its own process
// says: used the bad address 0x[0-9a-f]+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSEGV$
#include "deed.h"

static void deed(void)
{
	volatile char array[1UL << 46];

	array[0] = 1;
	array[1UL << 45] = 1;
}
IN_OP;
