// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The host's side of the driver: loads the library and calls it on a stack of its own, because a kernel stack is small.
 * Interrupts are off during a call, so the handlers of signals only note them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "dumbbell.h"

#define STACK_BYTES (8ul << 20)

typedef unsigned long long word;

enum {
	OPEN, HOST, FLOW, BEGIN, ENTER, ADVANCE, TAKE, ESTABLISHED, FINISHED, SAMPLE, SAMPLED, FINAL, CC, CALL, END, FAILED,
	PROGRAM, WRITE, READ, STARTED, ENDED, NOT_READY, OVER, ENDING, QDISC, QDISC_READY, FUNCTIONS
};

static word (*functions[FUNCTIONS])(word, word, word, word);
static char *stack_top;
/* Of the kernel, while the library runs. */
static char *kernel_stack;
/* Below it may be what the compiler has put there without moving the pointer (System V ABI, AMD64, 3.2.2). */
#define RED_ZONE_BYTES 128
/* Whether the library runs, on whose stack the kernel does not know its threads. */
static volatile sig_atomic_t is_in_library;

static word on_own_stack(word (*function)(word, word, word, word), word a, word b, word c, word d)
{
	word result;

	is_in_library = 1;
	/* rbx survives the call, so the kernel's stack is found again. The kernel does not use SSE. */
	asm volatile("movq %%rsp, %%rbx\n\t"
		     "movq %%rsp, %[kernel]\n\t"
		     "movq %[top], %%rsp\n\t"
		     "call *%[function]\n\t"
		     "movq %%rbx, %%rsp"
		     : "=a"(result), "+D"(a), "+S"(b), "+d"(c), "+c"(d), [kernel] "=m"(kernel_stack)
		     : [top] "r"(stack_top), [function] "r"(function)
		     : "rbx", "r8", "r9", "r10", "r11", "memory", "cc");
	is_in_library = 0;
	return result;
}

/* For what the library calls of the kernel, with interrupts off as they are. */
static void on_kernels_stack(void (*function)(struct dumbbell_queued *), struct dumbbell_queued *queued)
{
	char *top = (char *)(((word)kernel_stack - RED_ZONE_BYTES) & ~15ull);

	asm volatile("movq %%rsp, %%rbx\n\t"
		     "movq %[top], %%rsp\n\t"
		     "call *%[function]\n\t"
		     "movq %%rbx, %%rsp"
		     : "+D"(queued)
		     : [top] "r"(top), [function] "r"(function)
		     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void enqueue(struct dumbbell_queued *queued)
{
	on_kernels_stack(dumbbell_enqueue, queued);
}

static void dequeue(struct dumbbell_queued *queued)
{
	on_kernels_stack(dumbbell_dequeue, queued);
}

/* Who waits for the guest asks which program computes; the answer is a file. */
static void tell_current(int signal)
{
	int file;

	(void)signal;
	if (is_in_library)
		return;
	file = open(DUMBBELL_CURRENT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	if (write(file, dumbbell_current(), strlen(dumbbell_current())) < 0) {
		/* There is no answer then. */
	}
	close(file);
}

static void *found(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		fprintf(stderr, "dumbbell: %s\n", dlerror());
	return symbol;
}

/* 1: this is not a run of dumbbell. Negative: an error, which has been said. */
int dumbbell_open(struct dumbbell_run *run)
{
	static const char *const names[FUNCTIONS] = {
		"dumbbell_guest_open",	      "dumbbell_guest_host",	 "dumbbell_guest_flow",
		"dumbbell_guest_begin",	      "dumbbell_guest_enter",	 "dumbbell_guest_advance",
		"dumbbell_guest_take",	      "dumbbell_guest_established", "dumbbell_guest_finished",
		"dumbbell_guest_sample",      "dumbbell_guest_sampled",	 "dumbbell_guest_final",
		"dumbbell_guest_cc",	      "dumbbell_guest_call",	 "dumbbell_guest_end",
		"dumbbell_guest_failed",      "dumbbell_guest_program",	 "dumbbell_guest_write",
		"dumbbell_guest_read",	      "dumbbell_guest_started",	 "dumbbell_guest_ended",
		"dumbbell_guest_not_ready",   "dumbbell_guest_over",	 "dumbbell_guest_ending",
		"dumbbell_guest_qdisc",	      "dumbbell_guest_qdisc_ready",
	};
	/* Without SA_ONSTACK: on the stack of the kernel's thread, by which the kernel knows it. */
	const struct sigaction asked = { .sa_handler = tell_current, .sa_flags = SA_RESTART };
	const char *path = getenv("DUMBBELL_LIBRARY"), *request = getenv("DUMBBELL_REQUEST");
	void *library, *stack;
	unsigned int i;

	if (!path || !request)
		return 1;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "dumbbell: %s\n", dlerror());
		return -ENOENT;
	}
	for (i = 0; i < FUNCTIONS; i++) {
		functions[i] = found(library, names[i]);
		if (!functions[i])
			return -ENOENT;
	}
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED)
		return -ENOMEM;
	stack_top = (char *)stack + STACK_BYTES - 64;
	sigaction(DUMBBELL_ASK, &asked, NULL);
	run->enqueue = enqueue;
	run->dequeue = dequeue;
	return (int)on_own_stack(functions[OPEN], DUMBBELL_ABI, (word)request, (word)run, 0);
}

void dumbbell_get_host(unsigned int number, struct dumbbell_host *host)
{
	on_own_stack(functions[HOST], number, (word)host, 0, 0);
}

void dumbbell_get_flow(unsigned int number, struct dumbbell_flow *flow)
{
	on_own_stack(functions[FLOW], number, (word)flow, 0, 0);
}

void dumbbell_get_cc(unsigned int number, struct dumbbell_cc *cc)
{
	on_own_stack(functions[CC], number, (word)cc, 0, 0);
}

unsigned int dumbbell_call(struct dumbbell_call *call)
{
	return (unsigned int)on_own_stack(functions[CALL], (word)call, 0, 0, 0);
}

void dumbbell_begin(word now_ns, word epoch_ns)
{
	on_own_stack(functions[BEGIN], now_ns, epoch_ns, 0, 0);
}

word dumbbell_enter(word now_ns, unsigned int host, const void *frame, unsigned int bytes)
{
	return on_own_stack(functions[ENTER], now_ns, host, (word)frame, bytes);
}

word dumbbell_advance(word now_ns)
{
	return on_own_stack(functions[ADVANCE], now_ns, 0, 0, 0);
}

unsigned int dumbbell_take(unsigned int *host, const void **frame)
{
	return (unsigned int)on_own_stack(functions[TAKE], (word)host, (word)frame, 0, 0);
}

void dumbbell_established(word now_ns, unsigned int flow, struct dumbbell_answer info)
{
	on_own_stack(functions[ESTABLISHED], now_ns, flow, (word)info.bytes, info.length);
}

void dumbbell_finished(word now_ns, unsigned int flow)
{
	on_own_stack(functions[FINISHED], now_ns, flow, 0, 0);
}

void dumbbell_sample(word now_ns, unsigned int flow, const struct dumbbell_state *state)
{
	on_own_stack(functions[SAMPLE], now_ns, flow, (word)state, 0);
}

unsigned int dumbbell_sampled(word now_ns, word instant_ns)
{
	return (unsigned int)on_own_stack(functions[SAMPLED], now_ns, instant_ns, 0, 0);
}

void dumbbell_final(unsigned int flow, const struct dumbbell_state *state)
{
	on_own_stack(functions[FINAL], flow, (word)state, 0, 0);
}

void dumbbell_end(word now_ns)
{
	on_own_stack(functions[END], now_ns, 0, 0, 0);
	/* Everything is written; a kernel that switches itself off takes longer, and what it frees is the process's. */
	_exit(0);
}

void dumbbell_failed(const char *what, int flow, int error)
{
	if (functions[FAILED])
		on_own_stack(functions[FAILED], (word)what, (word)(long)flow, (word)(long)error, 0);
	_exit(1);
}

void dumbbell_get_qdisc(unsigned int number, struct dumbbell_qdisc *qdisc)
{
	on_own_stack(functions[QDISC], number, (word)qdisc, 0, 0);
}

word dumbbell_qdisc_ready(word now_ns, unsigned int number)
{
	return on_own_stack(functions[QDISC_READY], now_ns, number, 0, 0);
}

void dumbbell_get_program(unsigned int number, struct dumbbell_program *program)
{
	on_own_stack(functions[PROGRAM], number, (word)program, 0, 0);
}

long dumbbell_write(unsigned int program, unsigned int stream, const void *bytes, unsigned int length)
{
	return (long)on_own_stack(functions[WRITE], program, stream, (word)bytes, length);
}

long dumbbell_read(unsigned int program, void *bytes, unsigned int length)
{
	return (long)on_own_stack(functions[READ], program, (word)bytes, length, 0);
}

void dumbbell_program_started(word now_ns, unsigned int program)
{
	on_own_stack(functions[STARTED], now_ns, program, 0, 0);
}

unsigned int dumbbell_program_ended(word now_ns, unsigned int program, int status, int error)
{
	return (unsigned int)on_own_stack(functions[ENDED], now_ns, program, (word)(long)status, (word)(long)error);
}

void dumbbell_not_ready(unsigned int program)
{
	on_own_stack(functions[NOT_READY], program, 0, 0, 0);
	_exit(1);
}

word dumbbell_over(word now_ns)
{
	return on_own_stack(functions[OVER], now_ns, 0, 0, 0);
}

void dumbbell_ending(void)
{
	on_own_stack(functions[ENDING], 0, 0, 0, 0);
}

/* SplitMix64 (Steele, Lea and Flood, 2014): what matters is that it is the same each time. */
long dumbbell_getrandom(void *buffer, unsigned long bytes, unsigned int flags)
{
	static word state;
	static int is_seeded;
	unsigned char *to = buffer;
	unsigned long i;
	word z = 0;

	(void)flags;
	if (!is_seeded) {
		const char *seed = getenv("DUMBBELL_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		is_seeded = 1;
	}
	for (i = 0; i < bytes; i++) {
		if (i % 8 == 0) {
			state += 0x9e3779b97f4a7c15ull;
			z = state;
			z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
			z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
			z ^= z >> 31;
		}
		to[i] = (unsigned char)(z >> (8 * (i % 8)));
	}
	return (long)bytes;
}
