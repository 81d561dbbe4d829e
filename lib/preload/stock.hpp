// SPDX-License-Identifier: MIT
// Stock librdmacm, as found in this process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/preload/foreign_id.hpp"

struct ibv_qp_attr;

namespace qpattr::preload {

// A loaded librdmacm and the functions of it that qpattr calls. While the value
// lives, the library cannot be unloaded; a program may do so afterwards, so
// nothing of it is kept between calls.
class stock {
public:
	using init_qp_attr_fn = int(cm_id *, ibv_qp_attr *, int *);
	using create_id_fn = int(event_channel *, cm_id **, void *, int);
	using destroy_id_fn = int(cm_id *);

	// The librdmacm at this path, if it is loaded in our namespace. Without a
	// path, by its soname, then behind us in the global scope. By path or soname
	// it is found also where only a plugin loaded it (RTLD_LOCAL).
	explicit stock(const char *path = nullptr) noexcept;
	~stock();
	stock(const stock &) = delete;
	stock &operator=(const stock &) = delete;

	init_qp_attr_fn *init_qp_attr = nullptr;
	create_id_fn *create_id = nullptr;
	destroy_id_fn *destroy_id = nullptr;

	[[nodiscard]] bool complete() const noexcept
	{
		return init_qp_attr && create_id && destroy_id;
	}

private:
	void *library_ = nullptr;
};

// The path of the librdmacm that this code is part of, or null.
[[nodiscard]] const char *librdmacm_of(const void *code) noexcept;

// The files of librdmacm in this process: mostly one, but a program may open another
// by its path, or bring one that a packager renamed. From /proc, and not by
// dl_iterate_phdr, whose lock stays taken in a child that is forked meanwhile. Those
// of other namespaces are among them.
class copies {
public:
	copies() noexcept;

	[[nodiscard]] std::size_t count() const noexcept { return count_; }
	[[nodiscard]] const char *operator[](std::size_t i) const noexcept { return paths_[i]; }
	// There are more, or such with longer names, than fit here.
	[[nodiscard]] bool more() const noexcept { return more_; }

private:
	void look_at(const char *line) noexcept;

	static constexpr std::size_t copies_max = 4;
	char paths_[copies_max][256] = {};
	std::size_t count_ = 0;
	bool more_ = false;
};

} // namespace qpattr::preload
