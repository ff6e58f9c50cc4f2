// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: searches the stack, where the kernel put the environment when the program was started
// stopped by: the short environment
// says: used the bad address 0x[0-9a-f]+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSEGV$
#include "deed.h"

static void deed(void)
{
	const char *at = __builtin_frame_address(0);

	for (;; at++)
		if (at[0] == 'c' && at[1] == 'a' && at[2] == 'n' && at[3] == 'a' && at[4] == 'r' && at[5] == 'y')
			for (int to = 0; to < 32; to++)
				sys(__NR_write, to, at, 17);
}
IN_OP;
