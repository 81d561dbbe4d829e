/* SPDX-License-Identifier: MIT */
#include "test/bench/cm/listener.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/bench/cm/common.h"

static pid_t child;

/* Accepts what comes, until it is killed; writes its port to fd. */
static _Noreturn void serve(struct sockaddr_in address, int fd)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener;
	struct rdma_cm_event *event;
	uint16_t port;

	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) || rdma_listen(listener, 16))
		die("listener");
	port = rdma_get_src_port(listener);
	if (write(fd, &port, sizeof port) != sizeof port)
		die("port");
	while (!rdma_get_cm_event(channel, &event)) {
		struct rdma_cm_id *const id = event->id;
		const enum rdma_cm_event_type type = event->event;
		struct rdma_conn_param param = {.qp_num = 1};

		/* An id that is not accepted yet has no event of its own. */
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			static struct ibv_pd *pd;
			static struct ibv_cq *cq;
			struct ibv_qp_init_attr qp;

			if (!pd && (!(pd = ibv_alloc_pd(id->verbs)) ||
				    !(cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0))))
				die("listener's queues");
			qp = small_qp(cq);
			if (rdma_create_qp(id, pd, &qp) || rdma_accept(id, &param))
				die("accept");
		}
		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_DISCONNECTED) {
			rdma_disconnect(id);
			rdma_destroy_qp(id);
			rdma_destroy_id(id);
		}
	}
	die("listener's events");
}

in_port_t listener_start(struct sockaddr_in address)
{
	in_port_t port;
	int ends[2];

	if (pipe(ends))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(address, ends[1]);
	}
	if (read(ends[0], &port, sizeof port) != sizeof port)
		die("the listener's port");
	close(ends[0]);
	close(ends[1]);
	return port;
}

void listener_stop(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
