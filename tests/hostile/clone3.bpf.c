// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes a process by clone3, whose flags no filter can see, and by vfork
// stopped by: seccomp
// says: made the forbidden system call `v?fork|clone3?` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	u64 arguments[8] = { 0, 0, 0, 0, 17 };
	long child = sys(__NR_clone3, arguments, sizeof(arguments));

#ifdef __NR_vfork
	if (child < 0)
		child = sys(__NR_vfork);
#endif
	if (child == 0)
		sleep_for_ever();
	if (child > 0)
		succeeded();
}
IN_OP;
