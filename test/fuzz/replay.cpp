// SPDX-License-Identifier: MIT
// Gives a fuzz target each file of a directory: replay DIRECTORY. In place of libFuzzer's
// own main, with any compiler.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "test/fuzz/fuzz.hpp"

namespace {

namespace fs = std::filesystem;

// Each in memory of its own of just that size, so that a checker sees a byte too far.
void give(const fs::path &file)
{
	std::ifstream in{file, std::ios::binary};
	const std::size_t len = fs::file_size(file);
	const auto bytes = std::make_unique<char[]>(len);
	if (!in.read(bytes.get(), static_cast<std::streamsize>(len))) {
		std::printf("not ok - %s: cannot be read\n", file.c_str());
		std::exit(1);
	}
	LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(bytes.get()), len);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2 || !fs::is_directory(argv[1])) {
		std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	std::vector<fs::path> files;
	for (const fs::directory_entry &each : fs::directory_iterator{argv[1]})
		files.push_back(each.path());
	std::sort(files.begin(), files.end());
	for (const fs::path &each : files) {
		// Which one it was, if it ends here.
		std::printf("# %s\n", each.filename().c_str());
		std::fflush(stdout);
		give(each);
	}
	const std::string name = fs::path{argv[1]}.filename();
	if (files.empty()) {
		std::printf("not ok - %s: no inputs\n", name.c_str());
		return 1;
	}
	std::printf("ok - %s: %zu inputs\n", name.c_str(), files.size());
	return 0;
}
