// SPDX-License-Identifier: MIT
#include "lib/preload/observe.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/preload/memory.hpp"
#include "lib/preload/overrides.hpp"
#include "lib/preload/process.hpp"
#include "lib/preload/record.hpp"
#include "lib/preload/served.hpp"
#include "lib/preload/trace.hpp"
#include "lib/preload/undisturbed.hpp"
#include "lib/preload/warn.hpp"
#include "lib/query.hpp"

namespace qpattr::preload {

bool observing = false;

namespace {

// Written when the object is loaded, then only read.
constinit rules overrides;
char overrides_text[rules::text_max + 1];
char program[program_max + 1];

std::uint64_t now_ns(clockid_t clock) noexcept
{
	timespec at;
	::clock_gettime(clock, &at);
	return static_cast<std::uint64_t>(at.tv_sec) * 1'000'000'000U +
	       static_cast<std::uint64_t>(at.tv_nsec);
}

// A record under way. The first byte is kept for a line end, in case the record before
// was written in part.
class line : public attr::text {
public:
	explicit line(const buffer &in) noexcept
	    : text{in.bytes() + 1, buffer::len - 1}, bytes_{in.bytes()}
	{
	}

	// 0, or why it is lost, as write_trace().
	[[nodiscard]] int write() const noexcept
	{
		if (truncated())
			return EMSGSIZE;
		const bool after_torn = own->torn.exchange(0) != 0;
		bytes_[0] = '\n';
		bool torn = false;
		const int code = write_trace(bytes_ + !after_torn, size() + after_torn, torn);
		if (torn || (code != 0 && after_torn))
			own->torn.store(1);
		return code;
	}

private:
	char *bytes_;
};

// Has the process record written before any other of the process. Another thread may
// be about it: it takes a write's time, and is not waited for longer than that.
int announce(const buffer &in) noexcept
{
	constexpr int patience = 1000;
	for (int i = 0; i < patience; ++i) {
		std::uint32_t state = own->announced.load(std::memory_order_acquire);
		if (state == announced)
			return 0;
		if (state != unannounced ||
		    !own->announced.compare_exchange_strong(state, announcing)) {
			::sched_yield();
			continue;
		}
		char exe[exe_max + 1];
		const ssize_t len = ::readlink("/proc/self/exe", exe, exe_max);
		exe[len < 0 ? 0 : len] = '\0';
		line to{in};
		add_process(to, program,
			    {now_ns(CLOCK_REALTIME), ::getpid(), ::getppid(),
			     len < 0 ? nullptr : exe, overrides.size() ? overrides_text : nullptr});
		const int code = to.write();
		own->announced.store(code == 0 ? announced : unannounced,
				     std::memory_order_release);
		return code;
	}
	return 0;
}

// Counts what is lost. `add` puts the record into the line.
template <class Add> int write_record(Add add) noexcept
{
	int code = ENOBUFS;
	if (const buffer in; in) {
		code = announce(in);
		if (code == 0) {
			line to{in};
			add(to);
			code = to.write();
		}
	}
	if (code != 0)
		own->lost.fetch_add(1);
	return code;
}

bool handle_of(const cm_id *id, bool answered, std::uint32_t &out) noexcept
{
	const int place = handle_place.load(std::memory_order_relaxed);
	if (place == 0 || place == by_stock)
		return false;
	const auto offset = static_cast<std::size_t>(place < 0 ? -place : place);
	if (answered) {
		out = word_at(id, offset);
		return true;
	}
	return memory{}.read(reinterpret_cast<std::uintptr_t>(id) + offset, &out, sizeof out) ==
	       sizeof out;
}

// What comes after the answer. Apart, so that its stack is not there while the first
// call looks for the handle.
[[gnu::noinline]] void conclude(const cm_id *id, ibv_qp_attr *attr, const int *mask,
				call &what) noexcept
{
	const undisturbed guard;
	const bool answered = what.result == 0;
	what.seq = own->calls.fetch_add(1) + 1;
	what.mask = answered ? static_cast<std::uint32_t>(*mask) : 0;
	what.attr = answered ? attr : nullptr;
	const connection where = connection_of(id, answered);
	changes made;
	apply(overrides, where, what.asked, what.mask, answered ? attr : nullptr, made);
	if (!tracing())
		return;
	what.pid = ::getpid();
	what.tid = static_cast<pid_t>(::syscall(SYS_gettid));
	what.id = id;
	what.has_handle = handle_of(id, answered, what.handle);
	write_record([&](attr::text &to) noexcept {
		what.lost = own->lost.load();
		add_call(to, program, what, where, made);
	});
}

// Of a set-user-ID program neither is taken: it would write files and change a
// program's connections with rights that its caller has not.
const char *asked_for(const char *name) noexcept
{
	const char *const value = ::secure_getenv(name);
	if (value)
		return *value ? value : nullptr;
	if (::getauxval(AT_SECURE) && ::getenv(name)) {
		warning text;
		text.add(name).add(" is ignored: the program has rights that its caller has not");
		warn(text);
	}
	return nullptr;
}

[[gnu::noinline]] void start_observing(const char *file, const char *set) noexcept
{
	const int saved = errno;
	const undisturbed guard;
	warning why;
	know_stderr();
	const char *const name = ::program_invocation_short_name;
	std::memcpy(program, name, ::strnlen(name, program_max));
	const bool traced = file && open_trace(file, ::secure_getenv("QPATTR_TRACE_LIMIT"), why);
	if (file && !traced)
		warn(why);
	warning malformed;
	if (set) {
		attr::text_of<448> line;
		std::memcpy(overrides_text, set, ::strnlen(set, rules::text_max));
		if (!overrides.parse(::strnlen(set, rules::text_max + 1) > rules::text_max
					     ? std::string_view{set, rules::text_max + 1}
					     : std::string_view{overrides_text},
				     line)) {
			malformed.add("QPATTR_OVERRIDE is ignored: ").add(line.c_str());
			warn(malformed);
		}
	}
	observing = (traced || overrides.size()) && start_process(traced);
	if (!observing && (traced || overrides.size())) {
		why.clear();
		why.add("nothing is traced or overridden: no memory");
		warn(why);
	}
	if (observing && traced) {
		own->is_first.store(1);
		if (const buffer in; in)
			// One that cannot be written yet is tried again at the first call.
			[[maybe_unused]]
			const int code = announce(in);
		if (!malformed.empty())
			write_record([&](attr::text &to) noexcept {
				add_notice(to, program, now_ns(CLOCK_REALTIME), ::getpid(),
					   malformed.c_str());
			});
	}
	errno = saved;
}

[[gnu::constructor]] void start() noexcept
{
	const char *const file = asked_for("QPATTR_TRACE");
	const char *const set = asked_for("QPATTR_OVERRIDE");
	if (file || set)
		start_observing(file, set);
}

void end_trace() noexcept
{
	// A fork child that made no call has nothing to end.
	if (own->announced.load() != announced && own->lost.load() == 0 && !own->is_first.load())
		return;
	const std::uint64_t lost = own->lost.load();
	const int code = write_record([&](attr::text &to) noexcept {
		add_end(to, program, now_ns(CLOCK_REALTIME), ::getpid(), own->calls.load(), lost);
	});
	if (code == 0)
		return;
	warning text;
	if (lost)
		text.addf("%llu records", static_cast<unsigned long long>(lost));
	else
		text.add("the last record");
	text.addf(" of %s (pid %d) %s lost: ", program, static_cast<int>(::getpid()),
		  lost ? "are" : "is");
	text.add(trace_path()).add(": ");
	text.add(code == at_limit ? "it is as large as QPATTR_TRACE_LIMIT allows"
				  : std::strerror(code));
	warn_at_end(text);
}

[[gnu::destructor]] void end() noexcept
{
	if (!observing)
		return;
	const int saved = errno;
	const undisturbed guard;
	report_rules(overrides);
	if (tracing())
		end_trace();
	errno = saved;
}

} // namespace

int observe(cm_id *id, ibv_qp_attr *attr, int *mask, const void *caller) noexcept
{
	call what{};
	what.time_ns = now_ns(CLOCK_REALTIME);
	what.asked = state_asked(*attr);
	const std::uint64_t before = now_ns(CLOCK_MONOTONIC);
	what.result = serve(id, attr, mask, caller, what.by_stock);
	what.code = errno;
	what.duration_ns = now_ns(CLOCK_MONOTONIC) - before;
	conclude(id, attr, mask, what);
	errno = what.code;
	return what.result;
}

} // namespace qpattr::preload
