// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: asks whether files exist, and how large they are
// stopped by: nothing: names, sizes and times of files are not protected (docs/security.md)
// says: used the bad address 0x5cce55 in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSEGV$
#include "deed.h"

static void deed(void)
{
	char status[256];

	must_fail(sys(__NR_faccessat, AT_CWD, KEY, 0));
	must_fail(sys(__NR_newfstatat, AT_CWD, KEY, status, 0));
	must_fail(sys(__NR_readlinkat, AT_CWD, "/proc/self/exe", status, sizeof(status)));
}
IN_OP;
