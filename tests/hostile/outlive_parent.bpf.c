// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: asks not to die with its parent, and for another name
// stopped by: seccomp
// says: made the forbidden system call `prctl` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	must_fail(sys(__NR_prctl, 1 /* PR_SET_PDEATHSIG */, 0));
	must_fail(sys(__NR_prctl, 15 /* PR_SET_NAME */, "\033[31minit"));
	must_fail(sys(__NR_prctl, 36 /* PR_SET_CHILD_SUBREAPER */, 1));
}
IN_OP;
