// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes a symbolic link next to it that points to the user's SSH key
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`./link_to_key.h` cannot be read: a compiler reads the sources
#include "link_to_key.h"
