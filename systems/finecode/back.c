/* What a runner asks for or tells by itself: who has to do with it. */
#include "systems/finecode/run_parts.h"

void dx__finecode_back_refuse(dx_link *link, dx_request request, int64_t code, const char *before,
                              const char *after) {
    char text[600] = "";
    dx__say_str(text, sizeof text, before);
    dx__say_str(text, sizeof text, after);
    (void)dx_link_refuse(link, request, code, dx_str(text), dx_json_none());
}

/* What it tells. */

static void take_message(dx_finecode_runner *runner, yyjson_val *params) {
    dx_finecode_wm *wm = runner->wm;
    static const char *const kinds[] = {"INFO", "WARNING", "ERROR"};
    yyjson_val *type = yyjson_obj_get(params, "type");
    dx_text text = dx__finecode_string(params, "message");
    const char *kind = kinds[0];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (yyjson_equals_str(type, kinds[i]))
            kind = kinds[i];
    if (!text.at)
        return;
    if (wm->server)
        dx__finecode_server_message(wm->server, kind, text);
    if (wm->config.on_message)
        wm->config.on_message(wm, runner, kind, text, wm->config.user);
}

static void take_record(dx_finecode_runner *runner, yyjson_val *record) {
    dx_finecode_wm *wm = runner->wm;
    yyjson_val *level = yyjson_obj_get(record, "level");
    yyjson_val *group = yyjson_obj_get(record, "group");
    dx_text text = dx__finecode_string(record, "message");
    double time = yyjson_get_num(yyjson_obj_get(record, "timestamp"));
    if (!yyjson_is_str(level) || !text.at)
        return;
    const char *name = yyjson_is_str(group) ? yyjson_get_str(group) : "";
    if (wm->server)
        dx__finecode_server_log(wm->server, runner, yyjson_get_str(level), name, text, time);
    if (wm->config.on_log)
        wm->config.on_log(wm, runner, yyjson_get_str(level), name, text, time, wm->config.user);
}

static bool is_there(const dx_finecode_wm *wm, const dx_finecode_runner *runner) {
    const dx_finecode_runner *one = wm->runners;
    while (one && one != runner)
        one = one->next;
    return one;
}

/* Who is told of one may remove the project, and the runner with it. */
static void take_records(dx_finecode_runner *runner, yyjson_val *records) {
    const dx_finecode_wm *wm = runner->wm;
    yyjson_arr_iter iter = yyjson_arr_iter_with(records);
    yyjson_val *record;
    while (is_there(wm, runner) && (record = yyjson_arr_iter_next(&iter)))
        take_record(runner, record);
}

static void take_notification(const dx_event *event, dx_finecode_runner *runner) {
    if (dx_text_is(event->method, "er/userMessage"))
        take_message(runner, event->value);
    else if (dx_text_is(event->method, "er/logRecords"))
        take_records(runner, yyjson_obj_get(event->value, "records"));
}

/* What it asks for. */

static void take_request(dx_link *link, const dx_event *event, dx_finecode_runner *runner) {
    if (dx_text_is(event->method, "finecode/runActionInProject"))
        dx__finecode_back_run(link, event, runner, false);
    else if (dx_text_is(event->method, "finecode/runActionInWorkspace"))
        dx__finecode_back_run(link, event, runner, true);
    else if (dx_text_is(event->method, "workspace/applyEdit"))
        dx__finecode_back_edit(link, event, runner);
    else if (!dx__finecode_back_tell(link, event, runner))
        (void)dx_link_refuse(link, event->request, DX_CODE_METHOD, (dx_text){NULL, 0},
                             dx_json_none());
}

void dx__finecode_back(dx_link *link, const dx_event *event, dx_finecode_runner *runner) {
    switch (event->kind) {
    case DX_EVENT_REQUEST:
        take_request(link, event, runner);
        break;
    case DX_EVENT_NOTIFICATION:
        take_notification(event, runner);
        break;
    case DX_EVENT_CANCEL:
        dx__finecode_back_run_cancel(runner, event->request);
        dx__finecode_back_edit_cancel(runner, event->request);
        break;
    default:
        break;
    }
}

void dx__finecode_back_forget(dx_finecode_runner *runner) {
    dx__finecode_back_run_forget(runner);
    dx__finecode_back_edit_forget(runner);
}
