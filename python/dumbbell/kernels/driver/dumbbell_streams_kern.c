// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The standard streams of programs: devices that lead to the library. */
#include <linux/cdev.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/init_syscalls.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "dumbbell_kern.h"

/* Standard input, output and errors. */
#define STREAMS 3
/* What is written at a time. */
#define STREAM_BYTES 65536
#define PATH_BYTES 64

static int open_stream(struct inode *inode, struct file *file)
{
	file->private_data = (void *)(unsigned long)iminor(inode);
	return stream_open(inode, file);
}

static ssize_t write_stream(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	unsigned int minor = (unsigned long)file->private_data;
	unsigned int length = min_t(size_t, bytes, STREAM_BYTES);
	unsigned long flags;
	void *buffer;
	long written;

	if (!length)
		return 0;
	buffer = memdup_user(from, length);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	local_irq_save(flags);
	written = dumbbell_write(minor / STREAMS, minor % STREAMS, buffer, length);
	local_irq_restore(flags);
	kfree(buffer);
	if (written == -EPIPE)
		send_sig(SIGPIPE, current, 0);
	return written;
}

static ssize_t read_stream(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	unsigned int minor = (unsigned long)file->private_data;
	unsigned int length = min_t(size_t, bytes, STREAM_BYTES);
	unsigned long flags;
	void *buffer;
	long got;

	if (!length)
		return 0;
	buffer = kmalloc(length, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	local_irq_save(flags);
	got = dumbbell_read(minor / STREAMS, buffer, length);
	local_irq_restore(flags);
	if (got > 0 && copy_to_user(to, buffer, got))
		got = -EFAULT;
	kfree(buffer);
	return got;
}

static const struct file_operations streams = {
	.owner = THIS_MODULE,
	.open = open_stream,
	.read = read_stream,
	.write = write_stream,
};

int __init dumbbell_make_streams(unsigned int programs)
{
	int major = register_chrdev(0, "dumbbell", &streams);
	unsigned int minor;
	char path[PATH_BYTES];
	int error = min(major, 0);

	for (minor = 0; minor < STREAMS * programs && !error; minor++) {
		snprintf(path, sizeof(path), DUMBBELL_PLACE "/%u", minor);
		error = init_mknod(path, S_IFCHR | 0666, new_encode_dev(MKDEV(major, minor)));
	}
	return error;
}

int dumbbell_open_streams(unsigned int program)
{
	char path[PATH_BYTES];
	unsigned int i;
	int error = 0;

	for (i = 0; i < STREAMS && error >= 0; i++) {
		struct file *file;

		snprintf(path, sizeof(path), DUMBBELL_PLACE "/%u", STREAMS * program + i);
		file = filp_open(path, i ? O_WRONLY : O_RDONLY, 0);
		if (IS_ERR(file))
			return PTR_ERR(file);
		error = replace_fd(i, file, 0);
		fput(file);
	}
	return min(error, 0);
}
