/* SPDX-License-Identifier: MIT */
/* slow_receiver server|client ADDRESS PORT COUNT: messages to a receiver that is not
 * ready for the next one at once, so that it answers with RNR NAKs. The client prints
 * how long they took, in seconds. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { patience_s = 120, not_ready_us = 2000 };

static void must_succeed(struct end *self)
{
	const int status = next_status(self, patience_s);

	if (status != IBV_WC_SUCCESS) {
		fprintf(stderr, "slow_receiver: %s\n",
			status < 0 ? "no completion came" : ibv_wc_status_str((enum ibv_wc_status)status));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static struct end self;
	const int server = argc == 5 && !strcmp(argv[1], "server");
	const int count = argc == 5 ? atoi(argv[4]) : 0;
	double start;

	if (count <= 0)
		return 2;
	if (server)
		be_called(&self, argv[2], argv[3]);
	else
		call_peer(&self, argv[2], argv[3]);
	start = now_s();
	for (int i = 0; i < count; i++) {
		if (!server)
			post_send(&self);
		must_succeed(&self);
		if (server && i + 1 < count) {
			usleep(not_ready_us);
			post_receive(&self);
		}
	}
	if (!server)
		printf("%.3f\n", now_s() - start);
	return 0;
}
