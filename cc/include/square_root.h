/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The integer square root, rounded down, bit by bit.
 *
 * Not static, so that the kernel's verifier reads it once, and not at each of its calls: bounded
 * loops in functions that are inlined at many calls end in "BPF program is too large".
 */
#ifndef __SQUARE_ROOT_H__
#define __SQUARE_ROOT_H__

__attribute__((noinline)) u32 square_root(u64 square)
{
	u64 bit = 1ULL << 31, root = 0;
	u32 i;

	for (i = 0; i < 32; i++) {
		if ((root + bit) * (root + bit) <= square)
			root += bit;
		bit >>= 1;
	}
	return root;
}

#endif /* __SQUARE_ROOT_H__ */
