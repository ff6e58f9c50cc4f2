// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: opens a file by its handle, past every path
// stopped by: seccomp
// says: made the forbidden system call .+ in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	struct { u32 bytes; int type; u8 handle[128]; } handle = { 128 };
	int mount;

	if (sys(__NR_name_to_handle_at, AT_CWD, KEY, &handle, &mount) >= 0)
		succeeded();
	for (int directory = 0; directory < 32; directory++)
		must_fail(sys(__NR_open_by_handle_at, directory, &handle, 0));
}
IN_OP;
