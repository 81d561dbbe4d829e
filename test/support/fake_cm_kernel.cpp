// SPDX-License-Identifier: MIT
#include "test/support/fake_cm_kernel.hpp"

#include <algorithm>
#include <ctime>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace qpattr::test {
namespace {

template <class T> T take(const unsigned char *data)
{
	T value;
	std::memcpy(&value, data + sizeof(rdma_ucm_cmd_hdr), sizeof value);
	return value;
}

// As much of a reply as the caller has room for, and no byte more.
template <class T> void answer(std::uint64_t where, const T &reply, std::size_t room)
{
	std::memcpy(reinterpret_cast<void *>(where), &reply, room < sizeof reply ? room : sizeof reply);
}

} // namespace

fake_cm_kernel &fake_cm_kernel::get()
{
	static fake_cm_kernel one;
	return one;
}

void fake_cm_kernel::reset()
{
	const std::lock_guard hold{lock_};
	ids.clear();
	routes.clear();
	addresses.clear();
	gids.clear();
	attributes.clear();
	files_.clear();
	writes_.clear();
	refusals_.clear();
	sleeps = false;
	sleepers = 0;
	between = nullptr;
	any_device = true;
	loads_module = false;
	module_wanted = 0;
	node_mode = S_IFCHR | 0666;
	stat_errno = open_errno = fstat_errno = sysfs_errno = 0;
	abi = "4\n";
	opened.clear();
	open_flags.clear();
	closed.clear();
	load_module_anew();
}

void fake_cm_kernel::load_module_anew()
{
	device = node_device = opened_device = makedev(10, minor_++);
}

std::vector<fake_cm_kernel::written> fake_cm_kernel::writes()
{
	const std::lock_guard hold{lock_};
	return writes_;
}

void fake_cm_kernel::forget_writes()
{
	const std::lock_guard hold{lock_};
	writes_.clear();
}

std::vector<fake_cm_kernel::written> fake_cm_kernel::writes_of(std::uint32_t command)
{
	const std::lock_guard hold{lock_};
	std::vector<written> found;
	for (const auto &one : writes_)
		if (one.bytes.size() >= 4 && std::memcmp(one.bytes.data(), &command, 4) == 0)
			found.push_back(one);
	return found;
}

void fake_cm_kernel::refuse(std::uint32_t command, int code, unsigned times)
{
	const std::lock_guard hold{lock_};
	while (times--)
		refusals_[command].push_back(code);
}

std::uint32_t fake_cm_kernel::new_id(int fd, std::uint64_t uid)
{
	const std::uint32_t handle = next_handle_++;
	ids[handle] = {fd, uid, 0};
	return handle;
}

std::uint32_t fake_cm_kernel::add_id(int fd)
{
	const std::lock_guard hold{lock_};
	return new_id(fd, 0);
}

rdma_ucm_event_resp fake_cm_kernel::event_of(std::uint32_t handle, std::uint32_t number, int status)
{
	const std::lock_guard hold{lock_};
	rdma_ucm_event_resp event{};
	event.uid = ids.at(handle).uid;
	event.id = handle;
	event.event = number;
	event.status = static_cast<std::uint32_t>(status);
	return event;
}

void fake_cm_kernel::raise(std::uint32_t handle, std::uint32_t number, int status)
{
	raise(handle, event_of(handle, number, status));
}

void fake_cm_kernel::raise(std::uint32_t handle, const rdma_ucm_event_resp &event)
{
	const std::lock_guard hold{lock_};
	files_.at(ids.at(handle).fd).events.push_back(event);
}

void fake_cm_kernel::raise_raw(int fd, const rdma_ucm_event_resp &event)
{
	const std::lock_guard hold{lock_};
	files_.at(fd).events.push_back(event);
}

std::uint32_t fake_cm_kernel::request(std::uint32_t listener, const rdma_ucm_conn_param &param,
				      const rdma_ucm_ece &ece)
{
	auto event = event_of(listener, 4); // CONNECT_REQUEST
	event.id = add_id(ids.at(listener).fd);
	event.param.conn = param;
	event.ece = ece;
	raise(listener, event);
	return event.id;
}

int fake_cm_kernel::open_file()
{
	const std::lock_guard hold{lock_};
	files_[next_fd_];
	return next_fd_++;
}

bool fake_cm_kernel::close_file(int fd)
{
	const std::lock_guard hold{lock_};
	closed.push_back(fd);
	return files_.erase(fd) == 1;
}

long fake_cm_kernel::look_up(int fd, std::uint32_t handle) const
{
	const auto found = ids.find(handle);
	if (found == ids.end())
		return -ENOENT;
	return found->second.fd == fd ? 0 : -EINVAL;
}

long fake_cm_kernel::next_event(int fd, const unsigned char *data,
				std::unique_lock<std::mutex> &hold)
{
	while (files_[fd].events.empty()) {
		if (!sleeps)
			return -EAGAIN;
		++sleepers;
		hold.unlock();
		const timespec moment{0, 1000000};
		// A cancellation point, as the write of a command is.
		::nanosleep(&moment, nullptr);
		hold.lock();
		--sleepers;
	}
	const auto event = files_[fd].events.front();
	files_[fd].events.pop_front();
	for (auto &[handle, id] : ids)
		if (event.uid && id.uid == event.uid)
			++id.reported;
	rdma_ucm_cmd_hdr header;
	std::memcpy(&header, data, sizeof header);
	answer(take<rdma_ucm_get_event>(data).response, event, header.out);
	return 0;
}

// Written to the file that the id goes to. What its requests made stays behind.
long fake_cm_kernel::migrate(int fd, const rdma_ucm_migrate_id &command)
{
	const int from = static_cast<int>(command.fd);
	if (!files_.contains(from))
		return -EINVAL;
	if (const long refused = look_up(from, command.id))
		return refused;
	auto &id = ids[command.id];
	// Out of the one queue before into the other: it may be the same file.
	auto &old = files_[from].events;
	const auto its = std::stable_partition(old.begin(), old.end(),
					       [&](const auto &event) { return event.uid != id.uid; });
	const std::vector<rdma_ucm_event_resp> moved{its, old.end()};
	old.erase(its, old.end());
	files_[fd].events.insert(files_[fd].events.end(), moved.begin(), moved.end());
	id.fd = fd;
	answer(command.response, rdma_ucm_migrate_resp{id.reported}, 4);
	return 0;
}

long fake_cm_kernel::run(int fd, const unsigned char *data, std::size_t len)
{
	rdma_ucm_cmd_hdr header;
	std::memcpy(&header, data, sizeof header);
	if (header.in + sizeof header > len)
		return -EINVAL;
	switch (header.cmd) {
	case uapi::create_id::number: {
		const auto command = take<rdma_ucm_create_id>(data);
		answer(command.response, rdma_ucm_create_id_resp{new_id(fd, command.uid)}, header.out);
		return 0;
	}
	case uapi::destroy_id::number:
	case uapi::leave_mcast::number: {
		const auto command = take<rdma_ucm_destroy_id>(data);
		if (const long refused = look_up(fd, command.id))
			return refused;
		answer(command.response, rdma_ucm_destroy_id_resp{ids[command.id].reported}, header.out);
		ids.erase(command.id);
		return 0;
	}
	case uapi::join_mcast::number: {
		const auto command = take<rdma_ucm_join_mcast>(data);
		if (const long refused = look_up(fd, command.id))
			return refused;
		answer(command.response, rdma_ucm_create_id_resp{new_id(fd, command.uid)}, header.out);
		return 0;
	}
	case uapi::migrate_id::number:
		return migrate(fd, take<rdma_ucm_migrate_id>(data));
	case uapi::query_route::number: {
		const auto command = take<rdma_ucm_query>(data);
		if (const long refused = look_up(fd, command.id))
			return refused;
		answer(command.response, routes[command.id], header.out);
		return 0;
	}
	case uapi::query_addr::number: {
		const auto command = take<rdma_ucm_query>(data);
		if (const long refused = look_up(fd, command.id))
			return refused;
		if (command.option != uapi::query_addr::option && command.option != uapi::query_gid::option)
			return -ENOSYS;
		answer(command.response,
		       command.option == uapi::query_gid::option ? gids[command.id]
								 : addresses[command.id],
		       header.out);
		return 0;
	}
	case uapi::init_qp_attr::number: {
		const auto command = take<rdma_ucm_init_qp_attr>(data);
		if (const long refused = look_up(fd, command.id))
			return refused;
		if (!attributes.contains(command.id))
			return -EINVAL;
		auto reply = attributes[command.id];
		reply.qp_state = static_cast<std::uint8_t>(command.qp_state);
		answer(command.response, reply, header.out);
		return 0;
	}
	case uapi::accept::number: {
		const auto command = take<rdma_ucm_accept>(data);
		if (const long refused = look_up(fd, command.id))
			return refused;
		if (command.conn_param.valid)
			ids[command.id].uid = command.uid;
		return 0;
	}
	case uapi::connect::number:
		return look_up(fd, take<rdma_ucm_connect>(data).id);
	default:
		// All the others have the id in front.
		return look_up(fd, take<std::uint32_t>(data));
	}
}

long fake_cm_kernel::handle_write(int fd, const void *data, std::size_t len)
{
	std::unique_lock hold{lock_};
	const auto *bytes = static_cast<const unsigned char *>(data);
	writes_.push_back({fd, {bytes, bytes + len}});
	if (!files_.contains(fd))
		return -EBADF;
	if (len < sizeof(rdma_ucm_cmd_hdr))
		return -EINVAL;
	std::uint32_t command;
	std::memcpy(&command, bytes, sizeof command);
	if (auto &queue = refusals_[command]; !queue.empty()) {
		const int code = queue.front();
		queue.pop_front();
		return -code;
	}
	const long refused = command == uapi::get_event::number ? next_event(fd, bytes, hold)
								: run(fd, bytes, len);
	hold.unlock();
	if (refused >= 0 && between)
		between(command);
	return refused < 0 ? refused : static_cast<long>(len);
}

} // namespace qpattr::test
