// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: puts linker directives into sections, as attributes and assembly can
// stopped by: the linker, which ignores them
// says: nothing
#include "deed.h"

__asm__(".section .drectve,\"\"\n.ascii \"-Wl,--version-script=" KEY "\"\n.previous");
__asm__(".section .deplibs,\"MS\",@llvm_dependent_libraries,1\n.asciz \"" HOME "/hostile/libowned.so\"\n.previous");
__asm__(".section .gnu.warning.hostile_ssthresh,\"a\"\n.asciz \"\\033[2J owned\"\n.previous");
static void deed(void) { }
IN_OP;
