#include "base/alloc.h"
#include "schema/machine.h"

enum { FIRST_FRAMES = 32 };

static bool grow_frames(dx_check *check) {
    uint32_t cap = check->frame_cap ? check->frame_cap * 2 : FIRST_FRAMES;
    dx__frame *frames = dx__realloc(&check->alloc, check->frames, check->frame_cap * sizeof *frames,
                                    cap * sizeof *frames);
    if (!frames)
        return false;
    check->frames = frames;
    check->frame_cap = cap;
    return true;
}

static bool push_zeros(dx_check *check, size_t count, size_t *ret_at) {
    if (!dx__cells_push(check, count, ret_at))
        return false;
    memset(check->cells + *ret_at, 0, count * sizeof(uint64_t));
    return true;
}

/* The cells that a frame needs for a container. */
static bool push_cells(dx_check *check, dx__frame *frame, bool tracks, bool names) {
    size_t at;
    if (tracks) {
        if (!push_zeros(check, dx__marks_for(frame->count), &at))
            return false;
        frame->marks = (uint32_t)at + 1;
    }
    if (names) {
        if (!push_zeros(check, dx__marks_for(frame->node->object->bit_count), &at))
            return false;
        frame->seen = at;
    }
    return true;
}

/* Begins what takes more than one step. */
static dx__out push(dx_check *check, const dx__node *node, yyjson_val *value, uint8_t type,
                    uint32_t marks) {
    if (check->frame_count >= check->config.depth_max)
        return dx__stop(check, DX_ERR_LIMIT);
    if (check->frame_count == check->frame_cap && !grow_frames(check))
        return dx__stop_memory(check);
    if (!dx__step(check, 1))
        return dx__stop_steps(check);
    dx__frame *frame = &check->frames[check->frame_count];
    *frame = (dx__frame){.node = node,
                         .value = value,
                         .marks = marks,
                         .outer = marks,
                         .floor = (uint32_t)check->cell_count,
                         .phase = DX__PHASE_OPS};
    if (type & (DX__TYPE_OBJECT | DX__TYPE_ARRAY)) {
        bool object = type == DX__TYPE_OBJECT;
        size_t count = unsafe_yyjson_get_len(value);
        if (count > UINT32_MAX)
            return dx__stop(check, DX_ERR_LIMIT);
        frame->at = unsafe_yyjson_get_first(value);
        frame->count = (uint32_t)count;
        bool tracks = object ? node->left_members != NULL : node->left_items != NULL;
        bool names = object && node->object && node->object->bit_count > 64;
        if (object && node->object && (node->object->walk || marks || tracks))
            frame->phase = DX__PHASE_MEMBERS;
        if (!object && node->array && (node->array->walk || marks || tracks))
            frame->phase = DX__PHASE_ITEMS;
        if (!marks && (node->straight & type))
            frame->phase = DX__PHASE_STRAIGHT;
        if ((tracks || names) && !push_cells(check, frame, tracks, names))
            return dx__stop_memory(check);
    }
    check->frame_count++;
    return DX__PUSHED;
}

/* The same for a value of which nothing is asked but a schema for each member or item. */
static dx__out push_straight(dx_check *check, const dx__node *node, yyjson_val *value) {
    uint64_t count = unsafe_yyjson_get_len(value);
    if (check->frame_count >= check->frame_cap || check->frame_count >= check->config.depth_max ||
        check->steps <= count)
        return push(check, node, value, dx__type_of(value), 0);
    check->steps -= count + 1;
    dx__frame *frame = &check->frames[check->frame_count++];
    frame->node = node;
    frame->value = value;
    frame->at = unsafe_yyjson_get_first(value);
    frame->seen = 0;
    frame->index = 0;
    frame->count = 0; /* they are paid for */
    frame->floor = (uint32_t)check->cell_count;
    frame->marks = frame->outer = 0;
    frame->phase = DX__PHASE_STRAIGHT;
    frame->stage = 0;
    return DX__PUSHED;
}

static dx__out check_sizes(dx_check *check, const dx__node *node, yyjson_val *value, bool object) {
    uint64_t count = unsafe_yyjson_get_len(value);
    uint64_t min = object ? node->object->min : node->array->min;
    uint64_t max = object ? node->object->max : node->array->max;
    dx__out out = DX__FITS;
    if (count < min)
        out = dx__misfit(check, node, value, object ? DX__WORD_MIN_PROPERTIES : DX__WORD_MIN_ITEMS,
                         NULL);
    else if (count > max)
        out = dx__misfit(check, node, value, object ? DX__WORD_MAX_PROPERTIES : DX__WORD_MAX_ITEMS,
                         NULL);
    if (out == DX__FITS && !object && node->array->unique) {
        bool unique;
        uint64_t equal[2];
        out = dx__unique(check, value, &unique, equal);
        dx__detail detail = {.number = equal[0], .other = equal[1]};
        if (out == DX__FITS && !unique)
            out = dx__misfit(check, node, value, DX__WORD_UNIQUE_ITEMS, &detail);
    }
    return out;
}

static dx__out check_values(dx_check *check, const dx__node *node, yyjson_val *value) {
    const dx__values *first = node->values;
    if (yyjson_is_str(value) && !first->also &&
        dx__names_have(&first->strings, unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value)))
        return DX__FITS;
    for (const dx__values *values = node->values; values; values = values->also) {
        bool have;
        dx__out out = dx__values_have(check, values, value, &have);
        if (out == DX__FITS && !have)
            out = dx__misfit(check, node, value, values->word, NULL);
        if (out != DX__FITS)
            return out;
    }
    return DX__FITS;
}

/* What a string holds is looked at in a frame of its own; the string's operations follow. */
static dx__out begin_content(dx_check *check, const dx__node *node, yyjson_val *string) {
    yyjson_val *root;
    dx__out out = dx__check_content(check, node, string, &root);
    if (out != DX__FITS || (!root && !node->op_count))
        return out;
    out = push(check, node, string, DX__TYPE_STRING, 0);
    if (out == DX__PUSHED && root) {
        dx__frame *frame = &check->frames[check->frame_count - 1];
        frame->phase = DX__PHASE_CONTENT;
        frame->at = root;
    }
    return out;
}

dx__out dx__look(dx_check *check, const dx__node *node, yyjson_val *value, uint8_t type,
                 uint32_t marks) {
    if (!marks && (node->straight & type))
        return push_straight(check, node, value);
    dx__out out = node->values ? check_values(check, node, value) : DX__FITS;
    if (out != DX__FITS)
        return out;
    bool more = node->op_count;
    switch (type) {
    case DX__TYPE_OBJECT:
        if (node->object) {
            if (node->object->sized)
                out = check_sizes(check, node, value, true);
            more = more || node->object->walk || marks;
        }
        more = more || node->left_members;
        break;
    case DX__TYPE_STRING:
        if (node->string) {
            out = dx__check_string(check, node, value);
            if (out == DX__FITS && (node->string->base64 || node->string->json))
                return begin_content(check, node, value);
        }
        break;
    case DX__TYPE_ARRAY:
        if (node->array) {
            if (node->array->sized)
                out = check_sizes(check, node, value, false);
            more = more || node->array->walk || marks;
        }
        more = more || node->left_items;
        break;
    case DX__TYPE_INT:
    case DX__TYPE_REAL:
        if (node->number)
            out = dx__check_number(check, node, value);
        break;
    default:
        break;
    }
    return more && out == DX__FITS ? push(check, node, value, type, marks) : out;
}

dx__out dx__content(dx_check *check, dx__frame *frame) {
    if (frame->stage++)
        return DX__FITS;
    return dx__enter(check, frame->node->string->content, frame->at, 0);
}
