// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: sends the parent 200 descriptors by every socket
// stopped by: the checks of answers
// says: sent what is not an answer; it has been ended$
#include "deed.h"

static void deed(void)
{
	struct { u64 length; int level, type; int files[200]; } control = {
		.length = 16 + 200 * 4, .level = 1, .type = 1 /* SCM_RIGHTS */,
	};
	char text[] = "\n";
	u64 vector[2] = { (u64)text, 1 };
	u64 message[7] = { 0, 0, (u64)vector, 1, (u64)&control, sizeof(control), 0 };

	for (int i = 0; i < 200; i++)
		control.files[i] = 2;
	for (int to = 0; to < 64; to++)
		must_fail(sys(__NR_sendmsg, to, message, 0x4040));
}
IN_OP;
