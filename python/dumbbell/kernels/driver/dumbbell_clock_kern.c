// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a program's reading of the clock costs. Computing takes no time, so a program that asks for the time again and
 * again until something happens waits for as many readings. Those take longer the longer it does so. Whatever is due
 * meanwhile happens on time all the same.
 */
#include <linux/types.h>
#include "dumbbell_kern.h"

/* What UML takes: TIMER_MULTIPLIER. */
#define CLOCK_STEP_NS 256
/* After so many readings without a pause one takes twice as long, after twice as many three times, and so on. */
#define PATIENT_READINGS 1000

static bool are_there;

void dumbbell_charge_for_readings(void)
{
	are_there = true;
}

unsigned long long dumbbell_clock_step(unsigned long long now_ns)
{
	static unsigned long long next_ns, readings;
	unsigned long long step_ns;

	if (!are_there)
		return CLOCK_STEP_NS;
	/* The clock has gone on by itself, so nothing computed. */
	if (now_ns != next_ns)
		readings = 0;
	step_ns = CLOCK_STEP_NS + CLOCK_STEP_NS * readings++ / PATIENT_READINGS;
	next_ns = now_ns + step_ns;
	return step_ns;
}
