// SPDX-License-Identifier: MIT
/**
 * @file qpattr.hpp
 * The C++20 layer over the connection manager: header-only, move-only owners,
 * results instead of exceptions, usable with -fno-exceptions -fno-rtti and without
 * libstdc++ at run time.
 *
 *     auto made = qpattr::channel::create();
 *     if (!made)
 *             return complain(made.why());
 *     qpattr::channel channel = std::move(made).value();   // first: it must live longest
 *     qpattr::id id = qpattr::id::create(channel).value(); // empty where it failed
 *     if (auto asked = id.resolve_address(peer, 2s); !asked)
 *             return complain(asked.why());
 *
 * It stands on <rdma/rdma_cma.h>: stock librdmacm's (link with -lrdmacm), or
 * qpattr's own (pkg-config qpattr-rdmacm). libqpattr has rdma_* functions too: who
 * wants stock's links -lrdmacm before -lqpattr. test/example/connect.cpp is a whole
 * program.
 *
 * | owner   | of                 | its end                     | lives within      |
 * |---------|--------------------|-----------------------------|-------------------|
 * | channel | an open device     | rdma_destroy_event_channel  |                   |
 * | id      | a connection, a QP | rdma_destroy_qp, _id        | its channel       |
 * | event   | an event           | rdma_ack_cm_event           | its id            |
 *
 * Threads: functions of different objects may be called at once; one object is one
 * thread's at a time, but for channel::next_event(). An event may be handed to
 * another thread by moving it; the mover must not destroy the id before that
 * thread is done.
 */
#ifndef QPATTR_QPATTR_HPP
#define QPATTR_QPATTR_HPP

#include <qpattr/address.hpp>
#include <qpattr/attributes.hpp>
#include <qpattr/channel.hpp>
#include <qpattr/event.hpp>
#include <qpattr/id.hpp>
#include <qpattr/id_ref.hpp>
#include <qpattr/parameters.hpp>
#include <qpattr/qpattr.h>
#include <qpattr/result.hpp>

#endif
