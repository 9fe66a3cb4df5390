/* Partial results, which are deltas: put together, all that a run gives are its result. What a
 * runner streams goes on as it comes; what it gives at once in the end becomes one; nothing is
 * given twice. */
#include "systems/finecode/run_parts.h"

static bool is_format(yyjson_val *key, yyjson_val *value) {
    return (yyjson_equals_str(key, "json") && yyjson_is_obj(value)) ||
           (yyjson_equals_str(key, "string") && yyjson_is_str(value)) ||
           (yyjson_equals_str(key, "styled_text_json") && yyjson_is_obj(value));
}

/* The result by format, and not the bare one that some send. */
static bool is_by_format(yyjson_val *value) {
    size_t index;
    size_t count;
    yyjson_val *key;
    yyjson_val *member;
    yyjson_obj_foreach(value, index, count, key, member) {
        if (!is_format(key, member))
            return false;
    }
    return yyjson_obj_size(value) != 0;
}

static bool is_work(yyjson_val *value) {
    yyjson_val *type = yyjson_obj_get(value, "type");
    return yyjson_equals_str(type, "begin") || yyjson_equals_str(type, "report") ||
           yyjson_equals_str(type, "end");
}

static void give(dx__finecode_leg *leg, yyjson_val *by_format) {
    dx_finecode_run *run = leg->run;
    if (leg->is_held || run->is_cancelled || leg->state == DX__FINECODE_LEG_OVER)
        return;
    leg->is_told = true;
    if (run->ask.on_partial)
        run->ask.on_partial(run->wm, run, leg->project, by_format, run->ask.user);
}

/* The bare result under its format; without memory it is lost, and the end gives all of it. */
static void give_json(dx__finecode_leg *leg, yyjson_val *before, yyjson_val *now) {
    yyjson_alc alc = dx__finecode_alc(&leg->run->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *delta = root ? dx__finecode_delta(doc, before, now) : NULL;
    yyjson_doc *fixed = NULL;
    bool is_new = delta && yyjson_mut_obj_size(delta);
    if (is_new && yyjson_mut_obj_add_val(doc, root, "json", delta))
        (void)dx__finecode_doc_of_json(&leg->run->alloc, dx_json_built(root), &fixed);
    if (fixed)
        give(leg, yyjson_doc_get_root(fixed));
    else if (is_new || !delta)
        leg->is_held = true;
    yyjson_doc_free(fixed);
    yyjson_mut_doc_free(doc);
}

static yyjson_doc *parse(const dx_allocator *alloc, const dx_event *event) {
    yyjson_doc *doc = NULL;
    dx_text text = dx__finecode_string(event->value, "value");
    if (text.at)
        (void)dx__finecode_doc_of_text(alloc, text, &doc);
    return doc;
}

void dx__finecode_partial_take(dx__finecode_step *step, const dx_event *event) {
    dx__finecode_leg *leg = step->leg;
    dx_finecode_run *run = step->run;
    yyjson_doc *doc = parse(&run->alloc, event);
    yyjson_val *value = doc ? yyjson_doc_get_root(doc) : NULL;
    if (!yyjson_is_obj(value) || !yyjson_obj_size(value) || leg->state == DX__FINECODE_LEG_OVER) {
        yyjson_doc_free(doc);
        return;
    }
    if (run->ask.progress && step->runner->is_real && is_work(value)) {
        if (run->ask.on_progress && !run->is_cancelled)
            run->ask.on_progress(run->wm, run, leg->project, value, run->ask.user);
    } else if (run->ask.streamed) {
        step->is_streamed = true;
        if (is_by_format(value))
            give(leg, value);
        else
            give_json(leg, NULL, value);
    }
    yyjson_doc_free(doc);
}

void dx__finecode_partial_cover(dx__finecode_step *step, yyjson_val *base) {
    dx__finecode_leg *leg = step->leg;
    unsigned formats = step->run->ask.formats;
    yyjson_val *result = step->result ? yyjson_doc_get_root(step->result) : NULL;
    if (!step->run->ask.streamed || step->is_streamed || leg->is_held || !result ||
        !yyjson_obj_size(result))
        return;
    /* A text can only be made by the runner, which does that in the end: if nothing has been given
     * so far, all of it is given then. */
    if (formats & DX_FINECODE_JSON && (leg->is_told || !(formats & DX_FINECODE_STRING)))
        give_json(leg, base, result);
    else
        leg->is_held = true;
}

void dx__finecode_partial_end(dx__finecode_leg *leg) {
    bool is_left = leg->is_held || !leg->is_told;
    if (!leg->run->ask.streamed || !leg->by_format || !is_left)
        return;
    leg->is_held = false;
    give(leg, yyjson_doc_get_root(leg->by_format));
}
