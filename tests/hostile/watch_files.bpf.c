// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: watches what the user does with files
// stopped by: seccomp
// says: made the forbidden system call .+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	long watch = sys(__NR_inotify_init1, 0);

	must_fail(sys(__NR_inotify_add_watch, watch, HOME, 0xfff));
	must_fail(sys(__NR_fanotify_init, 0, 0));
}
IN_OP;
