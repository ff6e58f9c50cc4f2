// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: mounts, changes its root, and makes a mount by the newer calls
// stopped by: seccomp
// says: made the forbidden system call `mount` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	must_fail(sys(__NR_mount, "none", "/tmp", "tmpfs", 0, 0));
	must_fail(sys(__NR_umount2, "/proc", 2));
	must_fail(sys(__NR_chroot, "/tmp"));
	must_fail(sys(__NR_pivot_root, "/tmp", "/tmp"));
	must_fail(sys(428 /* open_tree */, AT_CWD, "/", 1));
	must_fail(sys(430 /* fsopen */, "tmpfs", 0));
}
IN_OP;
