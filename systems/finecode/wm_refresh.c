/* A manager that runs for long: its users edit the files of projects meanwhile. */
#include "systems/finecode/config_parts.h"
#include "systems/finecode/runner.h"

#include <string.h>
#include <sys/stat.h>

static uint64_t stamp_of(const dx_finecode_project *project, const char *name) {
    struct stat about;
    char *path = dx__finecode_join(&project->alloc, name[0] == '/' ? "" : project->path,
                                   name[0] == '/' ? name + 1 : name);
    bool is_there = path && stat(path, &about) == 0;
    dx__free(&project->alloc, path);
    if (!is_there)
        return 0;
    uint64_t stamp = (uint64_t)about.st_ino * 31 + (uint64_t)about.st_size;
    stamp = stamp * 31 + (uint64_t)about.st_mtim.tv_sec;
    return stamp * 1000000007 + (uint64_t)about.st_mtim.tv_nsec + 1;
}

/* runner = ["duplex", "finecode", "er", "--handlers", "../handlers.toml"] */
static const char *handlers_file(const dx_finecode_project *project) {
    yyjson_val *er = yyjson_obj_get(dx__finecode_table(project->raw), "er");
    yyjson_val *runner = yyjson_obj_get(er, "runner");
    for (size_t i = 1; i < yyjson_arr_size(runner); i++) {
        const char *name = yyjson_get_str(yyjson_arr_get(runner, i));
        if (name && yyjson_equals_str(yyjson_arr_get(runner, i - 1), "--handlers"))
            return name;
    }
    return "finecode-handlers.toml";
}

uint64_t dx__finecode_handlers_stamp(const dx_finecode_project *project) {
    return stamp_of(project, handlers_file(project));
}

/* An idle one gets it by a new process, when it is needed; the program may be another one, too. */
static void renew(dx_finecode_runner *runner) {
    bool is_ready = runner->step == FINECODE_READY && dx__finecode_runner_is_ready(runner);
    if (is_ready && !runner->calls && !runner->waiters) {
        runner->is_idled = true;
        dx__finecode_runner_stop(runner);
    } else if (is_ready) {
        dx__finecode_runner_configure(runner);
    } else {
        runner->is_stale = runner->child;
    }
}

static bool has_unknown_preset(const dx_finecode_project *project) {
    for (size_t i = 0; i < project->preset_count; i++)
        if (!project->presets[i].folder)
            return true;
    return false;
}

/* Runs that are under way go on with what they began with. */
static void refresh(dx_finecode_project *project) {
    dx_finecode_wm *wm = project->wm;
    dx__finecode_overrides overrides = dx__finecode_wm_overrides(wm);
    project->is_outdated = false;
    project->stamp = dx__finecode_handlers_stamp(project);
    if (dx__finecode_project_reread(project, &overrides, NULL) != DX_OK)
        return; /* without memory it is as it was */
    for (dx_finecode_runner *one = wm->runners; one; one = one->next) {
        if (one->project != project)
            continue;
        if (has_unknown_preset(project) && strcmp(one->env, FINECODE_BOOTSTRAP) == 0)
            one->is_bootstrapped = false;
        renew(one);
    }
    dx__finecode_wm_tree_changed(wm);
}

bool dx__finecode_project_is_fresh(dx_finecode_project *project) {
    if (project->is_outdated && !project->legs)
        refresh(project);
    return !project->is_outdated;
}

void dx__finecode_wm_refresh(dx_finecode_wm *wm) {
    dx__finecode_overrides overrides = dx__finecode_wm_overrides(wm);
    for (size_t i = 0; i < wm->project_count; i++) {
        dx_finecode_project *project = wm->projects[i];
        project->is_outdated = dx__finecode_handlers_stamp(project) != project->stamp ||
                               dx__finecode_project_has_changed(project, &overrides);
        (void)dx__finecode_project_is_fresh(project);
    }
}
