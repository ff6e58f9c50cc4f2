// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: takes every descriptor there is
// stopped by: the limit of descriptors
// says: nothing
#include "deed.h"

static void deed(void)
{
	for (int i = 0; i < 2000000; i++)
		if (sys(__NR_dup, 2) < 0)
			return;
	succeeded();
}
IN_OP;
