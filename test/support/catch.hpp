// SPDX-License-Identifier: MIT
// Catch2, version 2 or 3, whichever is there.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#define QPATTR_CATCH_VERSION 3
#else
#include <catch2/catch.hpp>
#define QPATTR_CATCH_VERSION 2
#endif
