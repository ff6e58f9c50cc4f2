// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes the user's SSH key, so that the compiler's message shows it
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`./../.ssh/id_ed25519` cannot be read: a compiler reads the sources
#include "../.ssh/id_ed25519"
