// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: fills the disk, with named files and with files that have no name
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void fill(long file)
{
	static char part[1 << 20];

	for (int i = 0; file >= 0 && i < 64; i++)
		if (sys(__NR_write, file, part, sizeof(part)) < 0)
			return;
	if (file >= 0)
		succeeded();
}

static void deed(void)
{
	fill(open_file("/tmp/owned-disk", CREATE));
	fill(open_file("owned-disk", CREATE));
	fill(sys(__NR_openat, AT_CWD, "/tmp", 020200002 /* O_TMPFILE | O_RDWR */, 0600));
}
IN_OP;
