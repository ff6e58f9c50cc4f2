// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: types a command into the user's terminal
// stopped by: seccomp
// says: made the forbidden system call `ioctl` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	for (int terminal = 0; terminal < 8; terminal++)
		must_fail(sys(__NR_ioctl, terminal, 0x5412 /* TIOCSTI */, "o"));
}
IN_OP;
