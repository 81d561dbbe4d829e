/* SPDX-License-Identifier: MIT */
/* Wrong parameters for making, taking and refusing connections, and what the
 * other side sees of it. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <limits.h>
#include <string.h>

enum wrong {
	PARAM_NULL,
	LENGTH_WITHOUT_DATA,
	DATA_WITHOUT_LENGTH,
	DATA_MOST,
	DATA_TOO_LONG,
	DATA_255,
	RETRIES,
	RESOURCES_LARGE,
	RESOURCES_MOST,
	QP_NUM_0,
	QP_NUM_WIDE,
	WRONGS
};

static const char *const names[WRONGS] = {
	[PARAM_NULL] = "parameters NULL",
	[LENGTH_WITHOUT_DATA] = "private data NULL with a length",
	[DATA_WITHOUT_LENGTH] = "private data with length 0",
	[DATA_MOST] = "as much private data as fits",
	[DATA_TOO_LONG] = "a byte of private data too much",
	[DATA_255] = "255 bytes of private data",
	[RETRIES] = "retry counts 255",
	[RESOURCES_LARGE] = "more resources than the device has",
	[RESOURCES_MOST] = "resources RDMA_MAX",
	[QP_NUM_0] = "qp number 0",
	[QP_NUM_WIDE] = "qp number of 32 bits",
};

static const unsigned char data[256];

/* b: UD, c: with qp, d: sync. */
static struct setting setting_of(const struct misuse *self, enum stage stage)
{
	struct setting setting = { stage, self->b ? RDMA_PS_UDP : RDMA_PS_TCP, self->c, self->d };

	return setting;
}

static struct rdma_conn_param *wrong_param(struct rdma_conn_param *param, enum wrong wrong, int most)
{
	good_conn_param(param);
	switch (wrong) {
	case PARAM_NULL:
		return NULL;
	case LENGTH_WITHOUT_DATA:
		param->private_data_len = 10;
		break;
	case DATA_WITHOUT_LENGTH:
		param->private_data = data;
		break;
	case DATA_MOST:
	case DATA_TOO_LONG:
	case DATA_255:
		param->private_data = data;
		param->private_data_len = wrong == DATA_255 ? 255 : (uint8_t)(most + (wrong == DATA_TOO_LONG));
		break;
	case RETRIES:
		param->retry_count = param->rnr_retry_count = 255;
		break;
	case RESOURCES_LARGE:
		param->responder_resources = param->initiator_depth = 254;
		break;
	case RESOURCES_MOST:
		param->responder_resources = RDMA_MAX_RESP_RES;
		param->initiator_depth = RDMA_MAX_INIT_DEPTH;
		break;
	case QP_NUM_0:
		param->qp_num = 0;
		break;
	case QP_NUM_WIDE:
		param->qp_num |= 0x7f000000;
		break;
	default:
		break;
	}
	return param;
}

static void connect_wrong(const struct misuse *self)
{
	struct setting setting = setting_of(self, ROUTE);
	struct rdma_conn_param param, *given;
	struct scene scene;

	scene_set(&scene, &setting);
	given = wrong_param(&param, self->a, self->b ? 180 : 56);
	id_remember(scene.id);
	TRY(rdma_connect(scene.id, given));
	id_compare(scene.id);
	attempt_note("peer", scene_next_event(scene.peer_channel, 500));
}

static void accept_wrong(const struct misuse *self)
{
	struct setting setting = setting_of(self, REQUEST);
	struct rdma_conn_param param, *given;
	struct scene scene;

	scene_set(&scene, &setting);
	given = wrong_param(&param, self->a, self->b ? 136 : 196);
	id_remember(scene.id);
	TRY(rdma_accept(scene.id, given));
	id_compare(scene.id);
	attempt_note("peer", scene_next_event(scene.peer_channel, 500));
}

/* The connection survives if a refused call did no harm. */
static void accept_after_wrong(const struct misuse *self)
{
	struct setting setting = setting_of(self, REQUEST);
	struct rdma_conn_param param, *given;
	struct scene scene;

	scene_set(&scene, &setting);
	given = wrong_param(&param, self->a, 196);
	MUST(rdma_accept(scene.id, given));
	good_conn_param(&param);
	TRY(rdma_accept(scene.id, &param));
	attempt_note("peer", scene_next_event(scene.peer_channel, 500));
}

/* a: length, p: not NULL for data, d: rdma_reject_ece. */
static void reject_wrong(const struct misuse *self)
{
	struct setting setting = { REQUEST, self->b ? RDMA_PS_UDP : RDMA_PS_TCP, self->c, false };
	struct scene scene;

	scene_set(&scene, &setting);
	if (self->d)
		TRY(rdma_reject_ece(scene.id, self->p, (uint8_t)self->a));
	else
		TRY(rdma_reject(scene.id, self->p, (uint8_t)self->a));
	attempt_note("peer", scene_next_event(scene.peer_channel, 500));
}

static void listen_wrong(const struct misuse *self)
{
	struct setting setting = { self->b, RDMA_PS_TCP, false, self->c };
	struct scene scene;

	scene_set(&scene, &setting);
	TRY(rdma_listen(scene.id, self->a));
}

static void request_wrong(const struct misuse *self)
{
	struct setting setting = { LISTENING, RDMA_PS_TCP, false, self->a };
	struct scene scene;

	scene_set(&scene, &setting);
	TRY(rdma_get_request(scene.id, NULL));
}

static void add(struct misuse_list *list, const char *function, void (*body)(const struct misuse *), int wrong, int ud,
		int qp)
{
	struct misuse *added = misuse_add(list, function, body, "%s%s, %s", ud ? "UD" : "RC", qp ? " with qp" : "",
					  names[wrong]);

	added->a = wrong;
	added->b = ud;
	added->c = qp;
}

void cases_of_connections(struct misuse_list *list)
{
	static const int lengths[] = { 0, 10, 136, 137, 148, 149, 255 };
	static const int backlogs[] = { 0, 1, -1, INT_MIN, INT_MAX };
	struct misuse *added;

	for (int ud = 0; ud < 2; ud++)
		for (int qp = 0; qp < 2; qp++)
			for (int wrong = 0; wrong < WRONGS; wrong++) {
				add(list, "rdma_connect", connect_wrong, wrong, ud, qp);
				add(list, "rdma_accept", accept_wrong, wrong, ud, qp);
			}
	for (int qp = 0; qp < 2; qp++) {
		added = misuse_add(list, "rdma_accept", accept_after_wrong, "RC%s, good after one with too much private data",
				   qp ? " with qp" : "");
		added->a = DATA_TOO_LONG;
		added->c = qp;
	}
	for (int ece = 0; ece < 2; ece++)
		for (int ud = 0; ud < 2; ud++)
			for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
				for (int null = 0; null < 2; null++) {
					added = misuse_add(list, ece ? "rdma_reject_ece" : "rdma_reject", reject_wrong,
							   "%s, %d bytes of private data%s", ud ? "UD" : "RC", lengths[i],
							   null ? ", NULL" : "");
					added->a = lengths[i];
					added->b = ud;
					added->d = ece;
					added->p = null ? NULL : data;
				}
	for (int sync = 0; sync < 2; sync++)
		for (size_t i = 0; i < sizeof(backlogs) / sizeof(*backlogs); i++) {
			added = misuse_add(list, "rdma_listen", listen_wrong, "%sbacklog %d", sync ? "sync, " : "", backlogs[i]);
			added->a = backlogs[i];
			added->b = BOUND;
			added->c = sync;
		}
	misuse_add(list, "rdma_get_request", request_wrong, "id NULL, async listener");
	misuse_add(list, "rdma_get_request", request_wrong, "id NULL, sync listener")->a = 1;
}
