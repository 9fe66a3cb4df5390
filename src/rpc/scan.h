/* Scans that pause, and the beginning of a message as most programs write it. */
#ifndef DX_RPC_SCAN_H
#define DX_RPC_SCAN_H

#include "rpc/json.h"

/* A scan that may take several steps. Nothing in it points into the text, which may move between
 * two of them. */
typedef struct dx__rpc_scan {
    dx__json_walk walk; /* what it counts holds for the whole text */
    dx_message message;
    dx_slice version;
    uint32_t at; /* where it stands */
    uint32_t repeated_at;
    unsigned seen;
    unsigned repeated; /* members that stand twice */
    unsigned member;   /* the one at hand, 0 if it is of no interest */
    unsigned stage;
    int escaped;
    int is_element; /* of a batch: more may follow it */
} dx__rpc_scan;

void dx__rpc_scan_begin(dx__rpc_scan *scan);
/* dx_rpc_scan(), of at most so many bytes. True: it is done, and scan->message is the result. */
int dx__rpc_scan_go(dx__rpc_scan *scan, dx_text text, unsigned depth, unsigned lenient,
                    size_t most);
/* Begins with the element of a batch behind `cursor` (0: the first), which scan->at is after it.
 * 0: there is none; a batch without elements must be known as such. */
int dx__rpc_element_begin(dx__rpc_scan *scan, const dx_message *batch, uint32_t cursor);
/* A message of the usual form; 0 if it is not like that. */
int dx__rpc_scan_usual(dx_text text, unsigned depth, dx_message *ret);

/* Reads "jsonrpc", "id", "method" in this order, no space between them and no escapes, up to the
 * value of "params" or "result", and returns where that begins; NULL if the message is not exactly
 * like that. What is set in *ret is final but for that value: see dx__rpc_usual_end(). */
const char *dx__rpc_usual(dx_text text, dx_message *ret);

/* The value ends at `to`: if nothing but the closing brace follows, the message is complete. */
static inline int dx__rpc_usual_end(dx_text text, const char *from, const char *to,
                                    dx_message *ret) {
    const char *end = text.at + text.len;
    if (end - to != 1 || *to != '}')
        return 0;
    *(ret->method.len ? &ret->params : &ret->result) =
        (dx_slice){(uint32_t)(from - text.at), (uint32_t)(to - from)};
    return 1;
}

#endif
