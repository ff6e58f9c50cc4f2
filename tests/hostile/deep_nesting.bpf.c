// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: nests brackets until a compiler's stack is full
// stopped by: the compiler's limits
// says: defines no congestion control|does not compile \([^)]*\): 
#define P0(x) ((((((((((x))))))))))
#define P1(x) P0(P0(P0(P0(P0(P0(P0(P0(P0(P0(x))))))))))
#define P2(x) P1(P1(P1(P1(P1(P1(P1(P1(P1(P1(x))))))))))
#define P3(x) P2(P2(P2(P2(P2(P2(P2(P2(P2(P2(x))))))))))
int a = P3(P3(P3(1)));
