/* The beginning of a message as most programs write it, for those who read its content themselves.
 */
#ifndef DX_RPC_SCAN_H
#define DX_RPC_SCAN_H

#include <duplex/rpc.h>

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
