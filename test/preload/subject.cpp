// SPDX-License-Identifier: MIT
#include "test/preload/subject.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace subject {
namespace {

// Shared with fork children, whose calls count as well.
struct counts {
	std::atomic<unsigned> ours{0}, stock{0};
};

counts &counted() noexcept
{
	static counts *const shared = new (::mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE,
						  MAP_SHARED | MAP_ANONYMOUS, -1, 0)) counts;
	return *shared;
}

// Before main, so before any fork.
[[maybe_unused]] const counts &at_start = counted();

conformance::init_qp_attr_fn *stock_function() noexcept
{
	static const auto found = reinterpret_cast<conformance::init_qp_attr_fn *>(::dlsym(
		::dlopen("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY), "rdma_init_qp_attr"));
	return found;
}

constexpr unsigned child_patience_s = 20;

} // namespace

outcome ask(const question &what) noexcept
{
	++counted().ours;
	return conformance::ask(&::rdma_init_qp_attr, what);
}

outcome ask_stock(const question &what) noexcept
{
	conformance::init_qp_attr_fn *stock = stock_function();
	++counted().stock;
	return conformance::ask(stock, what);
}

question about(rdma_cm_id *id, int state) noexcept
{
	return {id, state, conformance::patterns[2], false};
}

void count_ours(unsigned calls) noexcept
{
	counted().ours += calls;
}

void count_stock(unsigned calls) noexcept
{
	counted().stock += calls;
}

void agree(check::test &t, rdma_cm_id *id, int state)
{
	const question what = about(id, state);
	const outcome ours = ask(what);
	t.equal("the difference from stock", conformance::difference(ask_stock(what), ours, what),
		"");
}

void agree_in_all(check::test &t, rdma_cm_id *id)
{
	for (const int state : conformance::states)
		for (const auto &fill : conformance::patterns) {
			const question what{id, state, fill, true};
			const outcome ours = ask(what);
			t.equal("the difference from stock",
				conformance::difference(ask_stock(what), ours, what), "");
		}
}

void answered(check::test &t, const outcome &of, const question &what, int mask)
{
	t.equal("what is wrong with the answer", conformance::departure(of, what, conformance::known_answer{mask, 0}), "");
}

void refused(check::test &t, const outcome &of, const question &what, int code)
{
	t.equal("what is wrong with the refusal", conformance::departure(of, what, conformance::known_answer{0, code}), "");
}

conformance::address device_address()
{
	const char *text = std::getenv("QPATTR_VM_IPV4");
	return conformance::parse_address(text ? text : "");
}

std::size_t open_descriptors()
{
	std::size_t count = 0;
	DIR *dir = ::opendir("/proc/self/fd");
	conformance::must(dir ? 0 : -1, "opendir of /proc/self/fd");
	while (::readdir(dir))
		++count;
	::closedir(dir);
	return count - 3; // ".", ".." and the directory itself
}

void in_child(check::test &t, const std::function<void(check::test &)> &body)
{
	std::fflush(nullptr);
	const pid_t child = ::fork();
	conformance::must(child < 0 ? -1 : 0, "fork");
	if (child == 0) {
		::alarm(child_patience_s);
		check::test inner{"in the child"};
		try {
			body(inner);
		} catch (const std::exception &e) {
			inner.fail(e.what());
		}
		if (!inner.held()) {
			std::printf("# ");
			inner.print();
		}
		::_exit(inner.held() ? 0 : 1);
	}
	int status = 0;
	conformance::must(::waitpid(child, &status, 0) == child ? 0 : -1, "waitpid");
	if (WIFSIGNALED(status))
		t.fail("the child was ended by signal " + std::to_string(WTERMSIG(status)) +
		       (WTERMSIG(status) == SIGALRM ? ": it hung" : ""));
	else
		t.equal("the child's status (see the comment above)", WEXITSTATUS(status), 0);
}

int run_mode(int argc, char **argv, std::span<const mode> modes)
{
	for (const mode &each : modes)
		if (argc == 2 && std::strcmp(argv[1], each.name) == 0) {
			each.run();
			std::printf("# calls: ours %u stock %u\n", counted().ours.load(),
				    counted().stock.load());
			return check::status();
		}
	std::printf("not ok - %s is called with one of its modes\n", argv[0]);
	return 2;
}

} // namespace subject
