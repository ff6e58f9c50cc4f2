// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: cuts off every file in a thread, when the result has been read
// stopped by: the check that no kernel runs constructors
// says: has a (con|de)structor `at_the_(start|end)`, which no kernel runs
#include "deed.h"

static void later(void)
{
	const long tick[2] = { 0, 1000000 };

	for (;;) {
		for (int file = 3; file < 64; file++)
			sys(__NR_ftruncate, file, 0);
		sys(__NR_nanosleep, tick);
	}
}

static void deed(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	if (sys(__NR_clone, 0x10f00, stack + sizeof(stack) - 64) == 0)
		later();
}
IN_CONSTRUCTOR;
