// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: takes its parent's limits away: descriptors and CPU time (prlimit64)
// stopped by: seccomp
// says: made the forbidden system call `prlimit64` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	const u64 none[2] = { 0, 0 };

	must_fail(sys(__NR_prlimit64, sys(__NR_getppid), 7 /* RLIMIT_NOFILE */, none));
	must_fail(sys(__NR_prlimit64, sys(__NR_getppid), 0 /* RLIMIT_CPU */, none));
}
IN_OP;
