/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quarters of an octave, each as long as the others, rounded down: 2^k times 1, 1.25, 1.5, 1.75. Not static, so that the
 * kernel's verifier reads it once.
 */
#ifndef __QUARTER_OCTAVES_H__
#define __QUARTER_OCTAVES_H__

__attribute__((noinline)) u32 quarter_octaves(u32 value)
{
	u32 octave = 0, left = value, i;

	for (i = 16; i; i >>= 1) {
		u32 more = left >> i ? i : 0;

		left >>= more;
		octave += more;
	}
	return 4 * octave + ((u32)((u64)value * 4 >> (octave & 31)) & 3);
}

#endif /* __QUARTER_OCTAVES_H__ */
