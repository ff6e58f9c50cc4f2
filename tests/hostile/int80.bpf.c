// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: makes system calls by the 32-bit gate, whose numbers are others
// stopped by: seccomp
// says: made a forbidden system call \(SIGSYS\)
#include "deed.h"

static long int80(long number, long a, long b, long c)
{
	long result = -1;

#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
#endif
	return result;
}

static void deed(void)
{
	long child = int80(2 /* fork */, 0, 0, 0);

	if (child == 0)
		sleep_for_ever();
	if (child > 0)
		succeeded();
	must_fail(int80(37 /* kill */, int80(64 /* getppid */, 0, 0, 0), KILL, 0));
}
IN_OP;
