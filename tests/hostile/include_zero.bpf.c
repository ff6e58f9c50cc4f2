// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes /dev/zero
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/dev/zero` cannot be read: a compiler reads the sources
#include "/dev/zero"
