// SPDX-License-Identifier: MIT
// Cases of a program that runs in the guest, where there is no test framework:
// one line a case on standard output, "ok - NAME" or "not ok - NAME: why". There
// is no way to skip one.
#pragma once

#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

namespace check {

// A case under way. The first thing that is wrong is the reason it fails for;
// what else is wrong follows as comments.
class test {
public:
	explicit test(std::string name) : name_{std::move(name)} {}

	void fail(const std::string &why)
	{
		if (why_.empty())
			why_ = why.empty() ? "no reason given" : why;
		else
			more_ += "# also: " + why + "\n";
	}

	bool expect(bool held, const std::string &what)
	{
		if (!held)
			fail(what);
		return held;
	}

	template <class A, class B>
	bool equal(const std::string &what, const A &got, const B &wanted)
	{
		if (got == wanted)
			return true;
		std::ostringstream text;
		text << what << " is " << got << ", not " << wanted;
		fail(text.str());
		return false;
	}

	// Said after the name, also where the case holds: numbers found.
	void note(const std::string &text) { note_ += " (" + text + ")"; }

	[[nodiscard]] bool held() const { return why_.empty(); }

	void print() const
	{
		if (held())
			std::printf("ok - %s%s\n", name_.c_str(), note_.c_str());
		else
			std::printf("not ok - %s: %s%s\n%s", name_.c_str(), why_.c_str(),
				    note_.c_str(), more_.c_str());
		std::fflush(stdout);
	}

private:
	std::string name_, why_, note_, more_;
};

namespace detail {
inline int held = 0, failed = 0;
}

// Runs a case and prints its line. Whatever it throws fails it.
template <class Body> void run(const std::string &name, Body &&body)
{
	test t{name};
	try {
		body(t);
	} catch (const std::exception &e) {
		t.fail(e.what());
	}
	t.print();
	++(t.held() ? detail::held : detail::failed);
}

// The exit status of the program: a program without a case has not tested.
inline int status()
{
	if (detail::held + detail::failed == 0)
		std::printf("not ok - the program ran no case\n");
	return detail::held > 0 && detail::failed == 0 ? 0 : 1;
}

} // namespace check
