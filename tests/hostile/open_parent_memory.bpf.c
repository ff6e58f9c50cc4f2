// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: opens its parent's memory, descriptors and environment in /proc
// stopped by: seccomp
// says: made the forbidden system call `openat` in `cong_avoid` \(flow 0, at [\d.]+ s\); SIGSYS$
#include "deed.h"

static void in_proc(long pid, const char *file)
{
	char path[64] = "/proc/", digits[24];
	int end = 6, count = 0;

	for (; pid; pid /= 10)
		digits[count++] = '0' + pid % 10;
	while (count)
		path[end++] = digits[--count];
	for (; *file; file++)
		path[end++] = *file;
	path[end] = 0;
	must_fail(open_file(path, 0));
}

static void deed(void)
{
	long parent = sys(__NR_getppid);

	in_proc(parent, "/mem");
	in_proc(parent, "/maps");
	in_proc(parent, "/environ");
	in_proc(parent, "/fd/0");
}
IN_OP;
