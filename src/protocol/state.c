/* What is asked of the lifecycle per message: a look into a table. */
#include "protocol/protocol.h"

#include <duplex/rpc.h>

const char *dx_protocol_state_name(const dx_protocol *protocol, unsigned state) {
    return state < protocol->state_count ? protocol->states[state].name : "unknown";
}

unsigned dx_protocol_states(const dx_protocol *protocol) {
    return protocol->state_count;
}

static size_t index_of(const dx_protocol *protocol, dx_text method) {
    const dx__message *message = dx__message_find(protocol, method);
    return message ? message->method.index : protocol->name_count;
}

static dx_leave may(const dx_protocol *protocol, unsigned state, size_t index, dx_side from,
                    int64_t *ret_code, const char **ret_message) {
    if (state >= protocol->state_count)
        state = 0;
    uint8_t leave = dx__cell_at(protocol, state, dx__column(from), index)->leave;
    if (leave == DX_LEAVE_YES || leave == DX_LEAVE_EARLY)
        return (dx_leave)leave;
    int64_t code = protocol->states[state].code;
    const char *message = protocol->states[state].message;
    if (leave == DX__LEAVE_UNKNOWN) {
        code = DX_CODE_METHOD;
        message = "Method not found";
    }
    if (ret_code)
        *ret_code = code;
    if (ret_message)
        *ret_message = message;
    return DX_LEAVE_NO;
}

dx_leave dx_protocol_may(const dx_protocol *protocol, unsigned state, dx_text method, dx_side from,
                         int64_t *ret_code, const char **ret_message) {
    return may(protocol, state, index_of(protocol, method), from, ret_code, ret_message);
}

dx_leave dx_protocol_may_send(const dx_protocol *protocol, unsigned state, const dx_method *method,
                              dx_side from, int64_t *ret_code, const char **ret_message) {
    return may(protocol, state, method->index, from, ret_code, ret_message);
}

static unsigned next(const dx_protocol *protocol, unsigned state, size_t index, dx_side from,
                     dx_move move) {
    if (state >= protocol->state_count)
        state = 0;
    unsigned outcome = move == DX_MOVE_SENT ? 0 : move == DX_MOVE_RESULT ? 1 : 2;
    return dx__cell_at(protocol, state, dx__column(from), index)->next[outcome];
}

unsigned dx_protocol_next(const dx_protocol *protocol, unsigned state, dx_text method, dx_side from,
                          dx_move move) {
    return next(protocol, state, index_of(protocol, method), from, move);
}

unsigned dx_protocol_after(const dx_protocol *protocol, unsigned state, const dx_method *method,
                           dx_side from, dx_move move) {
    return next(protocol, state, method->index, from, move);
}
