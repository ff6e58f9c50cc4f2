// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes the compiler's environment
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/proc/self/environ` cannot be read: a compiler reads the sources
#include "/proc/self/environ"
