// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object that is cut off in the middle
// stopped by: the checks of objects
// says: is not an object: 
#include "syscalls.h"

char data[10000] = { 1 };
