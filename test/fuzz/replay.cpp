// SPDX-License-Identifier: MIT
// Gives a fuzz target each file of a directory: replay DIRECTORY. In place of libFuzzer's
// own main, with any compiler; without <filesystem> and <fstream>, into which
// MemorySanitizer cannot see.
#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "test/fuzz/fuzz.hpp"

namespace {

[[noreturn]] void fail(const std::string &what, const char *why)
{
	std::printf("not ok - %s: %s\n", what.c_str(), why);
	std::exit(1);
}

// Names, without those that begin with a dot.
std::vector<std::string> files_of(const char *directory)
{
	std::vector<std::string> out;
	DIR *const list = ::opendir(directory);
	if (!list) {
		std::fprintf(stderr, "replay: %s cannot be read: name the directory of a corpus\n", directory);
		std::exit(2);
	}
	while (const dirent *each = ::readdir(list))
		if (each->d_name[0] != '.')
			out.emplace_back(each->d_name);
	::closedir(list);
	std::sort(out.begin(), out.end());
	return out;
}

// Each in memory of its own of just that size, so that a checker sees a byte too far.
void give(const std::string &file)
{
	const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
	struct stat is {};
	if (fd < 0 || ::fstat(fd, &is) != 0)
		fail(file, "cannot be opened");
	const auto len = static_cast<std::size_t>(is.st_size);
	auto *const bytes = static_cast<std::uint8_t *>(std::malloc(len));
	if (len && (!bytes || ::read(fd, bytes, len) != is.st_size))
		fail(file, "cannot be read");
	::close(fd);
	LLVMFuzzerTestOneInput(bytes, len);
	std::free(bytes);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	std::string directory = argv[1];
	while (directory.size() > 1 && directory.back() == '/')
		directory.pop_back();
	const std::vector<std::string> files = files_of(directory.c_str());
	for (const std::string &each : files) {
		// Which one it was, if it ends here.
		std::printf("# %s\n", each.c_str());
		std::fflush(stdout);
		give(directory + "/" + each);
	}
	const std::string name = directory.substr(directory.rfind('/') + 1);
	if (files.empty())
		fail(name, "no inputs");
	std::printf("ok - %s: %zu inputs\n", name.c_str(), files.size());
	return 0;
}
