// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// tries: is a shared object whose constructor sends forged answers and then ends the process
// stopped by: the checks of answers
// says: sent an answer of 4,294,967,295 bytes|sent what is not an answer
#include "syscalls.h"

static __attribute__((constructor)) void at_the_start(void)
{
	static const char told[] = "DBA1\377\377\377\377\0\0\0\0{\"done\": [0, 99]}";

	write_everywhere(told, sizeof(told) - 1);
	sys(__NR_exit_group, 0);
}
