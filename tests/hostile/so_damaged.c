// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object whose section headers point outside the file
// stopped by: the checks of objects
// says: is not an object: 
#include "syscalls.h"

char data[10000] = { 1 };
