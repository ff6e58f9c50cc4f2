// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: lets the assembler wait for a FIFO
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/tmp/home/hostile/fifo.h` cannot be read: a compiler reads the sources
#include "deed.h"

__asm__(".incbin \"" HOME "/hostile/fifo.h\"");
static void deed(void) { }
IN_OP;
