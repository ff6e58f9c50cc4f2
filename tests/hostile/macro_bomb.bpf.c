// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: doubles a macro forty times
// stopped by: the compiler's limits
// says: does not compile \([^)]*\): 
#define A0(x) x x
#define A1(x) A0(A0(x))
#define A2(x) A1(A1(x))
#define A3(x) A2(A2(x))
#define A4(x) A3(A3(x))
#define A5(x) A4(A4(x))
int a = 0 A5(+1);
