/* SPDX-License-Identifier: MIT */
/* dead_peer server|client ADDRESS PORT: the server destroys its QP and says nothing;
 * the client sends, and prints after how many seconds its QP gave up. */
#include "pair.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { patience_s = 240 };

int main(int argc, char **argv)
{
	static struct end self;
	int status;
	double start;

	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "server")) {
		be_called(&self, argv[2], argv[3]);
		/* The first message tells that the client is there. */
		if (next_status(&self, patience_s) != IBV_WC_SUCCESS)
			return 1;
		/* What it destroys is gone for the device; the id stays, and with it the
		 * connection for the connection manager. */
		rdma_destroy_qp(self.id);
		puts("gone");
		fflush(stdout);
		pause();
	}
	call_peer(&self, argv[2], argv[3]);
	post_send(&self);
	if (next_status(&self, patience_s) != IBV_WC_SUCCESS)
		return 1;
	sleep(1);
	start = now_s();
	post_send(&self);
	status = next_status(&self, patience_s);
	if (status != IBV_WC_RETRY_EXC_ERR) {
		fprintf(stderr, "dead_peer: %s\n",
			status < 0 ? "the QP did not give up" : ibv_wc_status_str((enum ibv_wc_status)status));
		return 1;
	}
	printf("%.3f\n", now_s() - start);
	return 0;
}
