#include "schema/machine.h"

static void mark_all(const dx_check *check, uint32_t marks, uint32_t count) {
    memset(check->cells + marks - 1, 0xff, dx__marks_for(count) * sizeof(uint64_t));
}

static const dx__node *item_node(const dx__array_rules *rules, uint32_t index) {
    return index < rules->prefix_count ? rules->prefix[index] : rules->items;
}

static dx__out enter_item(dx_check *check, dx__frame *frame, const dx__array_rules *rules) {
    const dx__node *node = item_node(rules, frame->index);
    if (!node)
        return DX__FITS;
    if (frame->marks)
        dx__evaluated(check, frame, frame->index);
    if (!node->never || frame->index < rules->prefix_count)
        return dx__enter(check, node, frame->at, 0);
    return dx__misfit(check, frame->node, frame->at, rules->items_word, NULL);
}

static dx__out check_contains(dx_check *check, const dx__frame *frame,
                              const dx__array_rules *rules) {
    dx__detail detail = {.number = frame->hits};
    if (!rules->contains)
        return DX__FITS;
    if (frame->hits < rules->contains_min)
        return dx__misfit(check, frame->node, frame->value, DX__WORD_CONTAINS, &detail);
    if (frame->hits > rules->contains_max)
        return dx__misfit(check, frame->node, frame->value, DX__WORD_MAX_CONTAINS, &detail);
    return DX__FITS;
}

enum { STAGE_ITEM, STAGE_CONTAINS, STAGE_CONTAINED, STAGE_NEXT };

dx__out dx__items(dx_check *check, dx__frame *frame, dx__out before) {
    const dx__array_rules *rules = frame->node->array;
    while (frame->index < frame->count) {
        dx__out out = DX__FITS;
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        switch (frame->stage) {
        case STAGE_ITEM:
            frame->stage = rules->contains ? STAGE_CONTAINS : STAGE_NEXT;
            out = enter_item(check, frame, rules);
            break;
        case STAGE_CONTAINS:
            frame->stage = STAGE_CONTAINED;
            dx__catch(check, frame);
            out = dx__enter(check, rules->contains, frame->at, 0);
            if (out != DX__FAILS)
                break;
            before = out;
            /* fall through */
        case STAGE_CONTAINED:
            dx__release(check, frame);
            frame->stage = STAGE_NEXT;
            frame->hits += before == DX__FITS;
            if (before == DX__FITS && frame->marks)
                dx__evaluated(check, frame, frame->index);
            out = DX__FITS;
            break;
        default:
            frame->stage = STAGE_ITEM;
            frame->index++;
            frame->at = unsafe_yyjson_get_next(frame->at);
            break;
        }
        if (out != DX__FITS)
            return out;
        before = DX__FITS;
    }
    return check_contains(check, frame, rules);
}

/* What nothing before has evaluated. */
dx__out dx__left(dx_check *check, dx__frame *frame) {
    bool object = yyjson_is_obj(frame->value);
    const dx__node *node = object ? frame->node->left_members : frame->node->left_items;
    dx__word word = object ? DX__WORD_UNEVALUATED_PROPERTIES : DX__WORD_UNEVALUATED_ITEMS;
    for (;;) {
        if (frame->stage) {
            frame->stage = 0;
            frame->index++;
            frame->at = unsafe_yyjson_get_next(frame->at + object);
        }
        if (frame->index >= frame->count)
            break;
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        uint32_t index = frame->index;
        frame->stage = 1;
        if (check->cells[frame->marks - 1 + index / 64] >> (index % 64) & 1)
            continue;
        dx__out out = DX__FITS;
        if (!node->never)
            out = dx__enter(check, node, frame->at + object, 0);
        else if (!object || !(check->flags & DX_CHECK_OPEN))
            out = dx__misfit(check, frame->node, frame->at + object, word, NULL);
        if (out != DX__FITS)
            return out;
    }
    if (frame->outer)
        mark_all(check, frame->outer, frame->count);
    return DX__FITS;
}
