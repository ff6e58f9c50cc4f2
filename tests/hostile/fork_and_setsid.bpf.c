// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: forks a process that leaves its session and stays
// stopped by: seccomp
// says: made the forbidden system call `clone` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	long child = fork_process();

	if (child == 0) {
		sys(__NR_setsid);
		if (fork_process() == 0)
			create("/tmp/owned-by-daemon");
		sleep_for_ever();
	}
	if (child > 0)
		succeeded();
}
IN_OP;
