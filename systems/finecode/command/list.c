/* duplex finecode list: a tree of projects, actions and handlers. */
#include "cli/event.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "systems/finecode/command/work.h"

#include <stdlib.h>
#include <string.h>

static const char *const states[] = {[DX_FINECODE_VALID] = "valid",
                                     [DX_FINECODE_NO_CONFIG] = "no_config",
                                     [DX_FINECODE_INVALID] = "invalid"};

/* For programs. */

static void add(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text) {
    if (text)
        cli_add_text(doc, object, key, dx_str(text));
    else
        yyjson_mut_obj_add_null(doc, object, key);
}

static yyjson_mut_val *handlers_of(yyjson_mut_doc *doc, const dx_finecode_action_view *action) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; i < action->handler_count; i++) {
        const dx_finecode_handler_view *handler = &action->handlers[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        add(doc, one, "name", handler->name);
        add(doc, one, "source", handler->source);
        add(doc, one, "env", handler->env);
        if (handler->location)
            add(doc, one, "location", handler->location);
    }
    return list;
}

static yyjson_mut_val *action_of(yyjson_mut_doc *doc, const dx_finecode_action_view *action) {
    yyjson_mut_val *one = yyjson_mut_obj(doc);
    add(doc, one, "name", action->name);
    add(doc, one, "source", action->source);
    if (action->canonical_source) {
        add(doc, one, "canonicalSource", action->canonical_source);
        yyjson_mut_obj_add_bool(doc, one, "runsConcurrently", action->runs_concurrently != 0);
        yyjson_mut_obj_add_str(doc, one, "scope", action->workspace ? "workspace" : "project");
        add(doc, one, "parent", action->parent);
        add(doc, one, "language", action->language);
        add(doc, one, "location", action->location);
    }
    yyjson_mut_obj_add_val(doc, one, "handlers", handlers_of(doc, action));
    return one;
}

static void put_event(const dx_finecode_project *project) {
    dx_finecode_project_state state = dx_finecode_project_get_state(project);
    dx_finecode_action_view action;
    yyjson_mut_doc *event = cli_event_new("project");
    yyjson_mut_val *actions = event ? yyjson_mut_arr(event) : NULL;
    news_add_project(event, project);
    cli_event_add(event, "file", dx_finecode_project_file(project));
    cli_event_add(event, "state", states[state]);
    if (state == DX_FINECODE_INVALID)
        cli_event_add(event, "why", dx_finecode_project_why(project));
    for (size_t i = 0; event && dx_finecode_project_action(project, i, &action); i++)
        yyjson_mut_arr_add_val(actions, action_of(event, &action));
    cli_event_add_value(event, "actions", actions);
    cli_event_put(event);
}

/* For people. */

static void put(cli_colour colour, const char *text) {
    if (colour)
        fputs(cli_paint(stdout, colour), stdout);
    cli_put_safe(stdout, dx_str(text ? text : ""));
    if (colour)
        fputs(cli_paint(stdout, CLI_PLAIN), stdout);
}

/* So that what follows stands in a column. */
static void put_column(cli_colour colour, const char *text, size_t width) {
    put(colour, text);
    printf("%*s", (int)(strlen(text) < width ? width - strlen(text) + 2 : 2), "");
}

static size_t wider(size_t width, const char *text) {
    enum { WIDTH_MAX = 30 };
    size_t len = strlen(text);
    return len > width && len <= WIDTH_MAX ? len : width;
}

static void put_meta(const dx_finecode_action_view *action) {
    if (!action->canonical_source)
        return;
    if (strcmp(action->canonical_source, action->source) != 0) {
        fputs("  = ", stdout);
        put(CLI_PLAIN, action->canonical_source);
    }
    if (action->runs_concurrently)
        put(CLI_DIM, "  concurrent");
    if (action->workspace)
        put(CLI_DIM, "  workspace");
    if (action->language) {
        fputs("  ", stdout);
        put(CLI_DIM, action->language);
    }
    if (action->parent) {
        put(CLI_DIM, "  part of ");
        put(CLI_DIM, action->parent);
    }
}

static void put_action(const dx_finecode_action_view *action) {
    size_t name = 0;
    size_t env = 0;
    fputs("  ", stdout);
    put(CLI_CYAN, action->name);
    fputs("  ", stdout);
    put(CLI_DIM, action->source);
    put_meta(action);
    putchar('\n');
    for (size_t i = 0; i < action->handler_count; i++) {
        name = wider(name, action->handlers[i].name);
        env = wider(env, action->handlers[i].env);
    }
    for (size_t i = 0; i < action->handler_count; i++) {
        fputs("    ", stdout);
        put_column(CLI_PLAIN, action->handlers[i].name, name);
        put_column(CLI_GREEN, action->handlers[i].env, env);
        put(CLI_DIM, action->handlers[i].source);
        putchar('\n');
    }
}

static void put_tree(const dx_finecode_project *project) {
    dx_finecode_project_state state = dx_finecode_project_get_state(project);
    dx_finecode_action_view action;
    put(CLI_BOLD, dx_finecode_project_label(project));
    fputs("  ", stdout);
    put(CLI_DIM, dx_finecode_project_path(project));
    if (state == DX_FINECODE_INVALID) {
        fputs("  ", stdout);
        put(CLI_RED, "invalid: ");
        put(CLI_PLAIN, dx_finecode_project_why(project));
    } else if (state == DX_FINECODE_NO_CONFIG) {
        put(CLI_DIM, "  no FineCode configuration");
    }
    putchar('\n');
    for (size_t i = 0; dx_finecode_project_action(project, i, &action); i++)
        put_action(&action);
}

/* What runners know. */

struct resolve {
    struct work *work;
    dx_finecode_project *project;
    size_t *open;
    int *code;
};

static void on_value(dx_finecode_wm *wm, yyjson_val *value, const char *why, void *user) {
    struct resolve *resolve = user;
    (void)wm;
    (void)value;
    --*resolve->open;
    if (!why || cli_interrupts())
        return;
    if (!cli_voice.json)
        cli_note("%s: %s", dx_finecode_project_label(resolve->project), why);
    *resolve->code = CLI_NO_START;
}

static int wait_all(struct work *work, const size_t *open) {
    while (*open && !cli_interrupts())
        work_wait(work, DX_NEVER);
    return cli_interrupts() ? cli_fail(CLI_INTERRUPTED, "interrupted") : CLI_OK;
}

/* `asks` has room for all of them, and stays until the manager is gone: answers may come late. */
static int resolve_all(struct work *work, dx_finecode_project **projects, struct resolve *asks,
                       size_t *open, int *code) {
    for (size_t i = 0; projects[i]; i++) {
        asks[i] = (struct resolve){work, projects[i], open, code};
        if (dx_finecode_project_get_state(projects[i]) != DX_FINECODE_VALID)
            continue;
        ++*open;
        dx_status status = dx_finecode_wm_resolve(work->wm, projects[i], on_value, &asks[i]);
        if (status != DX_OK)
            on_value(work->wm, NULL, dx_status_name(status), &asks[i]);
    }
    return wait_all(work, open);
}

static int show(struct work *work, dx_finecode_project **projects, int code) {
    for (size_t i = 0; projects[i]; i++) {
        if (cli_voice.json)
            put_event(projects[i]);
        else
            put_tree(projects[i]);
    }
    cli_flush();
    if (!projects[0])
        cli_note("no project in or below %s", work->folder);
    int invalid = pick_tell_invalid(work, projects);
    if (code == CLI_OK)
        return invalid;
    return cli_tail_fail(&work->tail, NULL, code, "some runners could not be queried", NULL, NULL);
}

int verb_list(const struct finecode_options *options) {
    struct work work = {.loop = NULL};
    dx_finecode_project **projects = NULL;
    struct resolve *asks = NULL;
    size_t open = 0;
    size_t count = 0;
    int asked = CLI_OK;
    int code = work_open(&work, options, options->folder ? options->folder : ".");
    if (code == CLI_OK)
        code = pick_projects(&work, &projects);
    while (code == CLI_OK && projects[count])
        count++;
    if (code == CLI_OK && options->resolve) {
        asks = calloc(count + 1, sizeof *asks);
        code = asks ? resolve_all(&work, projects, asks, &open, &asked)
                    : cli_fail(CLI_NO_START, "out of memory");
    }
    if (code == CLI_OK)
        code = show(&work, projects, asked);
    code = work_leave(&work, code);
    free(projects);
    free(asks);
    return code;
}
