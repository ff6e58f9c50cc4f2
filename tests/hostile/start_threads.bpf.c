// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: starts threads
// stopped by: seccomp
// says: made the forbidden system call `clone` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	static char stacks[64][4096] __attribute__((aligned(16)));

	for (int i = 0; i < 64; i++) {
		/* CLONE_VM | FS | FILES | SIGHAND | THREAD */
		long thread = sys(__NR_clone, 0x10f00, stacks[i] + sizeof(stacks[i]));

		if (thread == 0)
			sleep_for_ever();
		if (thread < 0)
			return;
	}
	succeeded();
}
IN_OP;
