// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: lets the assembler include the user's SSH key, so that its message shows it
// stopped by: Landlock
// says: does not compile \([^)]*\): .*(can't open|cannot be read)
#include "deed.h"

__asm__(".include \"" KEY "\"");
static void deed(void) { }
IN_OP;
