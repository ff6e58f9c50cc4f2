// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads another file of the user's, by a relative path and by /proc/self/cwd
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	leak("../notes.txt");
	leak("/proc/self/cwd/../notes.txt");
	leak("/proc/self/root" HOME "/notes.txt");
}
IN_OP;
