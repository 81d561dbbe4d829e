// SPDX-License-Identifier: MIT
// lib/preload: the interposed function as a program meets it: who serves a call,
// from the first one on. Over a scripted kernel and a librdmacm of any layout;
// dlopen, dlsym and open are wrapped.
#include "lib/preload/served.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <qpattr/qpattr.h>

#include "test/support/catch.hpp"
#include "test/support/fake_kernel.hpp"
#include "test/support/fake_librdmacm.hpp"

using namespace qpattr;
using test::fake_kernel;
using test::fake_librdmacm;

extern "C" int rdma_init_qp_attr(preload::cm_id *id, ibv_qp_attr *attr, int *mask);

namespace {

constexpr int no_errno = 4711;
fake_librdmacm *loaded = nullptr;   // what dlopen and dlsym find
int device_errno = 0;		    // open of the device fails with it
int fake_library_handle;	    // its address is the handle
// Calls of dlopen that would have loaded librdmacm instead of finding it. A
// count, since Catch2's assertions are for one thread.
std::atomic<int> loads{0};

// A fresh process, as far as the preload object can tell.
struct process {
	explicit process(std::size_t handle_at = 544) : library{600}
	{
		fake_kernel::get().reset();
		if (handle_at)
			library.put_handle(handle_at);
		loaded = &library;
		device_errno = 0;
		preload::handle_place = 0;
		preload::failed_looks = 0;
		channel.fd = fake_kernel::get().open_file();
	}
	~process()
	{
		CHECK(loads == 0);
		loaded = nullptr;
		device_errno = 0;
	}

	preload::cm_id *connected_id(std::uint32_t psn = 0x123456)
	{
		preload::cm_id *id = library.create(&channel);
		REQUIRE(id != nullptr);
		ib_uverbs_qp_attr reply{};
		reply.qp_attr_mask = 0x12e01;
		reply.sq_psn = psn;
		reply.timeout = 19;
		fake_kernel::get().answer(library.handle_of(id), reply);
		return id;
	}

	fake_librdmacm library;
	preload::event_channel channel;
};

struct outputs {
	ibv_qp_attr attr;
	int mask;

	outputs()
	{
		std::memset(&attr, 0xa5, sizeof attr);
		attr.qp_state = IBV_QPS_RTS;
		mask = 0x5a5a5a5a;
	}
	[[nodiscard]] bool untouched() const
	{
		const outputs fresh;
		return std::memcmp(&attr, &fresh.attr, sizeof attr) == 0 && mask == fresh.mask;
	}
};

} // namespace

extern "C" {

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);
int __real_dlclose(void *handle);
int __wrap_dlclose(void *handle);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

void *__wrap_dlopen(const char *name, int flags)
{
	if (name && std::string{name} == "librdmacm.so.1") {
		if (!(flags & RTLD_NOLOAD))
			++loads;
		return loaded ? &fake_library_handle : nullptr;
	}
	return __real_dlopen(name, flags);
}

void *__wrap_dlsym(void *handle, const char *name)
{
	if (handle != &fake_library_handle)
		return __real_dlsym(handle, name);
	const std::string symbol{name};
	const preload::stock &functions = loaded->functions();
	if (symbol == "rdma_create_id")
		return reinterpret_cast<void *>(functions.create_id);
	if (symbol == "rdma_destroy_id")
		return reinterpret_cast<void *>(functions.destroy_id);
	if (symbol == "rdma_init_qp_attr")
		return reinterpret_cast<void *>(functions.init_qp_attr);
	return nullptr;
}

int __wrap_dlclose(void *handle)
{
	if (handle != &fake_library_handle)
		return __real_dlclose(handle);
	errno = ENOEXEC; // as it may
	return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	if (std::string{path} == QPATTR_DEVICE_PATH) {
		if (!device_errno)
			return fake_kernel::get().open_file();
		errno = device_errno;
		return -1;
	}
	return __real_open(path, flags);
}

int __wrap_open64(const char *path, int flags, ...)
{
	return __wrap_open(path, flags);
}

}

TEST_CASE("served: the first call finds the place, the next ones are one write", "[served]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	for (int call = 0; call < 3; ++call) {
		fake_kernel::get().writes.clear();
		outputs out;
		errno = no_errno;
		REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
		CHECK(errno == no_errno);
		CHECK(out.mask == 0x12e01);
		CHECK(out.attr.sq_psn == 0x123456u);
		CHECK(out.attr.qp_state == IBV_QPS_RTS);
		if (call > 0)
			CHECK(fake_kernel::get().writes.size() == 1);
	}
	CHECK(preload::handle_place.load() == 544);
	CHECK(p.library.stock_calls == 0);
	CHECK(p.library.live() == 1);
}

TEST_CASE("served: NULL arguments and an id without a channel are EINVAL", "[served][errors]")
{
	for (const bool decided : {false, true}) {
		process p;
		preload::cm_id *id = p.connected_id();
		outputs out;
		if (decided)
			REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
		const outputs fresh;
		out = fresh;
		fake_kernel::get().writes.clear();
		const auto refused = [&](preload::cm_id *i, ibv_qp_attr *a, int *m) {
			errno = 0;
			return rdma_init_qp_attr(i, a, m) == -1 && errno == EINVAL;
		};
		CHECK(refused(nullptr, &out.attr, &out.mask));
		CHECK(refused(id, nullptr, &out.mask));
		CHECK(refused(id, &out.attr, nullptr));
		id->channel = nullptr;
		CHECK(refused(id, &out.attr, &out.mask));
		id->channel = &p.channel;
		CHECK(out.untouched());
		CHECK(fake_kernel::get().writes.empty());
		CHECK(p.library.stock_calls == 0);
	}
}

TEST_CASE("served: the kernel's refusals, outputs untouched", "[served][errors]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	outputs out;
	REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	for (const int code : {EACCES, EINVAL, ENOENT, ENXIO, EBADF, ENOSYS}) {
		fake_kernel::get().script({-code});
		out = outputs{};
		errno = 0;
		CHECK(rdma_init_qp_attr(id, &out.attr, &out.mask) == -1);
		CHECK(errno == code);
		CHECK(out.untouched());
	}
	for (const long written : {0L, 8L, 23L, 25L}) {
		fake_kernel::get().script({written});
		out = outputs{};
		errno = 0;
		CHECK(rdma_init_qp_attr(id, &out.attr, &out.mask) == -1);
		CHECK(errno == ENODATA);
		CHECK(out.untouched());
	}
}

TEST_CASE("served: a handle that is not found for good goes to stock", "[served]")
{
	process p{0};
	preload::cm_id *id = p.library.create(&p.channel);
	for (int call = 1; call <= 3; ++call) {
		outputs out;
		errno = no_errno;
		REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
		CHECK(errno == no_errno);
		CHECK(out.mask == fake_librdmacm::stock_mask);
		CHECK(p.library.stock_calls == call);
	}
	CHECK(preload::handle_place.load() == preload::by_stock);
}

TEST_CASE("served: without the device for a while, stock for a while", "[served]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	outputs out;
	device_errno = EMFILE;
	REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	CHECK(out.mask == fake_librdmacm::stock_mask);
	CHECK(preload::handle_place.load() == 0);
	device_errno = 0;
	REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	CHECK(out.mask == 0x12e01);
	CHECK(p.library.stock_calls == 1);
}

TEST_CASE("served: tries end, and then it is stock", "[served]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	outputs out;
	device_errno = EACCES;
	for (int call = 0; call < 40; ++call)
		REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	CHECK(p.library.stock_calls == 40);
	CHECK(preload::handle_place.load() == preload::by_stock);
}

TEST_CASE("served: no librdmacm in the process is ENOSYS", "[served][errors]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	loaded = nullptr;
	outputs out;
	errno = 0;
	CHECK(rdma_init_qp_attr(id, &out.attr, &out.mask) == -1);
	CHECK(errno == ENOSYS);
	CHECK(out.untouched());
}

TEST_CASE("served: an id that moved to another channel is asked there", "[served]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	outputs out;
	REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	preload::event_channel other{fake_kernel::get().open_file()};
	fake_kernel::get().ids[p.library.handle_of(id)] = other.fd;
	errno = 0;
	CHECK(rdma_init_qp_attr(id, &out.attr, &out.mask) == -1);
	CHECK(errno == EINVAL);
	id->channel = &other;
	CHECK(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
}

TEST_CASE("served: many first calls at once, every answer its own", "[served]")
{
	for (int round = 0; round < 20; ++round) {
		process p;
		constexpr unsigned threads = 16;
		std::vector<preload::cm_id *> ids;
		for (unsigned i = 0; i < threads; ++i)
			ids.push_back(p.connected_id(1000 + i));
		std::atomic<unsigned> ready{0};
		std::atomic<unsigned> right{0};
		std::vector<std::thread> all;
		for (unsigned i = 0; i < threads; ++i)
			all.emplace_back([&, i] {
				outputs out;
				++ready;
				while (ready < threads)
					std::this_thread::yield();
				if (rdma_init_qp_attr(ids[i], &out.attr, &out.mask) == 0 &&
				    out.attr.sq_psn == 1000 + i && out.mask == 0x12e01)
					++right;
			});
		for (auto &t : all)
			t.join();
		CHECK(right == threads);
		CHECK(p.library.stock_calls == 0);
		CHECK(preload::handle_place.load() == 544);
	}
}

TEST_CASE("served: one thread's failure does not undo another's success", "[served]")
{
	// No place fits for this thread; while it looks, another finds byte 544,
	// where this id has 0, its handle.
	process p{0};
	preload::cm_id *id = p.connected_id();
	REQUIRE(p.library.handle_of(id) == 0);
	p.library.on_create = [] { preload::handle_place = 544; };
	outputs out;
	REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	p.library.on_create = nullptr;
	CHECK(out.mask == 0x12e01);
	CHECK(p.library.stock_calls == 0);
	CHECK(preload::handle_place.load() == 544);
}

TEST_CASE("served: a call from inside the look is stock's, and does not look", "[served]")
{
	// A signal handler, say, that asks while its own thread is looking.
	process p;
	preload::cm_id *id = p.connected_id();
	int depth = 0;
	outputs inner;
	int inner_result = -1;
	int inner_made = -1;
	p.library.on_create = [&] {
		if (++depth == 1) {
			const int live = p.library.live();
			inner_result = rdma_init_qp_attr(id, &inner.attr, &inner.mask);
			inner_made = depth - 1 + p.library.live() - live;
		}
	};
	outputs out;
	REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	p.library.on_create = nullptr;
	CHECK(inner_result == 0);
	CHECK(inner.mask == fake_librdmacm::stock_mask);
	CHECK(inner_made == 0);
	CHECK(out.mask == 0x12e01);
	CHECK(p.library.stock_calls == 1);
}

TEST_CASE("served: a child of a fork during a look does not look", "[served]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	int child_status = -1;
	bool forked = false;
	p.library.on_create = [&] {
		if (forked)
			return;
		forked = true;
		const pid_t child = ::fork();
		if (child == 0) {
			outputs out;
			p.library.on_create = [] { ::_exit(2); };
			const int result = rdma_init_qp_attr(id, &out.attr, &out.mask);
			::_exit(result == 0 && out.mask == fake_librdmacm::stock_mask ? 0 : 1);
		}
		::waitpid(child, &child_status, 0);
	};
	outputs out;
	REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
	p.library.on_create = nullptr;
	CHECK(WIFEXITED(child_status));
	CHECK(WEXITSTATUS(child_status) == 0);
	CHECK(out.mask == 0x12e01);
}

TEST_CASE("served: a child of a fork before any look looks for itself", "[served]")
{
	for (const bool parent_looked : {false, true}) {
		process p;
		preload::cm_id *id = p.connected_id();
		outputs out;
		if (parent_looked) {
			REQUIRE(rdma_init_qp_attr(id, &out.attr, &out.mask) == 0);
			preload::handle_place = 0;
		}
		const pid_t child = ::fork();
		if (child == 0) {
			outputs mine;
			const int result = rdma_init_qp_attr(id, &mine.attr, &mine.mask);
			::_exit(result == 0 && mine.mask == 0x12e01 ? 0 : 1);
		}
		int status = -1;
		::waitpid(child, &status, 0);
		CHECK(WIFEXITED(status));
		CHECK(WEXITSTATUS(status) == 0);
	}
}

TEST_CASE("served: the careful way gives the same answer", "[served]")
{
	process p;
	preload::cm_id *id = p.connected_id();
	outputs fast;
	REQUIRE(rdma_init_qp_attr(id, &fast.attr, &fast.mask) == 0);
	preload::handle_place = -544;
	outputs careful;
	REQUIRE(rdma_init_qp_attr(id, &careful.attr, &careful.mask) == 0);
	CHECK(std::memcmp(&fast.attr, &careful.attr, sizeof fast.attr) == 0);
	CHECK(fast.mask == careful.mask);
	fake_kernel::get().script({-ENXIO});
	errno = 0;
	CHECK(rdma_init_qp_attr(id, &careful.attr, &careful.mask) == -1);
	CHECK(errno == ENXIO);
}
