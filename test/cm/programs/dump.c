/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "dump.h"

#include <endian.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "party.h"

enum { lines_most = 96, line_bytes = 240 };

struct snapshot {
	const void *of;
	int count;
	char lines[lines_most][line_bytes];
};

static struct snapshot snapshots[16];
static const char *party_name = "";
static int whole;

void dump_party(const char *party) { party_name = party; }
void dump_all(void) { whole = 1; }

void dump_step(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	printf("%s: ", party_name);
	vprintf(format, list);
	printf("\n");
	va_end(list);
}

static void put(struct snapshot *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct snapshot *s, const char *format, ...)
{
	va_list list;

	if (s->count == lines_most)
		die("lines_most is too small");
	va_start(list, format);
	vsnprintf(s->lines[s->count++], line_bytes, format, list);
	va_end(list);
}

/* --- parts of an id ------------------------------------------------------ */

static void put_address(struct snapshot *s, const char *name, const struct sockaddr_storage *address)
{
	const struct sockaddr *plain = (const struct sockaddr *)address;
	socklen_t used = address_length(plain);

	put(s, "route.addr.%s = %s", name, address_text(plain).s);
	put(s, "route.addr.%s, the rest = %s", name, bytes_text((const char *)address + used, sizeof *address - used).s);
}

static void put_path(struct snapshot *s, const struct ibv_sa_path_rec *path, int number)
{
	put(s, "path_rec[%d] dgid = %s", number, gid_text(&path->dgid).s);
	put(s, "path_rec[%d] sgid = %s", number, gid_text(&path->sgid).s);
	put(s, "path_rec[%d] dlid %s slid %s raw_traffic %d flow_label %s hop_limit %u traffic_class %u", number,
		/* With RoCE, bytes of the link's address. */
		path->dlid ? "set" : "0", path->slid ? "set" : "0", path->raw_traffic, path->flow_label ? "set" : "0", path->hop_limit, path->traffic_class);
	put(s, "path_rec[%d] reversible %d numb_path %u pkey %#x sl %u preference %u", number, path->reversible, path->numb_path,
		be16toh(path->pkey), path->sl, path->preference);
	put(s, "path_rec[%d] mtu %u/%u rate %u/%u packet_life_time %u/%u", number, path->mtu_selector, path->mtu, path->rate_selector,
		path->rate, path->packet_life_time_selector, path->packet_life_time);
}

static void put_ah(struct snapshot *s, const char *name, const struct ibv_ah_attr *ah)
{
	put(s, "%s dgid %s sgid_index %u hop_limit %u traffic_class %u flow_label %s", name, gid_text(&ah->grh.dgid).s, ah->grh.sgid_index,
		ah->grh.hop_limit, ah->grh.traffic_class, ah->grh.flow_label ? "set" : "0");
	put(s, "%s dlid %u sl %u src_path_bits %u static_rate %u is_global %u port_num %u", name, ah->dlid, ah->sl, ah->src_path_bits,
		ah->static_rate, ah->is_global, ah->port_num);
}

static void put_cq(struct snapshot *s, const char *name, const struct ibv_cq *cq, const struct rdma_cm_id *id)
{
	if (cq)
		put(s, "%s cqe %d cq_context %s channel %s", name, cq->cqe, pointer_text(cq->cq_context).s,
			!cq->channel ? "null"
			: cq->channel == id->send_cq_channel ? "send_cq_channel"
			: cq->channel == id->recv_cq_channel ? "recv_cq_channel"
							     : "other");
}

static void put_qp(struct snapshot *s, struct rdma_cm_id *id)
{
	struct ibv_qp *qp = id->qp;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	put(s, "qp.state %d qp_type %d qp_context %s pd %s srq %s qp_num %s", qp->state, qp->qp_type, pointer_text(qp->qp_context).s,
		qp->pd == id->pd ? "the id's" : pointer_text(qp->pd).s, qp->srq == id->srq ? "the id's" : pointer_text(qp->srq).s,
		symbol("qpn", qp->qp_num).s);
	put(s, "qp.send_cq %s recv_cq %s", qp->send_cq == id->send_cq ? "the id's" : pointer_text(qp->send_cq).s,
		qp->recv_cq == id->recv_cq ? "the id's" : pointer_text(qp->recv_cq).s);
	memset(&attr, 0, sizeof attr);
	memset(&init, 0, sizeof init);
	if (ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CAP | IBV_QP_AV, &init)) {
		put(s, "query_qp fails");
		return;
	}
	put(s, "query_qp state %d access %#x pkey_index %u port %u qkey %#x path_mtu %d", attr.qp_state, attr.qp_access_flags, attr.pkey_index,
		attr.port_num, attr.qkey, attr.path_mtu);
	put(s, "query_qp dest %s rq_psn %s sq_psn %s rd_atomic %u/%u rnr_timer %u timeout %u retry %u rnr_retry %u",
		symbol("qpn", attr.dest_qp_num).s, symbol("psn", attr.rq_psn).s, symbol("psn", attr.sq_psn).s, attr.max_rd_atomic,
		attr.max_dest_rd_atomic, attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry);
	put(s, "query_qp cap %u %u %u %u %u sq_sig_all %d", attr.cap.max_send_wr, attr.cap.max_recv_wr, attr.cap.max_send_sge,
		attr.cap.max_recv_sge, attr.cap.max_inline_data, init.sq_sig_all);
	if (qp->qp_type != IBV_QPT_UD)
		put_ah(s, "query_qp ah", &attr.ah_attr);
}

static void put_attributes(struct snapshot *s, struct rdma_cm_id *id)
{
	static const struct {
		enum ibv_qp_state state;
		const char *name;
	} states[] = {{IBV_QPS_INIT, "INIT"}, {IBV_QPS_RTR, "RTR"}, {IBV_QPS_RTS, "RTS"}};

	for (int i = 0; i < 3; i++) {
		struct ibv_qp_attr attr;
		int mask = 0, result;

		memset(&attr, 0, sizeof attr);
		attr.qp_state = states[i].state;
		errno = 0;
		result = rdma_init_qp_attr(id, &attr, &mask);
		put(s, "init_qp_attr %s %s mask %#x access %#x port %u rd_atomic %u/%u timeout %u retry %u rnr_retry %u mtu %d tc %u",
			states[i].name, result_text(result, errno).s, mask, attr.qp_access_flags, attr.port_num, attr.max_rd_atomic,
			attr.max_dest_rd_atomic, attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.path_mtu, attr.ah_attr.grh.traffic_class);
	}
}

/* --- an event ------------------------------------------------------------ */

static void put_event(struct snapshot *s, const struct rdma_cm_event *event, int is_ud)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	const struct rdma_ud_param *ud = &event->param.ud;

	put(s, "event %d %s status %d id %s listen_id %s", event->event, rdma_event_str(event->event), event->status,
		pointer_text(event->id).s, pointer_text(event->listen_id).s);
	if (is_ud) {
		put(s, "event ud private_data %s len %u: %s", pointer_text(ud->private_data).s, ud->private_data_len,
			ud->private_data ? bytes_text(ud->private_data, ud->private_data_len).s : "");
		put_ah(s, "event ud ah", &ud->ah_attr);
		put(s, "event ud qp_num %s qkey %#x", ud->qp_num == 0xffffff ? "0xffffff" : symbol("qpn", ud->qp_num).s, ud->qkey);
		return;
	}
	put(s, "event conn private_data %s len %u: %s", pointer_text(conn->private_data).s, conn->private_data_len,
		conn->private_data ? bytes_text(conn->private_data, conn->private_data_len).s : "");
	put(s, "event conn responder_resources %u initiator_depth %u flow_control %u retry_count %u rnr_retry_count %u srq %u qp_num %s",
		conn->responder_resources, conn->initiator_depth, conn->flow_control, conn->retry_count, conn->rnr_retry_count, conn->srq,
		symbol("qpn", conn->qp_num).s);
}

void dump_event(const struct rdma_cm_event *event, int is_ud)
{
	static struct snapshot s;

	s.count = 0;
	put_event(&s, event, is_ud);
	for (int i = 0; i < s.count; i++)
		printf("    %s\n", s.lines[i]);
}

/* --- an id --------------------------------------------------------------- */

static void put_id(struct snapshot *s, struct rdma_cm_id *id)
{
	struct ibv_ece ece = {0};
	int result;

	put(s, "verbs %s", pointer_text(id->verbs).s);
	put(s, "channel %s", pointer_text(id->channel).s);
	put(s, "context %s", pointer_text(id->context).s);
	put(s, "ps %#x", id->ps);
	put(s, "qp_type %d", id->qp_type);
	put(s, "port_num %u", id->port_num);
	put(s, "pd %s", pointer_text(id->pd).s);
	put(s, "qp %s", pointer_text(id->qp).s);
	put(s, "srq %s", pointer_text(id->srq).s);
	put(s, "send_cq %s channel %s", pointer_text(id->send_cq).s, pointer_text(id->send_cq_channel).s);
	put(s, "recv_cq %s channel %s", pointer_text(id->recv_cq).s, pointer_text(id->recv_cq_channel).s);
	if (id->send_cq && id->send_cq == id->recv_cq)
		put(s, "send_cq is recv_cq");
	if (id->send_cq_channel && id->send_cq_channel == id->recv_cq_channel)
		put(s, "send_cq_channel is recv_cq_channel");
	put_address(s, "src", &id->route.addr.src_storage);
	put_address(s, "dst", &id->route.addr.dst_storage);
	put(s, "ibaddr sgid %s dgid %s pkey %#x", gid_text(&id->route.addr.addr.ibaddr.sgid).s, gid_text(&id->route.addr.addr.ibaddr.dgid).s,
		be16toh(id->route.addr.addr.ibaddr.pkey));
	put(s, "num_paths %d path_rec %s", id->route.num_paths, pointer_text(id->route.path_rec).s);
	for (int i = 0; id->route.path_rec && i < id->route.num_paths; i++)
		put_path(s, &id->route.path_rec[i], i);
	put(s, "rdma_get_src_port %s dst_port %s", symbol_port(ntohs(rdma_get_src_port(id))).s, symbol_port(ntohs(rdma_get_dst_port(id))).s);
	put(s, "rdma_get_local_addr %s", address_text(rdma_get_local_addr(id)).s);
	put(s, "rdma_get_peer_addr %s", address_text(rdma_get_peer_addr(id)).s);
	result = rdma_get_remote_ece(id, &ece);
	put(s, "rdma_get_remote_ece %s", result_text(result, errno).s);
	put(s, "remote ece vendor_id %#x options %#x comp_mask %#x", ece.vendor_id, ece.options, ece.comp_mask);
	put_cq(s, "send_cq", id->send_cq, id);
	put_cq(s, "recv_cq", id->recv_cq, id);
	if (id->qp)
		put_qp(s, id);
	put_attributes(s, id);
	put(s, "the id's event %s", pointer_text(id->event).s);
	/* Of an id without a channel; it is acknowledged and freed by the next call. */
	if (id->event)
		put_event(s, id->event, id->qp_type == IBV_QPT_UD);
}

static struct snapshot *snapshot_of(const struct rdma_cm_id *id)
{
	struct snapshot *empty = NULL;

	for (int i = 0; i < 16; i++) {
		if (snapshots[i].of == id)
			return &snapshots[i];
		if (!snapshots[i].of)
			empty = &snapshots[i];
	}
	if (!empty)
		die("more ids than snapshots");
	empty->of = id;
	empty->count = 0;
	return empty;
}

void dump_forget(const struct rdma_cm_id *id)
{
	pointer_forget(id);
	for (int i = 0; i < 16; i++)
		if (snapshots[i].of == id)
			snapshots[i].of = NULL;
}

/* Most often at the place where it is now. */
static int has_line(const struct snapshot *s, const char *line, int likely)
{
	if (likely < s->count && !strcmp(s->lines[likely], line))
		return 1;
	for (int i = 0; i < s->count; i++)
		if (!strcmp(s->lines[i], line))
			return 1;
	return 0;
}

void dump_settled(struct rdma_cm_id *id, const char *name)
{
	struct pollfd poll_for = {.fd = id->channel->fd, .events = POLLIN};

	poll(&poll_for, 1, 1000);
	dump_id(id, name);
}

void dump_id(struct rdma_cm_id *id, const char *name)
{
	static struct snapshot now;
	struct snapshot *before;

	if (!id) {
		printf("    %s: null\n", name);
		return;
	}
	pointer_name(id, name);
	before = snapshot_of(id);
	now.of = id;
	now.count = 0;
	put_id(&now, id);
	for (int i = 0; i < now.count; i++)
		if (whole || !has_line(before, now.lines[i], i))
			printf("    %s: %s\n", name, now.lines[i]);
	*before = now;
}

void dump_addrinfo(const struct rdma_addrinfo *info)
{
	for (; info; info = info->ai_next) {
		printf("    ai_flags %#x ai_family %d ai_qp_type %d ai_port_space %#x\n", info->ai_flags, info->ai_family, info->ai_qp_type,
			info->ai_port_space);
		printf("    ai_src %u: %s\n", info->ai_src_len, address_text(info->ai_src_addr).s);
		printf("    ai_dst %u: %s\n", info->ai_dst_len, address_text(info->ai_dst_addr).s);
		printf("    ai_src_canonname %s ai_dst_canonname %s\n", info->ai_src_canonname ? info->ai_src_canonname : "null",
			info->ai_dst_canonname ? info->ai_dst_canonname : "null");
		printf("    ai_route_len %zu ai_route %s ai_connect_len %zu ai_connect %s ai_next %s\n", info->ai_route_len,
			info->ai_route ? "set" : "null", info->ai_connect_len, info->ai_connect ? "set" : "null", info->ai_next ? "set" : "null");
	}
}
