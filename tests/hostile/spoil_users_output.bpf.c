// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: cuts off, rewinds and changes the mode of the user's standard output and standard error
// stopped by: seccomp
// says: made the forbidden system call `fchmod` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	for (int file = 0; file < 32; file++) {
		sys(__NR_ftruncate, file, 0);
		sys(__NR_lseek, file, 0, 0);
		sys(__NR_fcntl, file, 4 /* F_SETFL */, 06000 /* O_NONBLOCK | O_APPEND */);
		sys(__NR_fchmod, file, 0777);
	}
}
IN_OP;
