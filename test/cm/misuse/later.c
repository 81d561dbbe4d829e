/* SPDX-License-Identifier: MIT */
/* Functions that librdmacm has since 56 or later: looked up, so that the program
 * links with an older one. */
#include "attempt.h"
#include "case.h"
#include "scene.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int resolve_function(struct rdma_cm_id *, const char *, const char *, const struct rdma_addrinfo *);
typedef int query_function(struct rdma_cm_id *, struct rdma_addrinfo **);
typedef int write_function(struct rdma_cm_id *, enum rdma_cm_event_type, int, uint64_t);

#ifdef MISUSE_HAS_LATER
/* Linked statically, where dlsym does not look. */
resolve_function rdma_resolve_addrinfo;
query_function rdma_query_addrinfo;
write_function rdma_write_cm_event;
#endif

static void *found(const char *name)
{
#ifdef MISUSE_HAS_LATER
	if (!strcmp(name, "rdma_resolve_addrinfo"))
		return (void *)rdma_resolve_addrinfo;
	if (!strcmp(name, "rdma_query_addrinfo"))
		return (void *)rdma_query_addrinfo;
	if (!strcmp(name, "rdma_write_cm_event"))
		return (void *)rdma_write_cm_event;
#endif
	return dlsym(RTLD_DEFAULT, name);
}

static void *look_up(const struct misuse *self)
{
	void *function = found(self->function);

	if (!function) {
		attempt_begin();
		attempt_end_text(NULL);
		attempt_note("function", "absent");
	}
	return function;
}

static struct rdma_cm_id *id_in(const struct misuse *self, struct scene *scene)
{
	struct setting setting = { self->b, RDMA_PS_TCP, false, self->c };

	if (self->a)
		return NULL;
	scene_set(scene, &setting);
	return scene->id;
}

static void resolve(const struct misuse *self)
{
	resolve_function *function = (resolve_function *)look_up(self);
	struct scene scene;

	if (!function)
		return;
	struct rdma_cm_id *id = id_in(self, &scene);
	const char *node = self->d & 1 ? NULL : getenv("QPATTR_VM_IPV4");
	TRY(function(id, node, self->d & 1 ? NULL : "7471", NULL));
}

static void query(const struct misuse *self)
{
	query_function *function = (query_function *)look_up(self);
	struct rdma_addrinfo *info;
	struct scene scene;

	if (!function)
		return;
	struct rdma_cm_id *id = id_in(self, &scene);
	output_fill(&info, sizeof(info));
	TRY(function(id, self->d ? NULL : &info));
	output_check(&info, sizeof(info));
}

static void write_event(const struct misuse *self)
{
	write_function *function = (write_function *)look_up(self);
	struct scene scene;

	if (!function)
		return;
	struct rdma_cm_id *id = id_in(self, &scene);
	TRY(function(id, (enum rdma_cm_event_type)self->d, 0, 1));
}

static void add(struct misuse_list *list, const char *function, void (*body)(const struct misuse *), const char *name,
		int null, int stage, int sync, int d)
{
	struct misuse *added = misuse_add(list, function, body, "%s", name);

	added->a = null;
	added->b = stage;
	added->c = sync;
	added->d = d;
}

void cases_of_later(struct misuse_list *list)
{
	add(list, "rdma_resolve_addrinfo", resolve, "id NULL", 1, 0, 0, 0);
	add(list, "rdma_resolve_addrinfo", resolve, "created", 0, CREATED, 0, 0);
	add(list, "rdma_resolve_addrinfo", resolve, "bound to device", 0, BOUND, 0, 0);
	add(list, "rdma_resolve_addrinfo", resolve, "sync", 0, CREATED, 1, 0);
	add(list, "rdma_resolve_addrinfo", resolve, "node and service NULL", 0, CREATED, 0, 1);
	add(list, "rdma_query_addrinfo", query, "id NULL", 1, 0, 0, 0);
	add(list, "rdma_query_addrinfo", query, "created", 0, CREATED, 0, 0);
	add(list, "rdma_query_addrinfo", query, "address resolved", 0, ADDR, 0, 0);
	add(list, "rdma_query_addrinfo", query, "result NULL", 0, ADDR, 0, 1);
	/* 18 is the user's event. */
	add(list, "rdma_write_cm_event", write_event, "id NULL", 1, 0, 0, 18);
	add(list, "rdma_write_cm_event", write_event, "user's event, created", 0, CREATED, 0, 18);
	add(list, "rdma_write_cm_event", write_event, "kernel's event, created", 0, CREATED, 0, 0);
	add(list, "rdma_write_cm_event", write_event, "event 99, created", 0, CREATED, 0, 99);
}
