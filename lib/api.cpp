// SPDX-License-Identifier: MIT
// The C edge: values and errors of the rooms become returns and errno.
#include <cerrno>

#include <qpattr/qpattr.h>

#include "lib/query.hpp"
#include "lib/ucma/device.hpp"

using namespace qpattr;

namespace {

int fail(int code) noexcept
{
	errno = code;
	return -1;
}

} // namespace

const char *qpattr_version(void)
{
	return QPATTR_VERSION;
}

const char *qpattr_stage_name(enum qpattr_stage stage)
{
	switch (stage) {
	case QPATTR_STAGE_NONE:
		return "none";
	case QPATTR_STAGE_ARGUMENT:
		return "argument";
	case QPATTR_STAGE_NODE:
		return "node";
	case QPATTR_STAGE_IDENTIFY:
		return "identify";
	case QPATTR_STAGE_ABI:
		return "abi";
	case QPATTR_STAGE_OPEN:
		return "open";
	case QPATTR_STAGE_COMMAND:
		return "command";
	}
	return "unknown";
}

int qpattr_device_open(const char *path, enum qpattr_stage *stage)
{
	const int saved = errno;
	ucma::device_paths paths;
	if (path)
		paths.node = path;
	const auto opened = ucma::open_device(paths);
	if (stage)
		*stage = opened.why().stage;
	if (!opened)
		return fail(opened.why().code);
	errno = saved;
	return opened.value();
}

int qpattr_query(int fd, uint32_t handle, enum ibv_qp_state state, struct ibv_qp_attr *attr,
		 int *mask)
{
	if (!attr || !mask)
		return fail(EINVAL);
	if (const auto asked = query(fd, handle, static_cast<std::uint32_t>(state), *attr, *mask);
	    !asked)
		return fail(asked.why().code);
	return 0;
}
