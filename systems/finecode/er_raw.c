/* projects/getRawConfig, which by the document belongs to updateConfig: the answer to that waits
 * for it, but not for long, since a manager may answer one thing after the other. What comes later
 * still counts. */
#include "systems/finecode/er_parts.h"

static void answer(dx_finecode_er *er) {
    dx_event *event = er->configuring;
    if (!event)
        return;
    er->configuring = NULL;
    er->patience = dx_timer_free(er->patience);
    (void)dx_link_reply(er->link, event->request, dx_json_text("{}", 2));
    dx_event_free(event);
}

static void on_time(dx_timer *timer, void *user) {
    (void)timer;
    dx_finecode_er *er = user;
    dx__finecode_er_log_str(er, "WARNING", "no answer to ", dx_str("projects/getRawConfig"));
    answer(er);
}

/* Its text, or by the program the object itself. */
static void keep(dx_finecode_er *er, yyjson_val *config) {
    yyjson_doc *doc = NULL;
    if (yyjson_is_str(config))
        (void)dx__finecode_doc_of_text(&er->alloc, dx_json_string(config), &doc);
    else if (config)
        (void)dx__finecode_doc_of(&er->alloc, config, &doc);
    yyjson_doc_free(er->raw);
    er->raw = doc;
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    if (event->call != er->raw_call)
        return; /* another updateConfig has come since */
    er->raw_call = 0;
    if (event->outcome == DX_OUTCOME_RESULT)
        keep(er, yyjson_obj_get(event->value, "config"));
    else if (event->outcome != DX_OUTCOME_LOST)
        dx__finecode_er_log_str(er, "WARNING", "projects/getRawConfig failed: ",
                                dx_json_string(yyjson_obj_get(event->value, "message")));
    if (event->outcome != DX_OUTCOME_LOST)
        answer(er);
}

static dx_status ask(dx_finecode_er *er, yyjson_val *path) {
    dx_link_call_options options = {.on_done = on_done};
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "projectDefPath");
    dx__finecode_er_out_value(&out, path);
    dx__finecode_er_out_close(&out, '}');
    options.peer.user = er;
    options.peer.timeout_ms = options.peer.total_ms = DX_NEVER;
    dx_status status = out.status;
    if (status == DX_OK)
        status =
            dx_link_call(er->link, dx_str("projects/getRawConfig"),
                         dx_json_checked(dx__finecode_er_out_text(&out)), &options, &er->raw_call);
    dx__finecode_er_out_done(&out);
    return status;
}

void dx__finecode_er_raw_ask(dx_finecode_er *er, const dx_event *event) {
    yyjson_val *path = yyjson_obj_get(event->value, "projectDefPath");
    answer(er); /* an updateConfig before this one */
    er->raw_call = 0;
    er->patience = dx_timer_free(er->patience);
    if (dx_timer_new(er->loop, on_time, er, &er->patience) != DX_OK ||
        dx_link_keep(er->link, &er->configuring) != DX_OK)
        return; /* the engine answers with an internal error */
    if (ask(er, path) == DX_OK)
        dx_timer_set(er->patience, er->config.raw_config_ms);
    else
        answer(er);
}

void dx__finecode_er_raw_done(dx_finecode_er *er) {
    er->patience = dx_timer_free(er->patience);
    dx_event_free(er->configuring);
    er->configuring = NULL;
    yyjson_doc_free(er->raw);
    er->raw = NULL;
    er->raw_call = 0;
}

yyjson_val *dx_finecode_er_raw_config(const dx_finecode_er *er) {
    return yyjson_doc_get_root(er->raw);
}
