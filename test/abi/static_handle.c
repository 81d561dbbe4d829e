/* SPDX-License-Identifier: MIT */
/*
 * static_handle: the part by descriptor and handle, in a program that has any libc
 * under it. "device" as argument: there must be one, and the kernel answers.
 */
#include <qpattr/qpattr.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const int wanted = argc == 2 && !strcmp(argv[1], "device");
	struct ibv_qp_attr attr;
	enum qpattr_stage stage;
	char text[200];
	int fd, mask = 1234;

	memset(&attr, 0, sizeof attr);
	if (qpattr_query(-1, 0, IBV_QPS_INIT, &attr, &mask) != -1 || errno != EBADF || mask != 1234)
		return 1;
	if (qpattr_device_open("/nonexistent", &stage) != -1 || stage != QPATTR_STAGE_NODE)
		return 2;
	attr.timeout = 19;
	if (qpattr_describe(&attr, IBV_QP_TIMEOUT, text, sizeof text) <= 0 || !strstr(text, "2.15 s"))
		return 3;
	fd = qpattr_device_open(NULL, &stage);
	if (fd < 0)
		return wanted ? 4 : 0;
	/* No id has been made on this descriptor: ENOENT is the kernel's own word. */
	if (qpattr_query(fd, 4711, IBV_QPS_INIT, &attr, &mask) != -1 || errno != ENOENT || mask != 1234)
		return 5;
	if (wanted)
		puts("ok - static: the kernel answered a program with another libc");
	return 0;
}
