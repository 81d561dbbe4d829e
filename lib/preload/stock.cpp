// SPDX-License-Identifier: MIT
#include "lib/preload/stock.hpp"

#include <dlfcn.h>

namespace qpattr::preload {
namespace {

template <class Fn> void look_up(Fn *&fn, void *scope, const char *name) noexcept
{
	fn = reinterpret_cast<Fn *>(::dlsym(scope, name));
}

} // namespace

stock::stock() noexcept
	: library_{::dlopen("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY)}
{
	// A null handle would mean the global scope from its start, ourselves
	// included; RTLD_NEXT starts behind us.
	void *const scope = library_ ? library_ : RTLD_NEXT;
	look_up(init_qp_attr, scope, "rdma_init_qp_attr");
	look_up(create_id, scope, "rdma_create_id");
	look_up(destroy_id, scope, "rdma_destroy_id");
}

stock::~stock()
{
	if (library_)
		::dlclose(library_);
}

} // namespace qpattr::preload
