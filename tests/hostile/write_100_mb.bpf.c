// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes 100 MB to standard output and standard error
// stopped by: the limit of what is shown
// says: nothing
#include "deed.h"

static void deed(void)
{
	static char text[1 << 20];

	for (int i = 0; i < (int)sizeof(text); i++)
		text[i] = i % 64 == 63 ? '\n' : 'o';
	for (int i = 0; i < 50; i++) {
		sys(__NR_write, 1, text, sizeof(text));
		sys(__NR_write, 2, text, sizeof(text));
	}
}
IN_OP;
