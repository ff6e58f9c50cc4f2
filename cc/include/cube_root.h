/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cube root: CUBIC's K = cbrt((w_max - cwnd)/C). Exact, rounded down. Not static, as square_root.h says.
 */
#ifndef __CUBE_ROOT_H__
#define __CUBE_ROOT_H__

/* Largest x with x^3 <= a, by Newton's method from above. */
__attribute__((noinline)) u32 cube_root(u64 a)
{
	u64 x = 1, next;
	int i;

	if (!a)
		return 0;
	/* Start from a power of two above the root, at most twice the root, at most 2^22. */
	for (i = 0; i < 22 && a >> (3 * i); i++)
		x <<= 1;
	/* The relative error is squared each time, so ten are more than 22 bits need; x >= 1. */
	for (i = 0; i < 10; i++) {
		next = (2 * x + a / (x * x)) / 3;
		if (next >= x)
			break;
		x = next;
	}
	return x;
}

#endif /* __CUBE_ROOT_H__ */
