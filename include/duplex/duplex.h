/*
 * Duplex: JSON-RPC 2.0 between programs, both ways at once.
 *
 * This header includes the whole library. Each floor has a header of its own that can be
 * included alone; they build on each other in this order:
 *
 *   duplex/base.h        status, error, text, buffer, allocator
 *   duplex/frame.h       bytes <-> frames (Content-Length headers, or one JSON text per line)
 *   duplex/rpc.h         what a JSON text is in JSON-RPC terms, and writing such texts
 *   duplex/peer.h        one conversation: calls, answers, deadlines, cancellation, progress
 *   duplex/loop.h        one descriptor, one deadline, one call: lives in any other loop
 *   duplex/link.h        a conversation on pipes and sockets, with functions for its methods
 *   duplex/child.h       a program that this one starts, talks to and never leaves behind
 *   duplex/program.h     … and a plain one, that is only run
 *   duplex/supervisor.h  a child that is kept running
 *   duplex/schema.h      does a JSON value fit a JSON Schema?
 *   duplex/protocol.h    a protocol is a document; this reads it
 *   duplex/toml.h        TOML to JSON values and back
 *   duplex/trace.h       what crossed a wire, one JSON object a line
 *   duplex/recorder.h    a trace in a file, which never slows the traffic
 *   duplex/watchers.h    a trace for whoever looks on
 *   duplex/tap.h         a program in place of another, which passes on and records
 *
 * Start with duplex/link.h for a plugin and duplex/child.h for a host; with duplex/peer.h if you do
 * your own input and output.
 */
#ifndef DUPLEX_DUPLEX_H
#define DUPLEX_DUPLEX_H

#include <duplex/base.h>
#include <duplex/child.h>
#include <duplex/frame.h>
#include <duplex/link.h>
#include <duplex/loop.h>
#include <duplex/peer.h>
#include <duplex/program.h>
#include <duplex/protocol.h>
#include <duplex/recorder.h>
#include <duplex/rpc.h>
#include <duplex/schema.h>
#include <duplex/supervisor.h>
#include <duplex/tap.h>
#include <duplex/toml.h>
#include <duplex/trace.h>
#include <duplex/version.h>
#include <duplex/watchers.h>

#endif
