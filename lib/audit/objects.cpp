// SPDX-License-Identifier: MIT
#include "lib/audit/objects.hpp"

#include <cstring>

#include "lib/audit/elf.hpp"
#include "lib/say.hpp"

namespace qpattr::audit {
namespace {

constexpr const char *preload_soname = "libqpattr-preload.so";
// Of all versions, and of copies that a packager renamed (librdmacm-0a1b2c.so.1).
constexpr const char *librdmacm_prefix = "librdmacm";

constexpr std::size_t objects_max = 256;
object objects[objects_max];

bool begins(const char *text, const char *with) noexcept
{
	return std::strncmp(text, with, std::strlen(with)) == 0;
}

// What it is, or kind::none.
kind recognized(const object_view &view) noexcept
{
	if (std::strcmp(view.soname(), preload_soname) == 0)
		return kind::preload;
	if (begins(view.soname(), librdmacm_prefix) && view.function(function_name))
		return kind::librdmacm;
	return view.needs(librdmacm_prefix) ? kind::user : kind::none;
}

} // namespace

object *add(const link_map *map, Lmid_t space) noexcept
{
	const object_view view{map};
	const kind what = recognized(view);
	if (what == kind::none)
		return nullptr;
	object *place = nullptr;
	bool first = true;
	for (object &each : objects) {
		const kind other = each.what.load(std::memory_order_relaxed);
		if (other == kind::none) {
			if (!place)
				place = &each;
		} else if (other == kind::librdmacm && each.space == space && each.first) {
			first = false;
		}
	}
	if (!place) {
		say("more than %zu objects that use librdmacm: %s is not looked at", objects_max,
		    map->l_name);
		return nullptr;
	}
	place->space = space;
	place->map = map;
	place->function = view.function(function_name);
	place->first = what == kind::librdmacm && first;
	place->told.store(false, std::memory_order_relaxed);
	place->what.store(what, std::memory_order_release);
	return place;
}

object *find(std::uintptr_t cookie) noexcept
{
	const auto begin = reinterpret_cast<std::uintptr_t>(&objects[0]);
	if (cookie < begin || cookie >= begin + sizeof objects)
		return nullptr;
	return &objects[(cookie - begin) / sizeof(object)];
}

void remove(object &which) noexcept
{
	which.what.store(kind::none, std::memory_order_release);
}

} // namespace qpattr::audit
