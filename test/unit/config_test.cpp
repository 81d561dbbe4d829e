// SPDX-License-Identifier: MIT
// Rules of the command line and of a TOML file, and each way to write them wrong.
#include "test/support/catch.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/qpattr/common/failure.hpp"
#include "tools/qpattr/trace/config.hpp"

using namespace qpattr::tool;

namespace {

template <class Do> std::string refusal(Do call)
{
	try {
		call();
	} catch (const failure &why) {
		return why.what();
	}
	return "taken";
}

std::string of_file(const std::string &text)
{
	return refusal([&] { (void)parse_config(text, "o.toml"); });
}

bool begins(const std::string &text, const std::string &with)
{
	return text.compare(0, with.size(), with) == 0;
}

// A file in a directory of its own.
class file {
public:
	explicit file(const std::string &text)
	{
		char dir[] = "/tmp/config_test.XXXXXX";
		dir_ = ::mkdtemp(dir);
		std::ofstream{path()} << text;
		REQUIRE(::chmod(path().c_str(), 0644) == 0);
	}
	~file()
	{
		::unlink(path().c_str());
		::unlink(link().c_str());
		::rmdir(dir_.c_str());
	}
	[[nodiscard]] std::string path() const { return dir_ + "/o.toml"; }
	[[nodiscard]] std::string link() const { return dir_ + "/link"; }

private:
	std::string dir_;
};

constexpr const char *good = "[[rule]]\n"
			     "match = { dst = \"10.0.0.0/8\", port = 4420 }\n"
			     "set = { timeout = \"500ms\", min_rnr_timer = 12 }\n"
			     "[[rule]]\n"
			     "set = { traffic_class = \"dscp:46\" }\n";

} // namespace

TEST_CASE("config: a file's rules")
{
	const std::vector<override_rule> rules = parse_config(good, "o.toml");
	REQUIRE(rules.size() == 2);
	CHECK(rules[0].origin == "o.toml:1");
	CHECK(rules[0].match == "dst=10.0.0.0/8,port=4420");
	REQUIRE(rules[0].set.size() == 2);
	CHECK(rules[1].origin == "o.toml:4");
	CHECK(rules[1].match == "*");
	CHECK(override_value(rules) ==
	      "dst=10.0.0.0/8,port=4420:min_rnr_timer=12,timeout=17;*:ah_attr.grh.traffic_class=184");
}

TEST_CASE("config: the example is good")
{
	const std::vector<override_rule> rules = read_config(QPATTR_EXAMPLE_CONFIG);
	CHECK(rules.size() >= 3);
	CHECK_FALSE(override_value(rules).empty());
}

TEST_CASE("config: what is wrong in a file is told with line and column")
{
	CHECK(begins(of_file("[[rule]]\nset = { timeout = 16 }\nsets = 1\n"),
		     "o.toml:3:1: unknown key 'sets': a rule has match and set"));
	CHECK(begins(of_file("[[rules]]\nset = { timeout = 16 }\n"),
		     "o.toml:1:3: unknown key 'rules': the file has [[rule]] tables only"));
	CHECK(begins(of_file("[rule]\nset = { timeout = 16 }\n"),
		     "o.toml:1:1: write [[rule]], with two brackets"));
	CHECK(begins(of_file("[[rule]]\nset = { timeoot = 16 }\n"),
		     "o.toml:2:9: unknown attribute 'timeoot': did you mean timeout?"));
	CHECK(begins(of_file("[[rule]]\nset = { timeout = 32 }\n"), "o.toml:2:9: timeout=32: "));
	CHECK(begins(of_file("[[rule]]\nset = { timeout = 1.5 }\n"),
		     "o.toml:2:19: write a whole number, or a text with its unit"));
	CHECK(begins(of_file("[[rule]]\nset = 3\n"), "o.toml:2:7: this is to be a table"));
	CHECK(begins(of_file("[[rule]]\nmatch = { dts = \"10.0.0.1\" }\nset = { timeout = 1 }\n"),
		     "o.toml:2:11: unknown condition 'dts': there are dst, src, port, ps, dev and "
		     "qp_type"));
	CHECK(begins(of_file("[[rule]]\nmatch = { dst = \"10.0.0.0/33\" }\nset = { timeout = 1 }\n"),
		     "o.toml:2:11: dst=10.0.0.0/33 is no address"));
	CHECK(begins(of_file("[[rule]]\nmatch = { port = 4420 }\n"),
		     "o.toml:1:1: this rule sets nothing"));
	CHECK(begins(of_file("[[rule]]\nset = { timeout = 1, ah_attr = 2 }\n"), "o.toml:2:22: "));
	CHECK(begins(of_file("[[rule]]\nset = { timeout = 16\n"), "o.toml:2:"));
	CHECK(begins(of_file("[[rule]]\nset = { timeout = 16, timeout = 17 }\n"), "o.toml:2:"));
	CHECK(begins(of_file("[[rule]]\nset = { sl = 1, \"ah_attr.sl\" = 2 }\n"),
		     "o.toml:2:9: ah_attr.sl is set twice"));
	CHECK(begins(of_file("[[rule]]\nset = { ah_attr.sl = 2 }\n"),
		     "o.toml:2:9: write a name with dots in quotes, or its last part alone"));
	CHECK(begins(of_file("# nothing\n"), "o.toml: there is no [[rule]] in it"));
	for (const std::string &each :
	     {of_file("[[rule]\n"), of_file("a = \n"), of_file("\"\n\n\""), of_file("\xff\xfe")}) {
		CHECK(begins(each, "o.toml:"));
		CHECK(each.find('\n') == std::string::npos);
	}
}

TEST_CASE("config: matches and settings of the command line")
{
	const auto match = [](const char *text) {
		return refusal([&] { (void)parse_match(text, "--match"); });
	};
	CHECK(parse_match("dst=10.0.0.0/8, port=4420,ps=tcp,dev=mlx5_0", "--match") ==
	      "dst=10.0.0.0/8,port=4420,ps=tcp,dev=mlx5_0");
	CHECK(parse_match("", "--match") == "*");
	CHECK(parse_match("*", "--match") == "*");
	CHECK(match("dst=fd77::/16,src=fd77::1") == "taken");
	CHECK(match("qp_type=xrc_ini") == "taken");
	CHECK(begins(match("dst"), "--match: 'dst' is not NAME=VALUE"));
	CHECK(begins(match("dst=1.2.3"), "--match: dst=1.2.3 is no address"));
	CHECK(begins(match("dst=fd77::/129"), "--match: dst=fd77::/129 is no address"));
	CHECK(begins(match("port=0"), "--match: port=0 is no port"));
	CHECK(begins(match("port=65536"), "--match: port=65536 is no port"));
	CHECK(begins(match("ps=TCPP"), "--match: ps=TCPP is no port space"));
	CHECK(begins(match("qp_type=x"), "--match: qp_type=x is no type of QP"));
	CHECK(begins(match("dev=a;b"), "--match: dev=a;b is no name of a device"));
	CHECK(begins(match("dst=10.0.0.1,dst=10.0.0.2"), "--match: dst= is there twice"));
	CHECK(begins(match("dst=10.0.0.1,"), "--match: '' is not NAME=VALUE"));

	const auto set = [](const char *text) {
		return refusal([&] { (void)parse_settings(text, "--set"); });
	};
	CHECK(parse_settings("timeout=16, min_rnr_timer=0.64ms", "--set").size() == 2);
	CHECK(begins(set("timeout"), "--set: 'timeout' is not NAME=VALUE"));
	CHECK(begins(set("timeout=16,timeout=17"), "--set: timeout is set twice"));
	CHECK(begins(set("dest_qp_num=5"), "--set: dest_qp_num cannot be overridden: "));
	CHECK(begins(set("timeout=500fs"), "--set: timeout=500fs: "));
}

TEST_CASE("config: more than the preload object takes is refused here")
{
	std::vector<override_rule> rules(64, parse_config(good, "o.toml")[1]);
	CHECK(refusal([&] { (void)override_value(rules); }) == "taken");
	rules.push_back(rules[0]);
	CHECK(begins(refusal([&] { (void)override_value(rules); }), "65 rules with 65 settings"));
	rules.assign(40, rules[0]);
	for (override_rule &each : rules)
		each.match = "dev=" + std::string(60, 'x') + ",dst=fd00:1111:2222:3333:4444::/80";
	CHECK(begins(refusal([&] { (void)override_value(rules); }), "40 rules with 40 settings"));
}

TEST_CASE("config: a file that others could have written is refused")
{
	const file here{good};
	const auto read = [](const std::string &path) {
		return refusal([&] { (void)read_config(path); });
	};
	CHECK(read(here.path()) == "taken");
	for (const mode_t mode : {0664, 0646, 0666}) {
		REQUIRE(::chmod(here.path().c_str(), mode) == 0);
		CHECK(begins(read(here.path()), here.path() + " can be written by others"));
	}
	REQUIRE(::chmod(here.path().c_str(), 0644) == 0);
	// What counts is the file, not the link to it.
	REQUIRE(::symlink(here.path().c_str(), here.link().c_str()) == 0);
	CHECK(read(here.link()) == "taken");
	REQUIRE(::chmod(here.path().c_str(), 0646) == 0);
	CHECK(begins(read(here.link()), here.link() + " can be written by others"));
	REQUIRE(::chmod(here.path().c_str(), 0644) == 0);
	if (::geteuid() == 0) {
		REQUIRE(::chown(here.path().c_str(), 12345, 12345) == 0);
		CHECK(begins(read(here.path()), here.path() + " belongs to another user"));
	}
	CHECK(read("/nowhere/o.toml") ==
	      "cannot read /nowhere/o.toml: No such file or directory");
	CHECK(begins(read("/tmp"), "/tmp is not a file"));
	CHECK(begins(read("/dev/zero"), "/dev/zero is not a file"));
}
