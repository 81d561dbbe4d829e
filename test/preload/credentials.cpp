// SPDX-License-Identifier: MIT
// A process that gives up root: the kernel refuses what was opened before.
#include <cerrno>
#include <grp.h>
#include <unistd.h>

#include "test/preload/subject.hpp"

using namespace subject;

namespace {

constexpr unsigned nobody = 65534;

void give_up_root()
{
	conformance::must(::setgroups(0, nullptr), "setgroups");
	conformance::must(::setgid(nobody), "setgid");
	conformance::must(::setuid(nobody), "setuid");
}

void check_nobody(check::test &t, rdma_cm_id *opened_before)
{
	give_up_root();
	const question what = about(opened_before);
	refused(t, ask(what), what, EACCES);
	agree_in_all(t, opened_before);
}

void called_before()
{
	check::run("nobody, the first call made as root: EACCES, its own id answered",
		   [](check::test &t) {
			   const bound one;
			   agree(t, one.id.get());
			   check_nobody(t, one.id.get());
			   const bound own;
			   agree_in_all(t, own.id.get());
		   });
}

void called_after()
{
	check::run("nobody, the first call made so: EACCES, its own id answered",
		   [](check::test &t) {
			   const bound one;
			   check_nobody(t, one.id.get());
			   const bound own;
			   agree_in_all(t, own.id.get());
		   });
}

// The guest script has taken the node's permissions away from nobody: there is
// nothing to find the place by, and stock says what ours would.
void locked_out()
{
	check::run("nobody, who may not open the node: EACCES", [](check::test &t) {
		const bound one;
		give_up_root();
		const question what = about(one.id.get());
		refused(t, ask(what), what, EACCES);
		count_stock(1);
	});
}

constexpr mode modes[] = {
	{"called-before", called_before},
	{"called-after", called_after},
	{"locked-out", locked_out},
};

} // namespace

int main(int argc, char **argv)
{
	return run_mode(argc, argv, modes);
}
