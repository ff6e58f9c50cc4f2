// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The files that programs see: those of the machine below, what is written above in memory, and the directory where they
 * are started as it is. Each host has names and a sysfs of its own.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/init_syscalls.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <uapi/linux/mount.h>
#include "dumbbell_kern.h"

#define PATH_BYTES 64

/* fs/internal.h */
int path_mount(const char *device, struct path *path, const char *type, unsigned long flags, void *data);

static int __init mount_with(const char *type, const char *place, unsigned long flags, const char *options)
{
	/* Linux wants a whole page. */
	char *page = (char *)get_zeroed_page(GFP_KERNEL);
	int error;

	if (!page)
		return -ENOMEM;
	strscpy(page, options, PAGE_SIZE);
	error = init_mount("none", place, type, flags, *options ? page : NULL);
	free_page((unsigned long)page);
	return error;
}

int __init dumbbell_mount_files(const char *directory)
{
	char *place = kasprintf(GFP_KERNEL, "/both%s", directory);
	int error;

	if (!place)
		return -ENOMEM;
	error = init_mkdir("/lower", 0755) ?: init_mkdir("/memory", 0755) ?: init_mkdir("/both", 0755) ?:
		mount_with("hostfs", "/lower", MS_RDONLY, "") ?:
		mount_with("tmpfs", "/memory", 0, "mode=755") ?:
		init_mkdir("/memory/upper", 0755) ?: init_mkdir("/memory/work", 0755) ?:
		mount_with("overlay", "/both", 0, "lowerdir=/lower,upperdir=/memory/upper,workdir=/memory/work") ?:
		mount_with("proc", "/both/proc", 0, "") ?:
		mount_with("sysfs", "/both/sys", 0, "");
	if (!error && directory[1])
		error = mount_with("hostfs", place, 0, directory);
	kfree(place);
	if (error)
		return error;
	/* Not every machine has a place for it, and few programs need it. */
	mount_with("devpts", "/both/dev/pts", 0, "ptmxmode=0666");
	return init_chdir("/both") ?: init_mount(".", "/", NULL, MS_MOVE, NULL) ?: init_chroot(".");
}

static int __init write_file(const char *path, const char *text)
{
	struct file *file = filp_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t written;
	loff_t at = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);
	written = kernel_write(file, text, strlen(text), &at);
	fput(file);
	return written < 0 ? written : 0;
}

/* Writes the names that programs of a host find. */
int __init dumbbell_write_names(unsigned int number, const struct dumbbell_host *host)
{
	char path[PATH_BYTES];
	int error;

	snprintf(path, sizeof(path), DUMBBELL_PLACE "/hosts%u", number);
	error = write_file(path, host->names);
	if (error)
		return error;
	snprintf(path, sizeof(path), DUMBBELL_PLACE "/resolv%u", number);
	return write_file(path, host->resolver);
}

/* Makes what is mounted over, where the machine has none. */
int __init dumbbell_make_place(void)
{
	struct file *file = filp_open("/etc/hosts", O_RDONLY | O_CREAT, 0644);

	if (IS_ERR(file))
		return PTR_ERR(file);
	fput(file);
	return init_mkdir(DUMBBELL_PLACE, 0755);
}

/* Lets one file stand for another in what this thread sees. */
static int bind(const char *format, unsigned int host, const char *place)
{
	char from[PATH_BYTES];
	struct path path;
	int error = kern_path(place, LOOKUP_FOLLOW, &path);

	if (error)
		return error;
	snprintf(from, sizeof(from), format, host);
	error = path_mount(from, &path, NULL, MS_BIND, NULL);
	path_put(&path);
	return error;
}

static int mount_own_sysfs(void)
{
	struct path path;
	int error = kern_path("/sys", LOOKUP_FOLLOW, &path);

	if (error)
		return error;
	error = path_mount("none", &path, "sysfs", 0, NULL);
	path_put(&path);
	return error;
}

int dumbbell_mount_own(unsigned int host)
{
	int error = mount_own_sysfs() ?: bind(DUMBBELL_PLACE "/hosts%u", host, "/etc/hosts");

	/* Without this one no name server is asked either. */
	if (!error)
		bind(DUMBBELL_PLACE "/resolv%u", host, "/etc/resolv.conf");
	return error;
}
