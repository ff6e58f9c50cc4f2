// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: has an array of 10 GB that is not zero
// stopped by: the compiler's limits
// says: does not compile \([^)]*\): 
#include "deed.h"

char array[10UL << 30] = { 1, [(10UL << 30) - 1] = 1 };
static void deed(void) { array[0] = 2; }
IN_OP;
