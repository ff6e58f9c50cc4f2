// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: lists the home and the root directory
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void list(const char *path)
{
	char entries[4096];
	long directory = open_file(path, DIRECTORY);

	if (directory >= 0 && sys(__NR_getdents64, directory, entries, sizeof(entries)) > 0)
		succeeded();
}

static void deed(void)
{
	list(HOME);
	list("/");
	list("/proc");
	list(".");
}
IN_OP;
