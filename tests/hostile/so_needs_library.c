// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object that makes the loader load another one, which lies next to it
// stopped by: Landlock
// says: cannot load congestion control .* cannot open shared object file
#include "syscalls.h"

__attribute__((used)) static int unused;
