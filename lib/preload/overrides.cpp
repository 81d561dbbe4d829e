// SPDX-License-Identifier: MIT
#include "lib/preload/overrides.hpp"

#include <unistd.h>

#include "lib/attr/names.hpp"
#include "lib/attr/origin.hpp"
#include "lib/preload/process.hpp"
#include "lib/say.hpp"

namespace qpattr::preload {
namespace {

constexpr std::uint16_t nobody = UINT16_MAX;

void count(std::atomic<std::uint32_t> &what) noexcept
{
	what.fetch_add(1, std::memory_order_relaxed);
}

constexpr std::uint32_t state_bit(std::uint32_t state) noexcept
{
	return state < IBV_QPS_UNKNOWN ? 1U << state : 0;
}

// One line about a setting of a rule, or about the rule.
void report(std::size_t rule, const char *what, const char *name) noexcept
{
	say("rule %zu (pid %d): %s%s", rule + 1, static_cast<int>(::getpid()), name, what);
}

// Why a setting of a rule that fitted had no effect.
void report_unused(std::size_t rule, const attr::setting &set, std::uint32_t states) noexcept
{
	const auto to = static_cast<std::uint32_t>(attr::transition_of(*set.what));
	attr::text_of<64> asked;
	for (std::uint32_t state = 0; state < IBV_QPS_UNKNOWN; ++state)
		if (states & state_bit(state))
			attr::add_qp_state(asked.add(asked.empty() ? "" : ", "), state);
	attr::text_of<192> why;
	if (states == 0) {
		why.add(" was not set: every call that matched has failed");
	} else if (states & state_bit(to)) {
		why.add(" was in no answer: a QP of this type does not take it");
	} else {
		why.add(" was not set: ");
		if (states < state_bit(to))
			why.add("too early: ");
		else if (!(states & (state_bit(to) - 1)))
			why.add("too late: ");
		attr::add_qp_state(why.add("it belongs to "), to);
		why.add(", and the calls that matched asked for ").add(asked.c_str());
	}
	report(rule, why.c_str(), set.what->name);
}

} // namespace

void apply(const rules &all, const connection &where, std::uint32_t asked, std::uint32_t mask,
	   ibv_qp_attr *attr, changes &out) noexcept
{
	std::uint16_t winner[attr::attributes.size()];
	std::uint8_t of_rule[attr::attributes.size()];
	for (auto &each : winner)
		each = nobody;
	for (std::size_t i = 0; i < all.size(); ++i) {
		if (!matches(all[i], where))
			continue;
		out.matched |= std::uint64_t{1} << i;
		count(own->of_rule[i].matched);
		if (!attr)
			continue;
		own->of_rule[i].states.fetch_or(state_bit(asked), std::memory_order_relaxed);
		for (std::size_t k = all[i].first; k < all[i].first + std::size_t{all[i].count};
		     ++k) {
			const auto at = all.setting(k).what - attr::attributes.data();
			winner[at] = static_cast<std::uint16_t>(k);
			of_rule[at] = static_cast<std::uint8_t>(i);
		}
	}
	for (std::size_t at = 0; at < attr::attributes.size(); ++at) {
		const attr::attribute &what = attr::attributes[at];
		if (winner[at] == nobody || !attr::in_mask(what, mask) ||
		    out.count == changes::changes_max)
			continue;
		const std::uint32_t number = all.setting(winner[at]).number;
		const change one{&what, of_rule[at], attr::value_number(what, *attr), number,
				 check_limit(what, number, where)};
		out.list[out.count++] = one;
		if (one.limit.how == verdict::kind::beyond) {
			count(own->of_setting[winner[at]].refused);
			continue;
		}
		attr::store_number(*attr, what, number);
		count(own->of_setting[winner[at]].applied);
	}
}

void report_rules(const rules &all) noexcept
{
	if (!debug_asked())
		return;
	for (std::size_t i = 0; i < all.size(); ++i) {
		const rule &one = all[i];
		const std::uint32_t matched = own->of_rule[i].matched.load();
		if (!matched) {
			attr::text_of<256> line;
			line.add("matched no call: ");
			attr::add_quoted(line, one.written);
			report(i, line.c_str(), "");
			continue;
		}
		for (std::size_t k = one.first; k < one.first + std::size_t{one.count}; ++k) {
			const attr::setting &set = all.setting(k);
			const std::uint32_t applied = own->of_setting[k].applied.load();
			const std::uint32_t refused = own->of_setting[k].refused.load();
			attr::text_of<96> line;
			if (refused) {
				line.addf(" was refused in %u of %u calls: beyond what the device "
					  "takes",
					  refused, matched);
				report(i, line.c_str(), set.what->name);
			}
			line.clear();
			if (applied) {
				line.addf(" was set in %u of %u calls", applied, matched);
				report(i, line.c_str(), set.what->name);
			}
			if (!applied && !refused)
				report_unused(i, set, own->of_rule[i].states.load());
		}
	}
}

} // namespace qpattr::preload
