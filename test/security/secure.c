/* SPDX-License-Identifier: MIT
 * secure ADDRESS: on a device of that address, has our connection manager refuse something that it tells of with QPATTR_DEBUG=1;
 * says whether the kernel runs it in the secure mode. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(int count, char **words)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	struct rdma_event_channel *const channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (count != 2 || inet_pton(AF_INET, words[1], &at.sin_addr) != 1 || !channel ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&at)) {
		perror("secure");
		return 1;
	}
	/* There is no request: refused before it is sent, and told. */
	const int refused = rdma_accept(id, NULL);
	printf("%s, %s\n", getauxval(AT_SECURE) ? "secure" : "plain", refused ? "refused" : "accepted");
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
