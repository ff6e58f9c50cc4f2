// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes a pair of sockets, to pass descriptors
// stopped by: seccomp
// says: made the forbidden system call `socketpair` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	int pair[2];

	must_fail(sys(__NR_socketpair, 1, 1, 0, pair));
}
IN_OP;
