// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: takes a compiler minutes
// stopped by: the compiler's limit of time
// says: does not compile \([^)]*\): .*the compiler did not end within 15 s
#include "deed.h"

#define S0(x) switch (n + x) { case 1: n ^= n << 3; break; case 7: n += n >> 5; break; default: n *= 3; }
#define S1(x) S0(x) S0(x + 1) S0(x + 2) S0(x + 3) S0(x + 4) S0(x + 5) S0(x + 6) S0(x + 7)
#define S2(x) S1(x) S1(x + 11) S1(x + 21) S1(x + 31) S1(x + 41) S1(x + 51) S1(x + 61) S1(x + 71)
#define S3(x) S2(x) S2(x + 111) S2(x + 211) S2(x + 311) S2(x + 411) S2(x + 511) S2(x + 611)
#define S4(x) S3(x) S3(x + 1111) S3(x + 2111) S3(x + 3111) S3(x + 4111) S3(x + 5111) S3(x + 6111)

static void deed(void)
{
	volatile u32 start = 1;
	u32 n = start;

	S4(1)
	S4(7)
	S4(13)
	S4(19)
	S4(25)
	S4(31)
	start = n;
}
IN_OP;
