// SPDX-License-Identifier: MIT
#include "lib/preload/stock.hpp"

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace qpattr::preload {
namespace {

template <class Fn> void look_up(Fn *&fn, void *scope, const char *name) noexcept
{
	fn = reinterpret_cast<Fn *>(::dlsym(scope, name));
}

bool is_librdmacm(const char *path) noexcept
{
	constexpr const char *prefix = "librdmacm";
	const char *const slash = std::strrchr(path, '/');
	return std::strncmp(slash ? slash + 1 : path, prefix, std::strlen(prefix)) == 0;
}

} // namespace

stock::stock(const char *path) noexcept
	: library_{::dlopen(path ? path : "librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY)}
{
	if (path && !library_)
		return;
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

const char *librdmacm_of(const void *code) noexcept
{
	Dl_info object;
	return ::dladdr(code, &object) && object.dli_fname && is_librdmacm(object.dli_fname)
		       ? object.dli_fname
		       : nullptr;
}

copies::copies() noexcept
{
	const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (maps < 0)
		return;
	char text[4096];
	std::size_t kept = 0;
	for (;;) {
		const ssize_t got = ::read(maps, text + kept, sizeof text - kept);
		if (got <= 0)
			break;
		const std::size_t len = kept + static_cast<std::size_t>(got);
		char *line = text;
		std::size_t left = len;
		while (auto *end = static_cast<char *>(std::memchr(line, '\n', left))) {
			*end = '\0';
			look_at(line);
			left -= static_cast<std::size_t>(end + 1 - line);
			line = end + 1;
		}
		// A line that is longer than all this is nobody's that we know.
		kept = left < sizeof text ? left : 0;
		std::memmove(text, line, kept);
	}
	::close(maps);
}

void copies::look_at(const char *line) noexcept
{
	const char *const path = std::strchr(line, '/');
	if (!path || !is_librdmacm(path))
		return;
	// A file is mapped in several pieces.
	for (std::size_t i = 0; i < count_; ++i)
		if (std::strcmp(paths_[i], path) == 0)
			return;
	const std::size_t len = std::strlen(path);
	if (count_ == copies_max || len >= sizeof paths_[0]) {
		more_ = true;
		return;
	}
	std::memcpy(paths_[count_++], path, len + 1);
}

} // namespace qpattr::preload
