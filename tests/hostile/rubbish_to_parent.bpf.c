// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes rubbish into every descriptor
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static char rubbish[4096];
	u32 state = 1;

	for (int i = 0; i < (int)sizeof(rubbish); i++) {
		state = state * 1664525 + 1013904223;
		rubbish[i] = state >> 24;
	}
	write_everywhere(rubbish, sizeof(rubbish));
}
IN_OP;
