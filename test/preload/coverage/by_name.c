/* SPDX-License-Identifier: MIT */
/*
 * by_name MODE [FILE]: a program that is not linked with librdmacm and gets at it
 * while it runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "test/preload/coverage/ask.h"

/* More than there are namespaces. */
enum { often = 40 };

static const char *missing;

static void *look_up(void *scope, const char *name)
{
	void *found = dlsym(scope, name);

	if (!found)
		missing = dlerror();
	return found;
}

/* A null handle is a scope too. */
static void *opened(void *handle)
{
	if (!handle)
		missing = dlerror();
	return handle;
}

static const char *by_handle(void *scope, const char *version, int errno_is_ours)
{
	struct functions f;

#define LOOK_UP(member, name) f.member = (__typeof__(f.member))look_up(scope, name)
	if (missing)
		return missing;
	LOOK_UP(create_channel, "rdma_create_event_channel");
	LOOK_UP(destroy_channel, "rdma_destroy_event_channel");
	LOOK_UP(create_id, "rdma_create_id");
	LOOK_UP(destroy_id, "rdma_destroy_id");
	LOOK_UP(bind_addr, "rdma_bind_addr");
	LOOK_UP(create_qp, "rdma_create_qp");
	LOOK_UP(destroy_qp, "rdma_destroy_qp");
	LOOK_UP(init_qp_attr, "rdma_init_qp_attr");
	if (version)
		f.init_qp_attr = (__typeof__(f.init_qp_attr))dlvsym(scope, "rdma_init_qp_attr",
								    version);
	if (missing || !f.init_qp_attr)
		return missing ? missing : "the version is missing";
	return ask(&f, errno_is_ours);
}

static const char *by_plugin(void *plugin)
{
	const char *(*plugin_ask)(void);

	if (!plugin)
		return missing;
	plugin_ask = (const char *(*)(void))look_up(plugin, "plugin_ask");
	return plugin_ask ? plugin_ask() : missing;
}

/*
 * A namespace that is closed can be had again, or there are soon no more. (Where
 * the device is found, a driver stays that holds it; so nothing is asked of the
 * device here, but of a descriptor that there is not.)
 */
static const char *many_namespaces(const char *file)
{
	static struct {
		struct rdma_cm_id id;
		char unknown[1024];
	} shut;
	struct rdma_event_channel channel = {.fd = -1};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int i, mask;

	shut.id.channel = &channel;
	for (i = 0; i < often; ++i) {
		__typeof__(&rdma_init_qp_attr) function = NULL;
		void *handle = opened(dlmopen(LM_ID_NEWLM, file, RTLD_NOW));

		if (handle)
			function = (__typeof__(function))look_up(handle, "rdma_init_qp_attr");
		if (missing)
			return missing;
		if (function(&shut.id, &attr, &mask) != -1)
			return "a descriptor that there is not is asked";
		if (dlclose(handle))
			return dlerror();
	}
	return NULL;
}

/* Two librdmacm: each is asked, and its own QP made. */
static const char *two(const char *copy, int first_first)
{
	void *first = opened(dlopen("librdmacm.so.1", RTLD_NOW)), *second = NULL;
	const char *wrong;

	if (!first_first)
		second = opened(dlopen(copy, RTLD_NOW));
	wrong = by_handle(first, NULL, 1);
	if (wrong)
		return wrong;
	if (first_first)
		second = opened(dlopen(copy, RTLD_NOW));
	if (second == first)
		return "they are one";
	return by_handle(second, NULL, 1);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : "";
	const char *const stock = "librdmacm.so.1";
	const char *wrong = "no such mode";

	if (!strcmp(mode, "dlsym"))
		wrong = by_handle(opened(dlopen(stock, RTLD_NOW)), NULL, 1);
	else if (!strcmp(mode, "dlvsym"))
		wrong = by_handle(opened(dlopen(stock, RTLD_NOW)), "RDMACM_1.2", 1);
	else if (!strcmp(mode, "default"))
		wrong = opened(dlopen(stock, RTLD_NOW | RTLD_GLOBAL)) ? by_handle(RTLD_DEFAULT, NULL, 1) : missing;
	else if (!strcmp(mode, "plugin"))
		wrong = by_plugin(opened(dlopen(file, RTLD_LAZY | RTLD_LOCAL)));
	else if (!strcmp(mode, "deepbind"))
		wrong = by_plugin(opened(dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)));
	else if (!strcmp(mode, "dlmopen"))
		wrong = by_plugin(opened(dlmopen(LM_ID_NEWLM, file, RTLD_LAZY)));
	else if (!strcmp(mode, "dlmopen-elsewhere"))
		wrong = chdir("/") ? "no other directory"
				   : by_plugin(opened(dlmopen(LM_ID_NEWLM, file, RTLD_LAZY)));
	else if (!strcmp(mode, "dlmopen-dlsym"))
		wrong = by_handle(opened(dlmopen(LM_ID_NEWLM, stock, RTLD_LAZY)), NULL, 0);
	else if (!strcmp(mode, "dlmopen-often"))
		wrong = many_namespaces(stock);
	else if (!strcmp(mode, "other"))
		wrong = by_handle(opened(dlopen(file, RTLD_NOW)), NULL, 1);
	else if (!strcmp(mode, "two"))
		wrong = two(file, 0);
	else if (!strcmp(mode, "second-later"))
		wrong = two(file, 1);
	return verdict(wrong);
}
