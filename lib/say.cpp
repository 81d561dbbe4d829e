// SPDX-License-Identifier: MIT
#include "lib/say.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

namespace qpattr {

bool debug_asked() noexcept
{
	const char *value = ::secure_getenv("QPATTR_DEBUG");
	return value && *value && std::strcmp(value, "0") != 0;
}

void say(const char *format, ...) noexcept
{
	if (!debug_asked())
		return;
	const int saved = errno;
	char line[400] = "qpattr: ";
	constexpr std::size_t prefix = sizeof "qpattr: " - 1;
	std::va_list arguments;
	va_start(arguments, format);
	// One byte stays for the end of the line.
	const int len = std::vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
	va_end(arguments);
	if (len > 0) {
		std::size_t end = prefix + static_cast<std::size_t>(len);
		if (end > sizeof line - 2)
			end = sizeof line - 2;
		line[end++] = '\n';
		// Writing is a cancellation point; telling something is to be none.
		int cancel;
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		[[maybe_unused]] const auto told = ::write(STDERR_FILENO, line, end);
		pthread_setcancelstate(cancel, nullptr);
	}
	errno = saved;
}

} // namespace qpattr
