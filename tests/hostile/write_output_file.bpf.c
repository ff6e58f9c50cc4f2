// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes rubbish into every file that it can write, and cuts it off, when it is unloaded
// stopped by: the check that no kernel runs constructors
// says: has a (con|de)structor `at_the_(start|end)`, which no kernel runs
#include "deed.h"

static void deed(void)
{
	static const char rubbish[64] = "ARROW1 rubbish";

	for (int file = 0; file < 256; file++) {
		for (long at = 0; at < 1 << 16; at += 64)
			sys(__NR_pwrite64, file, rubbish, sizeof(rubbish), at);
		sys(__NR_ftruncate, file, 100);
	}
}
IN_DESTRUCTOR;
