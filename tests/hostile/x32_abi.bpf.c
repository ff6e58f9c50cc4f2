// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes system calls by the numbers of the x32 ABI
// stopped by: seccomp
// says: made the forbidden system call .+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	long child = sys(0x40000000 | 57 /* fork */);

	if (child == 0)
		sleep_for_ever();
	if (child > 0)
		succeeded();
	must_fail(sys(0x40000000 | 41 /* socket */, 2, 1));
}
IN_OP;
