/* Tool calls that come in fragments, each with the number of the call that it belongs to. */
#include "systems/autohand/model_parts.h"

struct dx__autohand_model_fragments {
    int64_t index; /* -1: it had none */
    dx_buf id;
    dx_buf name;
    dx_buf args;
};

void dx__autohand_model_calls_clear(struct dx__autohand_model_calls *calls) {
    for (size_t i = 0; i < calls->count; i++) {
        dx_buf_done(&calls->at[i].id);
        dx_buf_done(&calls->at[i].name);
        dx_buf_done(&calls->at[i].args);
    }
    dx__free(&calls->alloc, calls->at);
    dx__free(&calls->alloc, calls->latest);
    *calls = (struct dx__autohand_model_calls){.alloc = calls->alloc};
}

static bool holds(const dx_buf *buf, dx_text text) {
    return buf->len == text.len && (!text.len || memcmp(buf->data, text.at, text.len) == 0);
}

/* They should count from 0. One that is larger than that can be goes on with the last call, or
 * begins one. */
static bool is_listed(int64_t index) {
    return index >= 0 && index < DX__AUTOHAND_MODEL_CALLS_MAX;
}

/* Which call a fragment goes on with; NULL: it begins one. There are servers that give no index,
 * and some that give all calls the same one: a new id begins a new call in any case. */
static struct dx__autohand_model_fragments *find(const struct dx__autohand_model_calls *calls,
                                                 int64_t index, dx_text id) {
    size_t number = calls->count;
    if (is_listed(index))
        number = (size_t)index < calls->latest_room ? calls->latest[index] : 0;
    struct dx__autohand_model_fragments *call = number ? &calls->at[number - 1] : NULL;
    if (call && index >= 0 && call->index != index)
        return NULL;
    return call && id.len && call->id.len && !holds(&call->id, id) ? NULL : call;
}

/* Of those that give neither ids nor different indexes: is that a call of its own, behind one that
 * is complete? */
static bool is_another(const struct dx__autohand_model_fragments *call, dx_text id, dx_text name,
                       yyjson_val *args) {
    dx_text begins = dx_json_string(args);
    return !id.len && name.len && call->name.len && call->args.len &&
           call->args.data[call->args.len - 1] == '}' &&
           (yyjson_is_obj(args) || (begins.len && *begins.at == '{'));
}

static dx_status reserve_index(struct dx__autohand_model_calls *calls, int64_t index) {
    if (!is_listed(index) || (size_t)index < calls->latest_room)
        return DX_OK;
    size_t room = calls->latest_room ? calls->latest_room : 16;
    while (room <= (size_t)index)
        room *= 2;
    uint32_t *more = dx__realloc(&calls->alloc, calls->latest, calls->latest_room * sizeof *more,
                                 room * sizeof *more);
    if (!more)
        return DX_ERR_NOMEM;
    memset(more + calls->latest_room, 0, (room - calls->latest_room) * sizeof *more);
    calls->latest = more;
    calls->latest_room = room;
    return DX_OK;
}

static dx_status begin(struct dx__autohand_model_calls *calls, int64_t index,
                       struct dx__autohand_model_fragments **ret) {
    if (calls->count == DX__AUTOHAND_MODEL_CALLS_MAX)
        return DX_ERR_LIMIT;
    dx_status status = reserve_index(calls, index);
    if (status != DX_OK)
        return status;
    if (calls->count == calls->room) {
        size_t room = calls->room ? 2 * calls->room : 4;
        struct dx__autohand_model_fragments *more =
            dx__realloc(&calls->alloc, calls->at, calls->room * sizeof *more, room * sizeof *more);
        if (!more)
            return DX_ERR_NOMEM;
        calls->at = more;
        calls->room = room;
    }
    struct dx__autohand_model_fragments *call = &calls->at[calls->count++];
    call->index = index;
    if (is_listed(index))
        calls->latest[index] = (uint32_t)calls->count;
    /* What they hold together is bounded by what an answer may be. */
    dx_buf_init(&call->id, SIZE_MAX / 4, &calls->alloc);
    dx_buf_init(&call->name, SIZE_MAX / 4, &calls->alloc);
    dx_buf_init(&call->args, SIZE_MAX / 4, &calls->alloc);
    *ret = call;
    return DX_OK;
}

/* Names and ids come once; those who send them with every fragment send them whole. */
static dx_status set_once(dx_buf *buf, dx_text text) {
    return text.len && !buf->len ? dx_buf_append(buf, text.at, text.len) : DX_OK;
}

dx_status dx__autohand_model_calls_add(struct dx__autohand_model_calls *calls, yyjson_val *fragment,
                                       bool whole) {
    yyjson_val *function = yyjson_obj_get(fragment, "function");
    yyjson_val *number = yyjson_obj_get(fragment, "index");
    yyjson_val *args = yyjson_obj_get(function, "arguments");
    dx_text id = dx_json_string(yyjson_obj_get(fragment, "id"));
    dx_text name = dx_json_string(yyjson_obj_get(function, "name"));
    int64_t index = yyjson_is_int(number) ? yyjson_get_sint(number) : -1;
    if (!yyjson_is_obj(fragment) || (function && !yyjson_is_obj(function)))
        return DX_MISFIT;
    struct dx__autohand_model_fragments *call =
        whole ? NULL : find(calls, index < 0 ? -1 : index, id);
    if (call && is_another(call, id, name, args))
        call = NULL;
    dx_status status = call ? DX_OK : begin(calls, index < 0 ? -1 : index, &call);
    if (status == DX_OK)
        status = set_once(&call->id, id);
    if (status == DX_OK)
        status = set_once(&call->name, name);
    if (status == DX_OK && args && !yyjson_is_null(args))
        status = dx__autohand_model_args(&call->args, args);
    return status;
}

static dx_text text_of(const dx_buf *buf) {
    return buf->len ? (dx_text){buf->data, buf->len} : (dx_text){"", 0};
}

bool dx__autohand_model_calls_tell(const struct dx__autohand_model_calls *calls,
                                   struct dx__autohand_ear *ear) {
    for (size_t i = 0; i < calls->count; i++) {
        const struct dx__autohand_model_fragments *call = &calls->at[i];
        dx_text id = call->id.len ? text_of(&call->id) : (dx_text){0};
        dx_text args = call->args.len ? text_of(&call->args) : dx_str("{}");
        if (!dx__autohand_ear_call(ear, id, text_of(&call->name), args))
            return false;
    }
    return true;
}
