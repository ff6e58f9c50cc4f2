// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes a file of 1 GB next to it
// stopped by: the compiler's limits
// says: defines no congestion control|does not compile \([^)]*\): 
#include "large.h"
