// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: never returns from a destructor
// stopped by: the check that no kernel runs constructors
// says: has a (con|de)structor `at_the_(start|end)`, which no kernel runs
#include "deed.h"

static void deed(void)
{
	for (;;)
		__asm__ volatile("");
}
IN_DESTRUCTOR;
