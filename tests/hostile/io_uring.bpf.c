// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes calls through io_uring, which no filter of system calls sees
// stopped by: seccomp
// says: made the forbidden system call `io_uring_setup` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	u32 parameters[30] = { 0 };

	must_fail(sys(425 /* io_uring_setup */, 8, parameters));
}
IN_OP;
