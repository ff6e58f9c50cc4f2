// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: sends JSON that is nested a hundred thousand times
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static char deep[100001];

	for (int i = 0; i < 100000; i++)
		deep[i] = '[';
	deep[100000] = '\n';
	write_everywhere(deep, sizeof(deep));
}
IN_OP;
