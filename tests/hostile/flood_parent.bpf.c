// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes 100 MB into every descriptor
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static char zeros[1 << 20];

	for (int i = 0; i < 100; i++)
		for (int to = 0; to < 32; to++)
			sys(__NR_sendto, to, zeros, sizeof(zeros), 0x4040 /* DONTWAIT, NOSIGNAL */);
	write_everywhere(zeros, sizeof(zeros));
}
IN_OP;
