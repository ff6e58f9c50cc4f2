/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random numbers: the same for the same seed (splitmix64). */
#ifndef STORM_DRAWS_H
#define STORM_DRAWS_H

#include "vmlinux.h"

static u64 random_state;

static u64 draw(void)
{
	u64 z = (random_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Uniform from lo to hi, both included. */
static u64 between(u64 lo, u64 hi)
{
	return lo + draw() % (hi - lo + 1);
}

/* Each power of two between as likely as another. */
static u64 magnitude(u32 lo_bits, u32 hi_bits)
{
	u64 top = 1ULL << between(lo_bits, hi_bits);

	return top + draw() % top;
}

static bool chance(u32 per_mille)
{
	return draw() % 1000 < per_mille;
}

#endif /* STORM_DRAWS_H */
