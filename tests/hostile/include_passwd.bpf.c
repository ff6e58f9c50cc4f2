// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes /etc/passwd, so that the compiler's message shows it
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/etc/passwd` cannot be read: a compiler reads the sources
#include "/etc/passwd"
