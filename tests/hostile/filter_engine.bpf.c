// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: puts the engine under a filter that refuses everything
// stopped by: seccomp
// says: made the forbidden system call `prctl` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	const struct { u16 code; u8 yes, no; u32 value; } filter[] = { { 6, 0, 0, 0x00050001 } };
	const struct { u16 length; const void *filter; } program = { 1, filter };

	sys(__NR_prctl, 38 /* PR_SET_NO_NEW_PRIVS */, 1);
	must_fail(sys(__NR_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, &program));
}
IN_OP;
