// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: asks whether the user's SSH key exists
// stopped by: Landlock
// says: does not compile \([^)]*\): .*`/tmp/home/.ssh/id_ed25519` cannot be read: a compiler reads the sources
#if __has_include("/tmp/home/.ssh/id_ed25519")
#error "succeeded: it exists"
#else
#error "not to be seen"
#endif
