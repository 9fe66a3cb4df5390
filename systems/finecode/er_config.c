/* What updateConfig says: actions, their handlers, and the configuration of each handler. */
#include "systems/finecode/er_parts.h"

/* Actions, handlers of all of them, entries of action_handler_configs: they are looked for one by
 * one. */
enum { ITEMS_MAX = 10000 };

dx__finecode_er_setup *dx__finecode_er_setup_hold(dx__finecode_er_setup *setup) {
    setup->refs++;
    return setup;
}

void dx__finecode_er_setup_release(dx__finecode_er_setup *setup) {
    if (!setup || --setup->refs)
        return;
    dx_allocator alloc = setup->alloc;
    yyjson_doc_free(setup->doc);
    yyjson_doc_free(setup->configs);
    dx__free(&alloc, setup->tasks);
    dx__free(&alloc, setup->steps);
    dx__free(&alloc, setup);
}

const dx__finecode_er_task *dx__finecode_er_task_named(const dx__finecode_er_setup *setup,
                                                       dx_text name) {
    for (size_t i = 0; i < setup->count; i++)
        if (dx_text_is(name, setup->tasks[i].name))
            return &setup->tasks[i];
    return NULL;
}

/* 'name', as the program quotes the key that it misses; and more. */
static dx_status misses(dx__finecode_er_out *why, const char *name, const char *more) {
    dx__finecode_er_out_say_str(why, "'");
    dx__finecode_er_out_say_str(why, name);
    dx__finecode_er_out_say_str(why, "'");
    dx__finecode_er_out_say_str(why, more);
    return why->status == DX_OK ? DX_MISFIT : why->status;
}

typedef enum type { A_STRING, AN_OBJECT, A_LIST } type;

static bool is_type(yyjson_val *value, type wanted) {
    return wanted == A_STRING    ? yyjson_is_str(value)
           : wanted == AN_OBJECT ? yyjson_is_obj(value)
                                 : yyjson_is_arr(value);
}

/* The members that have to be there. */
typedef struct member {
    const char *name;
    type type;
} member;

static dx_status check(yyjson_val *object, const member *members, dx__finecode_er_out *why) {
    static const char *const words[] = {" is not a string", " is not an object",
                                        " is not an array"};
    for (; members->name; members++) {
        yyjson_val *value = yyjson_obj_get(object, members->name);
        if (!value)
            return misses(why, members->name, "");
        if (!is_type(value, members->type))
            return misses(why, members->name, words[members->type]);
    }
    return DX_OK;
}

static dx_status check_steps(yyjson_val *handlers, size_t *count, dx__finecode_er_out *why) {
    static const member members[] = {{"name", A_STRING},
                                     {"source", A_STRING},
                                     {"config", AN_OBJECT},
                                     {"env", A_STRING},
                                     {NULL, A_STRING}};
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(handlers);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter)); ++*count)
        status = check(it, members, why);
    return status;
}

static dx_status check_all(yyjson_val *config, size_t *ret_steps, dx__finecode_er_out *why) {
    static const member whole[] = {
        {"actions", A_LIST}, {"action_handler_configs", AN_OBJECT}, {NULL, A_STRING}};
    static const member action[] = {{"name", A_STRING},
                                    {"source", A_STRING},
                                    {"config", AN_OBJECT},
                                    {"handlers", A_LIST},
                                    {NULL, A_STRING}};
    size_t steps = 0;
    dx_status status = check(config, whole, why);
    if (status != DX_OK)
        return status;
    yyjson_val *actions = yyjson_obj_get(config, "actions");
    yyjson_arr_iter iter = yyjson_arr_iter_with(actions);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        status = check(it, action, why);
        if (status == DX_OK)
            status = check_steps(yyjson_obj_get(it, "handlers"), &steps, why);
    }
    if (status == DX_OK &&
        (yyjson_arr_size(actions) > ITEMS_MAX || steps > ITEMS_MAX ||
         yyjson_obj_size(yyjson_obj_get(config, "action_handler_configs")) > ITEMS_MAX))
        return misses(why, "actions", ": too many");
    *ret_steps = steps;
    return status;
}

/* One registration for each source, as the program has it. */
static dx_status check_sources(const dx__finecode_er_setup *setup, dx__finecode_er_out *why) {
    for (size_t i = 0; i < setup->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(setup->tasks[i].source, setup->tasks[k].source) == 0) {
                dx__finecode_er_out_say_str(why, "Two actions have the source ");
                return misses(why, setup->tasks[i].source, "");
            }
    return DX_OK;
}

static yyjson_mut_val *config_of(yyjson_mut_doc *doc, yyjson_val *globals, yyjson_val *handler) {
    yyjson_val *source = yyjson_obj_get(handler, "source");
    yyjson_val *own = yyjson_obj_get(handler, "config");
    yyjson_val *global = yyjson_obj_getn(globals, yyjson_get_str(source), yyjson_get_len(source));
    if (!yyjson_is_obj(global))
        return yyjson_val_mut_copy(doc, own);
    yyjson_mut_val *first = yyjson_val_mut_copy(doc, global);
    return first ? dx__finecode_deep_merge(doc, first, own) : NULL;
}

/* What each handler gets, in one list. */
static dx_status merge_configs(dx__finecode_er_setup *setup) {
    yyjson_val *config = yyjson_doc_get_root(setup->doc);
    yyjson_val *globals = yyjson_obj_get(config, "action_handler_configs");
    yyjson_alc alc = dx__finecode_alc(&setup->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    bool good = doc && list;
    yyjson_mut_doc_set_root(doc, list);
    yyjson_arr_iter actions = yyjson_arr_iter_with(yyjson_obj_get(config, "actions"));
    for (yyjson_val *action; good && (action = yyjson_arr_iter_next(&actions));) {
        yyjson_arr_iter handlers = yyjson_arr_iter_with(yyjson_obj_get(action, "handlers"));
        for (yyjson_val *it; good && (it = yyjson_arr_iter_next(&handlers));)
            good = yyjson_mut_arr_append(list, config_of(doc, globals, it));
    }
    if (good)
        setup->configs = yyjson_mut_doc_imut_copy(doc, &alc);
    yyjson_mut_doc_free(doc);
    return setup->configs ? DX_OK : DX_ERR_NOMEM;
}

static const char *text_of(yyjson_val *object, const char *name) {
    return yyjson_get_str(yyjson_obj_get(object, name));
}

void dx__finecode_er_setup_resolve(const dx_finecode_er *er, dx__finecode_er_setup *setup) {
    for (size_t i = 0; i < setup->count; i++)
        setup->tasks[i].kind = dx__finecode_er_resolve(er, dx_str(setup->tasks[i].source));
    for (size_t i = 0; i < setup->step_count; i++)
        setup->steps[i].doer = dx__finecode_er_doer_of(er, dx_str(setup->steps[i].source));
}

static void fill(dx__finecode_er_setup *setup) {
    dx__finecode_er_task *task = setup->tasks;
    dx__finecode_er_step *step = setup->steps;
    yyjson_arr_iter configs = yyjson_arr_iter_with(yyjson_doc_get_root(setup->configs));
    yyjson_arr_iter actions =
        yyjson_arr_iter_with(yyjson_obj_get(yyjson_doc_get_root(setup->doc), "actions"));
    for (yyjson_val *action; (action = yyjson_arr_iter_next(&actions)); task++) {
        *task = (dx__finecode_er_task){
            .name = text_of(action, "name"), .source = text_of(action, "source"), .steps = step};
        yyjson_arr_iter handlers = yyjson_arr_iter_with(yyjson_obj_get(action, "handlers"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&handlers)); step++, task->count++)
            *step = (dx__finecode_er_step){.name = text_of(it, "name"),
                                           .source = text_of(it, "source"),
                                           .env = text_of(it, "env"),
                                           .config = yyjson_arr_iter_next(&configs)};
    }
}

dx_status dx__finecode_er_setup_read(const dx_finecode_er *er, yyjson_val *config,
                                     dx__finecode_er_setup **ret_setup, dx__finecode_er_out *why) {
    size_t steps = 0;
    dx_status status = check_all(config, &steps, why);
    if (status != DX_OK)
        return status;
    dx__finecode_er_setup *setup = dx__malloc(&er->alloc, sizeof *setup);
    if (!setup)
        return DX_ERR_NOMEM;
    *setup = (dx__finecode_er_setup){.refs = 1, .alloc = er->alloc, .step_count = steps};
    setup->count = yyjson_arr_size(yyjson_obj_get(config, "actions"));
    setup->tasks = dx__malloc(&er->alloc, (setup->count + 1) * sizeof *setup->tasks);
    setup->steps = dx__malloc(&er->alloc, (steps + 1) * sizeof *setup->steps);
    status = setup->tasks && setup->steps ? dx__finecode_doc_of(&er->alloc, config, &setup->doc)
                                          : DX_ERR_NOMEM;
    if (status == DX_OK)
        status = merge_configs(setup);
    if (status == DX_OK) {
        fill(setup);
        dx__finecode_er_setup_resolve(er, setup);
        status = check_sources(setup, why);
    }
    if (status == DX_OK)
        *ret_setup = setup;
    else
        dx__finecode_er_setup_release(setup);
    return status;
}
