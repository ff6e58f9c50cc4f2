// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads the environment in the engine's own memory
// stopped by: the short environment
// says: sent what is not an answer|^nothing$
#include "deed.h"

extern char **environ __attribute__((weak));

static void deed(void)
{
	char **variable = &environ ? environ : 0;

	for (; variable && *variable; variable++)
		for (int to = 0; to < 32; to++)
			sys(__NR_write, to, *variable, length_of(*variable));
}
IN_OP;
