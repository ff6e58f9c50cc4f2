// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: lets the kernel send SIGKILL to its parent whenever a descriptor is ready (F_SETOWN, F_SETSIG)
// stopped by: seccomp
// says: made the forbidden system call `fcntl` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	long parent = sys(__NR_getppid);
	int pair[2];

	if (sys(__NR_pipe2, pair, 0) < 0)
		return;
	if (sys(__NR_fcntl, pair[0], 8 /* F_SETOWN */, parent) < 0)
		return;
	sys(__NR_fcntl, pair[0], 10 /* F_SETSIG */, KILL);
	sys(__NR_fcntl, pair[0], 4 /* F_SETFL */, 020000);
	sys(__NR_write, pair[1], "x", 1);
}
IN_OP;
