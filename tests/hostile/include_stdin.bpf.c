// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: includes standard input
// stopped by: the checks of sources
// says: does not compile \([^)]*\): includes `/dev/stdin`, which is not a regular file$
#include "/dev/stdin"
