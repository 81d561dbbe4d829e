// SPDX-License-Identifier: MIT
// What a comparison notices: two functions answer from a table, one of them with
// a single thing wrong, and each single thing must be seen. Needs no kernel.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>

#include "tools/conformance/question.hpp"
#include "test/support/check.hpp"

using namespace conformance;

namespace {

constexpr int mask_answered = mask_rtr;

// The offsets at which stock's answer has bytes of its own.
bool is_between_fields(std::size_t at)
{
	using attr = ibv_qp_attr;
	static_assert(sizeof(attr) == 144, "the offsets below are those of 144 bytes");
	constexpr std::size_t route = sizeof(ibv_global_route), vector = sizeof(ibv_ah_attr);
	for (const std::size_t start : {offsetof(attr, ah_attr), offsetof(attr, alt_ah_attr)})
		if (at == start + route - 1 || at == start + vector - 1)
			return true;
	return at == offsetof(attr, alt_timeout) + 1 || at >= offsetof(attr, rate_limit) + 4;
}

bool is_callers(std::size_t at)
{
	return at < sizeof(ibv_qp_state) ||
	       (at >= offsetof(ibv_qp_attr, rate_limit) && at < offsetof(ibv_qp_attr, rate_limit) + 4);
}

// Answers as stock does: every field but two, nothing between them.
int answering(rdma_cm_id *, ibv_qp_attr *attr, int *mask)
{
	auto *bytes = reinterpret_cast<unsigned char *>(attr);
	for (std::size_t at = 0; at < sizeof *attr; ++at)
		if (!is_callers(at) && !is_between_fields(at))
			bytes[at] = static_cast<unsigned char>(at * 3 + 1);
	*mask = mask_answered;
	return 0;
}

int refusing(rdma_cm_id *, ibv_qp_attr *, int *)
{
	errno = EINVAL;
	return -1;
}

// What the broken implementation does after it did the right thing.
std::function<int(int returned, unsigned char *attr, unsigned char *mask)> breakage;

int answering_broken(rdma_cm_id *id, ibv_qp_attr *attr, int *mask)
{
	return breakage(answering(id, attr, mask), reinterpret_cast<unsigned char *>(attr),
			reinterpret_cast<unsigned char *>(mask));
}

int refusing_broken(rdma_cm_id *id, ibv_qp_attr *attr, int *mask)
{
	return breakage(refusing(id, attr, mask), reinterpret_cast<unsigned char *>(attr),
			reinterpret_cast<unsigned char *>(mask));
}

question about(const pattern &fill)
{
	return {nullptr, IBV_QPS_RTR, fill, false};
}

// How many of the patterns show that the second is unlike the first.
std::size_t seen(init_qp_attr_fn *right, init_qp_attr_fn *wrong)
{
	std::size_t count = 0;
	for (const pattern &fill : patterns) {
		const question what = about(fill);
		count += !difference(ask(right, what), ask(wrong, what), what).empty();
	}
	return count;
}
std::size_t seen_in_answer()
{
	return seen(answering, answering_broken);
}
std::size_t seen_in_refusal()
{
	return seen(refusing, refusing_broken);
}

std::string at_byte(std::ptrdiff_t at)
{
	return "byte " + std::to_string(at);
}

void fields_cases()
{
	check::run("no difference is seen where there is none", [](check::test &t) {
		t.equal("answers", seen(answering, answering), 0U);
		t.equal("refusals", seen(refusing, refusing), 0U);
		const question what = about(patterns[0]);
		const auto answer = ask(answering, what);
		t.equal("departure", departure(answer, what, known_answer{mask_answered, 0}), "");
		t.equal("departure", departure(ask(refusing, what), what, known_answer{0, EINVAL}), "");
	});
	check::run("each bit of each field is seen", [](check::test &t) {
		std::size_t bits = 0;
		for (std::size_t at = 0; at < sizeof(ibv_qp_attr); ++at)
			for (unsigned bit = 0; bit < 8; ++bit) {
				if (is_between_fields(at))
					continue;
				breakage = [&](int returned, unsigned char *attr, unsigned char *) {
					attr[at] = static_cast<unsigned char>(attr[at] ^ (1U << bit));
					return returned;
				};
				t.equal(at_byte(static_cast<std::ptrdiff_t>(at)),
					seen_in_answer(), patterns.size());
				++bits;
			}
		t.note(std::to_string(bits) + " bits");
	});
	check::run("a byte left as it was is seen", [](check::test &t) {
		for (std::size_t at = 0; at < sizeof(ibv_qp_attr); ++at) {
			if (is_between_fields(at) || is_callers(at))
				continue;
			const pattern *fill = nullptr;
			std::size_t count = 0;
			breakage = [&](int returned, unsigned char *attr, unsigned char *) {
				attr[at] = fill->at(at);
				return returned;
			};
			for (const pattern &each : patterns) {
				fill = &each;
				const question what = about(each);
				count += !difference(ask(answering, what),
						     ask(answering_broken, what), what)
						  .empty();
			}
			// One of them may happen to be the right value.
			t.expect(count + 1 >= patterns.size(),
				 at_byte(static_cast<std::ptrdiff_t>(at)));
		}
	});
	check::run("between the fields zero may be written, and nothing else", [](check::test &t) {
		for (std::size_t at = 0; at < sizeof(ibv_qp_attr); ++at) {
			if (!is_between_fields(at))
				continue;
			for (const char value : {'\0', 'x'}) {
				breakage = [&](int returned, unsigned char *attr, unsigned char *) {
					attr[at] = static_cast<unsigned char>(value);
					return returned;
				};
				t.equal(at_byte(static_cast<std::ptrdiff_t>(at)), seen_in_answer(),
					value == '\0' ? 0U : patterns.size());
			}
		}
	});
}

void edges_cases()
{
	check::run("each byte written outside the struct and the mask is seen", [](check::test &t) {
		constexpr std::ptrdiff_t guard = guarded<4>::guard_len;
		for (const std::ptrdiff_t len : {std::ptrdiff_t{sizeof(ibv_qp_attr)}, std::ptrdiff_t{4}})
			for (std::ptrdiff_t at = -guard; at < len + guard; ++at) {
				if (at >= 0 && at < len)
					continue;
				breakage = [&](int returned, unsigned char *attr,
					       unsigned char *mask) {
					unsigned char *to = (len == 4 ? mask : attr) + at;
					*to = static_cast<unsigned char>(~*to);
					return returned;
				};
				t.equal(at_byte(at), seen_in_answer(), patterns.size());
				t.equal(at_byte(at), seen_in_refusal(), patterns.size());
			}
	});
	check::run("each byte written by a refusal is seen", [](check::test &t) {
		for (std::size_t at = 0; at < sizeof(ibv_qp_attr) + 4; ++at) {
			breakage = [&](int returned, unsigned char *attr, unsigned char *mask) {
				unsigned char *to = at < sizeof(ibv_qp_attr)
							    ? attr + at
							    : mask + at - sizeof(ibv_qp_attr);
				*to = static_cast<unsigned char>(~*to);
				return returned;
			};
			t.equal(at_byte(static_cast<std::ptrdiff_t>(at)), seen_in_refusal(),
				patterns.size());
		}
	});
}

void callers_cases()
{
	check::run("a byte written to the id is seen", [](check::test &t) {
		rdma_cm_id id{};
		question what = about(patterns[0]);
		what.id = &id;
		for (std::size_t at = 0; at < sizeof id; ++at) {
			breakage = [&](int returned, unsigned char *, unsigned char *) {
				auto *byte = reinterpret_cast<unsigned char *>(&id) + at;
				*byte = static_cast<unsigned char>(~*byte);
				return returned;
			};
			const std::string said = difference(ask(answering, what), ask(answering_broken, what), what);
			t.equal(at_byte(static_cast<std::ptrdiff_t>(at)), said, "ours wrote to the id");
		}
	});
	check::run("the outputs are aligned as their types must be, and no better", [](check::test &t) {
		const outcome of = ask(answering, about(patterns[0]));
		const auto rest = [](const unsigned char *at, std::size_t by) {
			return reinterpret_cast<std::uintptr_t>(at) % by;
		};
		t.equal("the struct", rest(of.attr.body(), 2 * alignof(ibv_qp_attr)), alignof(ibv_qp_attr));
		t.equal("the mask", rest(of.mask.body(), 2 * alignof(int)), alignof(int));
	});
}

void results_cases()
{
	check::run("each bit of the mask is seen", [](check::test &t) {
		for (unsigned bit = 0; bit < 32; ++bit) {
			breakage = [&](int returned, unsigned char *, unsigned char *mask) {
				mask[bit / 8] = static_cast<unsigned char>(mask[bit / 8] ^
									   (1U << bit % 8));
				return returned;
			};
			t.equal("bit " + std::to_string(bit), seen_in_answer(), patterns.size());
		}
	});
	check::run("another errno, or one set by a success, is seen", [](check::test &t) {
		for (const int code : {0, EACCES, ENOENT}) {
			breakage = [&](int returned, unsigned char *, unsigned char *) {
				errno = code;
				return returned;
			};
			t.equal("refused", seen_in_refusal(), patterns.size());
			t.equal("answered", seen_in_answer(), patterns.size());
		}
	});
	check::run("another return value is seen", [](check::test &t) {
		for (const int value : {-EINVAL, -1, 0, 1, EINVAL}) {
			breakage = [&](int, unsigned char *, unsigned char *) { return value; };
			t.equal("refused", seen_in_refusal(), value == -1 ? 0U : patterns.size());
			t.equal("answered", seen_in_answer(), value == '\0' ? 0U : patterns.size());
		}
	});
	check::run("what both do wrong is seen", [](check::test &t) {
		const question what = about(patterns[2]);
		const auto answer = ask(answering, what), refusal = ask(refusing, what);
		t.expect(!departure(refusal, what, known_answer{mask_answered, 0}).empty(), "both refuse");
		t.expect(!departure(answer, what, known_answer{0, EINVAL}).empty(), "both answer");
		t.expect(!departure(answer, what, known_answer{mask_rts, 0}).empty(), "both give a wrong mask");
		t.expect(!departure(refusal, what, known_answer{0, ENOENT}).empty(), "both give a wrong errno");
		breakage = [](int returned, unsigned char *attr, unsigned char *) {
			attr[offsetof(ibv_qp_attr, rate_limit)] ^= 1;
			return returned;
		};
		t.expect(!departure(ask(answering_broken, what), what, known_answer{mask_answered, 0}).empty(),
			 "both write rate_limit");
	});
}

void standing_cases()
{
	check::run("the known answers are the documented masks", [](check::test &t) {
		constexpr subject rc{IBV_QPT_RC, manager::infiniband};
		const auto mask = [](standing where, int state, subject what,
				     side who = side::active) {
			const auto answer = known(where, state, who, what);
			return answer && answer->code == 0 ? answer->mask : -1;
		};
		const auto code = [](standing where, int state, subject what) {
			const auto answer = known(where, state, side::active, what);
			return answer ? answer->code : -1;
		};
		t.equal("INIT", mask(standing::connected, IBV_QPS_INIT, rc), 0x39);
		t.equal("RTR", mask(standing::connected, IBV_QPS_RTR, rc), 0x129181);
		t.equal("RTS", mask(standing::connected, IBV_QPS_RTS, rc), 0x12E01);
		t.equal("RTR too early", code(standing::requested, IBV_QPS_RTR, rc), EINVAL);
		t.equal("SQD", code(standing::connected, IBV_QPS_SQD, rc), EINVAL);
		t.equal("simple", mask(standing::simple, IBV_QPS_ERR, rc), 0x39);
		t.equal("UD", mask(standing::datagram, IBV_QPS_RTS, rc), 0x71);
		t.equal("destroyed", code(standing::destroyed, IBV_QPS_INIT, rc), ENOENT);
		t.equal("destroyed, no state", code(standing::destroyed, 99, rc), EINVAL);
		t.equal("removed", code(standing::removed, IBV_QPS_INIT, rc), ENXIO);

		constexpr subject uc{IBV_QPT_UC, manager::infiniband};
		t.equal("UC, RTR", mask(standing::connected, IBV_QPS_RTR, uc), 0x101181);
		t.equal("UC, RTS", mask(standing::connected, IBV_QPS_RTS, uc), 0x10001);
		constexpr subject xrc{IBV_QPT_XRC_SEND, manager::infiniband};
		t.equal("XRC, RTR", mask(standing::connected, IBV_QPS_RTR, xrc), 0x101181);
		t.equal("XRC, RTS", mask(standing::connected, IBV_QPS_RTS, xrc), 0x12E01);
		t.equal("XRC target, RTR",
			mask(standing::connected, IBV_QPS_RTR, xrc, side::passive), 0x129181);
		t.equal("XRC target, RTS",
			mask(standing::connected, IBV_QPS_RTS, xrc, side::passive), 0x10201);

		constexpr subject iwarp{IBV_QPT_RC, manager::iwarp};
		t.equal("iWARP, simple", mask(standing::simple, IBV_QPS_SQE, iwarp), 0x29);
		t.equal("iWARP, RTR", mask(standing::connected, IBV_QPS_RTR, iwarp), 0x29);
		t.equal("iWARP, RTS", mask(standing::connected, IBV_QPS_RTS, iwarp), 0x20);
		t.equal("iWARP, SQD", code(standing::connected, IBV_QPS_SQD, iwarp), EINVAL);
		t.equal("nothing known", code(standing::any, 99, rc), -1);
	});
}

} // namespace

int main()
{
	fields_cases();
	edges_cases();
	callers_cases();
	results_cases();
	standing_cases();
	return check::status();
}
