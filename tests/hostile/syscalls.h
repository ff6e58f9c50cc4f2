/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System calls without a C library, for the hostile files. */
#include <asm/unistd.h>

/* What the crash message shows if a deed succeeded. */
#define SUCCESS_ADDRESS	0x5cce55UL

/* From the top of the user's files; the test puts canaries there. */
#define HOME		"/tmp/home"
#define KEY		HOME "/.ssh/id_ed25519"
#define AT_CWD		(-100)
/* open(2): O_WRONLY | O_CREAT. */
#define CREATE		0101
#define DIRECTORY	0200000
#define KILL		9
#define STOP		19

static __attribute__((unused)) long sys6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "no system calls for this architecture"
#endif
}

#define SYS_7(n, a, b, c, d, e, f, ...)	\
	sys6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* sys(__NR_kill, pid, signal): arguments that are left out are 0. */
#define sys(...)	SYS_7(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static __attribute__((unused)) void succeeded(void)
{
	*(volatile int *)SUCCESS_ADDRESS = 1;
}

/* A call that must fail. */
#define must_fail(call)		do { if ((call) >= 0) succeeded(); } while (0)

static __attribute__((unused)) unsigned long length_of(const char *text)
{
	unsigned long length = 0;

	while (text[length])
		length++;
	return length;
}

static __attribute__((unused)) long open_file(const char *path, int flags)
{
	return sys(__NR_openat, AT_CWD, path, flags, 0644);
}

/* Shows the beginning of a file on every descriptor there is. */
static __attribute__((unused)) void leak(const char *path)
{
	char text[512];
	long file = open_file(path, 0), length, to;

	if (file < 0)
		return;
	length = sys(__NR_read, file, text, sizeof(text));
	if (length <= 0)
		return;
	for (to = 0; to < 32; to++)
		sys(__NR_write, to, text, length);
	succeeded();
}

/* Writes a file that must not be there afterwards. */
static __attribute__((unused)) int create(const char *path)
{
	long file = open_file(path, CREATE);

	if (file < 0)
		return 0;
	sys(__NR_write, file, "owned\n", 6);
	return 1;
}

/* A new process: its number in the parent, 0 in the child. */
static __attribute__((unused)) long fork_process(void)
{
	return sys(__NR_clone, 17 /* SIGCHLD */);
}

static __attribute__((unused)) void sleep_for_ever(void)
{
	const long time[2] = { 1000000, 0 };

	for (;;)
		sys(__NR_nanosleep, time);
}

/* The same text into every descriptor. */
static __attribute__((unused)) void write_everywhere(const void *text, unsigned long length)
{
	for (int to = 0; to < 256; to++)
		sys(__NR_write, to, text, length);
}
