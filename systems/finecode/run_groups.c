/* Handlers of several envs at the same time: their results are merged by one of the runners. What
 * that gives is formatted here, since the document has no request for it; by the program, by the
 * last runner. */
#include "systems/finecode/run_parts.h"

/* Only if all that went wrong was cancelled, it was. */
static bool join_failures(const dx__finecode_leg *leg, size_t count, dx__finecode_end *ret_end) {
    bool is_any = false;
    for (size_t i = 0; i < count; i++) {
        const dx__finecode_end *end = &leg->steps[i].end;
        if (dx__finecode_is_good(&leg->steps[i]))
            continue;
        if (!is_any) {
            *ret_end = *end;
            is_any = true;
            continue;
        }
        if (end->status == DX_FINECODE_FAILED && ret_end->status != DX_FINECODE_FAILED) {
            ret_end->status = DX_FINECODE_FAILED;
            ret_end->code = end->code;
            ret_end->cause = end->cause;
        }
        dx__say_str(ret_end->why, sizeof ret_end->why, "; ");
        dx__say_str(ret_end->why, sizeof ret_end->why, end->why);
    }
    return is_any;
}

/* The first of them that still runs, or would again. */
static const char *find_merger(const dx__finecode_leg *leg) {
    for (size_t i = 0; i < leg->group_count; i++) {
        const dx_finecode_runner *runner =
            dx_finecode_wm_find_runner(leg->run->wm, leg->project, leg->groups[i].env);
        if (runner && dx__finecode_runner_is_good(runner))
            return leg->groups[i].env;
    }
    return NULL;
}

int64_t dx__finecode_leg_code(const dx__finecode_leg *leg, size_t count) {
    int64_t code = leg->steps[0].end.return_code;
    for (size_t i = 1; i < count; i++)
        if (leg->steps[i].end.return_code > code)
            code = leg->steps[i].end.return_code;
    return code;
}

static void note_ends(dx__finecode_leg *leg) {
    leg->end = (dx__finecode_end){.status = DX_FINECODE_SUCCESS,
                                  .return_code = dx__finecode_leg_code(leg, leg->group_count)};
    for (size_t i = 0; i < leg->group_count; i++)
        if (leg->steps[i].end.status == DX_FINECODE_STOPPED)
            leg->end.status = DX_FINECODE_STOPPED;
}

static void merge(dx__finecode_leg *leg) {
    dx__finecode_end end;
    if (join_failures(leg, leg->group_count, &end)) {
        dx__finecode_leg_end(leg, &end);
        return;
    }
    const char *env = find_merger(leg);
    if (!env) {
        dx__finecode_end_set(&end, DX_FINECODE_FAILED, DX_FINECODE_ENDED,
                             "no runner can merge the results of ", leg->action);
        dx__finecode_leg_end(leg, &end);
        return;
    }
    note_ends(leg);
    leg->state = DX__FINECODE_LEG_MERGING;
    leg->pending = 1;
    dx__finecode_leg_start(leg, &leg->steps[leg->group_count], DX__FINECODE_MERGE, NULL, env);
}

bool dx__finecode_leg_formats(const dx__finecode_leg *leg, const char *env) {
    const dx_finecode_runner *runner = dx_finecode_wm_find_runner(leg->run->wm, leg->project, env);
    return runner && runner->is_real;
}

static bool add_text(yyjson_mut_doc *doc, yyjson_mut_val *root, yyjson_val *result,
                     const dx__finecode_leg *leg) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 4, &leg->run->alloc);
    bool done =
        dx__finecode_format(result, leg->project->path, &text) == DX_OK &&
        yyjson_mut_obj_add_strncpy(doc, root, "string", text.data ? text.data : "", text.len);
    dx_buf_done(&text);
    return done;
}

void dx__finecode_leg_wrap(dx__finecode_leg *leg, yyjson_val *result) {
    const dx_allocator *alloc = &leg->run->alloc;
    unsigned formats = leg->run->ask.formats;
    yyjson_alc alc = dx__finecode_alc(alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    bool done = root && formats;
    if (done && formats & DX_FINECODE_JSON)
        done = yyjson_mut_obj_add_val(doc, root, "json", yyjson_val_mut_copy(doc, result));
    if (done && formats & DX_FINECODE_STRING)
        done = add_text(doc, root, result, leg);
    if (done)
        (void)dx__finecode_doc_of_json(alloc, dx_json_built(root), &leg->by_format);
    yyjson_mut_doc_free(doc);
}

/* The merged result, of which no runner has made the formats. */
static void end_merged(dx__finecode_leg *leg, const dx__finecode_step *merge) {
    dx__finecode_end end = leg->end;
    dx__finecode_leg_wrap(leg, yyjson_doc_get_root(merge->result));
    if (leg->run->ask.formats && !leg->by_format)
        dx__finecode_end_set(&end, DX_FINECODE_FAILED, DX_FINECODE_REFUSED, "out of memory", "");
    dx__finecode_leg_end(leg, &end);
}

static void take_merged(dx__finecode_leg *leg, dx__finecode_step *step) {
    const char *env = leg->groups[leg->group_count - 1].env;
    dx__finecode_end end = step->end;
    if (!dx__finecode_is_good(step)) {
        dx__finecode_leg_end(leg, &end);
    } else if (!dx__finecode_leg_formats(leg, env)) {
        end_merged(leg, step);
    } else {
        leg->state = DX__FINECODE_LEG_FORMATTING;
        leg->pending = 1;
        dx__finecode_leg_start(leg, step + 1, DX__FINECODE_FORMAT, NULL, env);
    }
}

static void take_formatted(dx__finecode_leg *leg, dx__finecode_step *step) {
    if (dx__finecode_is_good(step)) {
        leg->by_format = step->by_format;
        step->by_format = NULL;
        if (!leg->segments && leg->end.status != DX_FINECODE_STOPPED) {
            leg->end.status = step->end.status;
            if (step->end.return_code > leg->end.return_code)
                leg->end.return_code = step->end.return_code;
        }
        dx__finecode_leg_end(leg, &leg->end);
    } else if (leg->segments) { /* a chain has its result, and only wants it formatted */
        dx__finecode_leg_wrap(leg, yyjson_doc_get_root(step[-1].result));
        dx__finecode_leg_end(leg, &leg->end);
    } else {
        end_merged(leg, step - 1);
    }
}

/* That an action can't be imported in one env says nothing about the others. */
static yyjson_val *find_schema(const dx__finecode_leg *leg, const char *action) {
    for (size_t i = 0; i < leg->step_count; i++) {
        yyjson_doc *map = leg->steps[i].result;
        yyjson_val *schema = map ? yyjson_obj_get(yyjson_doc_get_root(map), action) : NULL;
        if (yyjson_is_obj(schema))
            return schema;
    }
    return NULL;
}

/* Of the actions that the project has, whatever runners may know besides. */
static yyjson_mut_val *join_schemas(const dx__finecode_leg *leg, yyjson_mut_doc *doc) {
    const dx_finecode_project *project = leg->project;
    yyjson_mut_val *all = yyjson_mut_obj(doc);
    for (size_t i = 0; all && i < project->action_count; i++) {
        yyjson_val *schema = find_schema(leg, project->actions[i].name);
        yyjson_mut_val *value = schema ? yyjson_val_mut_copy(doc, schema) : yyjson_mut_null(doc);
        if (!value || !yyjson_mut_obj_add_val(doc, all, project->actions[i].name, value))
            return NULL;
    }
    return all;
}

static void end_schemas(dx__finecode_leg *leg) {
    yyjson_alc alc = dx__finecode_alc(&leg->run->alloc);
    dx__finecode_end end = {.status = DX_FINECODE_SUCCESS};
    size_t bad = 0;
    for (size_t i = 0; i < leg->step_count; i++)
        bad += !dx__finecode_is_good(&leg->steps[i]);
    if (bad == leg->step_count) {
        (void)join_failures(leg, leg->step_count, &end);
        dx__finecode_leg_end(leg, &end);
        return;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *all = doc ? join_schemas(leg, doc) : NULL;
    if (all)
        (void)dx__finecode_doc_of_json(&leg->run->alloc, dx_json_built(all), &leg->by_format);
    if (!leg->by_format)
        dx__finecode_end_set(&end, DX_FINECODE_FAILED, DX_FINECODE_REFUSED, "out of memory", "");
    yyjson_mut_doc_free(doc);
    dx__finecode_leg_end(leg, &end);
}

void dx__finecode_groups_advance(dx__finecode_leg *leg, dx__finecode_step *step) {
    switch (leg->state) {
    case DX__FINECODE_LEG_MERGING:
        take_merged(leg, step);
        break;
    case DX__FINECODE_LEG_FORMATTING:
        take_formatted(leg, step);
        break;
    default:
        if (leg->run->kind == DX__FINECODE_ACTION && dx__finecode_is_good(step))
            dx__finecode_partial_cover(step, NULL);
        if (leg->pending || leg->state == DX__FINECODE_LEG_OVER)
            return;
        if (leg->run->kind == DX__FINECODE_SCHEMA)
            end_schemas(leg);
        else
            merge(leg);
        break;
    }
}
