// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: writes the crash report of a signal that does not exist, for a group that does not exist
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static const char told[] = "\ncrash 4711 0x0 99 -1 7 x \x1b[31m\n";

	write_everywhere(told, sizeof(told) - 1);
}
IN_OP;
