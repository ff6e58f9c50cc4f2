// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: forks 300 processes that stay
// stopped by: seccomp
// says: made the forbidden system call `clone` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	for (int i = 0; i < 300; i++)
		if (fork_process() == 0)
			sleep_for_ever();
	succeeded();
}
IN_OP;
