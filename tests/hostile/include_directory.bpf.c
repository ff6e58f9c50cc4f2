// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes a directory
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/tmp/home/` cannot be read: a compiler reads the sources
#include "/tmp/home/"
