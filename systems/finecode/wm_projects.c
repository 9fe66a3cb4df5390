/* The folders that were added, the projects in them, and the runners of those. */
#include "systems/finecode/runner.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The same list with room for one more, which doubles at powers of two; NULL without memory. */
static void *with_room(const dx_allocator *alloc, void *list, size_t count) {
    if (count & (count - 1))
        return list;
    return dx__realloc(alloc, list, count * sizeof(void *),
                       (count ? count * 2 : 1) * sizeof(void *));
}

static dx_finecode_project *project_at(const dx_finecode_wm *wm, const char *path) {
    for (size_t i = 0; i < wm->project_count; i++)
        if (strcmp(wm->projects[i]->path, path) == 0)
            return wm->projects[i];
    return NULL;
}

/* Adding. */

typedef struct dx__finecode_adding {
    dx_finecode_wm *wm;
    const char *root;
} dx__finecode_adding;

/* One that is there already, because another folder has it, too, stays that one's. */
static dx_status on_folder(const char *path, void *user) {
    const dx__finecode_adding *adding = user;
    dx_finecode_wm *wm = adding->wm;
    dx__finecode_overrides overrides = dx__finecode_wm_overrides(wm);
    dx_finecode_project *project = NULL;
    if (project_at(wm, path))
        return DX_OK;
    dx_finecode_project **projects = with_room(&wm->alloc, wm->projects, wm->project_count);
    if (!projects)
        return DX_ERR_NOMEM;
    wm->projects = projects;
    dx_status status = dx__finecode_project_read(&wm->alloc, path, &overrides, &project);
    if (status != DX_OK)
        return status;
    project->wm = wm;
    project->root = adding->root;
    project->stamp = dx__finecode_handlers_stamp(project);
    wm->projects[wm->project_count++] = project;
    return DX_OK;
}

static char *find_root(const dx_finecode_wm *wm, const char *path, size_t *ret_index) {
    for (size_t i = 0; i < wm->root_count; i++)
        if (strcmp(wm->roots[i], path) == 0) {
            *ret_index = i;
            return wm->roots[i];
        }
    return NULL;
}

static dx_status system_error(dx_error *reterr, const char *folder) {
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_SYSTEM, .system = errno};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, "cannot read ");
        dx__say_str(reterr->phrase, sizeof reterr->phrase, folder);
        dx__say_str(reterr->phrase, sizeof reterr->phrase, ": ");
        dx__say_str(reterr->phrase, sizeof reterr->phrase, strerrordesc_np(errno));
    }
    return DX_ERR_SYSTEM;
}

/* A workspace may want events to be written; where they then lie is known from others. */
static dx_status open_wal(dx_finecode_wm *wm, const char *root, dx_error *reterr) {
    static const char place[] = "/.venvs/" FINECODE_BOOTSTRAP "/state/finecode/wal/wm";
    size_t len = strlen(root);
    if (wm->config.wal_folder || !dx__finecode_workspace_wal(&wm->alloc, root))
        return DX_OK;
    char *folder = dx__malloc(&wm->alloc, len + sizeof place);
    if (!folder)
        return DX_ERR_NOMEM;
    memcpy(folder, root, len);
    memcpy(folder + len, place, sizeof place);
    dx_status status = dx__finecode_wal_open(folder, "wm", "", &wm->wal, reterr);
    if (status != DX_OK) {
        dx__free(&wm->alloc, folder);
        return status;
    }
    wm->config.wal_folder = wm->wal_folder = folder;
    return DX_OK;
}

static void remove_projects(dx_finecode_wm *wm, const char *root);

/* One that is there already may have got further projects. */
static dx_status look_again(dx_finecode_wm *wm, const char *root, dx_error *reterr) {
    dx__finecode_adding adding = {wm, root};
    size_t before = wm->project_count;
    dx_status status = dx__finecode_find_projects(&wm->alloc, root, on_folder, &adding, reterr);
    if (wm->project_count != before)
        dx__finecode_wm_tree_changed(wm);
    return status;
}

dx_status dx_finecode_wm_add_dir(dx_finecode_wm *wm, const char *folder, dx_error *reterr) {
    char path[PATH_MAX];
    size_t index;
    if (!realpath(folder, path))
        return system_error(reterr, folder);
    if (find_root(wm, path, &index))
        return look_again(wm, wm->roots[index], reterr);
    char **roots = with_room(&wm->alloc, wm->roots, wm->root_count);
    if (!roots)
        return DX_ERR_NOMEM;
    wm->roots = roots;
    char *root = dx__text_copy(&wm->alloc, dx_str(path));
    if (!root)
        return DX_ERR_NOMEM;
    dx__finecode_adding adding = {wm, root};
    dx_status status = dx__finecode_find_projects(&wm->alloc, root, on_folder, &adding, reterr);
    if (status == DX_OK)
        status = open_wal(wm, root, reterr);
    if (status != DX_OK) {
        remove_projects(wm, root);
        dx__free(&wm->alloc, root);
        return status;
    }
    wm->roots[wm->root_count++] = root;
    dx__finecode_wm_tree_changed(wm);
    return DX_OK;
}

/* Removing. */

static void remove_runners(dx_finecode_wm *wm, const dx_finecode_project *project) {
    dx_finecode_runner *runner = wm->runners;
    while (runner) {
        dx_finecode_runner *next = runner->next;
        if (runner->project == project)
            dx__finecode_wm_remove_runner(wm, runner);
        runner = next;
    }
}

/* Nobody finds it any more before the first is told: who is told may add and remove others. */
static void remove_project(dx_finecode_wm *wm, size_t index) {
    dx_finecode_project *project = wm->projects[index];
    memmove(&wm->projects[index], &wm->projects[index + 1],
            (wm->project_count - index - 1) * sizeof(dx_finecode_project *));
    wm->project_count--;
    dx__finecode_runs_drop(wm, project);
    remove_runners(wm, project);
    dx__finecode_project_free(project);
}

static void remove_projects(dx_finecode_wm *wm, const char *root) {
    for (size_t i = wm->project_count; i-- > 0;)
        if (i < wm->project_count && wm->projects[i]->root == root)
            remove_project(wm, i);
}

/* A project that several folders have was that of one of them. */
static void find_again(dx_finecode_wm *wm, const char *root) {
    for (size_t i = 0; i < wm->root_count; i++) {
        const char *other = wm->roots[i];
        if (dx__finecode_is_below(other, root) || dx__finecode_is_below(root, other))
            (void)look_again(wm, other, NULL);
    }
}

void dx_finecode_wm_remove_dir(dx_finecode_wm *wm, const char *folder) {
    char path[PATH_MAX];
    size_t index = 0;
    char *root = find_root(wm, realpath(folder, path) ? path : folder, &index);
    if (!root)
        return;
    memmove(&wm->roots[index], &wm->roots[index + 1],
            (wm->root_count - index - 1) * sizeof *wm->roots);
    wm->root_count--;
    remove_projects(wm, root);
    find_again(wm, root);
    dx__free(&wm->alloc, root);
    dx__finecode_wm_tree_changed(wm);
}

void dx__finecode_wm_free_projects(dx_finecode_wm *wm) {
    for (size_t i = 0; i < wm->project_count; i++)
        dx__finecode_project_free(wm->projects[i]);
    for (size_t i = 0; i < wm->root_count; i++)
        dx__free(&wm->alloc, wm->roots[i]);
    dx__free(&wm->alloc, wm->projects);
    dx__free(&wm->alloc, wm->roots);
}

/* Finding. */

bool dx__finecode_wm_has(const dx_finecode_wm *wm, const dx_finecode_project *project) {
    for (size_t i = 0; i < wm->project_count; i++)
        if (wm->projects[i] == project)
            return true;
    return false;
}

dx_finecode_project *dx_finecode_wm_project(const dx_finecode_wm *wm, size_t index) {
    return index < wm->project_count ? wm->projects[index] : NULL;
}

dx_finecode_project *dx_finecode_wm_find_project(const dx_finecode_wm *wm, const char *word) {
    char path[PATH_MAX];
    dx_finecode_project *found = project_at(wm, word);
    bool is_only = true;
    if (!found && strchr(word, '/') && realpath(word, path))
        found = project_at(wm, path);
    if (found)
        return found;
    for (size_t i = 0; i < wm->project_count; i++)
        if (strcmp(wm->projects[i]->name, word) == 0) {
            is_only = !found;
            found = wm->projects[i];
        }
    return is_only ? found : NULL;
}

dx_finecode_project *dx_finecode_wm_project_of(const dx_finecode_wm *wm, const char *path) {
    dx_finecode_project *found = NULL;
    for (size_t i = 0; i < wm->project_count; i++)
        if (dx__finecode_is_below(path, wm->projects[i]->path) &&
            (!found || strlen(wm->projects[i]->path) > strlen(found->path)))
            found = wm->projects[i];
    return found;
}
