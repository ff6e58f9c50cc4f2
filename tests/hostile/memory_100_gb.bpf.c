// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: fills 100 GB of memory
// stopped by: the limits of memory and CPU time
// says: (has not returned from `cong_avoid` \(flow 0, at [\d.]+ s\) within 0.5 s of CPU time|was killed \(SIGKILL\)|^nothing$)
#include "deed.h"

static void deed(void)
{
	for (int i = 0; i < 400; i++) {
		volatile char *part = (volatile char *)sys(__NR_mmap, 0, 256L << 20, 3, 0x22, -1L);

		if ((long)part < 0 && (long)part > -4096)
			return;
		for (long at = 0; at < 256L << 20; at += 4096)
			part[at] = 1;
	}
	succeeded();
}
IN_OP;
