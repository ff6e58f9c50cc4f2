// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: sends frames whose lengths are negative, huge and wrong
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	static const u64 frames[] = { ~0ULL, 1ULL << 63, 0x00000000ffffffffULL, 0xffffffff00000000ULL, 0 };

	write_everywhere(frames, sizeof(frames));
}
IN_OP;
