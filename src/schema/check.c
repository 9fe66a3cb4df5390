#include "base/alloc.h"
#include "schema/machine.h"

enum {
    FIRST_CELLS = 64,
    TELLING = 500, /* what it costs to tell a misfit, in steps */
};

dx_check_config dx_check_defaults(void) {
    return (dx_check_config){.depth_max = 10000,
                             .steps_max = 50000000,
                             .match_max = 1000000,
                             .memory_max = (size_t)16 << 20};
}

dx_status dx_check_new(const dx_check_config *config, dx_check **ret_check) {
    dx_check_config defaults = dx_check_defaults();
    if (!config)
        config = &defaults;
    dx_allocator alloc = dx__allocator(config->allocator);
    dx_check *check = dx__malloc(&alloc, sizeof *check);
    if (!check)
        return DX_ERR_NOMEM;
    *check = (dx_check){.config = *config, .budget = dx__budget_of(&alloc, config->memory_max)};
    check->alloc = dx__budget_allocator(&check->budget);
    if (dx__pattern_room_new(&alloc, config->match_max, &check->room) != DX_OK) {
        dx__free(&alloc, check);
        return DX_ERR_NOMEM;
    }
    *ret_check = check;
    return DX_OK;
}

dx_check *dx_check_free(dx_check *check) {
    if (!check)
        return NULL;
    dx__inners_drop(check, 0);
    dx__free(&check->alloc, check->inners);
    dx__free(&check->alloc, check->frames);
    dx__free(&check->alloc, check->cells);
    dx__pattern_room_free(check->room);
    dx_allocator alloc = check->budget.base;
    dx__free(&alloc, check);
    return NULL;
}

dx__out dx__stop(dx_check *check, dx_status status) {
    check->status = status;
    return DX__STOPPED;
}

dx__out dx__stop_memory(dx_check *check) {
    return dx__stop(check, dx__budget_status(&check->budget));
}

dx__out dx__stop_steps(dx_check *check) {
    check->steps = 0;
    return dx__stop(check, DX_ERR_LIMIT);
}

bool dx__cells_push(dx_check *check, size_t count, size_t *ret_at) {
    size_t need = check->cell_count + count;
    if (need > UINT32_MAX / 2 || count > UINT32_MAX / 2) {
        check->budget.refused = true;
        return false;
    }
    if (need > check->cell_cap) {
        size_t cap = check->cell_cap ? check->cell_cap : FIRST_CELLS;
        while (cap < need)
            cap *= 2;
        uint64_t *cells = dx__realloc(&check->alloc, check->cells, check->cell_cap * sizeof *cells,
                                      cap * sizeof *cells);
        if (!cells)
            return false;
        check->cells = cells;
        check->cell_cap = cap;
    }
    *ret_at = check->cell_count;
    check->cell_count = need;
    return true;
}

static dx__out tell(dx_check *check, const dx_misfit *misfit) {
    if (!check->on_misfit) {
        if (check->why)
            *check->why = *misfit;
        return DX__FAILS;
    }
    return check->on_misfit(misfit, check->user) ? DX__FITS : dx__stop(check, DX_MISFIT);
}

/* One misfit is enough to say what is wrong with the nearest branch. */
static dx__out tell_nearest(dx_check *check, const dx_misfit *inner) {
    const dx__frame *frame = &check->frames[check->nearest - 1];
    const dx__node *node = frame->node->ops[frame->op].nodes[frame->index];
    check->nearest_told = true;
    dx__misfit_add(&check->outer, node, frame->index, inner);
    return tell(check, &check->outer);
}

/* The member that tells branches apart says that this is another one, however late it comes. */
static yyjson_val *reached(const dx_check *check, yyjson_val *value, dx__word word) {
    yyjson_val *whole = check->frames[check->catcher].value;
    bool is_other = (word == DX__WORD_CONST || word == DX__WORD_ENUM) &&
                    check->frames[check->frame_count - 1].value == whole;
    return is_other ? NULL : value;
}

dx__out dx__misfit(dx_check *check, const dx__node *node, yyjson_val *value, dx__word word,
                   const dx__detail *detail) {
    if (check->catcher != DX__NOBODY) {
        check->reached = reached(check, value, word);
        return DX__FAILS;
    }
    check->misfit = true;
    if (check->nearest && check->nearest_told)
        return DX__FITS;
    if (!check->on_misfit && !check->why)
        return DX__FAILS;
    dx_misfit misfit;
    if (check->on_misfit && !dx__step(check, TELLING))
        return dx__stop_steps(check);
    dx__misfit_write(check, node, value, word, detail, &misfit);
    return check->nearest ? tell_nearest(check, &misfit) : tell(check, &misfit);
}

/* The phase after one that is done; false if that was the last. */
static bool next_phase(dx__frame *frame) {
    const dx__node *node = frame->node;
    frame->stage = 0;
    if (frame->phase != DX__PHASE_OPS && frame->phase != DX__PHASE_LEFT && node->op_count) {
        frame->phase = DX__PHASE_OPS;
        return true;
    }
    if (frame->phase != DX__PHASE_LEFT && frame->marks != frame->outer) {
        frame->phase = DX__PHASE_LEFT;
        frame->index = 0;
        frame->at = unsafe_yyjson_get_first(frame->value);
        return true;
    }
    return false;
}

static void pop_to(dx_check *check, uint32_t frame_count) {
    check->cell_count = check->frames[frame_count].floor;
    check->frame_count = frame_count;
    if (check->inner_count)
        dx__inners_drop(check, frame_count);
}

static dx__out go_on(dx_check *check, dx__frame *frame, dx__out before) {
    switch ((dx__phase)frame->phase) {
    case DX__PHASE_STRAIGHT:
        return dx__straight(check);
    case DX__PHASE_MEMBERS:
        return dx__members(check, frame);
    case DX__PHASE_ITEMS:
        return dx__items(check, frame, before);
    case DX__PHASE_OPS:
        return dx__ops(check, frame, before);
    case DX__PHASE_LEFT:
        return dx__left(check, frame);
    case DX__PHASE_CONTENT:
        return dx__content(check, frame);
    }
    return DX__STOPPED;
}

static dx__out run(dx_check *check, yyjson_val *value) {
    dx__out out = dx__enter(check, check->schema->node, value, 0);
    if (out != DX__PUSHED)
        return out;
    dx__out before = DX__FITS;
    for (;;) {
        dx__frame *frame = &check->frames[check->frame_count - 1];
        out = go_on(check, frame, before);
        before = DX__FITS;
        if (out == DX__PUSHED)
            continue;
        if (out == DX__STOPPED)
            return out;
        if (out == DX__FITS) {
            if (next_phase(frame))
                continue;
            pop_to(check, check->frame_count - 1);
            if (!check->frame_count)
                return DX__FITS;
        } else {
            if (check->catcher == DX__NOBODY)
                return DX__FAILS;
            pop_to(check, check->catcher + 1);
            before = DX__FAILS;
        }
    }
}

static dx_status finish(dx_check *check, dx__out out) {
    check->frame_count = 0;
    check->cell_count = 0;
    if (check->inner_count)
        dx__inners_drop(check, 0);
    if (out == DX__STOPPED)
        return check->status;
    return out == DX__FAILS || check->misfit ? DX_MISFIT : DX_OK;
}

static dx_status start(const dx_schema *schema, yyjson_val *value, unsigned flags,
                       dx_check *check) {
    if (!schema || !value)
        return DX_ERR_INVALID;
    check->schema = schema;
    check->flags = flags;
    check->steps = check->config.steps_max;
    check->catcher = DX__NOBODY;
    check->misfit = false;
    check->status = DX_OK;
    check->nearest = 0;
    dx__out out = run(check, value);
    /* That a branch is the nearest need not be known. */
    if (out == DX__STOPPED && check->nearest && check->status == DX_ERR_LIMIT)
        out = tell(check, &check->outer);
    if (out == DX__STOPPED && check->status < 0 && check->why)
        dx__stop_write(check, check->why);
    return finish(check, out);
}

dx_status dx_schema_check(const dx_schema *schema, yyjson_val *value, unsigned flags,
                          dx_check *check, dx_misfit *reterr) {
    check->why = reterr;
    check->on_misfit = NULL;
    return start(schema, value, flags, check);
}

dx_status dx_schema_check_all(const dx_schema *schema, yyjson_val *value, unsigned flags,
                              dx_check *check,
                              int (*on_misfit)(const dx_misfit *misfit, void *user), void *user,
                              dx_misfit *reterr) {
    check->why = reterr;
    check->on_misfit = on_misfit;
    check->user = user;
    return start(schema, value, flags, check);
}
