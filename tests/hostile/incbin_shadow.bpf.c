// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: puts /etc/shadow into the object
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/etc/shadow` cannot be read: a compiler reads the sources
#include "deed.h"

__asm__(".section .rodata\nsecret: .incbin \"/etc/shadow\"\n.previous");
extern const char secret[512];
static void deed(void) { write_everywhere(secret, sizeof(secret)); }
IN_OP;
