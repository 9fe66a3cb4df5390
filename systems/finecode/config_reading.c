/* Actions and handlers, as parts of the merged configuration. */
#include "systems/finecode/config_parts.h"

#include <math.h>
#include <string.h>

yyjson_val *dx__finecode_table(yyjson_doc *raw) {
    return yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(raw), "tool"), "finecode");
}

static void free_action(const dx_allocator *alloc, dx__finecode_action *action) {
    for (size_t i = 0; i < action->handler_count; i++)
        dx__free(alloc, action->handlers[i].location);
    dx__free(alloc, action->handlers);
    dx__free(alloc, action->views);
    dx__free(alloc, action->canonical);
    dx__free(alloc, action->parent);
    dx__free(alloc, action->language);
    dx__free(alloc, action->location);
}

dx__finecode_reading *dx__finecode_reading_free(const dx_allocator *alloc,
                                                dx__finecode_reading *reading) {
    if (!reading)
        return NULL;
    for (size_t i = 0; i < reading->action_count; i++)
        free_action(alloc, &reading->actions[i]);
    dx__free(alloc, reading->actions);
    dx__free(alloc, reading->envs);
    yyjson_doc_free(reading->raw);
    dx__free(alloc, reading);
    return NULL;
}

/* "action.NAME[.handlers.HANDLER]: phrase" */
static dx_status tell(dx__finecode_load *load, const char *action, const char *handler,
                      const char *phrase) {
    char place[DX__FINECODE_WHY / 2] = "action.";
    dx__say_str(place, sizeof place, action);
    if (handler) {
        dx__say_str(place, sizeof place, ".handlers.");
        dx__say_str(place, sizeof place, handler);
    }
    return dx__finecode_why(load->why, "", place, phrase);
}

static const char *string_of(yyjson_val *object, const char *key) {
    return yyjson_get_str(yyjson_obj_get(object, key));
}

/* DX_GONE: it is left out. */
static dx_status read_handler(dx__finecode_load *load, const dx__finecode_action *action,
                              yyjson_val *from, dx__finecode_handler *ret_handler) {
    dx__finecode_handler handler = {.name = string_of(from, "name"),
                                    .source = string_of(from, "source"),
                                    .env = string_of(from, "env"),
                                    .config = yyjson_obj_get(from, "config"),
                                    .dependencies = yyjson_obj_get(from, "dependencies")};
    if (yyjson_is_false(yyjson_obj_get(from, "enabled")))
        return DX_GONE;
    if (!handler.source || !handler.env) {
        /* It may be in a preset that is not there yet. */
        if (!load->complete)
            return DX_GONE;
        return tell(load, action->name, handler.name,
                    handler.source ? "its env is missing in every file"
                                   : "its source is missing in every file");
    }
    for (size_t i = 0; i < action->handler_count; i++)
        if (strcmp(action->handlers[i].name, handler.name) == 0)
            return tell(load, action->name, handler.name, "duplicate name");
    *ret_handler = handler;
    return DX_OK;
}

/* Each has a runner, and that is a process. */
enum { ENVS_MAX = 64 };

static dx_status note_env(dx__finecode_load *load, dx__finecode_reading *reading,
                          const char *action, const dx__finecode_handler *handler) {
    for (size_t i = 0; i < reading->env_count; i++)
        if (strcmp(reading->envs[i], handler->env) == 0)
            return DX_OK;
    if (reading->env_count == ENVS_MAX)
        return tell(load, action, handler->name, "more than 64 envs");
    reading->envs[reading->env_count++] = handler->env;
    return DX_OK;
}

static dx_status read_handlers(dx__finecode_load *load, dx__finecode_reading *reading,
                               dx__finecode_action *action, yyjson_val *list) {
    yyjson_val *item;
    size_t index;
    size_t count = yyjson_arr_size(list);
    if (!count)
        return DX_OK;
    action->handlers = dx__malloc(&load->alloc, count * sizeof *action->handlers);
    action->views = dx__malloc(&load->alloc, count * sizeof *action->views);
    if (!action->handlers || !action->views)
        return DX_ERR_NOMEM;
    yyjson_arr_foreach(list, index, count, item) {
        dx__finecode_handler *handler = &action->handlers[action->handler_count];
        dx_status status = read_handler(load, action, item, handler);
        if (status == DX_GONE)
            continue;
        if (status == DX_OK)
            status = note_env(load, reading, action->name, handler);
        if (status != DX_OK)
            return status;
        action->handler_count++;
    }
    return DX_OK;
}

static dx_status read_action(dx__finecode_load *load, dx__finecode_reading *reading,
                             const char *name, yyjson_val *from) {
    const char *source = string_of(from, "source");
    if (!source)
        return load->complete ? tell(load, name, NULL, "its source is missing in every file")
                              : DX_OK;
    /* A runner has one action for each source. */
    for (size_t i = 0; i < reading->action_count; i++)
        if (strcmp(reading->actions[i].source, source) == 0)
            return tell(load, name, NULL, "another action has the same source");
    dx__finecode_action *action = &reading->actions[reading->action_count++];
    *action = (dx__finecode_action){
        .name = name, .source = source, .config = yyjson_obj_get(from, "config")};
    return read_handlers(load, reading, action, yyjson_obj_get(from, "handlers"));
}

/* JSON does not have all numbers that TOML has, and messages are JSON. */
static bool has_odd_number(yyjson_doc *doc) {
    yyjson_val *value = yyjson_doc_get_root(doc);
    size_t count = yyjson_doc_get_val_count(doc);
    for (size_t i = 0; i < count; i++)
        if (yyjson_is_real(&value[i]) && !isfinite(yyjson_get_real(&value[i])))
            return true;
    return false;
}

static dx_status read_actions(dx__finecode_load *load, dx__finecode_reading *reading) {
    yyjson_val *actions = yyjson_obj_get(dx__finecode_table(reading->raw), "action");
    yyjson_val *key;
    yyjson_val *value;
    size_t index;
    size_t count = yyjson_obj_size(actions);
    if (has_odd_number(reading->raw))
        return dx__finecode_why(load->why, "", "", "inf and nan cannot be sent as JSON");
    if (!count)
        return DX_OK;
    reading->actions = dx__malloc(&load->alloc, count * sizeof *reading->actions);
    reading->envs = dx__malloc(&load->alloc, ENVS_MAX * sizeof *reading->envs);
    if (!reading->actions || !reading->envs)
        return DX_ERR_NOMEM;
    yyjson_obj_foreach(actions, index, count, key, value) {
        dx_status status = read_action(load, reading, yyjson_get_str(key), value);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

dx_status dx__finecode_reading_new(dx__finecode_load *load, dx__finecode_reading **ret_reading) {
    yyjson_alc alc = dx__finecode_alc(&load->alloc);
    dx__finecode_reading *reading = dx__malloc(&load->alloc, sizeof *reading);
    if (!reading)
        return DX_ERR_NOMEM;
    *reading = (dx__finecode_reading){.raw = yyjson_mut_doc_imut_copy(load->merged, &alc)};
    dx_status status = reading->raw ? read_actions(load, reading) : DX_ERR_NOMEM;
    if (status != DX_OK) {
        dx__finecode_reading_free(&load->alloc, reading);
        return status;
    }
    *ret_reading = reading;
    return DX_OK;
}

static bool copy(const dx_allocator *alloc, char **to, const char *from) {
    if (from && !*to)
        *to = dx__text_copy(alloc, dx_str(from));
    return !from || *to;
}

static bool learn_action(const dx_allocator *alloc, dx__finecode_action *action,
                         const dx__finecode_action *from) {
    action->runs_concurrently = from->runs_concurrently;
    action->workspace = from->workspace;
    for (size_t i = 0; i < action->handler_count; i++)
        for (size_t j = 0; j < from->handler_count; j++)
            if (strcmp(action->handlers[i].source, from->handlers[j].source) == 0 &&
                !copy(alloc, &action->handlers[i].location, from->handlers[j].location))
                return false;
    return copy(alloc, &action->parent, from->parent) &&
           copy(alloc, &action->language, from->language) &&
           copy(alloc, &action->location, from->location) &&
           copy(alloc, &action->canonical, from->canonical);
}

dx_status dx__finecode_reading_learn(const dx_allocator *alloc, dx__finecode_reading *reading,
                                     const dx__finecode_reading *from) {
    for (size_t i = 0; from && i < reading->action_count; i++)
        for (size_t j = 0; j < from->action_count; j++)
            if (strcmp(reading->actions[i].source, from->actions[j].source) == 0 &&
                !learn_action(alloc, &reading->actions[i], &from->actions[j]))
                return DX_ERR_NOMEM;
    return DX_OK;
}
