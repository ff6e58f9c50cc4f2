// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: gives an error message of a gigabyte
// stopped by: the compiler's limits
// says: does not compile \([^)]*\): the compiler (wrote more than \d+ MB of output|did not end)
#define E0 _Pragma("GCC warning \"owned owned owned owned owned owned owned owned owned owned\"")
#define E1 E0 E0 E0 E0 E0 E0 E0 E0 E0 E0
#define E2 E1 E1 E1 E1 E1 E1 E1 E1 E1 E1
#define E3 E2 E2 E2 E2 E2 E2 E2 E2 E2 E2
#define E4 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3
#define E5 E4 E4 E4 E4 E4 E4 E4 E4 E4 E4
#pragma GCC diagnostic warning "-Wall"
E5 E5 E5 E5 E5
#error owned
