// SPDX-License-Identifier: MIT
#include "tools/qpattr/doctor/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace qpattr::tool::doctor {

std::vector<std::string> machine::lines(const std::string &path) const
{
	std::ifstream in{root + path};
	std::vector<std::string> out;
	for (std::string each; std::getline(in, each);)
		out.push_back(each);
	return out;
}

std::optional<std::string> machine::line(const std::string &path) const
{
	const std::vector<std::string> all = lines(path);
	if (all.empty())
		return std::nullopt;
	return all.front();
}

std::vector<std::string> machine::entries(const std::string &dir) const
{
	std::vector<std::string> out;
	std::error_code ignored;
	for (std::filesystem::directory_iterator each{root + dir, ignored}, end;
	     !ignored && each != end; each.increment(ignored))
		out.push_back(each->path().filename().string());
	// mlx5_2 before mlx5_10.
	std::sort(out.begin(), out.end(), [](const std::string &a, const std::string &b) {
		return a.size() != b.size() ? a.size() < b.size() : a < b;
	});
	return out;
}

bool machine::exists(const std::string &path) const
{
	std::error_code ignored;
	return std::filesystem::exists(root + path, ignored);
}

} // namespace qpattr::tool::doctor
