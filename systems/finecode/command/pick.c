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

static int tell_missing(struct work *work, const char *word) {
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
