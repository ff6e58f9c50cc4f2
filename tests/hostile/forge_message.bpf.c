// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: sends the user a message of its own, with a terminal's control characters
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static const char told[] =
		"\n{\"fault\": \"\\u001b]0;owned\\u0007\\u001b[2J all is well\"}\n";

	write_everywhere(told, sizeof(told) - 1);
}
IN_OP;
