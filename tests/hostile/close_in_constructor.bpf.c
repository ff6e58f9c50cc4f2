// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: closes every descriptor before anything is called
// stopped by: the check that no kernel runs constructors
// says: has a (con|de)structor `at_the_(start|end)`, which no kernel runs
#include "deed.h"

static void deed(void)
{
	for (int i = 0; i < 256; i++)
		sys(__NR_close, i);
}
IN_CONSTRUCTOR;
