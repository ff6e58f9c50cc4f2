// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes, where the compiler does not look, a symbolic link that points to the user's SSH key
// stopped by: the list of what is read
// says: nothing
#if 0
#include "link_to_key.h"
#endif
#include "deed.h"

static void deed(void) { }
IN_OP;
