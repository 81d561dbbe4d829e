// SPDX-License-Identifier: MIT
// main() of the unit tests, and one line a test case on standard output,
// "ok - NAME" or "not ok - NAME", which is what test/run-tests counts.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#endif
#include "test/support/catch.hpp"

#if QPATTR_CATCH_VERSION == 3
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#endif

#include <cstdio>

namespace {

#if QPATTR_CATCH_VERSION == 3
using listener_base = Catch::EventListenerBase;
#else
using listener_base = Catch::TestEventListenerBase;
#endif

class tally : public listener_base {
public:
	using listener_base::listener_base;

	void testCaseEnded(const Catch::TestCaseStats &stats) override
	{
		const bool passed = stats.totals.assertions.allOk() &&
				    stats.totals.assertions.total() > 0;
		std::printf("%s - %s\n", passed ? "ok" : "not ok", name(stats.testInfo));
		std::fflush(stdout);
	}

private:
	// testInfo is an object in version 2 and a pointer in version 3.
	static const char *name(const Catch::TestCaseInfo &info) { return info.name.c_str(); }
	static const char *name(const Catch::TestCaseInfo *info) { return info->name.c_str(); }
};

} // namespace

CATCH_REGISTER_LISTENER(tally)
