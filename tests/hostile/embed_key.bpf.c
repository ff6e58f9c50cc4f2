// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: puts the user's SSH key into an array
// stopped by: Landlock
// says: does not compile \([^)]*\): 
#include "deed.h"

static const char secret[] = {
#embed "/tmp/home/.ssh/id_ed25519"
};
static void deed(void) { write_everywhere(secret, sizeof(secret)); }
IN_OP;
