// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes a FIFO that nobody writes to
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`./fifo.h` cannot be read: a compiler reads the sources
#include "fifo.h"
