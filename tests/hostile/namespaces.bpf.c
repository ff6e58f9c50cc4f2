// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes namespaces, where it would be root
// stopped by: seccomp
// says: made the forbidden system call `unshare` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	must_fail(sys(__NR_unshare, 0x10000000 /* CLONE_NEWUSER */));
	must_fail(sys(__NR_unshare, 0x00020000 /* CLONE_NEWNS */));
	must_fail(sys(__NR_unshare, 0x40000000 /* CLONE_NEWNET */));
	must_fail(sys(__NR_setns, 0, 0));
}
IN_OP;
