/* SPDX-License-Identifier: MIT */
/*
 * static_main ADDRESS: two processes connect by rdma_cm and send a word each way. It
 * compiles with librdmacm's headers as well, for a comparison of sizes. Without an
 * argument it makes a channel, or not, and ends with 0: a look at whether it starts.
 */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char word[16];

static void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static struct rdma_cm_id *endpoint(const char *address, int flags)
{
	struct rdma_addrinfo hints, *found;
	struct ibv_qp_init_attr queues;
	struct rdma_cm_id *id;

	memset(&hints, 0, sizeof hints);
	hints.ai_flags = RAI_NUMERICHOST | flags;
	hints.ai_port_space = RDMA_PS_TCP;
	need(!rdma_getaddrinfo(address, "7471", &hints, &found), "rdma_getaddrinfo");
	memset(&queues, 0, sizeof queues);
	queues.cap.max_send_wr = queues.cap.max_recv_wr = 4;
	queues.cap.max_send_sge = queues.cap.max_recv_sge = 1;
	queues.sq_sig_all = 1;
	queues.qp_type = IBV_QPT_RC;
	need(!rdma_create_ep(&id, found, NULL, &queues), "rdma_create_ep");
	rdma_freeaddrinfo(found);
	return id;
}

static struct ibv_mr *ready(struct rdma_cm_id *id)
{
	struct ibv_mr *memory = rdma_reg_msgs(id, word, sizeof word);

	need(memory && !rdma_post_recv(id, NULL, word, sizeof word, memory), "rdma_post_recv");
	return memory;
}

static void receive(struct rdma_cm_id *id, const char *wanted)
{
	struct ibv_wc done;

	need(rdma_get_recv_comp(id, &done) == 1 && done.status == IBV_WC_SUCCESS, "rdma_get_recv_comp");
	need(!strcmp(word, wanted), wanted);
}

static void answer(struct rdma_cm_id *id, struct ibv_mr *memory, const char *with)
{
	struct ibv_wc done;

	strcpy(word, with);
	need(!rdma_post_send(id, NULL, word, sizeof word, memory, 0), "rdma_post_send");
	need(rdma_get_send_comp(id, &done) == 1 && done.status == IBV_WC_SUCCESS, "rdma_get_send_comp");
}

static void leave(struct rdma_cm_id *id, struct ibv_mr *memory)
{
	rdma_disconnect(id);
	rdma_dereg_mr(memory);
	rdma_destroy_ep(id);
}

static int client(const char *address)
{
	struct rdma_cm_id *id = endpoint(address, 0);
	struct ibv_mr *memory = ready(id);

	need(!rdma_connect(id, NULL), "rdma_connect");
	/* The word to receive comes after this one was sent, to the same place. */
	answer(id, memory, "question");
	receive(id, "answer");
	leave(id, memory);
	puts("ok - static: the client connected, and its question was answered");
	return 0;
}

static void server(struct rdma_cm_id *listener)
{
	struct ibv_mr *memory;
	struct rdma_cm_id *id;

	need(!rdma_get_request(listener, &id), "rdma_get_request");
	memory = ready(id);
	need(!rdma_accept(id, NULL), "rdma_accept");
	receive(id, "question");
	answer(id, memory, "answer");
	leave(id, memory);
	rdma_destroy_ep(listener);
	puts("ok - static: the server answered");
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	int status, listening[2];
	pid_t child;
	char byte;

#ifdef RDMA_STATIC_PROVIDERS
	/* verbs.h does this in a program's own call of ibv_get_device_list(); here it
	 * is a library that calls that. */
	ibv_static_providers(NULL, _RDMA_STATIC_PREFIX(RDMA_STATIC_PROVIDERS), NULL);
#endif
	if (argc != 2) {
		channel = rdma_create_event_channel();
		if (channel)
			rdma_destroy_event_channel(channel);
		return 0;
	}
	need(!pipe(listening), "pipe");
	child = fork();
	need(child >= 0, "fork");
	if (!child) {
		need(read(listening[0], &byte, 1) == 1, "the server");
		return client(argv[1]);
	}
	close(listening[0]);
	listener = endpoint(argv[1], RAI_PASSIVE);
	need(!rdma_listen(listener, 1), "rdma_listen");
	need(write(listening[1], "", 1) == 1, "write");
	server(listener);
	need(waitpid(child, &status, 0) == child && status == 0, "the client");
	return 0;
}
