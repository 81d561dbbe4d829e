/* SPDX-License-Identifier: MIT */
/* The smallest user of qpattr.h: what an embedded stack compiles and links. */
#include <qpattr/qpattr.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	struct ibv_qp_attr attr;
	int mask = 1234;
	enum qpattr_stage stage;

	memset(&attr, 0, sizeof attr);
	if (qpattr_query(-1, 0, IBV_QPS_INIT, &attr, &mask) != -1 || errno != EBADF || mask != 1234)
		return 1;
	if (qpattr_device_open("/nonexistent", &stage) != -1 || stage != QPATTR_STAGE_NODE)
		return 2;
	if (strcmp(qpattr_version(), QPATTR_VERSION) != 0)
		return 3;
	printf("qpattr %s: %s\n", qpattr_version(), qpattr_stage_name(stage));
	return 0;
}
