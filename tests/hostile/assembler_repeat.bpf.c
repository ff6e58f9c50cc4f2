// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: lets the assembler repeat a line without end
// stopped by: the compiler's limits
// says: does not compile \([^)]*\): .*(out of memory|did not end within|wrote more|used more)
#include "deed.h"

__asm__(".rept 2000000000\n.quad 1, 2, 3, 4\n.endr");
static void deed(void) { }
IN_OP;
