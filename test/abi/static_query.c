/* SPDX-License-Identifier: MIT */
/* A program that asks by descriptor and handle and does nothing else: how big is it? */
#include <qpattr/qpattr.h>

int main(int argc, char **argv)
{
	struct ibv_qp_attr attr;
	int mask;

	(void)argv;
	return qpattr_query(argc, 0, IBV_QPS_INIT, &attr, &mask) != -1;
}
