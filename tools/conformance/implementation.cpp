// SPDX-License-Identifier: MIT
#include "tools/conformance/implementation.hpp"

#include <dlfcn.h>

#include "tools/resolved.hpp"

namespace conformance {
namespace {

implementation take(const std::string &path, int flags)
{
	void *handle = ::dlopen(path.c_str(), flags);
	if (!handle)
		throw std::runtime_error(::dlerror());
	void *found = ::dlsym(handle, "rdma_init_qp_attr");
	Dl_info info;
	if (!found || ::dladdr(found, &info) == 0)
		throw std::runtime_error("no rdma_init_qp_attr in " + path);
	// The handle stays open as long as the process lives.
	return {reinterpret_cast<init_qp_attr_fn *>(found), qpattr::resolved_or(info.dli_fname, info.dli_fname)};
}

std::string base_name(const std::string &path)
{
	return path.substr(path.rfind('/') + 1);
}

} // namespace

implementation stock_implementation()
{
	return take("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY);
}

implementation object_implementation(const std::string &path)
{
	return take(qpattr::resolved_or(path, path), RTLD_LOCAL | RTLD_NOW);
}

std::string mixed_up(const implementation &stock, const implementation &ours,
		     const std::string &ours_path)
{
	if (stock.function == ours.function)
		return "both are one function, in " + ours.object;
	if (!base_name(stock.object).starts_with("librdmacm.so.1"))
		return "stock lives in " + stock.object;
	if (ours.object != qpattr::resolved_or(ours_path, ours_path))
		return "ours lives in " + ours.object;
	return {};
}

} // namespace conformance
