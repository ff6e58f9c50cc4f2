// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: takes a core for itself: real-time priority and locked memory
// stopped by: seccomp
// says: made the forbidden system call .+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	const int priority = 99;

	must_fail(sys(__NR_sched_setscheduler, 0, 1 /* SCHED_FIFO */, &priority));
	must_fail(sys(__NR_mlockall, 3));
}
IN_OP;
