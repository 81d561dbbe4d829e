/* SPDX-License-Identifier: MIT */
/*
 * fork, exec and a change of credentials: the kernel lets nobody else use a channel.
 * What a child says with QPATTR_DEBUG=1 is counted.
 */
#include "../programs/check.h"
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ends it;

static int denied(int result) { return result == -1 && errno == EACCES; }

/* Each of them in a state in which the parent could have made it. */
static void calls_of_the_child(struct rdma_cm_id *idle, struct rdma_cm_id *spare)
{
	struct sockaddr_in here = machine_address(0);
	struct rdma_conn_param param = foreign_param();
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct rdma_event_channel *own;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	uint8_t tos = 8;
	int mask;

#define DENIED(call) check(denied(call), "in a child " #call " is EACCES", "it is not")
	DENIED(rdma_create_id(it.at_active, &id, NULL, RDMA_PS_TCP));
	DENIED(rdma_bind_addr(idle, (struct sockaddr *)&here));
	DENIED(rdma_resolve_addr(idle, NULL, (struct sockaddr *)&here, 1000));
	DENIED(rdma_listen(idle, 1));
	DENIED(rdma_resolve_route(it.active, 1000));
	DENIED(rdma_connect(it.active, &param));
	DENIED(rdma_init_qp_attr(it.active, &attr, &mask));
	DENIED(rdma_set_option(it.active, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos));
	DENIED(rdma_notify(it.active, IBV_EVENT_COMM_EST));
	DENIED(rdma_accept(it.passive, &param));
	DENIED(rdma_reject(it.passive, NULL, 0));
	DENIED(rdma_disconnect(it.active));
	DENIED(rdma_get_cm_event(it.at_active, &event));
	own = HAVE(rdma_create_event_channel());
	DENIED(rdma_destroy_id(it.listener));
	/* The command goes to the channel that it moves to. */
	check(!rdma_migrate_id(spare, own) && !rdma_bind_addr(spare, (struct sockaddr *)&here),
	      "a child may take an id over, by rdma_migrate_id to a channel of its own", "it cannot");
	check(!rdma_create_id(own, &id, NULL, RDMA_PS_TCP) &&
		      !rdma_bind_addr(id, (struct sockaddr *)&here) && id->verbs && !rdma_listen(id, 1) &&
		      !rdma_destroy_id(id),
	      "in a child a channel of its own works", "it does not");
}

/* The child's standard error comes here. */
static void in_a_child(void)
{
	struct rdma_cm_id *idle, *spare;
	char said[20000] = "";
	size_t len = 0;
	int lines = 0, status, pipe_[2];
	pid_t child;

	MUST(rdma_create_id(it.at_active, &idle, NULL, RDMA_PS_TCP));
	MUST(rdma_create_id(it.at_active, &spare, NULL, RDMA_PS_TCP));
	MUST(pipe(pipe_));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		dup2(pipe_[1], STDERR_FILENO);
		setenv("QPATTR_DEBUG", "1", 1);
		calls_of_the_child(idle, spare);
		fflush(stdout);
		_exit(check_status());
	}
	close(pipe_[1]);
	for (ssize_t got; len < sizeof said - 1 &&
			  (got = read(pipe_[0], said + len, sizeof said - 1 - len)) > 0;)
		len += (size_t)got;
	close(pipe_[0]);
	waitpid(child, &status, 0);
	check(status == 0, "all is refused in a child as documented", "its status is %d", status);
	for (char *at = said; (at = strstr(at, "before a fork, an exec or a change of credentials")); at++)
		lines++;
	check(lines >= 14, "with QPATTR_DEBUG=1 each refused call says why", "%d line(s):\n%s", lines, said);
	check(!rdma_destroy_id(idle), "the parent's ids are unharmed by the child", "one is not");
}

/* The descriptor's copy in a child keeps what the parent ended. */
static void kept_by_a_child(void)
{
	struct ends kept;
	int stop[2];
	pid_t child;

	ends_listen(&kept);
	ends_route(&kept);
	ends_request(&kept);
	ends_response(&kept);
	ends_establish(&kept);
	MUST(pipe(stop));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		char byte;

		close(stop[1]);
		_exit(read(stop[0], &byte, 1) != 0);
	}
	close(stop[0]);
	/* As the end of the process would. */
	rdma_destroy_event_channel(kept.at_passive);
	check(!next_event(kept.at_active, 1500),
	      "a connection lives as long as a child has the channel's descriptor", "its peer heard of an end");
	close(stop[1]);
	waitpid(child, NULL, 0);
	check(event_is(kept.at_active, RDMA_CM_EVENT_DISCONNECTED, NULL),
	      "it ends with the last copy of the descriptor", "its peer did not hear of it");
	MUST(rdma_destroy_id(kept.active));
	rdma_destroy_event_channel(kept.at_active);
}

static void after_exec(const char *self)
{
	char fd[20];
	int status;
	pid_t child;

	snprintf(fd, sizeof fd, "%d", it.at_active->fd);
	check(fcntl(it.at_active->fd, F_GETFD) & FD_CLOEXEC, "the descriptor of a channel is close-on-exec",
	      "it is not");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		execl(self, self, fd, (char *)NULL);
		_exit(2);
	}
	waitpid(child, &status, 0);
	check(status == 0, "a program that is started does not have it", "status %d", status);
}

static void after_new_credentials(void)
{
	struct sockaddr_in here = machine_address(0);
	struct rdma_event_channel *again;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	MUST(setgid(getgid()));
	check(denied(rdma_get_cm_event(it.at_active, &event)) &&
		      denied(rdma_create_id(it.at_active, &id, NULL, RDMA_PS_TCP)) &&
		      denied(rdma_disconnect(it.active)),
	      "after a change of credentials a channel is EACCES", "it is not");
	again = HAVE(rdma_create_event_channel());
	check(!rdma_create_id(again, &id, NULL, RDMA_PS_TCP) &&
		      !rdma_bind_addr(id, (struct sockaddr *)&here) && !rdma_destroy_id(id),
	      "a channel that is opened after it works", "it does not");
	rdma_destroy_event_channel(again);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1) /* exec'ed: status 0 if the descriptor is gone */
		return fcntl(atoi(argv[1]), F_GETFD) != -1;
	check_prefix("forked: ");
	ends_listen(&it);
	ends_route(&it);
	ends_request(&it);
	in_a_child();
	ends_response(&it);
	ends_establish(&it);
	check(1, "the parent's connection is made after a child's attempts and end", " ");
	kept_by_a_child();
	after_exec("/proc/self/exe");
	after_new_credentials();
	return check_status();
}
