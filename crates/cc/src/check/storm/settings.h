/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parameters of the congestion control, constants to it, set by name before it is called. */
#ifndef STORM_SETTINGS_H
#define STORM_SETTINGS_H

#include "libc.h"

struct param {
	char		*name;
	u8		*at;
	unsigned long	bytes;
};

/* Generated for each congestion control: `params`, which ends with an empty one. */
#include "params.h"

/* Applies `NAME=VALUE`; returns whether the parameter exists. */
static bool set(char *setting)
{
	unsigned long page = (unsigned long)getpagesize();
	char *value = strchr(setting, '=');
	struct param *p = params;
	unsigned long start;
	s64 number;

	if (!value)
		return false;
	*value++ = '\0';
	while (p->name && strcmp(p->name, setting))
		p++;
	if (!p->name)
		return false;
	start = (unsigned long)p->at & ~(page - 1);
	if (mprotect((void *)start, (unsigned long)p->at + p->bytes - start, PROT_READ | PROT_WRITE))
		return false;
	number = strtoll(value, NULL, 10);
	switch (p->bytes) {
	case 1:
		*p->at = (u8)number;
		break;
	case 2:
		*(u16 *)p->at = (u16)number;
		break;
	case 4:
		*(u32 *)p->at = (u32)number;
		break;
	default:
		*(s64 *)p->at = number;
	}
	return true;
}

#endif /* STORM_SETTINGS_H */
