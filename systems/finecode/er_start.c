/* The request behind a run: what it asks for, and whether it can begin. */
#include "systems/finecode/er_parts.h"

/* Handlers that a request may name. */
enum { NAMES_MAX = 10000 };

static bool is_here(const dx_finecode_er *er, const dx__finecode_er_step *step) {
    return strcmp(step->env, er->config.env_name) == 0;
}

static const dx__finecode_er_step *step_here(const dx_finecode_er *er,
                                             const dx__finecode_er_task *task, dx_text name) {
    for (size_t i = 0; i < task->count; i++)
        if (dx_text_is(name, task->steps[i].name) && is_here(er, &task->steps[i]))
            return &task->steps[i];
    return NULL;
}

/* Those of this env, all or by their names. */
static void choose(dx__finecode_er_run *run, yyjson_val *names) {
    const dx__finecode_er_task *task = run->task;
    yyjson_arr_iter iter = yyjson_arr_iter_with(names);
    for (size_t i = 0; !run->is_segment && i < task->count; i++)
        if (is_here(run->er, &task->steps[i]))
            run->steps[run->count++] = &task->steps[i];
    for (yyjson_val *name; run->is_segment && (name = yyjson_arr_iter_next(&iter));) {
        dx_text text = dx_json_string(name);
        const dx__finecode_er_step *step = step_here(run->er, task, text);
        if (step)
            run->steps[run->count++] = step;
        else
            dx__finecode_er_log_str(run->er, "WARNING", "skipping an unknown handler: ", text);
    }
    for (size_t i = 0; i < run->count; i++)
        run->parts[i] = (dx__finecode_er_sum){.doc = NULL};
}

/* What came before this segment; what can't be a result is ignored. */
static dx_status take_previous(dx__finecode_er_run *run) {
    const dx_allocator *alloc = &run->er->alloc;
    yyjson_val *rules = dx__finecode_er_rules(run->task->kind);
    yyjson_val *result = yyjson_obj_get(run->event->value, "previousResult");
    yyjson_val *context = yyjson_obj_get(run->event->value, "previousContext");
    dx_status status = DX_OK;
    if (!run->is_segment)
        return DX_OK;
    if (dx__finecode_er_is_result(result, rules) && yyjson_obj_size(result))
        status = dx__finecode_er_sum_add(alloc, &run->result, result, rules);
    else if (result && !yyjson_is_null(result) && yyjson_obj_size(result))
        dx__finecode_er_log_str(run->er, "WARNING", "previousResult is not a result of ",
                                dx_str(run->task->name));
    if (status == DX_OK && yyjson_is_obj(context))
        status = dx__finecode_doc_of(alloc, context, &run->context);
    return status;
}

static void run_free(dx__finecode_er_run *run) {
    const dx_allocator *alloc = &run->er->alloc;
    dx__finecode_er_sum_done(&run->result);
    yyjson_doc_free(run->context);
    dx_event_free(run->event);
    dx__free(alloc, run->steps);
    dx__free(alloc, run->parts);
    dx__free(alloc, run);
}

static dx__finecode_er_run *run_new(dx_finecode_er *er, const dx__finecode_er_task *task,
                                    bool is_segment, size_t room) {
    dx__finecode_er_run *run = dx__malloc(&er->alloc, sizeof *run);
    const char *why;
    bool is_error;
    if (!run)
        return NULL; /* here and below the engine answers with an internal error */
    *run = (dx__finecode_er_run){
        .er = er, .task = task, .is_segment = is_segment, .due = DX_NEVER, .number = er->run_count};
    run->steps = dx__malloc(&er->alloc, (room + 1) * sizeof(void *));
    run->parts = dx__malloc(&er->alloc, (room + 1) * sizeof *run->parts);
    if (!run->steps || !run->parts || dx_link_keep(er->link, &run->event) != DX_OK) {
        run_free(run);
        return NULL;
    }
    yyjson_val *params = run->event->value;
    yyjson_val *payload = yyjson_obj_get(params, "params");
    run->request = run->event->request;
    run->payload = yyjson_is_obj(payload) ? payload : NULL;
    choose(run, yyjson_obj_get(params, "handlerNames"));
    (void)dx__finecode_er_options_read(er, yyjson_obj_get(params, "options"), is_segment,
                                       &run->options, &why, &is_error);
    if (take_previous(run) != DX_OK) {
        run_free(run);
        return NULL;
    }
    return run;
}

static void put_in(dx__finecode_er_run *run) {
    dx_finecode_er *er = run->er;
    dx__finecode_er_out_init(&run->why, &er->alloc);
    dx__finecode_er_out_init(&run->answer, &er->alloc);
    run->setup = dx__finecode_er_setup_hold(er->setup);
    run->next_run = er->first_run;
    if (run->next_run)
        run->next_run->prev = run;
    er->first_run = run;
    dx__finecode_er_hold(er);
}

/* What it is and what it gets: refused in the program's words. */
static bool is_known(dx_finecode_er *er, const dx_event *event, dx_text name,
                     const dx__finecode_er_task **ret_task) {
    dx__finecode_er_out why;
    const dx__finecode_er_task *task = dx__finecode_er_task_named(er->setup, name);
    yyjson_val *payload = yyjson_obj_get(event->value, "params");
    dx__finecode_er_out_init(&why, &er->alloc);
    dx_status status = task && yyjson_is_obj(payload)
                           ? dx__finecode_er_payload_check(er, task, payload, &why)
                           : DX_OK;
    if (status == DX_OK) {
        er->run_count++;
        if (!task || !task->kind) {
            dx__finecode_er_out_say_str(&why, "R");
            dx__finecode_er_out_say_number(&why, er->run_count);
            dx__finecode_er_out_say_str(&why, " | Action ");
            dx__finecode_er_out_say(&why, name);
            dx__finecode_er_out_say_str(&why, task ? " is unknown to this runner: " : " not found");
            dx__finecode_er_out_say_str(&why, task ? task->source : "");
            status = DX_MISFIT;
        }
    }
    if (status == DX_MISFIT)
        dx__finecode_er_reply_error(er, event, dx__finecode_er_out_text(&why));
    dx__finecode_er_out_done(&why);
    *ret_task = task;
    return status == DX_OK;
}

/* What there has to be in a request; what is missing is told in the program's words. */
static bool is_sound(dx_finecode_er *er, const dx_event *event, bool is_segment,
                     dx_text *ret_name) {
    dx__finecode_er_options options;
    const char *why = "";
    bool is_error = false;
    yyjson_val *names = NULL;
    yyjson_val *payload = yyjson_obj_get(event->value, "params");
    if (!dx__finecode_er_need_text(er, event, "actionName", ret_name) ||
        (!is_segment && !dx__finecode_er_need(er, event, "params")) ||
        (is_segment && !(names = dx__finecode_er_need(er, event, "handlerNames"))))
        return false;
    if (dx__finecode_er_options_read(er, yyjson_obj_get(event->value, "options"), is_segment,
                                     &options, &why, &is_error) != DX_OK) {
        if (is_error)
            dx__finecode_er_refuse(er, event, DX_CODE_INTERNAL, dx_str(why));
        else
            dx__finecode_er_reply_error(er, event, dx_str(why));
        return false;
    }
    if (payload && !yyjson_is_obj(payload) && !yyjson_is_null(payload)) {
        dx__finecode_er_refuse(er, event, DX_CODE_INTERNAL, dx_str("'params' is not an object"));
        return false;
    }
    if (is_segment && (!yyjson_is_arr(names) || yyjson_arr_size(names) > NAMES_MAX)) {
        dx__finecode_er_refuse(er, event, DX_CODE_INTERNAL,
                               dx_str("'handlerNames' is not an array or too long"));
        return false;
    }
    if (!er->setup) {
        dx__finecode_er_reply_error(er, event, dx_str("Extension runner not initialized"));
        return false;
    }
    return true;
}

/* By the document all that are named have to be of this env; the program skips others. */
static bool are_here(dx_finecode_er *er, const dx_event *event, const dx__finecode_er_task *task) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(event->value, "handlerNames"));
    for (yyjson_val *name; !er->is_real && (name = yyjson_arr_iter_next(&iter));) {
        dx_text text = dx_json_string(name);
        dx__finecode_er_out why;
        if (step_here(er, task, text))
            continue;
        dx__finecode_er_out_init(&why, &er->alloc);
        dx__finecode_er_out_say_str(&why, "Action ");
        dx__finecode_er_out_say_str(&why, task->name);
        dx__finecode_er_out_say_str(&why, " has no handler '");
        dx__finecode_er_out_say(&why, text);
        dx__finecode_er_out_say_str(&why, "' in env ");
        dx__finecode_er_out_say_str(&why, er->config.env_name);
        dx__finecode_er_reply_error(er, event, dx__finecode_er_out_text(&why));
        dx__finecode_er_out_done(&why);
        return false;
    }
    return true;
}

static void begin(dx_finecode_er *er, const dx_event *event, bool is_segment) {
    const dx__finecode_er_task *task;
    dx_text name;
    if (!is_sound(er, event, is_segment, &name) || !is_known(er, event, name, &task) ||
        (is_segment && !are_here(er, event, task)))
        return;
    size_t room =
        is_segment ? yyjson_arr_size(yyjson_obj_get(event->value, "handlerNames")) : task->count;
    dx__finecode_er_run *run = run_new(er, task, is_segment, room);
    if (!run)
        return;
    put_in(run);
    dx__finecode_er_wal(run, "run.accepted", NULL, dx_str(NULL));
    dx__finecode_er_wal(run, "run.dispatched", NULL, dx_str(NULL));
    dx__finecode_er_run_pump(run);
}

void dx__finecode_er_on_run(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    begin(user, event, false);
}

void dx__finecode_er_on_run_handlers(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    begin(user, event, true);
}
