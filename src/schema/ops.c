#include "schema/machine.h"

/* What was evaluated before a branch is tried, to go back to if that fails. */
static bool save_marks(dx_check *check, dx__frame *frame) {
    if (!frame->marks)
        return true;
    size_t at;
    size_t count = dx__marks_for(frame->count);
    if (!dx__cells_push(check, count, &at))
        return false;
    memcpy(check->cells + at, check->cells + frame->marks - 1, count * sizeof(uint64_t));
    frame->saved = (uint32_t)at;
    return true;
}

static void drop_marks(dx_check *check, const dx__frame *frame, bool restore) {
    if (!frame->marks)
        return;
    if (restore)
        memcpy(check->cells + frame->marks - 1, check->cells + frame->saved,
               dx__marks_for(frame->count) * sizeof(uint64_t));
    check->cell_count = frame->saved;
}

/* The branches that can fit at all; NULL for all of them. */
static dx__out choose(dx_check *check, const dx__choice *choice, yyjson_val *value,
                      const dx__branches **ret_branches) {
    *ret_branches = choice->rest;
    if (!yyjson_is_obj(value))
        return DX__FITS;
    yyjson_val *key = unsafe_yyjson_get_first(value);
    for (size_t left = unsafe_yyjson_get_len(value); left; left--) {
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        if (unsafe_yyjson_get_len(key) == choice->member.len &&
            memcmp(unsafe_yyjson_get_str(key), choice->member.at, choice->member.len) == 0) {
            const dx__name *name = NULL;
            if (yyjson_is_str(key + 1))
                name = dx__names_find(&choice->strings, unsafe_yyjson_get_str(key + 1),
                                      unsafe_yyjson_get_len(key + 1));
            if (name)
                *ret_branches = name->node;
            return DX__FITS;
        }
        key = unsafe_yyjson_get_next(key + 1);
    }
    return DX__FITS;
}

/* Of the branches that failed, the one that was meant: the only one that is left by the member that
 * tells them apart, or by the type. NULL if that can't be said. */
static const dx__node *meant(const dx__frame *frame, const dx__op *op) {
    uint8_t type = dx__type_of(frame->value);
    const dx__node *found = NULL;
    uint32_t count = frame->branches ? frame->branches->count : op->count;
    for (uint32_t i = 0; i < count; i++) {
        const dx__node *node = op->nodes[frame->branches ? frame->branches->at[i] : i];
        if (!dx__lets_in(node->types, type))
            continue;
        if (found)
            return NULL;
        found = node;
    }
    return found;
}

#define NO_BRANCH UINT32_MAX

enum { STAGE_BEGIN, STAGE_TRY, STAGE_TRIED, STAGE_TOLD };

/* A branch failed. Values are in memory in the order of the text: the nearest branch is the one
 * that came furthest, or the first that accepts its type. */
static void note_failure(const dx_check *check, dx__frame *frame, const dx__op *op,
                         uint32_t branch) {
    yyjson_val *reached = check->reached;
    bool is_first = reached == frame->value && frame->index == NO_BRANCH &&
                    dx__lets_in(op->nodes[branch]->types, dx__type_of(reached));
    if (is_first || (reached > frame->at && reached < unsafe_yyjson_get_next(frame->value))) {
        frame->at = reached;
        frame->index = branch;
    }
}

/* A branch is gone through once more, to say what does not fit in it. */
static dx__out go_through(dx_check *check, const dx__frame *frame, const dx__node *node) {
    check->misfit = true;
    return dx__enter(check, node, frame->value, 0);
}

/* That takes no more than a few times the steps that have led here. */
static dx__out go_through_nearest(dx_check *check, const dx__frame *frame, const dx__op *op,
                                  const dx__detail *detail) {
    enum { TIMES = 4, LEAST = 10000 };
    uint64_t most = (check->config.steps_max - check->steps) * TIMES + LEAST;
    if (!check->nearest) {
        dx__misfit_write(check, frame->node, frame->value, op->word, detail, &check->outer);
        check->nearest = check->frame_count;
        check->nearest_told = false;
        if (!check->on_misfit && check->steps > most)
            check->steps = most;
    }
    dx__out out = go_through(check, frame, op->nodes[frame->index]);
    if (out != DX__PUSHED && out != DX__STOPPED && check->nearest == check->frame_count)
        check->nearest = 0;
    return out;
}

static dx__out no_branch(dx_check *check, dx__frame *frame, const dx__op *op) {
    bool told = check->catcher == DX__NOBODY && (check->why || check->on_misfit) && !frame->hits;
    const dx__node *node = told ? meant(frame, op) : NULL;
    dx__detail detail = {.number = frame->hits, .op = op};
    frame->stage = STAGE_TOLD;
    if (node)
        return go_through(check, frame, node);
    if (told && frame->index != NO_BRANCH)
        return go_through_nearest(check, frame, op, &detail);
    dx__out out = dx__misfit(check, frame->node, frame->value, op->word, &detail);
    check->reached = frame->at; /* for a catcher */
    return out;
}

/* Tries a schema on the value: what fails in it is nobody's failure yet. DX__PUSHED and
 * DX__STOPPED are for whoever called to pass on. */
static dx__out attempt(dx_check *check, dx__frame *frame, const dx__node *node) {
    if (!save_marks(check, frame))
        return dx__stop_memory(check);
    frame->stage = STAGE_TRIED;
    dx__catch(check, frame);
    return dx__enter(check, node, frame->value, frame->marks);
}

static uint32_t branch_at(const dx__frame *frame) {
    return frame->branches ? frame->branches->at[frame->branch] : frame->branch;
}

static dx__out any_or_one(dx_check *check, dx__frame *frame, const dx__op *op, dx__out before) {
    bool one = op->kind == DX__OP_ONE;
    dx__out out;
    if (frame->stage == STAGE_TOLD) {
        if (check->nearest == check->frame_count)
            check->nearest = 0;
        return DX__FITS;
    }
    if (frame->stage == STAGE_BEGIN) {
        frame->branch = frame->hits = 0;
        frame->branches = NULL;
        frame->at = frame->value;
        frame->index = NO_BRANCH;
        if (op->choice && (out = choose(check, op->choice, frame->value, &frame->branches)))
            return out;
        frame->stage = STAGE_TRY;
    }
    uint32_t count = frame->branches ? frame->branches->count : op->count;
    for (;;) {
        if (frame->stage == STAGE_TRIED) {
            dx__release(check, frame);
            drop_marks(check, frame, before != DX__FITS);
            frame->hits += before == DX__FITS;
            if (before != DX__FITS)
                note_failure(check, frame, op, branch_at(frame));
            frame->branch++;
            frame->stage = STAGE_TRY;
        }
        if (frame->branch >= count || frame->hits > 1 || (frame->hits && !one && !frame->marks))
            break;
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        before = attempt(check, frame, op->nodes[branch_at(frame)]);
        if (before == DX__PUSHED || before == DX__STOPPED)
            return before;
    }
    if (one ? frame->hits == 1 : frame->hits > 0)
        return DX__FITS;
    return no_branch(check, frame, op);
}

static dx__out negate(dx_check *check, dx__frame *frame, const dx__op *op, dx__out before) {
    if (frame->stage == STAGE_BEGIN) {
        before = attempt(check, frame, op->nodes[0]);
        if (before == DX__PUSHED || before == DX__STOPPED)
            return before;
    }
    dx__release(check, frame);
    drop_marks(check, frame, true);
    return before == DX__FITS ? dx__misfit(check, frame->node, frame->value, op->word, NULL)
                              : DX__FITS;
}

static dx__out if_then(dx_check *check, dx__frame *frame, const dx__op *op, dx__out before) {
    if (frame->stage == STAGE_TOLD)
        return DX__FITS;
    if (frame->stage == STAGE_BEGIN) {
        before = attempt(check, frame, op->nodes[0]);
        if (before == DX__PUSHED || before == DX__STOPPED)
            return before;
    }
    dx__release(check, frame);
    drop_marks(check, frame, before != DX__FITS);
    const dx__node *node = op->nodes[before == DX__FITS ? 1 : 2];
    frame->stage = STAGE_TOLD;
    return node ? dx__enter(check, node, frame->value, frame->marks) : DX__FITS;
}

static dx__out sub(dx_check *check, dx__frame *frame, const dx__op *op) {
    if (frame->stage == STAGE_BEGIN) {
        frame->branch = 0;
        frame->stage = STAGE_TRY;
    }
    while (frame->branch < op->count) {
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        dx__out out = dx__enter(check, op->nodes[frame->branch++], frame->value, frame->marks);
        if (out != DX__FITS)
            return out;
    }
    return DX__FITS;
}

static dx__out when(dx_check *check, dx__frame *frame, const dx__op *op) {
    if (!dx__step(check, 1))
        return dx__stop_steps(check);
    if (frame->stage != STAGE_BEGIN || !yyjson_is_obj(frame->value) ||
        !dx__has_seen(check, frame, op->bit))
        return DX__FITS;
    frame->stage = STAGE_TRIED;
    return dx__enter(check, op->nodes[0], frame->value, frame->marks);
}

dx__out dx__ops(dx_check *check, dx__frame *frame, dx__out before) {
    const dx__node *node = frame->node;
    for (; frame->op < node->op_count; frame->op++, frame->stage = STAGE_BEGIN) {
        const dx__op *op = &node->ops[frame->op];
        dx__out out = DX__FITS;
        switch (op->kind) {
        case DX__OP_SUB:
            out = sub(check, frame, op);
            break;
        case DX__OP_WHEN:
            out = when(check, frame, op);
            break;
        case DX__OP_ANY:
        case DX__OP_ONE:
            out = any_or_one(check, frame, op, before);
            break;
        case DX__OP_NOT:
            out = negate(check, frame, op, before);
            break;
        case DX__OP_IF:
            out = if_then(check, frame, op, before);
            break;
        }
        if (out != DX__FITS)
            return out;
    }
    return DX__FITS;
}
