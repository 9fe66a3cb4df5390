/* What a step of a script may hold. */
#include "systems/autohand/model_parts.h"

/* An hour. */
enum { DELAY_MAX = 3600000, PIECES_MAX = 1000000 };

static bool is_number(yyjson_val *value, uint64_t most) {
    return yyjson_is_uint(value) && yyjson_get_uint(value) <= most;
}

static const char *check_call(yyjson_val *call) {
    size_t i, count;
    yyjson_val *name, *value;
    if (!yyjson_is_obj(call) || !yyjson_is_str(yyjson_obj_get(call, "name")))
        return "toolCalls: expected objects with a name";
    yyjson_obj_foreach(call, i, count, name, value) {
        dx_text member = dx_json_string(name);
        if (dx_text_is(member, "id") && !yyjson_is_str(value))
            return "toolCalls: id: expected a string";
        if (!dx_text_is(member, "id") && !dx_text_is(member, "name") && !dx_text_is(member, "args"))
            return "toolCalls: expected only id, name and args";
    }
    return NULL;
}

static const char *check_calls(yyjson_val *calls) {
    size_t i, count;
    yyjson_val *call;
    const char *wrong = yyjson_is_arr(calls) ? NULL : "toolCalls: expected an array";
    yyjson_arr_foreach(calls, i, count, call) {
        if (!wrong)
            wrong = check_call(call);
    }
    return wrong;
}

static const char *check_error(yyjson_val *error) {
    size_t i, count;
    yyjson_val *name, *value;
    dx_autohand_failing kind;
    if (!yyjson_is_obj(error) || !yyjson_is_str(yyjson_obj_get(error, "message")))
        return "error: expected an object with a message";
    yyjson_obj_foreach(error, i, count, name, value) {
        dx_text member = dx_json_string(name);
        if (dx_text_is(member, "status") && !is_number(value, 999))
            return "error: status: expected a number up to 999";
        if (dx_text_is(member, "kind") && !dx__autohand_model_kind_of(dx_json_string(value), &kind))
            return "error: kind: expected context, auth, payment, model, rate_limit, server, "
                   "network, timeout or unknown";
        if (dx_text_is(member, "retryable") && !yyjson_is_bool(value))
            return "error: retryable: expected true or false";
        if (dx_text_is(member, "retryAfterMs") && !is_number(value, DELAY_MAX))
            return "error: retryAfterMs: expected milliseconds";
        if (!dx_text_is(member, "status") && !dx_text_is(member, "kind") &&
            !dx_text_is(member, "retryable") && !dx_text_is(member, "retryAfterMs") &&
            !dx_text_is(member, "message"))
            return "error: expected only message, status, kind, retryable and retryAfterMs";
    }
    return NULL;
}

static const char *check_pieces(yyjson_val *pieces) {
    size_t i, count;
    yyjson_val *piece;
    if (is_number(pieces, PIECES_MAX) && yyjson_get_uint(pieces))
        return NULL;
    if (!yyjson_is_arr(pieces))
        return "pieces: expected a number of at least 1, or an array of strings";
    yyjson_arr_foreach(pieces, i, count, piece) {
        if (!yyjson_is_str(piece))
            return "pieces: expected strings";
    }
    return NULL;
}

static const char *check_role(yyjson_val *role) {
    return yyjson_equals_str(role, "user") || yyjson_equals_str(role, "tool")
               ? NULL
               : "role: expected user or tool";
}

static const char *check_repeat(yyjson_val *repeat) {
    return yyjson_is_true(repeat) || (is_number(repeat, UINT32_MAX) && yyjson_get_uint(repeat))
               ? NULL
               : "repeat: expected true, or a number of at least 1";
}

static const char *check_member(dx_text name, yyjson_val *value) {
    static const char *const texts[] = {"match", "text", "thought"};
    static const char *const times[] = {"delayMs", "pieceMs"};
    static const struct {
        const char *name;
        const char *(*check)(yyjson_val *value);
    } others[] = {{"toolCalls", check_calls}, {"error", check_error},   {"pieces", check_pieces},
                  {"role", check_role},       {"repeat", check_repeat}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (dx_text_is(name, texts[i]))
            return yyjson_is_str(value) ? NULL : "match, text, thought: expected strings";
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (dx_text_is(name, times[i]))
            return is_number(value, DELAY_MAX)
                       ? NULL
                       : "delayMs, pieceMs: expected milliseconds, at most an hour";
    for (size_t i = 0; others[i].name; i++)
        if (dx_text_is(name, others[i].name))
            return others[i].check(value);
    if (dx_text_is(name, "tokens"))
        return is_number(value, INT64_MAX) ? NULL : "tokens: expected a number";
    return "expected only match, role, repeat, delayMs, pieceMs, pieces, thought, text, toolCalls, "
           "tokens and error";
}

const char *dx__autohand_model_step_check(yyjson_val *step) {
    size_t i, count;
    yyjson_val *name, *value;
    if (!yyjson_is_obj(step))
        return "expected an object";
    yyjson_obj_foreach(step, i, count, name, value) {
        const char *wrong = check_member(dx_json_string(name), value);
        if (wrong)
            return wrong;
    }
    if (yyjson_is_arr(yyjson_obj_get(step, "pieces")) && yyjson_obj_get(step, "text"))
        return "pieces and text cannot be used together if pieces are strings";
    return NULL;
}
