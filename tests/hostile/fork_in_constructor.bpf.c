// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: forks in a constructor
// stopped by: the check that no kernel runs constructors
// says: has a (con|de)structor `at_the_(start|end)`, which no kernel runs
#include "deed.h"

static void deed(void)
{
	long child = fork_process();

	if (child == 0)
		sleep_for_ever();
	if (child > 0)
		succeeded();
}
IN_CONSTRUCTOR;
