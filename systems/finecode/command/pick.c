/* Which projects are meant, and which action. */
#include "cli/describe/nearest.h"
#include "cli/say.h"
#include "systems/finecode/command/work.h"

#include <stdlib.h>
#include <string.h>

bool pick_is_action(const dx_finecode_action_view *action, const char *word) {
    return strcmp(action->name, word) == 0 || strcmp(action->source, word) == 0 ||
           (action->canonical_source && strcmp(action->canonical_source, word) == 0);
}

struct names {
    const char **at;
    size_t count;
};

static const char *name_at(const void *user, size_t index) {
    const struct names *names = user;
    return index < names->count ? names->at[index] : NULL;
}

static bool has(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return false;
}

char *pick_nearest(dx_finecode_project *const *projects, const char *word) {
    enum { COMPARED_MAX = 2000 }; /* that takes time */
    struct names names = {calloc(COMPARED_MAX, sizeof *names.at), 0};
    for (; names.at && *projects; projects++) {
        dx_finecode_action_view action;
        for (size_t i = 0; dx_finecode_project_action(*projects, i, &action); i++)
            if (names.count < COMPARED_MAX && !has(&names, action.name))
                names.at[names.count++] = action.name;
    }
    char *near = names.at ? cli_nearest_of(name_at, &names, word) : NULL;
    free(names.at);
    return near;
}

char *pick_hint(const char *near) {
    char *hint = NULL;
    return near && asprintf(&hint, "did you mean %s?", near) >= 0 ? hint : NULL;
}

static const char *project_at(const void *user, size_t index) {
    const dx_finecode_project *project = dx_finecode_wm_project(user, index);
    return project ? dx_finecode_project_name(project) : NULL;
}

/* The paths of those that have the name, if there are several. NULL: there are not. */
static char *list_namesakes(const struct work *work, const char *name) {
    const dx_finecode_project *project;
    char *list = NULL;
    for (size_t i = 0; (project = dx_finecode_wm_project(work->wm, i)); i++) {
        char *longer = NULL;
        if (strcmp(dx_finecode_project_name(project), name) != 0)
            continue;
        if (asprintf(&longer, "%s%s%s", list ? list : "", list ? ", " : "",
                     dx_finecode_project_path(project)) < 0)
            longer = NULL;
        free(list);
        list = longer;
    }
    return list;
}

static int tell_missing(struct work *work, const char *word) {
    char *namesakes = list_namesakes(work, word);
    if (namesakes) {
        cli_fail_hint(CLI_USAGE, "write the folder instead of the name",
                      "--project: several projects are named '%s': %s", word, namesakes);
        free(namesakes);
        return CLI_USAGE;
    }
    char *near = cli_nearest_of(project_at, work->wm, word);
    char *hint = pick_hint(near);
    cli_fail_hint(CLI_USAGE, hint, "--project: no project below %s has the name or folder '%s'",
                  work->folder, word);
    free(hint);
    free(near);
    return CLI_USAGE;
}

/* A folder may be meant from here. */
static dx_finecode_project *find(struct work *work, const char *word) {
    char *path = realpath(word, NULL);
    dx_finecode_project *project = path ? dx_finecode_wm_find_project(work->wm, path) : NULL;
    free(path);
    return project ? project : dx_finecode_wm_find_project(work->wm, word);
}

static void add(dx_finecode_project **projects, dx_finecode_project *project) {
    while (*projects && *projects != project)
        projects++;
    *projects = project;
}

int pick_projects(struct work *work, dx_finecode_project ***ret_projects) {
    const cli_list *words = &work->options->projects;
    size_t count = 0;
    while (dx_finecode_wm_project(work->wm, count))
        count++;
    dx_finecode_project **projects = calloc(count + 1, sizeof *projects);
    if (!projects)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; !words->count && i < count; i++)
        projects[i] = dx_finecode_wm_project(work->wm, i);
    for (size_t i = 0; i < words->count; i++) {
        dx_finecode_project *project = find(work, words->at[i]);
        if (!project) {
            free(projects);
            return tell_missing(work, words->at[i]);
        }
        add(projects, project);
    }
    *ret_projects = projects;
    return CLI_OK;
}

/* --set: an override that no project takes would change nothing. */

static bool has_handler(const dx_finecode_action_view *action, dx_text name) {
    for (size_t i = 0; i < action->handler_count; i++)
        if (dx_text_is(name, action->handlers[i].name))
            return true;
    return false;
}

/* What a preset in a package has is known only once a runner has told where that lies. */
static bool may_have_more(const dx_finecode_project *project) {
    yyjson_val *tool = yyjson_obj_get(dx_finecode_project_raw(project), "tool");
    yyjson_val *presets = yyjson_obj_get(yyjson_obj_get(tool, "finecode"), "presets");
    size_t index;
    size_t count;
    yyjson_val *preset;
    yyjson_arr_foreach(presets, index, count, preset) {
        const char *source = yyjson_get_str(yyjson_obj_get(preset, "source"));
        if (source && !strchr(source, '/'))
            return true;
    }
    return false;
}

enum { NOTHING_FITS, ACTION_FITS, ALL_FITS };

static int how_far(dx_finecode_project *const *projects, dx_text action_name, dx_text handler) {
    int best = NOTHING_FITS;
    for (; best < ALL_FITS && *projects; projects++) {
        dx_finecode_action_view action;
        if (may_have_more(*projects))
            return ALL_FITS;
        for (size_t k = 0; dx_finecode_project_action(*projects, k, &action); k++)
            if (dx_text_is(action_name, action.name))
                best = !handler.at || has_handler(&action, handler) ? ALL_FITS : ACTION_FITS;
    }
    return best;
}

static int check_override(dx_finecode_project *const *projects, const char *word) {
    size_t action = strcspn(word, ".=");
    size_t rest = strcspn(word + action + 1, ".=");
    bool for_one = word[action + 1 + rest] == '.';
    dx_text handler = {for_one ? word + action + 1 : NULL, for_one ? rest : 0};
    int fits = how_far(projects, (dx_text){word, action}, handler);
    if (fits == ACTION_FITS)
        return cli_fail_hint(CLI_USAGE, "'duplex finecode list' shows all handlers",
                             "--set: action '%.*s' has no handler '%.*s'", (int)action, word,
                             (int)handler.len, handler.at);
    if (fits == NOTHING_FITS)
        return cli_fail_hint(CLI_USAGE, "'duplex finecode list' shows all actions",
                             "--set: no project has an action '%.*s'", (int)action, word);
    return CLI_OK;
}

int pick_check_overrides(struct work *work) {
    const cli_list *set = &work->options->set;
    dx_finecode_project **projects = NULL;
    int code = set->count ? pick_projects(work, &projects) : CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < set->count; i++)
        code = check_override(projects, set->at[i]);
    free(projects);
    return code;
}

int pick_tell_invalid(struct work *work, dx_finecode_project *const *projects) {
    int code = CLI_OK;
    for (; *projects; projects++) {
        if (dx_finecode_project_get_state(*projects) != DX_FINECODE_INVALID)
            continue;
        work_clear(work);
        code = cli_fail(CLI_MISFIT, "%s: %s", dx_finecode_project_path(*projects),
                        dx_finecode_project_why(*projects));
    }
    return code;
}
