/* What a runner is told of its project's configuration. */
#include "systems/finecode/config_parts.h"

#include <string.h>

/* Builds; once memory has run out nothing more is done. */
struct build {
    yyjson_mut_doc *doc;
    bool failed;
};

static yyjson_mut_val *kept(struct build *build, yyjson_mut_val *value) {
    build->failed |= !value;
    return value;
}

static void add(struct build *build, yyjson_mut_val *object, const char *key,
                yyjson_mut_val *value) {
    yyjson_mut_val *name = yyjson_mut_strcpy(build->doc, key);
    if (build->failed || !name || !value || !yyjson_mut_obj_add(object, name, value))
        build->failed = true;
}

static void append(struct build *build, yyjson_mut_val *list, yyjson_mut_val *value) {
    if (build->failed || !value || !yyjson_mut_arr_append(list, value))
        build->failed = true;
}

static void add_text(struct build *build, yyjson_mut_val *object, const char *key,
                     const char *text) {
    add(build, object, key, yyjson_mut_strcpy(build->doc, text));
}

/* A copy, or something empty where there is none. */
static void add_copy(struct build *build, yyjson_mut_val *object, const char *key,
                     yyjson_val *value, bool list) {
    add(build, object, key,
        value  ? yyjson_val_mut_copy(build->doc, value)
        : list ? yyjson_mut_arr(build->doc)
               : yyjson_mut_obj(build->doc));
}

static bool is_in(const dx__finecode_action *action, const char *env) {
    for (size_t i = 0; i < action->handler_count; i++)
        if (strcmp(action->handlers[i].env, env) == 0)
            return true;
    return false;
}

static yyjson_mut_val *handler_of(struct build *build, const dx__finecode_handler *handler) {
    yyjson_mut_val *object = kept(build, yyjson_mut_obj(build->doc));
    add_text(build, object, "name", handler->name);
    add_text(build, object, "source", handler->source);
    add_copy(build, object, "config", handler->config, false);
    add_text(build, object, "env", handler->env);
    add_copy(build, object, "dependencies", handler->dependencies, true);
    return object;
}

static yyjson_mut_val *action_of(struct build *build, const dx__finecode_action *action) {
    yyjson_mut_val *object = kept(build, yyjson_mut_obj(build->doc));
    yyjson_mut_val *handlers = kept(build, yyjson_mut_arr(build->doc));
    for (size_t i = 0; i < action->handler_count; i++)
        append(build, handlers, handler_of(build, &action->handlers[i]));
    add_text(build, object, "name", action->name);
    add_text(build, object, "source", action->source);
    add(build, object, "handlers", handlers);
    add_copy(build, object, "config", action->config, false);
    return object;
}

static yyjson_mut_val *names_of(struct build *build, const dx__finecode_action *action,
                                const char *env) {
    yyjson_mut_val *names = kept(build, yyjson_mut_arr(build->doc));
    for (size_t i = 0; i < action->handler_count; i++)
        if (strcmp(action->handlers[i].env, env) == 0)
            append(build, names, yyjson_mut_strcpy(build->doc, action->handlers[i].name));
    return names;
}

static void add_actions(struct build *build, yyjson_mut_val *config,
                        const dx_finecode_project *project, const char *env) {
    yyjson_mut_val *actions = kept(build, yyjson_mut_arr(build->doc));
    for (size_t i = 0; i < project->action_count; i++)
        if (is_in(&project->actions[i], env))
            append(build, actions, action_of(build, &project->actions[i]));
    add(build, config, "actions", actions);
}

static void add_handlers(struct build *build, yyjson_mut_val *config,
                         const dx_finecode_project *project, const char *env) {
    yyjson_mut_val *handlers = kept(build, yyjson_mut_obj(build->doc));
    for (size_t i = 0; i < project->action_count; i++)
        if (is_in(&project->actions[i], env))
            add(build, handlers, project->actions[i].name,
                names_of(build, &project->actions[i], env));
    add(build, config, "handlers_to_initialize", handlers);
}

static void add_handler_configs(struct build *build, yyjson_mut_val *config, yyjson_val *table) {
    yyjson_mut_val *configs = kept(build, yyjson_mut_obj(build->doc));
    yyjson_val *item;
    size_t index;
    size_t count;
    yyjson_arr_foreach(yyjson_obj_get(table, "action_handler"), index, count, item) {
        add_copy(build, configs, yyjson_get_str(yyjson_obj_get(item, "source")),
                 yyjson_obj_get(item, "config"), false);
    }
    add(build, config, "action_handler_configs", configs);
}

/* Those that are for this env, or for any. One without source belongs to a runner that has its own
 * for it, and has no form in this message. */
static void add_services(struct build *build, yyjson_mut_val *config, yyjson_val *table,
                         const char *env) {
    static const char *const texts[] = {"interface", "source", "env"};
    yyjson_mut_val *services = kept(build, yyjson_mut_arr(build->doc));
    yyjson_val *item;
    size_t index;
    size_t count;
    yyjson_arr_foreach(yyjson_obj_get(table, "service"), index, count, item) {
        const char *where = yyjson_get_str(yyjson_obj_get(item, "env"));
        if (!yyjson_obj_get(item, "source") || (where && strcmp(where, env) != 0))
            continue;
        yyjson_mut_val *service = kept(build, yyjson_mut_obj(build->doc));
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const char *text = yyjson_get_str(yyjson_obj_get(item, texts[i]));
            add_text(build, service, texts[i], text ? text : env);
        }
        add_copy(build, service, "dependencies", yyjson_obj_get(item, "dependencies"), true);
        yyjson_val *own = yyjson_obj_get(item, "config");
        add(build, service, "config",
            own ? yyjson_val_mut_copy(build->doc, own) : yyjson_mut_null(build->doc));
        append(build, services, service);
    }
    add(build, config, "services", services);
}

/* Of the project, and over it that of the env. */
static void add_logging(struct build *build, yyjson_mut_val *config, yyjson_val *er,
                        const char *env) {
    yyjson_val *own = yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(er, "envs"), env), "logging");
    yyjson_val *all = yyjson_obj_get(er, "logging");
    const char *level = yyjson_get_str(yyjson_obj_get(own, "default_level"));
    if (!level)
        level = yyjson_get_str(yyjson_obj_get(all, "default_level"));
    yyjson_mut_val *logging = kept(build, yyjson_mut_obj(build->doc));
    yyjson_mut_val *groups = kept(build, yyjson_mut_obj(build->doc));
    yyjson_val *layers[] = {yyjson_obj_get(all, "log_groups"), yyjson_obj_get(own, "log_groups")};
    for (int i = 0; i < 2 && !build->failed; i++)
        if (layers[i])
            groups = kept(build, dx__finecode_deep_merge(build->doc, groups, layers[i]));
    add_text(build, logging, "defaultLevel", level ? level : "INFO");
    add(build, logging, "logGroups", groups);
    add(build, config, "logging", logging);
}

yyjson_mut_val *dx__finecode_project_config(const dx_finecode_project *project, const char *env,
                                            bool real, yyjson_mut_doc *doc) {
    struct build build = {doc, false};
    yyjson_val *table = dx__finecode_table(project->raw);
    yyjson_mut_val *config = kept(&build, yyjson_mut_obj(doc));
    add_actions(&build, config, project, env);
    add_handler_configs(&build, config, table);
    add_services(&build, config, table, env);
    add_handlers(&build, config, project, env);
    if (real)
        add_logging(&build, config, yyjson_obj_get(table, "er"), env);
    return build.failed ? NULL : config;
}
