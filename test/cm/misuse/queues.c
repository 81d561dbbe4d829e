/* SPDX-License-Identifier: MIT */
/* Wrong arguments for QPs and SRQs. */
#include "attempt.h"
#include "calls.h"
#include "case.h"
#include "scene.h"

#include <string.h>

enum wrong {
	ATTR_NULL,
	ATTR_ZERO,
	TYPE_OTHER,
	TYPE_99,
	TYPE_UC,
	TOO_MANY,
	TOO_MANY_SGE,
	PD_FOREIGN,
	PD_ZERO,
	CQ_FOREIGN,
	SRQ_FOREIGN,
	MASK_UNKNOWN,
	PD_IN_MASK_NULL,
	WRONGS
};

static const char *const names[WRONGS] = {
	[ATTR_NULL] = "attributes NULL",
	[ATTR_ZERO] = "attributes all zero",
	[TYPE_OTHER] = "the other qp type",
	[TYPE_99] = "qp type 99",
	[TYPE_UC] = "qp type UC",
	[TOO_MANY] = "more requests than the device can",
	[TOO_MANY_SGE] = "more elements than the device can",
	[PD_FOREIGN] = "pd of another context",
	[PD_ZERO] = "pd of no context",
	[CQ_FOREIGN] = "cq of another context",
	[SRQ_FOREIGN] = "srq of another context",
	[MASK_UNKNOWN] = "unknown bits in the mask",
	[PD_IN_MASK_NULL] = "pd in the mask, NULL",
};

static struct ibv_context *other_context(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context;

	MUST(devices && devices[0]);
	MUST(context = ibv_open_device(devices[0]));
	return context;
}

static struct ibv_pd *wrong_pd(enum wrong wrong)
{
	static struct ibv_pd zero;
	struct ibv_pd *pd = NULL;

	if (wrong == PD_ZERO)
		return &zero;
	if (wrong == PD_FOREIGN)
		MUST(pd = ibv_alloc_pd(other_context()));
	return pd;
}

/* a: what is wrong, b: UD, c: the _ex form. */
static void create_qp(const struct misuse *self)
{
	enum wrong wrong = self->a;
	struct setting setting = { ADDR, self->b ? RDMA_PS_UDP : RDMA_PS_TCP, false, false };
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	enum ibv_qp_type type = self->b ? IBV_QPT_UD : IBV_QPT_RC;
	struct ibv_qp_init_attr_ex attr;
	struct ibv_qp_init_attr *plain = (struct ibv_qp_init_attr *)&attr;
	struct scene scene;

	scene_set(&scene, &setting);
	memset(&attr, 0, sizeof(attr));
	good_qp_attr(plain, type);
	if (wrong == ATTR_ZERO)
		memset(&attr, 0, sizeof(attr));
	else if (wrong == TYPE_OTHER)
		attr.qp_type = self->b ? IBV_QPT_RC : IBV_QPT_UD;
	else if (wrong == TYPE_99)
		attr.qp_type = 99;
	else if (wrong == TYPE_UC)
		attr.qp_type = IBV_QPT_UC;
	else if (wrong == TOO_MANY)
		attr.cap.max_send_wr = 1 << 30;
	else if (wrong == TOO_MANY_SGE)
		attr.cap.max_recv_sge = 1 << 20;
	else if (wrong == CQ_FOREIGN)
		MUST(attr.send_cq = attr.recv_cq = ibv_create_cq(other_context(), 4, NULL, NULL, 0));
	else if (wrong == SRQ_FOREIGN)
		MUST(attr.srq = ibv_create_srq(ibv_alloc_pd(other_context()), &srq_attr));
	else if (wrong == MASK_UNKNOWN)
		attr.comp_mask = 0x80000000;
	else if (wrong == PD_IN_MASK_NULL)
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	if (self->c && (wrong == PD_FOREIGN || wrong == PD_ZERO)) {
		attr.comp_mask = IBV_QP_INIT_ATTR_PD;
		attr.pd = wrong_pd(wrong);
	}
	struct ibv_pd *pd = self->c ? NULL : wrong_pd(wrong);
	id_remember(scene.id);
	if (self->c)
		TRY(rdma_create_qp_ex(scene.id, wrong == ATTR_NULL ? NULL : &attr));
	else
		TRY(rdma_create_qp(scene.id, pd, wrong == ATTR_NULL ? NULL : plain));
	id_compare(scene.id);
}

enum srq_wrong {
	SRQ_ATTR_NULL,
	SRQ_ATTR_ZERO,
	SRQ_TOO_MANY,
	SRQ_PD_FOREIGN,
	SRQ_PD_ZERO,
	SRQ_MASK_0,
	SRQ_MASK_UNKNOWN,
	SRQ_TYPE_99,
	SRQ_TYPE_XRC,
	SRQ_WRONGS
};

static const char *const srq_names[SRQ_WRONGS] = {
	[SRQ_ATTR_NULL] = "attributes NULL",
	[SRQ_ATTR_ZERO] = "attributes all zero",
	[SRQ_TOO_MANY] = "more requests than the device can",
	[SRQ_PD_FOREIGN] = "pd of another context",
	[SRQ_PD_ZERO] = "pd of no context",
	[SRQ_MASK_0] = "mask 0",
	[SRQ_MASK_UNKNOWN] = "unknown bits in the mask",
	[SRQ_TYPE_99] = "srq type 99",
	[SRQ_TYPE_XRC] = "srq type XRC without a domain",
};

static void create_srq(const struct misuse *self)
{
	static const struct setting setting = { ADDR, RDMA_PS_TCP, false, false };
	enum srq_wrong wrong = self->a;
	struct ibv_srq_init_attr plain = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq_init_attr_ex attr;
	struct ibv_pd *pd = wrong_pd(wrong == SRQ_PD_FOREIGN ? PD_FOREIGN : wrong == SRQ_PD_ZERO ? PD_ZERO : ATTR_NULL);
	struct scene scene;

	scene_set(&scene, &setting);
	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = attr.attr.max_sge = 1;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	attr.srq_type = IBV_SRQT_BASIC;
	if (wrong == SRQ_ATTR_ZERO) {
		memset(&attr, 0, sizeof(attr));
		memset(&plain, 0, sizeof(plain));
	} else if (wrong == SRQ_TOO_MANY) {
		attr.attr.max_wr = plain.attr.max_wr = 1 << 30;
	} else if (wrong == SRQ_MASK_0) {
		attr.comp_mask = 0;
	} else if (wrong == SRQ_MASK_UNKNOWN) {
		attr.comp_mask |= 0x80000000;
	} else if (wrong == SRQ_TYPE_99) {
		attr.srq_type = 99;
	} else if (wrong == SRQ_TYPE_XRC) {
		attr.srq_type = IBV_SRQT_XRC;
	}
	if (pd) {
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_PD;
		attr.pd = pd;
	}
	id_remember(scene.id);
	if (self->b)
		TRY(rdma_create_srq_ex(scene.id, wrong == SRQ_ATTR_NULL ? NULL : &attr));
	else
		TRY(rdma_create_srq(scene.id, pd, wrong == SRQ_ATTR_NULL ? NULL : &plain));
	id_compare(scene.id);
}

void cases_of_queues(struct misuse_list *list)
{
	for (int ex = 0; ex < 2; ex++)
		for (int ud = 0; ud < 2; ud++)
			for (int wrong = 0; wrong < WRONGS; wrong++) {
				struct misuse *added;

				if (!ex && (wrong == MASK_UNKNOWN || wrong == PD_IN_MASK_NULL))
					continue;
				added = misuse_add(list, ex ? "rdma_create_qp_ex" : "rdma_create_qp", create_qp, "%s, %s",
						   ud ? "UD" : "RC", names[wrong]);
				added->a = wrong;
				added->b = ud;
				added->c = ex;
			}
	for (int ex = 0; ex < 2; ex++)
		for (int wrong = 0; wrong < SRQ_WRONGS; wrong++) {
			struct misuse *added;

			if (!ex && wrong >= SRQ_MASK_0)
				continue;
			added = misuse_add(list, ex ? "rdma_create_srq_ex" : "rdma_create_srq", create_srq, "%s",
					   srq_names[wrong]);
			added->a = wrong;
			added->b = ex;
		}
}
