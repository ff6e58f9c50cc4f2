// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: sleeps in a constructor
// stopped by: the check that no kernel runs constructors
// says: has a (con|de)structor `at_the_(start|end)`, which no kernel runs
#include "deed.h"

static void deed(void) { sleep_for_ever(); }
IN_CONSTRUCTOR;
