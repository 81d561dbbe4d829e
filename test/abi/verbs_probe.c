/* SPDX-License-Identifier: MIT */
/*
 * Calls every function that <rdma/rdma_verbs.h> has a body of, on a device that
 * only writes down what it is asked, and prints that. test/abi/rdma-headers
 * compiles it with ours and with stock's header and compares; what only ours can
 * survive is under QPATTR_RDMA_VERBS_H and ends with the number of failures.
 */
#include <stdio.h>

#include <rdma/rdma_verbs.h>

#undef ibv_reg_mr

static int answer;	 /* what the next verb returns */
static int polls[8];	 /* what the next polls return */
static int polled;
static int events;	 /* what ibv_get_cq_event() returns */
static struct ibv_cq send_cq, recv_cq, other_cq;
static struct ibv_comp_channel send_channel, recv_channel;
static struct ibv_cq *woken;
static struct rdma_cm_id id;
static struct ibv_mr mr;
/* With room on both sides, to point out of bounds. */
static char room[3 * 64];
static char *const buffer = room + 64;
enum { buffer_len_bytes = 64 };

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	printf("  reg pd %d addr %d length %zu access %#x\n", pd == id.pd, addr == (void *)buffer,
	       length, (unsigned)access);
	return answer ? NULL : &mr;
}

/* What the macro calls where the compiler cannot tell that access is a constant. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	printf("  iova %d", iova == (uintptr_t)addr);
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *region)
{
	printf("  dereg %d\n", region == &mr);
	return answer;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	printf("  get event of %s\n", channel == &send_channel ? "send" : "receive");
	*cq = woken ? woken : channel == &send_channel ? &send_cq : &recv_cq;
	*context = &id;
	return events;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	printf("  ack %u of %s\n", count,
	       cq == &send_cq ? "send" : cq == &recv_cq ? "receive" : "other");
}

static void print_list(uint64_t wr_id, const void *next, const struct ibv_sge *sgl, int count)
{
	printf(" id %#llx next %d:", (unsigned long long)wr_id, next != NULL);
	for (int i = 0; i < count; i++)
		printf(" [%lld %u %#x]",
		       sgl[i].addr ? (long long)(sgl[i].addr - (uintptr_t)buffer) : -1,
		       sgl[i].length, sgl[i].lkey);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)bad;
	printf("  send qp %d opcode %d flags %#x", qp == id.qp, (int)wr->opcode, wr->send_flags);
	print_list(wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	if (qp->qp_type == IBV_QPT_UD)
		printf(" ah %p qpn %u qkey %#x\n", (void *)wr->wr.ud.ah, wr->wr.ud.remote_qpn,
		       wr->wr.ud.remote_qkey);
	else if (wr->opcode != IBV_WR_SEND)
		printf(" remote %#llx %#x\n", (unsigned long long)wr->wr.rdma.remote_addr,
		       wr->wr.rdma.rkey);
	else
		printf("\n");
	return answer;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)bad;
	printf("  receive qp %d", qp == id.qp);
	print_list(wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	printf("\n");
	return answer;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)bad;
	printf("  srq %d", srq == id.srq);
	print_list(wr->wr_id, wr->next, wr->sg_list, wr->num_sge);
	printf("\n");
	return answer;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	printf("  poll %d of %s into %d\n", count, cq == &send_cq ? "send" : "receive", wc != NULL);
	return polls[polled++];
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	printf("  arm %s %d\n", cq == &send_cq ? "send" : "receive", solicited);
	return answer;
}

/* One call, what it did, its result; errno where it failed. */
#define CALL(call)                                                                                 \
	do {                                                                                       \
		printf("%s, answer %d\n", #call, answer);                                          \
		errno = 4242;                                                                      \
		long result = (long)(call);                                                        \
		printf("  = %ld errno %d\n", result, errno);                                       \
	} while (0)
#define REGION(call) CALL((call) == &mr)
#define POLLS(...)                                                                                 \
	do {                                                                                       \
		const int list[8] = {__VA_ARGS__};                                                 \
		memcpy(polls, list, sizeof(polls));                                                \
		polled = 0;                                                                        \
	} while (0)

static void completions(void)
{
	struct ibv_wc wc;

	POLLS(1);
	CALL(rdma_get_send_comp(&id, &wc));
	POLLS(0, 1);
	CALL(rdma_get_send_comp(&id, &wc));
	POLLS(0, 0, 0, 0, 1);
	CALL(rdma_get_send_comp(&id, &wc));
	POLLS(0, 0, 1);
	CALL(rdma_get_recv_comp(&id, &wc));
	POLLS(-5);
	CALL(rdma_get_recv_comp(&id, &wc));
	POLLS(0, -5);
	CALL(rdma_get_recv_comp(&id, &wc));
	POLLS(0, 0);
	events = -1;
	CALL(rdma_get_send_comp(&id, &wc));
	events = 0;
	POLLS(0);
	answer = 12;
	CALL(rdma_get_send_comp(&id, &wc));
	answer = 0;
}

static void posts(void)
{
	void *context = (void *)(uintptr_t)0xc0ffee;
	struct ibv_sge list[2] = {
		{.addr = (uintptr_t)buffer, .length = 5, .lkey = 7},
		{.addr = (uintptr_t)buffer + 9, .length = 3, .lkey = 8},
	};

	CALL(rdma_post_recvv(&id, context, list, 2));
	CALL(rdma_post_recv(&id, context, buffer, 64, &mr));
	CALL(rdma_post_recv(&id, context, buffer + 64, 0, &mr));
	CALL(rdma_post_recv(&id, NULL, buffer + 3, 61, &mr));
	CALL(rdma_post_sendv(&id, context, list, 2, IBV_SEND_SIGNALED));
	CALL(rdma_post_sendv(&id, context, NULL, 0, 0));
	CALL(rdma_post_send(&id, context, buffer + 1, 6, &mr, IBV_SEND_FENCE));
	CALL(rdma_post_send(&id, context, buffer + 1, 6, NULL, IBV_SEND_INLINE));
	CALL(rdma_post_send(&id, NULL, NULL, 0, NULL, -1));
	CALL(rdma_post_readv(&id, context, list, 2, IBV_SEND_SIGNALED, 0x123456789abcULL, 99));
	CALL(rdma_post_read(&id, context, buffer, 4, &mr, 0, ~0ULL, ~0U));
	CALL(rdma_post_writev(&id, context, list, 1, IBV_SEND_SIGNALED, 0x123456789abcULL, 99));
	CALL(rdma_post_write(&id, context, buffer, 4, &mr, IBV_SEND_SOLICITED, 1, 2));
	CALL(rdma_post_write(&id, context, buffer, 4, NULL, IBV_SEND_INLINE, 1, 2));
	CALL(rdma_post_write(&id, context, buffer, 0xffffffffUL, NULL, 0, 1, 2));
}

#ifdef QPATTR_RDMA_VERBS_H
static int failures;

/* A call that must fail with EINVAL and must not reach the device. */
#define REFUSED(call)                                                                              \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((intptr_t)(call) > 0 || errno != EINVAL) {                                     \
			printf("not refused: %s\n", #call);                                        \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

static void refusals(void)
{
	struct rdma_cm_id empty;
	struct ibv_wc wc;

	memset(&empty, 0, sizeof(empty));
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_id *none = i ? &empty : NULL;

		REFUSED(rdma_reg_msgs(none, buffer, 1));
		REFUSED(rdma_reg_read(none, buffer, 1));
		REFUSED(rdma_reg_write(none, buffer, 1));
		REFUSED(rdma_post_recvv(none, NULL, NULL, 0));
		REFUSED(rdma_post_recv(none, NULL, buffer, 1, &mr));
		REFUSED(rdma_post_sendv(none, NULL, NULL, 0, 0));
		REFUSED(rdma_post_send(none, NULL, buffer, 1, &mr, 0));
		REFUSED(rdma_post_read(none, NULL, buffer, 1, &mr, 0, 0, 0));
		REFUSED(rdma_post_readv(none, NULL, NULL, 0, 0, 0, 0));
		REFUSED(rdma_post_write(none, NULL, buffer, 1, &mr, 0, 0, 0));
		REFUSED(rdma_post_writev(none, NULL, NULL, 0, 0, 0, 0));
		REFUSED(rdma_post_ud_send(none, NULL, buffer, 1, &mr, 0, (struct ibv_ah *)&id, 1));
		REFUSED(rdma_get_send_comp(none, &wc));
		REFUSED(rdma_get_recv_comp(none, &wc));
	}
	REFUSED(rdma_dereg_mr(NULL));
	REFUSED(rdma_post_recv(&id, NULL, buffer, 1, NULL));
	REFUSED(rdma_post_read(&id, NULL, buffer, 1, NULL, 0, 0, 0));
	REFUSED(rdma_post_ud_send(&id, NULL, buffer, 1, &mr, 0, NULL, 1));
	REFUSED(rdma_get_send_comp(&id, NULL));
	REFUSED(rdma_post_send(&id, NULL, buffer, (size_t)1 << 32, &mr, 0));
	POLLS(0, 0);
	woken = &other_cq;
	REFUSED(rdma_get_send_comp(&id, &wc));
	woken = NULL;
#ifdef NDEBUG
	answer = EINVAL; /* stock posts it; the device says what it thinks of it */
#endif
	REFUSED(rdma_post_recv(&id, NULL, buffer - 1, 1, &mr));
	REFUSED(rdma_post_recv(&id, NULL, buffer, 65, &mr));
	REFUSED(rdma_post_recv(&id, NULL, buffer + 65, 0, &mr));
	REFUSED(rdma_post_recv(&id, NULL, buffer + 64, 1, &mr));
}
#endif

int main(void)
{
	static struct ibv_context context = {
		.ops = {.poll_cq = poll_cq, .req_notify_cq = req_notify_cq,
			.post_srq_recv = post_srq_recv, .post_send = post_send,
			.post_recv = post_recv}};
	static struct ibv_pd pd = {.context = &context};
	static struct ibv_qp qp = {.context = &context, .qp_type = IBV_QPT_RC};
	static struct ibv_srq srq = {.context = &context};

	send_cq.context = recv_cq.context = other_cq.context = &context;
	mr.addr = buffer;
	mr.length = buffer_len_bytes;
	mr.lkey = 0xabcd;
	id.pd = &pd;
	id.qp = &qp;
	id.send_cq = &send_cq;
	id.recv_cq = &recv_cq;
	id.send_cq_channel = &send_channel;
	id.recv_cq_channel = &recv_channel;

	CALL(rdma_seterrno(0));
	CALL(rdma_seterrno(22));
	CALL(rdma_get_local_addr(&id) == &id.route.addr.src_addr);
	CALL(rdma_get_peer_addr(&id) == &id.route.addr.dst_addr);
	for (answer = 0; answer < 13; answer += 12) {
		REGION(rdma_reg_msgs(&id, buffer, 10));
		REGION(rdma_reg_read(&id, buffer, 11));
		REGION(rdma_reg_write(&id, buffer, 0));
		CALL(rdma_dereg_mr(&mr));
		posts();
		id.srq = &srq;
		CALL(rdma_post_recv(&id, NULL, buffer, 64, &mr));
		id.srq = NULL;
		qp.qp_type = IBV_QPT_UD;
		CALL(rdma_post_ud_send(&id, (void *)(uintptr_t)3, buffer, 9, &mr, 2,
				       (struct ibv_ah *)(uintptr_t)0xaa, 77));
		CALL(rdma_post_ud_send(&id, NULL, buffer, 9, NULL, 8,
				       (struct ibv_ah *)(uintptr_t)0xaa, 77));
		qp.qp_type = IBV_QPT_RC;
	}
	answer = 0;
	completions();
	fflush(stdout);
#ifdef QPATTR_RDMA_VERBS_H
	/* Not to be compared. */
	if (!freopen("/dev/stderr", "w", stdout))
		return 1;
	refusals();
	return failures > 0;
#else
	return 0;
#endif
}
