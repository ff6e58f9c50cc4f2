/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The logarithm to the base root(2), rounded down. Not static, so that the kernel's verifier reads it once. */
#ifndef __HALF_OCTAVES_H__
#define __HALF_OCTAVES_H__

__attribute__((noinline)) u32 half_octaves(u32 value)
{
	u32 octave = 0, left = value, i;

	for (i = 16; i; i >>= 1) {
		u32 more = left >> i ? i : 0;

		left >>= more;
		octave += more;
	}
	return 2 * octave + ((u64)value * 1000 > (1414ULL << (octave & 31)));
}

#endif /* __HALF_OCTAVES_H__ */
