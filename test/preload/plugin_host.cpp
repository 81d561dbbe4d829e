// SPDX-License-Identifier: MIT
// A program that knows nothing of librdmacm and opens a plugin that does, as UCX
// opens its transports: librdmacm is in no global scope. argv[1] is the plugin.
// It calls no function of librdmacm and counts by itself.
#include <arpa/inet.h>
#include <cstdlib>
#include <dlfcn.h>
#include <netinet/in.h>

#include "test/support/check.hpp"

int main(int argc, char **argv)
{
	sockaddr_in where{};
	where.sin_family = AF_INET;
	const char *text = std::getenv("QPATTR_VM_IPV4");
	::inet_pton(AF_INET, text ? text : "", &where.sin_addr);

	unsigned calls = 0;
	check::run("this program is not linked with librdmacm", [](check::test &t) {
		t.expect(!::dlopen("librdmacm.so.1", RTLD_NOLOAD | RTLD_LAZY), "it is loaded");
		t.expect(!::dlsym(RTLD_DEFAULT, "rdma_create_id"), "it is in the global scope");
	});
	for (const char *when : {"a plugin's librdmacm", "the same, unloaded and loaded again"})
		check::run(when, [&](check::test &t) {
			void *plugin = ::dlopen(argc == 2 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
			if (!t.expect(plugin, "the plugin is loaded"))
				return t.fail(::dlerror());
			t.expect(!::dlsym(RTLD_DEFAULT, "rdma_create_id"),
				 "librdmacm is in no global scope");
			const auto ask = reinterpret_cast<int (*)(sockaddr *, int *)>(
				::dlsym(plugin, "plugin_ask"));
			for (int i = 0; i < 2; ++i) {
				int mask = 0;
				t.equal("the return value",
					ask(reinterpret_cast<sockaddr *>(&where), &mask), 0);
				t.equal("the mask", mask, 0x39);
				++calls;
			}
			::dlclose(plugin);
		});
	std::printf("# calls: ours %u stock 0\n", calls);
	return check::status();
}
