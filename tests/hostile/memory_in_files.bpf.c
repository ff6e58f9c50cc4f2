// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: fills memory through a file in memory, which no limit of address space counts
// stopped by: the limits of a file's size and of CPU time
// says: (has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time|was killed \(SIGKILL\)|wrote a larger file)
#include "deed.h"

static void deed(void)
{
	static char part[1 << 20];
	long file = sys(__NR_memfd_create, "part", 0);

	for (long i = 0; file >= 0 && i < 100L << 10; i++)
		if (sys(__NR_pwrite64, file, part, sizeof(part), i << 20) < 0)
			return;
	if (file >= 0)
		succeeded();
}
IN_OP;
