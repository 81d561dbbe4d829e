/* SPDX-License-Identifier: MIT */
#include "limits.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void stop_at(long number, int all_calls)
{
	const struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)};
	const struct sock_filter one[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = all_calls ? 1 : sizeof one / sizeof *one,
		.filter = (struct sock_filter *)(all_calls ? all : one),
	};

	if (geteuid() != 0)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) {
		perror("injector: a filter of system calls");
		_exit(125);
	}
}

int lowest_free(pid_t program)
{
	char path[64];
	int fd = 0;

	do
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)program, fd);
	while (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) && ++fd);
	return fd;
}

int limit_descriptors(pid_t program, int below)
{
	struct rlimit limit;

	if (prlimit(program, RLIMIT_NOFILE, NULL, &limit))
		return 0;
	limit.rlim_cur = (rlim_t)below;
	return !prlimit(program, RLIMIT_NOFILE, &limit, NULL);
}
