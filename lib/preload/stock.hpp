// SPDX-License-Identifier: MIT
// Stock librdmacm, as found in this process.
#pragma once

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

	// Looks for it by its soname, which also finds a librdmacm that only a
	// plugin loaded (RTLD_LOCAL), then behind us in the global scope.
	stock() noexcept;
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

} // namespace qpattr::preload
