/* Configuration that a client overrides. */
#include "systems/finecode/server_parts.h"

/* The words "ACTION.[HANDLER.]PARAM=JSON" of {action: {handler or "": {param: value}}}, with a NUL
 * behind each. A name with one of their marks in it would become another. */
struct words {
    dx_buf text;
    size_t count;
};

static dx_status add_part(dx_buf *text, yyjson_val *name, const char *end) {
    dx_text part = dx_json_string(name);
    if (strcspn(part.at, ".=") != part.len)
        return DX_MISFIT;
    dx_status status = dx_buf_append(text, part.at, part.len);
    return status == DX_OK ? dx_buf_append(text, end, strlen(end)) : status;
}

static dx_status add_word(struct words *words, yyjson_val *action, yyjson_val *handler,
                          yyjson_val *param, yyjson_val *value) {
    size_t start = words->text.len;
    dx_status status = add_part(&words->text, action, ".");
    if (status == DX_OK && yyjson_get_len(handler))
        status = add_part(&words->text, handler, ".");
    if (status == DX_OK)
        status = add_part(&words->text, param, "=");
    if (status == DX_OK)
        status = dx_json_write(&words->text, dx_json_value(value));
    if (status == DX_OK)
        status = dx_buf_append(&words->text, "", 1);
    words->count++;
    if (status == DX_OK && !dx__finecode_is_override(words->text.data + start))
        status = DX_MISFIT;
    return status;
}

static dx_status add_action(struct words *words, yyjson_val *action, yyjson_val *handlers) {
    size_t handler_index;
    size_t handler_count;
    yyjson_val *handler;
    yyjson_val *params;
    if (!yyjson_is_obj(handlers))
        return DX_MISFIT;
    yyjson_obj_foreach(handlers, handler_index, handler_count, handler, params) {
        size_t index;
        size_t count;
        yyjson_val *param;
        yyjson_val *value;
        if (!yyjson_is_obj(params))
            return DX_MISFIT;
        yyjson_obj_foreach(params, index, count, param, value) {
            dx_status status = add_word(words, action, handler, param, value);
            if (status != DX_OK)
                return status;
        }
    }
    return DX_OK;
}

static dx_status add_all(struct words *words, yyjson_val *overrides) {
    size_t index;
    size_t count;
    yyjson_val *action;
    yyjson_val *handlers;
    if (!yyjson_is_obj(overrides))
        return DX_MISFIT;
    yyjson_obj_foreach(overrides, index, count, action, handlers) {
        dx_status status = add_action(words, action, handlers);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

/* A list, with its strings, in one piece. */
static const char **list_of(const dx_allocator *alloc, const struct words *words) {
    size_t size = (words->count + 1) * sizeof(const char *);
    const char **list = dx__malloc(alloc, size + words->text.len + 1);
    if (!list)
        return NULL;
    char *to = (char *)list + size;
    if (words->text.len)
        memcpy(to, words->text.data, words->text.len);
    for (size_t i = 0; i < words->count; i++) {
        list[i] = to;
        to += strlen(to) + 1;
    }
    list[words->count] = NULL;
    return list;
}

/* What is read already is read again; the runners get it by the way that every runner gets its
 * configuration, when they are started again. */
static dx_status read_again(dx_finecode_wm *wm) {
    dx__finecode_overrides overrides = dx__finecode_wm_overrides(wm);
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < wm->project_count; i++)
        status = dx__finecode_project_reread(wm->projects[i], &overrides, NULL);
    dx_finecode_runner *runner;
    for (size_t i = 0; (runner = dx_finecode_wm_runner(wm, i)); i++) {
        dx_finecode_runner_state state = dx_finecode_runner_get_state(runner);
        if (state == DX_FINECODE_RUNNING || state == DX_FINECODE_INITIALIZING)
            (void)dx_finecode_wm_restart(wm, runner);
    }
    dx__finecode_server_tree(wm->server);
    return status;
}

void dx__finecode_overrides_drop(dx_finecode_server *server) {
    if (!server->overrides)
        return;
    server->wm->config.overrides = server->wm->overrides;
    dx__free(&server->alloc, server->overrides);
    server->overrides = NULL;
}

void dx__finecode_set_overrides(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx_finecode_server *server = client->server;
    struct words words = {.count = 0};
    dx_buf_init(&words.text, (size_t)64 << 20, &server->alloc);
    dx_status status = add_all(&words, yyjson_obj_get(event->value, "overrides"));
    const char **list = status == DX_OK ? list_of(&server->alloc, &words) : NULL;
    dx_buf_done(&words.text);
    if (!list) {
        bool misfit = status == DX_MISFIT;
        dx__finecode_answer_refuse(link, event->request, misfit ? DX_CODE_PARAMS : DX_CODE_INTERNAL,
                                   misfit ? "overrides: expected {action: {handler: {param: "
                                            "value}}}, without '.' and '=' in names"
                                          : "out of memory",
                                   "");
        return;
    }
    dx__finecode_overrides_drop(server);
    server->overrides = list;
    server->wm->config.overrides = list;
    if (read_again(server->wm) == DX_OK)
        dx__finecode_answer_empty(link, event->request);
    else
        dx__finecode_answer_refuse(link, event->request, DX_CODE_INTERNAL, "out of memory", "");
}
