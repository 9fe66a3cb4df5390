/*
 * Duplex: JSON-RPC 2.0 between programs, both ways at once.
 *
 * This header includes the whole library. Each floor has a header of its own that can be
 * included alone; they build on each other in this order:
 *
 *   duplex/base.h    status, error, text, buffer, allocator
 *   duplex/frame.h   bytes <-> frames (Content-Length headers, or one JSON text a line)
 *   duplex/rpc.h     what a JSON text is in JSON-RPC terms, and writing such texts
 *   duplex/peer.h    one conversation: calls, answers, deadlines, cancellation, progress
 *
 * Start with duplex/peer.h; most programs need nothing else.
 */
#ifndef DUPLEX_DUPLEX_H
#define DUPLEX_DUPLEX_H

#include <duplex/base.h>
#include <duplex/frame.h>
#include <duplex/peer.h>
#include <duplex/rpc.h>
#include <duplex/version.h>

#endif
