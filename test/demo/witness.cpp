// SPDX-License-Identifier: MIT
// Stands before qpattr's preload object in a real program, and asks both qpattr
// and stock librdmacm at every call of rdma_init_qp_attr:
//
//   LD_PRELOAD="libqpattr-witness.so libqpattr-preload.so" QPATTR_WITNESS=FILE rping ...
//
// Both get the same id, and structs and masks that hold the caller's bytes. The
// program gets qpattr's answer; both answers go to the file (record.hpp), for
// beside to compare. Without QPATTR_WITNESS every call is only passed on.
//
// That qpattr did not simply pass the question on to stock is witnessed too:
// the write(2) by which librdmacm speaks to the kernel is seen and counted.
//
// Lives in other people's C processes: no C++ runtime, as with lib/preload.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "test/demo/record.hpp"

using namespace qpattr::demo;

namespace {

using init_qp_attr_fn = int(rdma_cm_id *, ibv_qp_attr *, int *);
using write_fn = ssize_t(int, const void *, size_t);

constexpr const char *stock_name = "librdmacm.so.1";

template <class Fn> Fn *look_up(void *scope, const char *name)
{
	return reinterpret_cast<Fn *>(::dlsym(scope, name));
}

const char *file_name(const char *path)
{
	const char *const slash = std::strrchr(path, '/');
	return slash ? slash + 1 : path;
}

// Where an address lies: the file of its object; nullptr if in none.
const char *object_of(const void *address, const void **base)
{
	Dl_info found;
	if (!::dladdr(address, &found) || !found.dli_fname)
		return nullptr;
	*base = found.dli_fbase;
	return found.dli_fname;
}

template <std::size_t Len> void copy_text(char (&to)[Len], const char *from)
{
	if (from)
		::memccpy(to, from, '\0', Len - 1);
}

// --- counting stock's commands ---

// Initial-exec: this object is there from the start, and nothing is allocated
// when a thread writes for the first time.
thread_local bool counting [[gnu::tls_model("initial-exec")]] = false;
thread_local std::uint32_t commands [[gnu::tls_model("initial-exec")]] = 0;
std::atomic<const void *> stock_base{nullptr};

// The command's number is its first word.
bool is_init_qp_attr(const void *data, std::size_t len)
{
	constexpr std::uint32_t number = 11;
	return len == 24 && std::memcmp(data, &number, sizeof number) == 0;
}

// --- asking ---

struct question {
	rdma_cm_id *id;
	const ibv_qp_attr *attr;
	int mask;
	int error;
};

answer ask(init_qp_attr_fn *whom, const question &q)
{
	answer out{};
	std::memcpy(&out.attr, q.attr, sizeof out.attr);
	int mask = q.mask;
	commands = 0;
	counting = true;
	errno = q.error;
	out.result = whom(q.id, &out.attr, &mask);
	out.error = errno;
	counting = false;
	out.mask = mask;
	out.stock_commands = commands;
	return out;
}

// --- recording ---

endpoint endpoint_of(const sockaddr *from)
{
	endpoint out{};
	out.family = from->sa_family;
	if (from->sa_family == AF_INET) {
		sockaddr_in in;
		std::memcpy(&in, from, sizeof in);
		out.port = in.sin_port;
		std::memcpy(out.address, &in.sin_addr, sizeof in.sin_addr);
	} else if (from->sa_family == AF_INET6) {
		sockaddr_in6 in;
		std::memcpy(&in, from, sizeof in);
		out.port = in.sin6_port;
		std::memcpy(out.address, &in.sin6_addr, sizeof in.sin6_addr);
	}
	return out;
}

void describe(record &out, const rdma_cm_id &id)
{
	static std::atomic<std::uint32_t> sequence{0};
	timespec now{};
	::clock_gettime(CLOCK_MONOTONIC, &now);
	out.magic = record_magic;
	out.len = sizeof out;
	out.sequence = sequence.fetch_add(1, std::memory_order_relaxed);
	out.time_ns = static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
		      static_cast<std::uint64_t>(now.tv_nsec);
	out.pid = static_cast<std::int32_t>(::getpid());
	out.thread = static_cast<std::int32_t>(::syscall(SYS_gettid));
	copy_text(out.program, program_invocation_short_name);
	copy_text(out.run, ::secure_getenv("QPATTR_WITNESS_RUN"));
	out.id = reinterpret_cast<std::uintptr_t>(&id);
	out.port_space = id.ps;
	out.qp_type = id.qp_type;
	out.port_num = id.port_num;
	if (id.qp)
		out.qp_num = id.qp->qp_num;
	if (id.verbs && id.verbs->device)
		copy_text(out.device, id.verbs->device->name);
	out.source = endpoint_of(&id.route.addr.src_addr);
	out.destination = endpoint_of(&id.route.addr.dst_addr);
}

// Opened each time: no descriptor of ours is left for the program to meet.
void append(const char *path, const record &what)
{
	const int fd = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	// A record that is not there is noticed: sequence numbers have no gap.
	const long written = ::syscall(SYS_write, fd, &what, sizeof what);
	static_cast<void>(written);
	::close(fd);
}

int asked_twice(const char *path, init_qp_attr_fn *ours, rdma_cm_id *id, ibv_qp_attr *attr,
		int *mask, int error)
{
	record out{};
	const question q{id, attr, *mask, error};
	std::memcpy(&out.state, &attr->qp_state, sizeof out.state);
	std::memcpy(&out.before, attr, sizeof out.before);
	out.mask_before = *mask;
	out.error_before = error;

	// Held open while it is asked.
	void *const library = ::dlopen(stock_name, RTLD_NOLOAD | RTLD_LAZY);
	auto *const theirs =
		library ? look_up<init_qp_attr_fn>(library, "rdma_init_qp_attr") : nullptr;
	const void *base = nullptr;
	if (theirs)
		copy_text(out.stock, file_name(object_of(reinterpret_cast<void *>(theirs), &base)));
	stock_base.store(base, std::memory_order_relaxed);
	if (const char *object = object_of(reinterpret_cast<void *>(ours), &base))
		copy_text(out.object, file_name(object));

	out.ours = ask(ours, q);
	if (theirs) {
		out.stock_asked = 1;
		out.theirs = ask(theirs, q);
	}
	if (library)
		::dlclose(library);
	describe(out, *id);
	append(path, out);

	// The program sees what qpattr wrote, all of it.
	std::memcpy(attr, &out.ours.attr, sizeof *attr);
	*mask = out.ours.mask;
	errno = out.ours.error;
	return out.ours.result;
}

} // namespace

extern "C" [[gnu::visibility("default")]] int rdma_init_qp_attr(rdma_cm_id *id, ibv_qp_attr *attr,
								int *mask)
{
	const int error = errno;
	auto *const next = look_up<init_qp_attr_fn>(RTLD_NEXT, "rdma_init_qp_attr");
	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	const char *const path = ::secure_getenv("QPATTR_WITNESS");
	errno = error;
	// Stock crashes on what is missing here, so it is not asked.
	if (!path || !*path || !id || !attr || !mask)
		return next(id, attr, mask);
	return asked_twice(path, next, id, attr, mask, error);
}

extern "C" [[gnu::visibility("default")]] ssize_t write(int fd, const void *data, size_t len)
{
	static std::atomic<write_fn *> next_write{nullptr};
	write_fn *next = next_write.load(std::memory_order_relaxed);
	if (!next) {
		const int error = errno;
		next = look_up<write_fn>(RTLD_NEXT, "write");
		errno = error;
		next_write.store(next, std::memory_order_relaxed);
	}
	if (counting && is_init_qp_attr(data, len)) {
		const int error = errno;
		const void *base = nullptr;
		object_of(__builtin_return_address(0), &base);
		if (base && base == stock_base.load(std::memory_order_relaxed))
			++commands;
		errno = error;
	}
	return next(fd, data, len);
}
