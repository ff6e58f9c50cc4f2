// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads the environment, where secrets often are
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	leak("/proc/self/environ");
	leak("/proc/thread-self/environ");
}
IN_OP;
