// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object that claims a hundred terabytes
// stopped by: the limit of memory
// says: cannot load congestion control .* failed to map segment
#include "syscalls.h"

char huge[100UL << 40];
