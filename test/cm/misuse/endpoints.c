/* SPDX-License-Identifier: MIT */
/* rdma_create_ep and rdma_destroy_ep. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <stdlib.h>
#include <string.h>

enum wrong {
	NOTHING,
	ID_NULL,
	RESULT_NULL,
	RESULT_ZERO,
	PORT_SPACE_99,
	QP_TYPE_99,
	FAMILY_99,
	NO_DESTINATION,
	NO_SOURCE,
	DESTINATION_FAMILY_99,
	DESTINATION_FOREIGN,
	SOURCE_FOREIGN,
	ROUTE_LENGTH,
	CONNECT_LENGTH,
	ATTR_ZERO,
	ATTR_TYPE_UD,
	ATTR_TYPE_99,
	ATTR_TOO_LARGE,
	PD_WITHOUT_ATTR,
	PD_FOREIGN,
	UD_ATTR_RC,
	WRONGS
};

static const char *const names[WRONGS] = {
	[NOTHING] = "good",
	[ID_NULL] = "id NULL",
	[RESULT_NULL] = "result NULL",
	[RESULT_ZERO] = "result all zero",
	[PORT_SPACE_99] = "port space 99",
	[QP_TYPE_99] = "qp type 99 in result",
	[FAMILY_99] = "family 99 in result",
	[NO_DESTINATION] = "destination NULL",
	[NO_SOURCE] = "source NULL",
	[DESTINATION_FAMILY_99] = "destination of family 99",
	[DESTINATION_FOREIGN] = "destination that has no route",
	[SOURCE_FOREIGN] = "source of nobody",
	[ROUTE_LENGTH] = "route length without route",
	[CONNECT_LENGTH] = "connect length without data",
	[ATTR_ZERO] = "qp attributes all zero",
	[ATTR_TYPE_UD] = "qp attributes of a UD qp for RC",
	[ATTR_TYPE_99] = "qp type 99 in attributes",
	[ATTR_TOO_LARGE] = "qp larger than the device can",
	[PD_WITHOUT_ATTR] = "pd without qp attributes",
	[PD_FOREIGN] = "pd of another context",
	[UD_ATTR_RC] = "qp attributes of an RC qp for UD",
};

/* A pd of the same device, opened by ourselves. */
static struct ibv_pd *foreign_pd(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context;
	struct ibv_pd *pd;

	MUST(devices && devices[0]);
	MUST(context = ibv_open_device(devices[0]));
	MUST(pd = ibv_alloc_pd(context));
	return pd;
}

/* What the call is given. */
struct given {
	struct rdma_addrinfo *result, zero;
	struct sockaddr_in address;
	struct ibv_qp_init_attr attr;
	struct ibv_pd *pd;
};

static void prepare(struct given *given, enum wrong wrong, bool passive)
{
	struct rdma_addrinfo hints, *result = NULL;

	memset(given, 0, sizeof(*given));
	memset(&hints, 0, sizeof(hints));
	hints.ai_flags = passive ? RAI_PASSIVE : 0;
	hints.ai_port_space = wrong == UD_ATTR_RC ? RDMA_PS_UDP : RDMA_PS_TCP;
	MUST(!rdma_getaddrinfo(getenv("QPATTR_VM_IPV4"), passive ? "0" : "7471", &hints, &result));
	given->result = result;
	good_qp_attr(&given->attr, IBV_QPT_RC);
	given->address.sin_family = wrong == DESTINATION_FAMILY_99 ? 99 : AF_INET;
	given->address.sin_addr.s_addr = htonl(0xc0000201);
	switch (wrong) {
	case RESULT_NULL:
		given->result = NULL;
		break;
	case RESULT_ZERO:
		given->result = &given->zero;
		break;
	case PORT_SPACE_99:
		result->ai_port_space = 99;
		break;
	case QP_TYPE_99:
		result->ai_qp_type = 99;
		break;
	case FAMILY_99:
		result->ai_family = 99;
		break;
	case NO_DESTINATION:
		result->ai_dst_addr = NULL;
		break;
	case NO_SOURCE:
		result->ai_src_addr = NULL;
		break;
	case DESTINATION_FAMILY_99:
	case DESTINATION_FOREIGN:
		result->ai_dst_addr = (struct sockaddr *)&given->address;
		break;
	case SOURCE_FOREIGN:
		result->ai_src_addr = (struct sockaddr *)&given->address;
		result->ai_src_len = sizeof(given->address);
		break;
	case ROUTE_LENGTH:
		result->ai_route_len = 72;
		break;
	case CONNECT_LENGTH:
		result->ai_connect_len = 56;
		break;
	case ATTR_ZERO:
		memset(&given->attr, 0, sizeof(given->attr));
		break;
	case ATTR_TYPE_UD:
		given->attr.qp_type = IBV_QPT_UD;
		break;
	case ATTR_TYPE_99:
		given->attr.qp_type = 99;
		break;
	case ATTR_TOO_LARGE:
		given->attr.cap.max_send_wr = 1 << 30;
		break;
	case PD_WITHOUT_ATTR:
	case PD_FOREIGN:
		given->pd = foreign_pd();
		break;
	default:
		break;
	}
}

/* a: what is wrong, b: passive, c: attributes given. */
static void create(const struct misuse *self)
{
	struct rdma_cm_id *id;
	struct given given;

	prepare(&given, self->a, self->b);
	output_fill(&id, sizeof(id));
	TRY(rdma_create_ep(self->a == ID_NULL ? NULL : &id, given.result, given.pd, self->c ? &given.attr : NULL));
	output_check(&id, sizeof(id));
}

/* A request for an endpoint whose QPs cannot be made. a: what is wrong. */
static void request(const struct misuse *self)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *active, *id;
	struct rdma_conn_param param;
	struct given given;

	MUST(channel);
	prepare(&given, self->a, true);
	MUST(!rdma_create_ep(&listener, given.result, given.pd, &given.attr));
	MUST(!rdma_listen(listener, 1));
	MUST(!rdma_create_id(channel, &active, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(active, NULL, address_ipv4(ntohs(rdma_get_src_port(listener))), 2000));
	scene_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_resolve_route(active, 2000));
	scene_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	good_conn_param(&param);
	MUST(!rdma_connect(active, &param));
	output_fill(&id, sizeof(id));
	TRY(rdma_get_request(listener, &id));
	output_check(&id, sizeof(id));
	attempt_note("peer", scene_next_event(channel, 1000));
}

static void destroy_with_qp(const struct misuse *self)
{
	struct setting setting = { self->a, RDMA_PS_TCP, true, self->b };
	struct scene scene;

	scene_set(&scene, &setting);
	TRY_VOID(rdma_destroy_ep(scene.id));
}

void cases_of_endpoints(struct misuse_list *list)
{
	for (int passive = 0; passive < 2; passive++)
		for (int wrong = NOTHING; wrong < WRONGS; wrong++)
			for (int attr = 0; attr < 2; attr++) {
				struct misuse *added;

				/* About the attributes: only with them; all else in both ways for the active side. */
				if ((wrong >= ATTR_ZERO && !attr && wrong != PD_WITHOUT_ATTR) || (wrong == PD_WITHOUT_ATTR && attr))
					continue;
				added = misuse_add(list, "rdma_create_ep", create, "%s, %s%s", passive ? "passive" : "active",
						   names[wrong], attr && wrong < ATTR_ZERO ? ", with qp" : "");
				added->a = wrong;
				added->b = passive;
				added->c = attr;
			}
	static const int later[] = { NOTHING, ATTR_ZERO, ATTR_TYPE_UD, ATTR_TYPE_99, ATTR_TOO_LARGE, PD_FOREIGN };
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		misuse_add(list, "rdma_get_request", request, "of an endpoint, %s", names[later[i]])->a = later[i];
	for (int sync = 0; sync < 2; sync++) {
		struct misuse *added = misuse_add(list, "rdma_destroy_ep", destroy_with_qp, "%sestablished, with qp",
						  sync ? "sync, " : "");
		added->a = ESTABLISHED;
		added->b = sync;
	}
}
