/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the storm needs of libc, whose own headers have types that conflict with the kernel's. */
#ifndef STORM_LIBC_H
#define STORM_LIBC_H

#include "vmlinux.h"

int printf(__const char *format, ...);
int fflush(void *stream);
void *calloc(unsigned long count, unsigned long bytes);
void free(void *block);
void *memcpy(void *to, __const void *from, unsigned long bytes);
unsigned long strtoul(char *text, char **end, int base);
long long strtoll(char *text, char **end, int base);
int strcmp(__const char *a, __const char *b);
char *strchr(__const char *text, int c);
int getpagesize(void);
int mprotect(void *start, unsigned long bytes, int protection);
unsigned int alarm(unsigned int seconds);
void (*signal(int number, void (*handler)(int)))(int);
void _exit(int status);

#define SIGILL	4
#define SIGTRAP	5
#define SIGABRT	6
#define SIGFPE	8
#define SIGSEGV	11
#define SIGALRM	14
#define SIGBUS	7

#define PROT_READ	1
#define PROT_WRITE	2

#endif /* STORM_LIBC_H */
