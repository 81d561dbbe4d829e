// SPDX-License-Identifier: MIT
#include "lib/preload/record.hpp"

#include <cerrno>
#include <cstring>

#include "lib/attr/names.hpp"
#include "lib/preload/json.hpp"

namespace qpattr::preload {
namespace {

using number = unsigned long long;

struct named {
	int code;
	const char *name;
};
#define NAMED(code)                                                                                \
	named                                                                                      \
	{                                                                                          \
		code, #code                                                                        \
	}
// Those of docs/errors.md, and what write(2) may give.
constexpr named errors[] = {
	NAMED(EINVAL),	      NAMED(EACCES),	   NAMED(ENODATA),	NAMED(ENOSYS),
	NAMED(ENOENT),	      NAMED(ENXIO),	   NAMED(EBADF),	NAMED(EPERM),
	NAMED(EINTR),	      NAMED(EIO),	   NAMED(EAGAIN),	NAMED(ENOMEM),
	NAMED(EFAULT),	      NAMED(EBUSY),	   NAMED(ENODEV),	NAMED(ENOTDIR),
	NAMED(EISDIR),	      NAMED(EMFILE),	   NAMED(ENFILE),	NAMED(ENOSPC),
	NAMED(EPIPE),	      NAMED(EFBIG),	   NAMED(EROFS),	NAMED(ENOTTY),
	NAMED(EDOM),	      NAMED(ERANGE),	   NAMED(EPROTO),	NAMED(EOVERFLOW),
	NAMED(EOPNOTSUPP),    NAMED(ETIMEDOUT),	   NAMED(ECONNREFUSED), NAMED(ECONNRESET),
	NAMED(EADDRNOTAVAIL), NAMED(EADDRINUSE),   NAMED(ENETDOWN),	NAMED(ENETUNREACH),
	NAMED(EHOSTUNREACH),  NAMED(ENOTCONN),	   NAMED(ENOBUFS),	NAMED(EPROTONOSUPPORT),
	NAMED(EAFNOSUPPORT),  NAMED(EDESTADDRREQ), NAMED(ENOTSOCK),	NAMED(ENAMETOOLONG),
	NAMED(ELOOP),	      NAMED(ESHUTDOWN),	   NAMED(EEXIST),	NAMED(ESTALE),
};
#undef NAMED

void add_errno(attr::text &to, int code) noexcept
{
	for (const named &each : errors)
		if (each.code == code) {
			to.addf("\"%s\"", each.name);
			return;
		}
	to.addf("\"%d\"", code);
}

void begin(attr::text &to, const char *type) noexcept
{
	to.addf("{\"qpattr\":1,\"type\":\"%s\"", type);
}

void add_number(attr::text &to, const char *key, number value) noexcept
{
	to.addf(",\"%s\":%llu", key, value);
}

void add_string(attr::text &to, const char *key, const char *value) noexcept
{
	to.addf(",\"%s\":", key);
	if (value)
		add_json(to, value);
	else
		to.add("null");
}

void add_program(attr::text &to, const char *program) noexcept
{
	to.add(",\"program\":");
	add_json(to, program, ::strnlen(program, program_max));
}

// A name where there is one, else what add_ makes of the number: a string anyway.
template <class Add>
void add_named(attr::text &to, const char *key, Add add, std::uint32_t value) noexcept
{
	attr::text_of<32> line;
	add(line, value);
	add_string(to, key, line.c_str());
}

void add_end_of(attr::text &to, const char *key, const endpoint &end) noexcept
{
	attr::text_of<80> line;
	add_endpoint(line, end);
	add_string(to, key, line.empty() ? nullptr : line.c_str());
}

void add_number_or_null(attr::text &to, const char *key, bool known, number value) noexcept
{
	if (known)
		add_number(to, key, value);
	else
		to.addf(",\"%s\":null", key);
}

void add_mask_names(attr::text &to, std::uint32_t mask) noexcept
{
	add_number(to, "mask", mask);
	to.add(",\"mask_names\":[");
	const char *between = "";
	for (unsigned i = 0; i < 32; ++i) {
		const std::uint32_t bit = 1U << i;
		if (!(mask & bit))
			continue;
		if (const char *name = attr::mask_bit_name(bit))
			to.addf("%s\"%s\"", between, name);
		else
			to.addf("%s\"0x%x\"", between, bit);
		between = ",";
	}
	to.add(']');
}

void add_attributes(attr::text &to, const ibv_qp_attr *from, std::uint32_t mask) noexcept
{
	to.add(",\"attributes\":{");
	const char *between = "";
	for (const attr::attribute &what : attr::attributes) {
		if (!from || !attr::in_mask(what, mask))
			continue;
		attr::text_of<160> line;
		to.addf("%s\"%s\":{\"value\":", between, what.name);
		attr::add_value(line, what, *from);
		add_json(to, line.c_str());
		if (what.kind != attr::unit::gid)
			add_number(to, "number", attr::value_number(what, *from));
		line.clear();
		attr::add_meaning(line, what, *from);
		if (!line.empty())
			add_string(to, "meaning", line.c_str());
		to.add('}');
		between = ",";
	}
	to.add('}');
}

void add_changes(attr::text &to, const changes &made) noexcept
{
	to.add(",\"matched\":[");
	const char *between = "";
	for (unsigned i = 0; i < rules::rules_max; ++i)
		if (made.matched & std::uint64_t{1} << i) {
			to.addf("%s%u", between, i + 1);
			between = ",";
		}
	to.add("],\"overrides\":[");
	between = "";
	for (std::size_t i = 0; i < made.count; ++i) {
		const change &one = made.list[i];
		if (one.limit.how == verdict::kind::beyond)
			continue;
		to.addf("%s{\"rule\":%u,\"attribute\":\"%s\",\"before\":%u,\"after\":%u", between,
			one.rule + 1U, one.what->name, one.before, one.after);
		to.add(one.limit.how == verdict::kind::unknown ? ",\"limits\":\"unknown\"}" : "}");
		between = ",";
	}
	to.add("],\"refused\":[");
	between = "";
	for (std::size_t i = 0; i < made.count; ++i) {
		const change &one = made.list[i];
		if (one.limit.how != verdict::kind::beyond)
			continue;
		to.addf("%s{\"rule\":%u,\"attribute\":\"%s\",\"wanted\":%u,\"limit\":%u,"
			"\"why\":\"%s\"}",
			between, one.rule + 1U, one.what->name, one.after, one.limit.limit,
			one.limit.why);
		between = ",";
	}
	to.add(']');
}

} // namespace

void add_call(attr::text &to, const char *program, const call &what, const connection &where,
	      const changes &made) noexcept
{
	begin(to, "call");
	add_number(to, "seq", what.seq);
	add_number(to, "time_ns", what.time_ns);
	add_number(to, "duration_ns", what.duration_ns);
	to.addf(",\"pid\":%d,\"tid\":%d", what.pid, what.tid);
	add_program(to, program);
	to.addf(",\"id\":\"0x%llx\"",
		static_cast<number>(reinterpret_cast<std::uintptr_t>(what.id)));
	add_number_or_null(to, "handle", what.has_handle, what.handle);
	add_string(to, "device", where.device[0] ? where.device : nullptr);
	add_number_or_null(to, "port", where.port != 0, where.port);
	add_named(to, "port_space", attr::add_port_space, where.port_space);
	add_named(to, "qp_type", attr::add_qp_type, where.qp_type);
	add_number_or_null(to, "qp_num", where.has_qp, where.qp_num);
	add_end_of(to, "src", where.src);
	add_end_of(to, "dst", where.dst);
	add_named(to, "asked", attr::add_qp_state, what.asked);
	to.addf(",\"result\":%d,\"errno\":", what.result);
	if (what.result == 0) {
		to.add("null");
	} else {
		add_errno(to, what.code);
		to.addf(",\"errno_number\":%d", what.code);
	}
	add_string(to, "served_by", what.by_stock ? "stock" : "qpattr");
	add_mask_names(to, what.attr ? what.mask : 0);
	add_attributes(to, what.attr, what.mask);
	add_changes(to, made);
	add_number(to, "lost", what.lost);
	to.add("}\n");
}

void add_process(attr::text &to, const char *program, const origin_process &what) noexcept
{
	begin(to, "process");
	add_number(to, "time_ns", what.time_ns);
	to.addf(",\"pid\":%d,\"ppid\":%d", what.pid, what.ppid);
	add_program(to, program);
	to.add(",\"exe\":");
	if (what.exe)
		add_json(to, what.exe, ::strnlen(what.exe, exe_max));
	else
		to.add("null");
	add_string(to, "overrides", what.overrides);
	to.add("}\n");
}

void add_notice(attr::text &to, const char *program, std::uint64_t time_ns, pid_t pid,
		const char *notice) noexcept
{
	begin(to, "notice");
	add_number(to, "time_ns", time_ns);
	to.addf(",\"pid\":%d", pid);
	add_program(to, program);
	add_string(to, "text", notice);
	to.add("}\n");
}

void add_end(attr::text &to, const char *program, std::uint64_t time_ns, pid_t pid,
	     std::uint64_t calls, std::uint64_t lost) noexcept
{
	begin(to, "end");
	add_number(to, "time_ns", time_ns);
	to.addf(",\"pid\":%d", pid);
	add_program(to, program);
	add_number(to, "calls", calls);
	add_number(to, "lost", lost);
	to.add("}\n");
}

} // namespace qpattr::preload
