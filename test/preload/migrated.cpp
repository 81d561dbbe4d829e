// SPDX-License-Identifier: MIT
// Ids that were moved to another channel: the descriptor changes, the handle
// stays.
#include "test/preload/subject.hpp"

using namespace subject;

namespace {

void migrate(check::test &t, rdma_cm_id *id, rdma_event_channel *to)
{
	rdma_event_channel *const before = id->channel;
	conformance::must(::rdma_migrate_id(id, to), "rdma_migrate_id");
	t.expect(id->channel && id->channel != before, "the id has another channel");
}

void cases(bool call_before)
{
	const std::string when = call_before ? ", later call" : ", first call";
	check::run("migrated to another channel" + when, [=](check::test &t) {
		// Declared in this order: an id is destroyed before the channel it is on.
		const conformance::channel_ptr other = conformance::make_channel();
		const bound one;
		if (call_before)
			agree(t, one.id.get());
		migrate(t, one.id.get(), other.get());
		agree_in_all(t, one.id.get());
	});
	check::run("migrated to a channel of librdmacm's own", [](check::test &t) {
		const bound one;
		migrate(t, one.id.get(), nullptr);
		agree_in_all(t, one.id.get());
	});
	check::run("migrated there and back", [](check::test &t) {
		const conformance::channel_ptr other = conformance::make_channel();
		const bound one;
		migrate(t, one.id.get(), other.get());
		migrate(t, one.id.get(), one.channel.get());
		agree_in_all(t, one.id.get());
	});
}

constexpr mode modes[] = {
	{"after-call", [] { cases(true); }},
	{"before-call", [] { cases(false); }},
};

} // namespace

int main(int argc, char **argv)
{
	return run_mode(argc, argv, modes);
}
