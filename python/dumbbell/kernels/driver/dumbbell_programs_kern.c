// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs of the user in the hosts: their start, what they wait for, and their end. The kernel starts them itself, so
 * no init of the guest's own is needed.
 */
#include <linux/binfmts.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/namei.h>
#include <linux/nsproxy.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/syscalls.h>
#include <linux/utsname.h>
#include <linux/version.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "dumbbell_kern.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 19, 0)
#define user_mode_thread kernel_thread
#endif

/* How often ports are looked at, and whether programs have ended. */
#define LOOK_EVERY_NS (10 * NSEC_PER_MSEC)
/* What programs find: many take a clock below 1 s for one that was not read yet. */
#define UPTIME_NS (10ull * NSEC_PER_SEC)
/* How long what clients sent last may take to servers. */
#define LAST_WORDS_NS (1ull * NSEC_PER_SEC)
/* How long programs have between SIGTERM and SIGKILL. */
#define GRACE_NS (2ull * NSEC_PER_SEC)

struct program {
	struct dumbbell_program is;
	unsigned int number;
	/* Why it could not be started. */
	int error;
	/* 0 unless it runs. */
	pid_t pid;
};

static struct program *programs;
static unsigned int program_count;
static unsigned long long start_ns;

int __init dumbbell_make_programs(unsigned int count, const struct dumbbell_host *(*host_of)(unsigned int))
{
	unsigned long flags;
	unsigned int i;
	int error;

	programs = kcalloc(count, sizeof(*programs), GFP_KERNEL);
	if (!programs)
		return -ENOMEM;
	program_count = count;
	for (i = 0; i < count; i++) {
		programs[i].number = i;
		local_irq_save(flags);
		dumbbell_get_program(i, &programs[i].is);
		local_irq_restore(flags);
	}
	strscpy(init_uts_ns.name.nodename, "localhost", sizeof(init_uts_ns.name.nodename));
	/* What loses its parent is this thread's, which does not wait for it. */
	kernel_sigaction(SIGCHLD, SIG_IGN);
	dumbbell_charge_for_readings();
	error = dumbbell_mount_files(programs[0].is.directory) ?: dumbbell_make_place() ?: dumbbell_make_streams(count);
	for (i = 0; i < count && !error; i++)
		error = dumbbell_write_names(programs[i].is.host, host_of(programs[i].is.host));
	return error;
}

/* ---- A program ---- */

static int enter_directory(const char *directory)
{
	struct path path;
	int error = kern_path(directory, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);

	if (error)
		return error;
	set_fs_pwd(current->fs, &path);
	path_put(&path);
	return 0;
}

/* Makes this thread one of the program's host. */
static int enter_host(const struct program *program)
{
	unsigned int host = program->is.host;
	struct net *before;
	int error = ksys_unshare(CLONE_NEWNS);

	if (error)
		return error;
	ksys_setsid();
	/* Which is this thread's alone since then. */
	before = current->nsproxy->net_ns;
	current->nsproxy->net_ns = get_net(dumbbell_net_of(host));
	put_net(before);
	return dumbbell_mount_own(host) ?: enter_directory(program->is.directory) ?:
	       dumbbell_open_streams(program->number);
}

static int become_program(void *data)
{
	struct program *program = data;

	/* A kernel thread ignores signals, and its children would. */
	spin_lock_irq(&current->sighand->siglock);
	flush_signal_handlers(current, 1);
	spin_unlock_irq(&current->sighand->siglock);
	program->error = enter_host(program) ?: kernel_execve(program->is.path, (const char *const *)program->is.argv,
							      (const char *const *)program->is.envp);
	if (program->error)
		do_exit(0);
	return 0;
}

/* Runs a program to its end. */
static int run_program(void *data)
{
	struct program *program = data;
	unsigned long flags;
	unsigned int is_over;
	int status = 0;
	pid_t pid;

	if (!program->is.is_server)
		dumbbell_sleep_until(start_ns + program->is.start_ns);
	/* So that it can be waited for. */
	kernel_sigaction(SIGCHLD, SIG_DFL);
	local_irq_save(flags);
	dumbbell_program_started(ktime_get_ns(), program->number);
	local_irq_restore(flags);
	pid = user_mode_thread(become_program, program, SIGCHLD);
	if (pid < 0)
		program->error = pid;
	else {
		program->pid = pid;
		kernel_wait(pid, &status);
		program->pid = 0;
	}
	local_irq_save(flags);
	is_over = dumbbell_program_ended(ktime_get_ns(), program->number, status, program->error);
	local_irq_restore(flags);
	if (is_over)
		dumbbell_end_early();
	return 0;
}

/* ---- All programs ---- */

/* Whether a socket of the host has a port: another cannot have it. */
static bool is_open(struct net *net, struct dumbbell_port port)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port.number) };
	int type = port.is_udp ? SOCK_DGRAM : SOCK_STREAM;
	struct socket *socket;
	int error;

	if (sock_create_kern(net, AF_INET6, type, 0, &socket)) {
		/* Without IPv6. The addresses are where they are in the other structure, and 0. */
		any.sin6_family = AF_INET;
		if (sock_create_kern(net, AF_INET, type, 0, &socket))
			return false;
	}
	error = kernel_bind(socket, (void *)&any, sizeof(any));
	sock_release(socket);
	return error == -EADDRINUSE;
}

static bool are_open(const struct program *server)
{
	unsigned int i;

	for (i = 0; i < server->is.port_count; i++)
		if (!is_open(dumbbell_net_of(server->is.host), server->is.ports[i]))
			return false;
	return true;
}

static void await_ports(const struct program *server)
{
	u64 until_ns = ktime_get_ns() + server->is.ready_ns;
	unsigned long flags;

	while (!are_open(server)) {
		if (ktime_get_ns() >= until_ns) {
			local_irq_save(flags);
			dumbbell_not_ready(server->number);
			local_irq_restore(flags);
		}
		dumbbell_sleep_until(ktime_get_ns() + LOOK_EVERY_NS);
	}
}

/* One after the other, each when the one before is ready. */
void dumbbell_start_servers(void)
{
	unsigned int i;

	dumbbell_sleep_until(UPTIME_NS);
	for (i = 0; i < program_count; i++) {
		if (!programs[i].is.is_server)
			continue;
		kthread_run(run_program, &programs[i], "server-%u", i);
		await_ports(&programs[i]);
	}
}

void dumbbell_start_clients(unsigned long long epoch_ns)
{
	unsigned int i;

	start_ns = epoch_ns;
	for (i = 0; i < program_count; i++)
		if (!programs[i].is.is_server)
			kthread_run(run_program, &programs[i], "client-%u", i);
}

/* Sends clients a signal, with what they have started: as a terminal does. */
void dumbbell_signal_clients(int signal)
{
	unsigned int i;

	for (i = 0; i < program_count; i++)
		if (!programs[i].is.is_server && programs[i].pid)
			kill_pgrp(find_vpid(programs[i].pid), signal, 1);
}

/* Sends a signal to all that programs have started; how many there are. */
static unsigned int signal_all(int signal)
{
	struct task_struct *task;
	unsigned int count = 0;

	rcu_read_lock();
	for_each_process(task) {
		if (!task->mm || task->exit_state)
			continue;
		if (signal)
			send_sig(signal, task, 1);
		count++;
	}
	rcu_read_unlock();
	return count;
}

/* Waits until no program is left, but not for longer. */
static void await_ends(u64 longest_ns)
{
	u64 until_ns = ktime_get_ns() + longest_ns;

	/* Whatever ends at once does it before the clock goes on. */
	dumbbell_sleep_until(ktime_get_ns() + 1);
	while (signal_all(0) && ktime_get_ns() < until_ns)
		dumbbell_sleep_until(ktime_get_ns() + LOOK_EVERY_NS);
}

void dumbbell_end_programs(void)
{
	unsigned long flags;

	await_ends(LAST_WORDS_NS);
	local_irq_save(flags);
	dumbbell_ending();
	local_irq_restore(flags);
	signal_all(SIGTERM);
	await_ends(GRACE_NS);
	signal_all(SIGKILL);
	await_ends(GRACE_NS);
}

const char *dumbbell_current(void)
{
	return current->mm ? current->comm : "";
}
