// SPDX-License-Identifier: MIT
#include "tools/qpattr/common/terminal.hpp"

#include <charconv>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace qpattr::tool {
namespace {

std::string environment(const char *name)
{
	const char *value = std::getenv(name);
	return value ? value : "";
}

const char *code_of(colour what)
{
	switch (what) {
	case colour::bold:
		return "1";
	case colour::dim:
		return "2";
	case colour::red:
		return "31";
	case colour::yellow:
		return "33";
	case colour::green:
		return "32";
	case colour::plain:
		break;
	}
	return nullptr;
}

} // namespace

terminal::terminal(int fd)
{
	if (!::isatty(fd))
		return;
	colours_ = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
	const std::string columns = environment("COLUMNS");
	std::from_chars(columns.data(), columns.data() + columns.size(), width_);
	winsize size{};
	if (width_ == 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0)
		width_ = size.ws_col;
	if (width_ == 0)
		width_ = 80;
}

std::string terminal::paint(colour what, std::string_view text) const
{
	const char *const code = colours_ ? code_of(what) : nullptr;
	if (!code)
		return std::string{text};
	return std::string{"\x1b["} + code + "m" + std::string{text} + "\x1b[0m";
}

} // namespace qpattr::tool
