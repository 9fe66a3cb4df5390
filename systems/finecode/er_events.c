/* What the manager sends. */
#include "systems/finecode/er_parts.h"

static void reply_text(dx_link *link, const dx_event *event, const char *text) {
    (void)dx_link_reply(link, event->request, dx_json_checked(dx_str(text)));
}

static void on_initialize(dx_link *link, const dx_event *event, void *user) {
    const dx_finecode_er *er = user;
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_say_str(&out, "{\"capabilities\":{\"textDocumentSync\":1},\"serverInfo\":{"
                                      "\"name\":\"FineCode_Extension_Runner_Server\",\"version\":");
    dx__finecode_er_out_string(&out, dx_str(er->config.version));
    dx__finecode_er_out_say_str(&out, "}}");
    dx__finecode_er_reply(link, event, &out);
    dx__finecode_er_out_done(&out);
}

static void on_initialized(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)event;
    (void)user;
}

/* What runs goes on: the manager decides when it has waited enough, and says exit. */
static void on_shutdown(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    (void)dx_link_reply(link, event->request, dx_json_none());
}

static void on_exit_now(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_er *er = user;
    (void)event;
    dx__finecode_er_hold(er);
    for (dx__finecode_er_run *run = er->first_run; run; run = er->cursor) {
        er->cursor = run->next_run;
        dx__finecode_er_run_cancel(er, run->request);
    }
    er->leaving = true;
    if (er->link)
        dx_link_close(link);
    dx__finecode_er_release(er);
}

static void on_info(dx_link *link, const dx_event *event, void *user) {
    const dx_finecode_er *er = user;
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "logFilePath");
    dx__finecode_er_out_text_or_null(&out, er->config.log_path);
    dx__finecode_er_out_close(&out, '}');
    dx__finecode_er_reply(link, event, &out);
    dx__finecode_er_out_done(&out);
}

/* Handlers have nothing to initialise; but who names one that is not there shall know. */
static void look_at_names(dx_finecode_er *er, yyjson_val *config) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_obj_get(config, "handlers_to_initialize"));
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
        dx_text action = dx_json_string(name);
        if (!dx__finecode_er_task_named(er->setup, action))
            dx__finecode_er_log_str(er, "WARNING", "handlers_to_initialize: unknown action ",
                                    action);
    }
}

static void take_setup(dx_finecode_er *er, const dx_event *event, dx__finecode_er_setup *setup) {
    yyjson_val *config = yyjson_obj_get(event->value, "config");
    dx__finecode_er_hold(er);
    dx__finecode_er_setup_release(er->setup);
    er->setup = setup;
    look_at_names(er, config);
    if (er->config.on_config)
        er->config.on_config(er, config, er->config.user);
    /* It may have added something. */
    dx__finecode_er_setup_resolve(er, er->setup);
    if (er->link && !er->is_real && er->config.raw_config_ms)
        dx__finecode_er_raw_ask(er, event);
    else if (er->link)
        reply_text(er->link, event, "{}");
    dx__finecode_er_release(er);
}

static void on_config(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    dx__finecode_er_setup *setup = NULL;
    dx__finecode_er_out why;
    dx_text text;
    if (!dx__finecode_er_need_text(er, event, "workingDir", &text) ||
        !dx__finecode_er_need_text(er, event, "projectName", &text) ||
        !dx__finecode_er_need_text(er, event, "projectDefPath", &text) ||
        !dx__finecode_er_need(er, event, "config"))
        return;
    dx__finecode_er_out_init(&why, &er->alloc);
    dx_status status =
        dx__finecode_er_setup_read(er, yyjson_obj_get(event->value, "config"), &setup, &why);
    if (status == DX_OK)
        take_setup(er, event, setup);
    else if (status == DX_MISFIT)
        dx__finecode_er_refuse(er, event, DX_CODE_INTERNAL, dx__finecode_er_out_text(&why));
    dx__finecode_er_out_done(&why);
}

static void on_logging(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_er *er = user;
    er->forwards = yyjson_get_bool(yyjson_obj_get(event->value, "forward"));
    er->forward_level = dx__finecode_er_level(dx__finecode_string(event->value, "forwardLevel"));
    reply_text(link, event, "{}");
}

static void on_reload(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    dx_text name;
    if (!dx__finecode_er_need_text(er, event, "actionName", &name))
        return;
    dx__finecode_er_hold(er);
    if (er->config.on_reload)
        er->config.on_reload(er, name, er->config.user);
    if (er->link)
        reply_text(er->link, event, "{}");
    dx__finecode_er_release(er);
}

const dx_handler dx__finecode_er_handlers[] = {
    {"initialize", on_initialize},
    {"initialized", on_initialized},
    {"shutdown", on_shutdown},
    {"exit", on_exit_now},
    {"finecodeRunner/updateConfig", on_config},
    {"finecodeRunner/getInfo", on_info},
    {"finecodeRunner/updateLogging", on_logging},
    {"finecodeRunner/resolveActionMeta", dx__finecode_er_on_meta},
    {"actions/run", dx__finecode_er_on_run},
    {"actions/runHandlers", dx__finecode_er_on_run_handlers},
    {"actions/mergeResults", dx__finecode_er_on_merge},
    {"actions/getPayloadSchemas", dx__finecode_er_on_schemas},
    {"actions/reload", on_reload},
    {"actions/resolveSource", dx__finecode_er_on_resolve_source},
    {"packages/resolvePath", dx__finecode_er_on_resolve_path},
    {"textDocument/didOpen", dx__finecode_er_on_open},
    {"textDocument/didChange", dx__finecode_er_on_change},
    {"textDocument/didClose", dx__finecode_er_on_close},
    {NULL, NULL},
};
