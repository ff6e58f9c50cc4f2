// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: says that the run is done, with tables at impossible places
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static const char told[] =
		"\n{\"done\": {\"summary\": [-1, 99999999999999], \"tables\": [[\"flows\", -8, -8]]}}\n";

	write_everywhere(told, sizeof(told) - 1);
}
IN_OP;
