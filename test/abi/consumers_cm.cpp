// SPDX-License-Identifier: MIT
#include "consumers_cm.h"

#include <qpattr/qpattr.hpp>

int main()
{
	const auto channel = qpattr::channel::create();
	return channel ? look() : look() && errno;
}
