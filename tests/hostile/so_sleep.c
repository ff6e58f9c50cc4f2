// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object whose constructor sleeps
// stopped by: the limit of time for loading
// says: was not loaded within 3 s; it sleeps, or waits for something
#include "syscalls.h"

static __attribute__((constructor)) void at_the_start(void) { sleep_for_ever(); }
