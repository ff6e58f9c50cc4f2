// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: puts the user's SSH key into the object
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/tmp/home/.ssh/id_ed25519` cannot be read: a compiler reads the sources
#include "deed.h"

__asm__(".section .rodata\nsecret: .incbin \"" KEY "\"\n.previous");
extern const char secret[64];
static void deed(void) { write_everywhere(secret, sizeof(secret)); }
IN_OP;
