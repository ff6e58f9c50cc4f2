// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: signals by tgkill, rt_sigqueueinfo and a pidfd
// stopped by: seccomp
// says: made the forbidden system call `tgkill` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	long parent = sys(__NR_getppid), descriptor;
	int info[32] = { KILL, 0, -1 };

	must_fail(sys(__NR_tgkill, parent, parent, KILL));
	must_fail(sys(__NR_tkill, parent, KILL));
	must_fail(sys(__NR_rt_sigqueueinfo, parent, KILL, info));
	descriptor = sys(__NR_pidfd_open, parent);
	must_fail(sys(__NR_pidfd_send_signal, descriptor, KILL));
	must_fail(sys(__NR_pidfd_getfd, descriptor, 0));
}
IN_OP;
