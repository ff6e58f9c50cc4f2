/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For trees before 5.19, in which UML has no such file: random numbers that follow from a seed, as if the processor
 * gave them.
 */
#ifndef DUMBBELL_ARCHRANDOM_H
#define DUMBBELL_ARCHRANDOM_H

extern long dumbbell_getrandom(void *buffer, unsigned long bytes, unsigned int flags);

static inline bool __must_check arch_get_random_long(unsigned long *v)
{
	return dumbbell_getrandom(v, sizeof(*v), 0) == sizeof(*v);
}

static inline bool __must_check arch_get_random_int(unsigned int *v)
{
	return dumbbell_getrandom(v, sizeof(*v), 0) == sizeof(*v);
}

static inline bool __must_check arch_get_random_seed_long(unsigned long *v)
{
	return arch_get_random_long(v);
}

static inline bool __must_check arch_get_random_seed_int(unsigned int *v)
{
	return arch_get_random_int(v);
}

/* Asked for until 5.5. */
static inline bool arch_has_random(void)
{
	return true;
}

static inline bool arch_has_random_seed(void)
{
	return true;
}

#endif
