// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: closes every descriptor
// stopped by: its own process
// says: (ended its process with exit status|closed the socket on which its run answers)
#include "deed.h"

static void deed(void)
{
	for (int i = 0; i < 256; i++)
		sys(__NR_close, i);
	sys(__NR_close_range, 0, ~0U);
}
IN_OP;
