/* SPDX-License-Identifier: MIT */
/* A program's first id that gets a device when the process cannot open what it could
 * open when the channel was made: no descriptor is left, or the root is another one. */
#define _GNU_SOURCE /* unshare() */
#include "../programs/check.h"
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { hogs = 128 };

static int bind_one(struct rdma_event_channel *channel)
{
	struct sockaddr_in here = machine_address(0);
	struct rdma_cm_id *id;
	int code;

	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	code = rdma_bind_addr(id, (struct sockaddr *)&here) ? errno : 0;
	MUST(rdma_destroy_id(id));
	return code;
}

static void without_descriptors(void)
{
	const struct rlimit few = {hogs, hogs};
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	int taken[hogs], count = 0, fd, code;

	MUST(setrlimit(RLIMIT_NOFILE, &few));
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		taken[count++] = fd;
	code = bind_one(channel);
	check(code == ENODEV, "no descriptor is left for the first device: ENODEV", "%s", strerror(code));
	while (count)
		close(taken[--count]);
	code = bind_one(channel);
	check(!code, "and when there are some again it is found", "%s", strerror(code));
	rdma_destroy_event_channel(channel);
}

/* Only the device nodes and sysfs are there, none of libibverbs' own files. */
static void in_another_root(void)
{
	struct rdma_event_channel *channel = HAVE(rdma_create_event_channel());
	char root[] = "/dev/shm/rootXXXXXX";
	int code;

	/* What is mounted goes with the process, whose device stays open. */
	MUST(unshare(CLONE_NEWNS));
	MUST(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	HAVE(mkdtemp(root));
	MUST(chdir(root));
	MUST(mkdir("dev", 0755));
	MUST(mkdir("sys", 0755));
	MUST(mount("/dev", "dev", NULL, MS_BIND, NULL));
	MUST(mount("/sys", "sys", NULL, MS_BIND, NULL));
	MUST(chroot("."));
	code = bind_one(channel);
	check(!code, "a device is found after chroot", "%s", strerror(code));
	rdma_destroy_event_channel(channel);
}

/* In a process of its own: libibverbs is started once in each. */
static void alone(void (*body)(void))
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (!child) {
		body();
		_exit(check_status());
	}
	waitpid(child, &status, 0);
	check(WIFEXITED(status), "its process ends by itself", "status %#x", status);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_prefix("late: ");
	alone(without_descriptors);
	alone(in_another_root);
	return check_status();
}
