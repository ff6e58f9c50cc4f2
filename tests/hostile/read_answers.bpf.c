// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: reads what is meant for the simulator from every descriptor, and ends both directions
// stopped by: its own process
// says: (ended its process with exit status|closed the socket on which its run answers)
#include "deed.h"

static void deed(void)
{
	char text[256];

	for (int to = 0; to < 32; to++) {
		sys(__NR_recvfrom, to, text, sizeof(text), 0x40 /* MSG_DONTWAIT */);
		sys(__NR_shutdown, to, 2);
	}
}
IN_OP;
