// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes its parent the nicest process, on one core
// stopped by: seccomp
// says: made the forbidden system call `setpriority` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	const u64 one = 1;

	must_fail(sys(__NR_setpriority, 0, sys(__NR_getppid), 19));
	must_fail(sys(__NR_sched_setaffinity, sys(__NR_getppid), sizeof(one), &one));
}
IN_OP;
