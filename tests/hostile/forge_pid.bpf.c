// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: tells the parent that its process is process 1, or the parent itself
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static const char told[] = "{\"pid\": 1}\n{\"pid\": -1}\n{\"pid\": \"x\"}\n";

	write_everywhere(told, sizeof(told) - 1);
}
IN_OP;
