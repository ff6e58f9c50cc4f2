// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: removes, renames, links and makes public what the user has
// stopped by: seccomp
// says: made the forbidden system call `linkat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void deed(void)
{
	long count = 0;

	count += sys(__NR_linkat, AT_CWD, KEY, AT_CWD, "/tmp/owned-link") == 0;
	count += sys(__NR_symlinkat, KEY, AT_CWD, "/tmp/owned-symlink") == 0;
	count += sys(__NR_mkdirat, AT_CWD, "/tmp/owned-directory", 0777) == 0;
	count += sys(__NR_mknodat, AT_CWD, "/tmp/owned-fifo", 010666, 0) == 0;
	count += sys(__NR_fchmodat, AT_CWD, KEY, 0666) == 0;
	count += sys(__NR_truncate, HOME "/notes.txt", 0) == 0;
	count += sys(__NR_utimensat, AT_CWD, HOME "/notes.txt", 0, 0) == 0;
	count += sys(__NR_setxattr, HOME "/notes.txt", "user.owned", "1", 1) == 0;
	count += sys(__NR_renameat2, AT_CWD, HOME "/notes.txt", AT_CWD, "/tmp/owned-notes") == 0;
	count += sys(__NR_unlinkat, AT_CWD, HOME "/notes.txt", 0) == 0;
	if (count)
		succeeded();
}
IN_OP;
