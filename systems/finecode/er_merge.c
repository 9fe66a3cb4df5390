/* actions/mergeResults. */
#include "systems/finecode/er_parts.h"

/* DX_MISFIT: one of them can be no result of that action. */
static dx_status merge(const dx_finecode_er *er, const dx__finecode_er_task *task,
                       yyjson_val *results, dx__finecode_er_sum *sum) {
    yyjson_val *rules = dx__finecode_er_rules(task->kind);
    yyjson_arr_iter iter = yyjson_arr_iter_with(results);
    dx_status status = DX_OK;
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        if (yyjson_is_null(it) || (yyjson_is_obj(it) && !yyjson_obj_size(it)))
            continue;
        status = dx__finecode_er_is_result(it, rules)
                     ? dx__finecode_er_sum_add(&er->alloc, sum, it, rules)
                     : DX_MISFIT;
    }
    return status;
}

static void reply_merged(dx_finecode_er *er, const dx_event *event,
                         const dx__finecode_er_sum *sum) {
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "merged");
    if (sum->value)
        dx__finecode_er_out_json(&out, dx_json_built(sum->value));
    else
        dx__finecode_er_out_word(&out, "{}");
    dx__finecode_er_out_close(&out, '}');
    dx__finecode_er_reply(er->link, event, &out);
    dx__finecode_er_out_done(&out);
}

static void say_unknown(dx_finecode_er *er, const dx_event *event, dx_text name) {
    dx__finecode_er_out why;
    dx__finecode_er_out_init(&why, &er->alloc);
    dx__finecode_er_out_say_str(&why, "Action '");
    dx__finecode_er_out_say(&why, name);
    dx__finecode_er_out_say_str(&why, "' not found");
    if (why.status == DX_OK)
        dx__finecode_er_reply_error(er, event, dx__finecode_er_out_text(&why));
    dx__finecode_er_out_done(&why);
}

void dx__finecode_er_on_merge(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    dx__finecode_er_sum sum = {.doc = NULL};
    dx_text name;
    if (!dx__finecode_er_need_text(er, event, "actionName", &name))
        return;
    yyjson_val *results = dx__finecode_er_need(er, event, "results");
    if (!results)
        return;
    if (!er->setup) {
        dx__finecode_er_reply_error(er, event, dx_str("Extension runner not initialized"));
        return;
    }
    const dx__finecode_er_task *task = dx__finecode_er_task_named(er->setup, name);
    if (!task || !task->kind) {
        say_unknown(er, event, name);
        return;
    }
    dx_status status = yyjson_is_arr(results) ? merge(er, task, results, &sum) : DX_MISFIT;
    if (status == DX_OK)
        reply_merged(er, event, &sum);
    else if (status == DX_MISFIT)
        dx__finecode_er_reply_error(er, event,
                                    dx_str("One of the results does not belong to that action"));
    dx__finecode_er_sum_done(&sum);
}
