// SPDX-License-Identifier: MIT
// The auditor: what the dynamic linker calls when it loads an object and when it
// binds a symbol of one that we named. Nothing is called when a function is.
#include <cstdint>
#include <cstring>
#include <link.h>
#include <unistd.h>

#include "lib/audit/objects.hpp"
#include "lib/audit/spaces.hpp"
#include "lib/say.hpp"

using namespace qpattr;
using audit::kind;

#define AUDIT_EXPORT extern "C" [[gnu::visibility("default")]]

namespace {

bool started = false; // what is preloaded comes before

const char *name_of(const audit::object *which) noexcept
{
	// The program itself has no name.
	return which && which->map->l_name[0] ? which->map->l_name : "the program";
}

// The rdma_init_qp_attr to bind to. `way` says how it is asked for.
std::uintptr_t bound(std::uintptr_t found, audit::object *from, audit::object *to,
		     bool by_name) noexcept
{
	const char *const way = by_name ? "asked for by name" : name_of(from);
	const kind to_what = to ? to->what.load(std::memory_order_acquire) : kind::none;
	const kind from_what = from ? from->what.load(std::memory_order_acquire) : kind::none;
	const int process = static_cast<int>(::getpid());

	// Ours asks for stock's.
	if (from_what == kind::preload)
		return found;
	// Another librdmacm calls its own function by way of ours, which may not
	// know its ids.
	if (to_what == kind::preload && from_what == kind::librdmacm && !from->first) {
		if (!from->told.exchange(true))
			say("rdma_init_qp_attr of %s is not intercepted: it is not the first "
			    "librdmacm here (pid %d)",
			    name_of(from), process);
		return from->function;
	}
	if (to_what != kind::librdmacm || found != to->function)
		return found;

	const char *why = nullptr;
	std::uintptr_t ours = 0;
	if (!audit::is_preloaded())
		why = "libqpattr-preload.so is not preloaded";
	else if (!to->first)
		why = "it is not the first librdmacm here";
	else if (!(ours = audit::function_for(to->space, found)))
		why = "it is in a namespace that cannot be served";
	if (!to->told.exchange(true)) {
		if (why)
			say("rdma_init_qp_attr of %s (%s) is not intercepted: %s (pid %d)",
			    name_of(to), way, why, process);
		else
			say("rdma_init_qp_attr of %s in namespace %ld (%s) is bound to qpattr "
			    "(pid %d)",
			    name_of(to), static_cast<long>(to->space), way, process);
	}
	return why ? found : ours;
}

} // namespace

AUDIT_EXPORT unsigned la_version(unsigned version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// 0 for all but a few: of their bindings nothing is told, and none is slowed.
AUDIT_EXPORT unsigned la_objopen(link_map *map, Lmid_t space, std::uintptr_t *cookie)
{
	audit::object *const which = audit::add(map, space);
	if (!which)
		return 0;
	*cookie = reinterpret_cast<std::uintptr_t>(which);
	if (which->what == kind::preload) {
		if (!started && space == LM_ID_BASE && which->function)
			audit::preloaded(which->function, map->l_name);
		return LA_FLG_BINDTO;
	}
	if (which->what == kind::librdmacm)
		return LA_FLG_BINDTO | LA_FLG_BINDFROM;
	return LA_FLG_BINDFROM;
}

AUDIT_EXPORT unsigned la_objclose(std::uintptr_t *cookie)
{
	if (audit::object *const which = audit::find(*cookie)) {
		if (which->what == kind::librdmacm && which->first)
			audit::forget(which->space);
		audit::remove(*which);
	}
	return 0;
}

AUDIT_EXPORT void la_preinit(std::uintptr_t *)
{
	started = true;
}

#if __ELF_NATIVE_CLASS == 64
#define la_symbind_native la_symbind64
#else
#define la_symbind_native la_symbind32
#endif

AUDIT_EXPORT std::uintptr_t la_symbind_native(ElfW(Sym) *symbol, unsigned, std::uintptr_t *from,
					      std::uintptr_t *to, unsigned *flags, const char *name)
{
	// Of a PLT that is called through the auditor for another one's sake.
	*flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
	if (std::strcmp(name, audit::function_name) != 0)
		return symbol->st_value;
	return bound(symbol->st_value, audit::find(*from), audit::find(*to),
		     *flags & LA_SYMB_DLSYM);
}
