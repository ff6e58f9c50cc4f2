// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes itself, without end
// stopped by: the compiler's limits
// says: does not compile \([^)]*\): 
int a;
#include "include_itself.bpf.c"
#include "include_itself.bpf.c"
