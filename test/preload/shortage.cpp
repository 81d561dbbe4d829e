// SPDX-License-Identifier: MIT
// What the preload object needs for its first call is not to be had: a
// descriptor, memory for ids, the device's node. Then stock answers, and later
// calls are served again where that can be.
#include <cerrno>
#include <cstdlib>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/preload/subject.hpp"

using namespace subject;

// Stock's rdma_create_id asks calloc for the id, which is more than 416 bytes.
static thread_local bool no_memory_for_ids = false;
extern "C" void *__libc_calloc(std::size_t, std::size_t);
extern "C" void *calloc(std::size_t count, std::size_t size)
{
	if (no_memory_for_ids && count * size >= sizeof(rdma_cm_id)) {
		errno = ENOMEM;
		return nullptr;
	}
	return __libc_calloc(count, size);
}

namespace {

constexpr char node[] = "/dev/infiniband/rdma_cm";

// After so many tries the preload object looks no more (lib/preload/served.cpp).
constexpr unsigned tries_max = 16;

void by_stock(check::test &t, rdma_cm_id *id)
{
	const question what = about(id);
	answered(t, ask(what), what);
	count_stock(1);
}

class no_descriptors {
public:
	no_descriptors()
	{
		conformance::must(::getrlimit(RLIMIT_NOFILE, &before_), "getrlimit");
		const int lowest_free = ::dup(0);
		::close(lowest_free);
		rlimit now = before_;
		now.rlim_cur = static_cast<rlim_t>(lowest_free);
		conformance::must(::setrlimit(RLIMIT_NOFILE, &now), "setrlimit");
	}
	~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
	no_descriptors(const no_descriptors &) = delete;
	no_descriptors &operator=(const no_descriptors &) = delete;

private:
	rlimit before_{};
};

void descriptors()
{
	check::run("no descriptor left for the first calls: stock answers, later calls are served",
		   [](check::test &t) {
			   const bound one;
			   {
				   const no_descriptors shortage;
				   for (int i = 0; i < 3; ++i)
					   by_stock(t, one.id.get());
			   }
			   agree_in_all(t, one.id.get());
			   // Found once, no descriptor is needed any more.
			   const no_descriptors shortage;
			   agree_in_all(t, one.id.get());
		   });
}

void ids()
{
	check::run("rdma_create_id fails at the first calls: stock answers, later calls are served",
		   [](check::test &t) {
			   const bound one;
			   const std::size_t before = open_descriptors();
			   no_memory_for_ids = true;
			   rdma_cm_id *none = nullptr;
			   t.expect(::rdma_create_id(one.channel.get(), &none, nullptr,
						     RDMA_PS_TCP) != 0,
				    "rdma_create_id fails");
			   for (int i = 0; i < 3; ++i)
				   by_stock(t, one.id.get());
			   no_memory_for_ids = false;
			   t.equal("open descriptors", open_descriptors(), before);
			   agree_in_all(t, one.id.get());
		   });
}

void for_good()
{
	check::run("a shortage that lasts: stock answers, also after it", [](check::test &t) {
		const bound one;
		{
			const no_descriptors shortage;
			for (unsigned i = 0; i < tries_max + 2; ++i)
				by_stock(t, one.id.get());
		}
		by_stock(t, one.id.get());
	});
}

// Mounts in here are not seen outside of this process.
void mount_apart(const char *what, const char *where, const char *type, unsigned long flags)
{
	conformance::must(::unshare(CLONE_NEWNS), "unshare");
	conformance::must(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr),
			  "mount, private");
	conformance::must(::mount(what, where, type, flags, nullptr), where);
}

void no_node()
{
	check::run("the node is gone by the first call: served", [](check::test &t) {
		const bound one;
		mount_apart("none", "/dev/infiniband", "tmpfs", 0);
		t.expect(::access(node, F_OK) != 0, "the node is gone");
		agree_in_all(t, one.id.get());
	});
}

void other_node()
{
	check::run("the node is another device by the first call: the answer is right",
		   [](check::test &t) {
			   const bound one;
			   mount_apart("/dev/null", node, nullptr, MS_BIND);
			   by_stock(t, one.id.get());
		   });
}

// The node is out of reach after chroot, and /proc too.
void chrooted()
{
	check::run("chroot before the first call: stock answers, served once there is a node",
		   [](check::test &t) {
			   const bound one;
			   struct stat device {};
			   conformance::must(::fstat(one.channel->fd, &device), "fstat");
			   char root[] = "/run/chroot-XXXXXX";
			   conformance::must(::mkdtemp(root) ? 0 : -1, "mkdtemp");
			   conformance::must(::chroot(root), "chroot");
			   conformance::must(::chdir("/"), "chdir");
			   by_stock(t, one.id.get());
			   conformance::must(::mkdir("/dev", 0755), "mkdir");
			   conformance::must(::mkdir("/dev/infiniband", 0755), "mkdir");
			   conformance::must(::mknod(node, S_IFCHR | 0600, device.st_rdev), "mknod");
			   agree_in_all(t, one.id.get());
		   });
}

constexpr mode modes[] = {
	{"descriptors", descriptors},
	{"ids", ids},
	{"for-good", for_good},
	{"no-node", no_node},
	{"other-node", other_node},
	{"chrooted", chrooted},
};

} // namespace

int main(int argc, char **argv)
{
	return run_mode(argc, argv, modes);
}
