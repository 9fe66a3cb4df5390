#include "schema/machine.h"

bool dx__has_seen(const dx_check *check, const dx__frame *frame, uint32_t bit) {
    const dx__object_rules *rules = frame->node->object;
    uint64_t word = rules->bit_count <= 64 ? frame->seen : check->cells[frame->seen + bit / 64];
    return word >> (bit % 64) & 1;
}

static inline void see(const dx_check *check, dx__frame *frame, const dx__object_rules *rules,
                       uint32_t bit) {
    if (rules->bit_count <= 64)
        frame->seen |= UINT64_C(1) << bit;
    else
        check->cells[frame->seen + bit / 64] |= UINT64_C(1) << (bit % 64);
}

static dx__out miss(dx_check *check, const dx__frame *frame, dx__word word, uint32_t bit,
                    uint32_t because) {
    const dx__object_rules *rules = frame->node->object;
    dx__detail detail = {.text = rules->bit_names[bit]};
    dx_text other = because == DX__NO_BIT ? (dx_text){0} : rules->bit_names[because];
    detail.reason = other;
    return dx__misfit(check, frame->node, frame->value, word, &detail);
}

/* When all members have been seen: are those there that must be? */
dx__out dx__presence(dx_check *check, const dx__frame *frame) {
    const dx__object_rules *rules = frame->node->object;
    if (rules->bit_count > 64 || (rules->required_mask & ~frame->seen)) {
        if (!dx__step(check, rules->required_count))
            return dx__stop_steps(check);
        for (uint32_t i = 0; i < rules->required_count; i++)
            if (!dx__has_seen(check, frame, rules->required[i])) {
                dx__out out = miss(check, frame, DX__WORD_REQUIRED, rules->required[i], DX__NO_BIT);
                if (out != DX__FITS)
                    return out;
            }
    }
    if (!dx__step(check, rules->need_count))
        return dx__stop_steps(check);
    for (uint32_t i = 0; i < rules->need_count; i++) {
        const dx__need *need = &rules->needs[i];
        if (!dx__has_seen(check, frame, need->bit))
            continue;
        if (!dx__step(check, need->count))
            return dx__stop_steps(check);
        for (uint32_t j = 0; j < need->count; j++)
            if (!dx__has_seen(check, frame, need->needs[j])) {
                dx__out out = miss(check, frame, need->word, need->needs[j], need->bit);
                if (out != DX__FITS)
                    return out;
            }
    }
    return DX__FITS;
}

dx__out dx__enter_additional(dx_check *check, dx__frame *frame) {
    const dx__object_rules *rules = frame->node->object;
    const dx__node *node = rules->additional;
    if (frame->marks)
        dx__evaluated(check, frame, frame->index);
    if (!node->never)
        return dx__enter(check, node, frame->at + 1, 0);
    if (check->flags & DX_CHECK_OPEN)
        return DX__FITS;
    return dx__misfit(check, frame->node, frame->at + 1, rules->additional_word, NULL);
}

/* Members where each has one schema at most. The frame stands at the member that is looked at, so
 * that this can be told; `stage` says that it has been looked at. */
static dx__out plain_members(dx_check *check, dx__frame *frame, const dx__object_rules *rules) {
    yyjson_val *key = frame->at;
    uint32_t index = frame->index;
    uint32_t count = frame->count;
    uint64_t seen = frame->seen;
    if (frame->stage) {
        index++;
        key = unsafe_yyjson_get_next(key + 1);
    } else if (!dx__step(check, count)) {
        return dx__stop_steps(check);
    }
    frame->stage = 1;
    for (; index < count; index++, key = unsafe_yyjson_get_next(key + 1)) {
        const dx__name *name = NULL;
        const dx__node *node = NULL;
        if (rules->names.count)
            name = dx__names_find(&rules->names, unsafe_yyjson_get_str(key),
                                  unsafe_yyjson_get_len(key));
        if (name) {
            seen |= name->flag;
            node = name->node;
        }
        frame->at = key;
        dx__out out = DX__FITS;
        if (node) {
            uint8_t type = dx__type_of(key + 1);
            if (!frame->marks && (node->types & type) && !(node->more & type))
                continue;
            frame->index = index;
            frame->seen = seen;
            if (frame->marks)
                dx__evaluated(check, frame, index);
            out = dx__enter(check, node, key + 1, 0);
        } else if (rules->additional) {
            frame->index = index;
            frame->seen = seen;
            out = dx__enter_additional(check, frame);
        }
        if (out != DX__FITS)
            return out;
    }
    frame->seen = seen;
    return rules->need_count || (rules->required_mask & ~seen) ? dx__presence(check, frame)
                                                               : DX__FITS;
}

enum { STAGE_NAME, STAGE_PROPERTY, STAGE_PATTERNS, STAGE_ADDITIONAL, STAGE_DONE };

static dx__out one_pattern(dx_check *check, dx__frame *frame, const dx__pattern_rule *rule) {
    if (!dx__step(check, unsafe_yyjson_get_len(frame->at) + 16))
        return dx__stop_steps(check);
    dx_status status = dx__pattern_find(rule->pattern, check->room, dx__text_of(frame->at));
    if (status == DX_AGAIN)
        return DX__FITS;
    if (status != DX_OK)
        return dx__stop(check, status);
    frame->known = true;
    if (frame->marks)
        dx__evaluated(check, frame, frame->index);
    return dx__enter(check, rule->node, frame->at + 1, 0);
}

static dx__out one_property(dx_check *check, dx__frame *frame, const dx__object_rules *rules) {
    const dx__name *name = dx__names_find(&rules->names, unsafe_yyjson_get_str(frame->at),
                                          unsafe_yyjson_get_len(frame->at));
    if (!name)
        return DX__FITS;
    if (name->bit != DX__NO_BIT)
        see(check, frame, rules, name->bit);
    if (!name->node)
        return DX__FITS;
    frame->known = true;
    if (frame->marks)
        dx__evaluated(check, frame, frame->index);
    return dx__enter(check, name->node, frame->at + 1, 0);
}

/* Members where each may have several schemas, one after the other. */
static dx__out all_members(dx_check *check, dx__frame *frame, const dx__object_rules *rules) {
    while (frame->index < frame->count) {
        dx__out out = DX__FITS;
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        switch (frame->stage) {
        case STAGE_NAME:
            frame->stage = STAGE_PROPERTY;
            frame->branch = 0;
            frame->known = false;
            if (rules->property_names)
                out = dx__enter(check, rules->property_names, frame->at, 0);
            break;
        case STAGE_PROPERTY:
            frame->stage = STAGE_PATTERNS;
            out = one_property(check, frame, rules);
            break;
        case STAGE_PATTERNS:
            if (frame->branch < rules->pattern_count)
                out = one_pattern(check, frame, &rules->patterns[frame->branch++]);
            else
                frame->stage = STAGE_ADDITIONAL;
            break;
        case STAGE_ADDITIONAL:
            frame->stage = STAGE_DONE;
            if (!frame->known && rules->additional)
                out = dx__enter_additional(check, frame);
            break;
        default:
            frame->stage = STAGE_NAME;
            frame->index++;
            frame->at = unsafe_yyjson_get_next(frame->at + 1);
            break;
        }
        if (out != DX__FITS)
            return out;
    }
    return dx__presence(check, frame);
}

dx__out dx__members(dx_check *check, dx__frame *frame) {
    const dx__object_rules *rules = frame->node->object;
    return rules->plain ? plain_members(check, frame, rules) : all_members(check, frame, rules);
}
