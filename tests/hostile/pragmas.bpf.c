// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: changes the compiler's options by pragmas: dependencies, optimisation, pushing of macros
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/tmp/home/.ssh/id_ed25519` cannot be read: a compiler reads the sources
#pragma GCC dependency "/tmp/home/.ssh/id_ed25519" succeeded
#pragma GCC optimize("-fplugin=/tmp/home/hostile/libowned.so")
#pragma GCC pch_preprocess "/tmp/home/.ssh/id_ed25519"
#pragma GCC push_options
#include "deed.h"

static void deed(void) { }
IN_OP;
