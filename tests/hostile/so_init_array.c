// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object with initialisers that never return, in a section of its own
// stopped by: the limit of time for loading
// says: was not loaded within 3 s; it computes: look at its constructors
#include "syscalls.h"

static void loop(void)
{
	for (;;)
		__asm__ volatile("");
}

__attribute__((section(".init_array"), used)) static void (*initialiser)(void) = loop;
