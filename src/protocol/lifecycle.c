/* States, what may come in each, and the moves between them: a table is made of it once. */
#include "base/alloc.h"
#include "protocol/load.h"

#include <duplex/rpc.h>

enum { NOT_YET = 0xff };

static const char *const side_names[DX__SIDES] = {"host", "plugin"};

static unsigned state_named(const dx_protocol *protocol, dx_text name) {
    unsigned state = 0;
    while (state < protocol->state_count && !dx_text_is(name, protocol->states[state].name))
        state++;
    return state;
}

/* A name that an open protocol does not list, but has a rule for. */
static dx_status add_name(dx__load *load, yyjson_val *name) {
    dx__message *message;
    dx_status status = dx__message_named(load, name, &message);
    if (status == DX_OK && !dx__message_find(load->protocol, dx__text_of(name)))
        status = dx__message_add(load, dx__text_of(name), NULL);
    if (status == DX_ERR_LIMIT)
        dx__flaw(load, name, "too many names of methods");
    return status;
}

static dx_status add_names(dx__load *load, yyjson_val *list) {
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));)
        status = add_name(load, it);
    return status;
}

static dx_status add_name_of(dx__load *load, const char *member) {
    yyjson_val *duplex = dx__get(load->protocol->root, "x-duplex");
    yyjson_val *name = dx__get(dx__get(duplex, member), "method");
    return name ? add_name(load, name) : DX_OK;
}

static dx_status add_state(dx__load *load, yyjson_val *key) {
    yyjson_val *state = yyjson_obj_iter_get_val(key);
    dx_protocol *protocol = load->protocol;
    yyjson_val *code = dx__get(state, "code");
    dx__state *made = &protocol->states[protocol->state_count++];
    made->name = unsafe_yyjson_get_str(key);
    made->code = code ? dx__integer(code) : DX_CODE_REQUEST;
    made->message = yyjson_get_str(dx__get(state, "message"));
    if (!made->message && !dx_protocol_error_name(protocol, made->code, &made->message))
        made->message = "Invalid Request";
    dx_status status = add_names(load, dx__get(state, "host"));
    if (status == DX_OK)
        status = add_names(load, dx__get(state, "plugin"));
    if (status == DX_OK)
        status = add_names(load, dx__get(state, "never"));
    return status;
}

/* The first state is the one where a conversation starts, wherever it stands in the document. */
static dx_status add_states(dx__load *load, yyjson_val *lifecycle) {
    dx_protocol *protocol = load->protocol;
    yyjson_val *start = dx__get(lifecycle, "start");
    yyjson_val *states = dx__get(lifecycle, "states");
    size_t count = lifecycle ? yyjson_obj_size(states) : 1;
    protocol->states = dx__malloc(&load->alloc, count * sizeof *protocol->states);
    if (!protocol->states)
        return DX_ERR_NOMEM;
    if (!lifecycle) {
        protocol->states[protocol->state_count++] =
            (dx__state){"any", "Invalid Request", DX_CODE_REQUEST};
        return DX_OK;
    }
    if (!yyjson_obj_get(states, unsafe_yyjson_get_str(start)))
        return dx__flaw_named(load, start, "there is no state ", dx__text_of(start), "");
    dx_status status = DX_OK;
    for (int others = 0; others <= 1; others++) {
        yyjson_obj_iter iter = yyjson_obj_iter_with(states);
        for (yyjson_val *key; status == DX_OK && (key = yyjson_obj_iter_next(&iter));)
            if (others != dx__same(dx__text_of(key), dx__text_of(start)))
                status = add_state(load, key);
    }
    return status;
}

static dx_status make_cells(dx__load *load) {
    dx_protocol *protocol = load->protocol;
    size_t row = protocol->name_count + 1;
    size_t rows = (size_t)protocol->state_count * DX__SIDES;
    protocol->cells = dx__malloc(&load->alloc, rows * row * sizeof(dx__cell));
    if (!protocol->cells)
        return DX_ERR_NOMEM;
    for (unsigned state = 0; state < protocol->state_count; state++)
        for (unsigned column = 0; column < DX__SIDES; column++)
            for (size_t i = 0; i < row; i++)
                *dx__cell_at(protocol, state, column, i) =
                    (dx__cell){DX_LEAVE_YES, {NOT_YET, NOT_YET, NOT_YET}};
    return DX_OK;
}

static bool may_send(const dx__message *message, unsigned column) {
    if (!message->value)
        return true; /* nobody knows */
    return column ? message->method.from_plugin : message->method.from_host;
}

/* What the list of a side lets through; without one, everything. */
static dx_status allow(dx__load *load, unsigned state, unsigned column, yyjson_val *list,
                       uint8_t otherwise) {
    dx_protocol *protocol = load->protocol;
    if (!list)
        return DX_OK;
    for (size_t i = 0; i <= protocol->name_count; i++)
        dx__cell_at(protocol, state, column, i)->leave = otherwise;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        const dx__message *message = dx__message_find(protocol, dx__text_of(it));
        if (!may_send(message, column)) {
            dx__line line = dx__flaw_at(load, it);
            dx__line_str(&line, "the ");
            dx__line_str(&line, side_names[column]);
            dx__line_str(&line, " does not send ");
            dx__line_quote(&line, message->name, 80);
            return DX_ERR_INVALID;
        }
        dx__cell_at(protocol, state, column, message->method.index)->leave = DX_LEAVE_YES;
    }
    return DX_OK;
}

static dx_status forbid(dx__load *load, unsigned state, yyjson_val *value, uint8_t otherwise) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(value, "never"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        const dx__message *message = dx__message_find(load->protocol, dx__text_of(it));
        bool known = false;
        for (unsigned column = 0; column < DX__SIDES; column++) {
            dx__cell *cell = dx__cell_at(load->protocol, state, column, message->method.index);
            known |= dx__get(value, side_names[column]) && cell->leave == DX_LEAVE_YES;
            cell->leave = otherwise;
        }
        if (known)
            return dx__flaw_named(load, it, "", message->name,
                                  " is both allowed here and listed in 'never'");
    }
    return DX_OK;
}

/* Two kinds of message belong to others that were let through before. */
static void allow_always(const dx_protocol *protocol, const char *name) {
    const dx__message *message = name ? dx__message_find(protocol, dx_str(name)) : NULL;
    if (!message)
        return;
    for (unsigned state = 0; state < protocol->state_count; state++)
        for (unsigned column = 0; column < DX__SIDES; column++)
            dx__cell_at(protocol, state, column, message->method.index)->leave = DX_LEAVE_YES;
}

static dx_status read_state(dx__load *load, unsigned state, yyjson_val *value) {
    uint8_t otherwise =
        yyjson_equals_str(dx__get(value, "early"), "deliver") ? DX_LEAVE_EARLY : DX_LEAVE_NO;
    dx_status status = DX_OK;
    for (unsigned column = 0; status == DX_OK && column < DX__SIDES; column++)
        status = allow(load, state, column, dx__get(value, side_names[column]), otherwise);
    return status == DX_OK ? forbid(load, state, value, otherwise) : status;
}

struct move {
    const dx__message *message;
    unsigned in;
    unsigned to;
    unsigned column;
    unsigned outcome; /* as in a cell: sent, result, error */
};

static dx_status parse_move(dx__load *load, yyjson_val *value, struct move *move) {
    dx_protocol *protocol = load->protocol;
    yyjson_val *in = dx__get(value, "in");
    yyjson_val *to = dx__get(value, "to");
    yyjson_val *message = dx__get(value, "message");
    yyjson_val *outcome = dx__get(value, "outcome");
    move->in = state_named(protocol, dx__text_of(in));
    move->to = state_named(protocol, dx__text_of(to));
    move->message = dx__message_find(protocol, dx__text_of(message));
    move->column = yyjson_equals_str(dx__get(value, "by"), "plugin");
    move->outcome = yyjson_equals_str(outcome, "sent")     ? 0
                    : yyjson_equals_str(outcome, "result") ? 1
                                                           : 2;
    /* What is not listed has no sides and no answers to go by, in an open protocol, too. */
    if (!move->message || !move->message->value)
        return dx__flaw_named(load, message, "there is no method ", dx__text_of(message), "");
    yyjson_val *odd = move->in == protocol->state_count   ? in
                      : move->to == protocol->state_count ? to
                                                          : NULL;
    if (odd)
        return dx__flaw_named(load, odd, "there is no state ", dx__text_of(odd), "");
    if (!may_send(move->message, move->column)) {
        dx__line line = dx__flaw_at(load, dx__get(value, "by"));
        dx__line_str(&line, "the ");
        dx__line_str(&line, side_names[move->column]);
        dx__line_str(&line, " does not send ");
        dx__line_quote(&line, move->message->name, 80);
        return DX_ERR_INVALID;
    }
    if (move->outcome && move->message->method.notification)
        return dx__flaw_named(load, outcome, "the notification ", move->message->name,
                              " has no answer");
    return DX_OK;
}

static dx_status read_move(dx__load *load, yyjson_val *value) {
    struct move move;
    dx_status status = parse_move(load, value, &move);
    if (status != DX_OK)
        return status;
    dx__cell *cell = dx__cell_at(load->protocol, move.in, move.column, move.message->method.index);
    if (cell->next[move.outcome] != NOT_YET)
        return dx__flaw(load, value, "there is another move for the same case");
    if (!move.outcome && cell->leave == DX_LEAVE_NO)
        return dx__flaw_named(load, value, "", move.message->name, " is not allowed in that state");
    cell->next[move.outcome] = (uint8_t)move.to;
    return DX_OK;
}

/* Every state is reached from the first one; there are so few that looking again is no matter. */
static dx_status check_reached(dx__load *load, yyjson_val *lifecycle) {
    const dx_protocol *protocol = load->protocol;
    uint32_t reached = 1;
    yyjson_val *moves = dx__get(lifecycle, "moves");
    for (uint32_t before = 0; before != reached;) {
        before = reached;
        yyjson_arr_iter iter = yyjson_arr_iter_with(moves);
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            if (reached >> state_named(protocol, dx__text_of(dx__get(it, "in"))) & 1)
                reached |= UINT32_C(1) << state_named(protocol, dx__text_of(dx__get(it, "to")));
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(dx__get(lifecycle, "states"));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        if (!(reached >> state_named(protocol, dx__text_of(key)) & 1))
            return dx__flaw(load, yyjson_obj_iter_get_val(key), "no move leads to that state");
    return DX_OK;
}

static dx_status read_states(dx__load *load, yyjson_val *lifecycle) {
    const dx_protocol *protocol = load->protocol;
    yyjson_val *states = dx__get(lifecycle, "states");
    dx_status status = DX_OK;
    for (unsigned i = 0; status == DX_OK && i < protocol->state_count; i++)
        status = read_state(load, i, dx__get(states, protocol->states[i].name));
    if (status != DX_OK)
        return status;
    allow_always(protocol, protocol->facts.cancel_method);
    allow_always(protocol, protocol->facts.progress_method);
    yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(lifecycle, "moves"));
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));)
        status = read_move(load, it);
    return status == DX_OK ? check_reached(load, lifecycle) : status;
}

/* Whom a message may come from does not depend on the state; and where no move is, the state
 * stays. */
static void complete(const dx_protocol *protocol) {
    for (unsigned state = 0; state < protocol->state_count; state++)
        for (unsigned column = 0; column < DX__SIDES; column++)
            for (size_t i = 0; i <= protocol->name_count; i++) {
                dx__cell *cell = dx__cell_at(protocol, state, column, i);
                for (unsigned outcome = 0; outcome < 3; outcome++)
                    if (cell->next[outcome] == NOT_YET)
                        cell->next[outcome] = (uint8_t)state;
                if (i < protocol->message_count && !may_send(&protocol->messages[i], column))
                    cell->leave = DX__LEAVE_UNKNOWN;
                if (i == protocol->name_count && !protocol->facts.open)
                    cell->leave = DX__LEAVE_UNKNOWN;
            }
}

dx_status dx__read_lifecycle(dx__load *load) {
    yyjson_val *lifecycle = dx__get(dx__get(load->protocol->root, "x-duplex"), "lifecycle");
    dx_status status = add_name_of(load, "cancel");
    if (status == DX_OK)
        status = add_name_of(load, "progress");
    if (status == DX_OK)
        status = add_states(load, lifecycle);
    if (status == DX_OK)
        status = make_cells(load);
    if (status == DX_OK && lifecycle)
        status = read_states(load, lifecycle);
    if (status == DX_OK)
        complete(load->protocol);
    return status;
}
