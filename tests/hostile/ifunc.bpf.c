// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: runs code while the loader resolves its symbols
// stopped by: the check that no kernel runs constructors
// says: has a resolver `resolve`, which no kernel runs
#include "deed.h"

static void deed(void) { }

static void (*resolve(void))(void)
{
	create("/tmp/owned-by-ifunc");
	for (;;)
		__asm__ volatile("");
}

void chosen(void) __attribute__((ifunc("resolve")));
static __attribute__((used)) void (*volatile pointer)(void) = chosen;
GOOD_OPS;
