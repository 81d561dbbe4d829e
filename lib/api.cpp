// SPDX-License-Identifier: MIT
// The C edge: values and errors of the rooms become returns and errno.
#include <cerrno>

#include <qpattr/qpattr.h>

#include "lib/attr/translate.hpp"
#include "lib/ucma/command.hpp"
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
	uapi::init_qp_attr::reply reply;
	attr::clear(reply);
	ucma::frame<uapi::init_qp_attr> command{&reply};
	command.body.id = handle;
	command.body.qp_state = static_cast<std::uint32_t>(state);
	if (const auto sent = ucma::send(fd, command); !sent)
		return fail(sent.why().code);
	attr::translate(reply, *attr);
	*mask = static_cast<int>(reply.qp_attr_mask);
	return 0;
}
