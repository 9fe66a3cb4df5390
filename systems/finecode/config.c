/* A project: its folder, and what the files in it say. */
#include "systems/finecode/config_parts.h"

#include <string.h>
#include <unistd.h>

enum { NAME_LEN = 200 };

/* The last part of the path, without what stands behind its last dot. */
static char *name_of(const dx_allocator *alloc, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash && slash[1] ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    bool cut = dot && dot != name && dot[1];
    return dx__text_copy(alloc, (dx_text){name, cut ? (size_t)(dot - name) : strlen(name)});
}

dx_finecode_project *dx__finecode_project_free(dx_finecode_project *project) {
    if (!project)
        return NULL;
    dx_allocator alloc = project->alloc;
    while (project->readings) {
        dx__finecode_reading *reading = project->readings;
        project->readings = reading->older;
        dx__finecode_reading_free(&alloc, reading);
    }
    dx__finecode_presets_free(project);
    dx__free(&alloc, project->path);
    dx__free(&alloc, project->name);
    dx__free(&alloc, project->file);
    dx__free(&alloc, project);
    return NULL;
}

/* One that says the same as the newest is not worth keeping: whoever holds a part of that has the
 * same. */
static bool is_same(const dx_finecode_project *project, const dx__finecode_reading *reading) {
    return project->raw && reading->action_count == project->action_count &&
           yyjson_equals(yyjson_doc_get_root(project->raw), yyjson_doc_get_root(reading->raw));
}

/* Without this, a client that changes its overrides again and again would fill the memory. */
static void forget_older(dx_finecode_project *project) {
    dx__finecode_reading *newest = project->readings;
    while (project->wm && !project->wm->runs && newest->older) {
        dx__finecode_reading *reading = newest->older;
        newest->older = reading->older;
        dx__finecode_reading_free(&project->alloc, reading);
    }
}

static dx_status take_reading(dx_finecode_project *project, dx__finecode_reading *reading) {
    if (is_same(project, reading)) {
        dx__finecode_reading_free(&project->alloc, reading);
        return DX_OK;
    }
    dx_status status = dx__finecode_reading_learn(&project->alloc, reading, project->readings);
    if (status != DX_OK) {
        dx__finecode_reading_free(&project->alloc, reading);
        return status;
    }
    reading->older = project->readings;
    project->readings = reading;
    project->raw = reading->raw;
    project->actions = reading->actions;
    project->action_count = reading->action_count;
    forget_older(project);
    return DX_OK;
}

/* pyproject.toml may give it another name than its folder. */
static dx_status take_name(dx_finecode_project *project, yyjson_doc *pyproject) {
    yyjson_val *table = yyjson_obj_get(yyjson_doc_get_root(pyproject), "project");
    dx_text name = dx__finecode_string(table, "name");
    bool fits = name.len > 0 && name.len <= NAME_LEN;
    for (size_t i = 0; fits && i < name.len; i++)
        fits = (unsigned char)name.at[i] >= 0x20 && name.at[i] != 0x7f;
    if (!fits || dx_text_is(name, project->name))
        return DX_OK;
    char *copy = dx__text_copy(&project->alloc, name);
    if (!copy)
        return DX_ERR_NOMEM;
    dx__free(&project->alloc, project->name);
    project->name = copy;
    return DX_OK;
}

static dx_status take_load(dx_finecode_project *project, dx__finecode_load *load,
                           dx_status status) {
    dx__finecode_reading *reading = NULL;
    if (status == DX_OK)
        status = dx__finecode_reading_new(load, &reading);
    if (status == DX_OK)
        status = take_reading(project, reading);
    else if (status == DX_MISFIT && load->state == DX_FINECODE_VALID)
        load->state = DX_FINECODE_INVALID;
    if (status != DX_OK && status != DX_MISFIT)
        return DX_ERR_NOMEM;
    if (status == DX_MISFIT) {
        project->raw = NULL;
        project->actions = NULL;
        project->action_count = 0;
    }
    project->state = load->state;
    project->why[0] = '\0';
    if (status == DX_MISFIT)
        dx__say_str(project->why, sizeof project->why, load->why);
    return take_name(project, load->pyproject);
}

/* The file that stands for the project, whether it can be read or not. */
static dx_status find_file(dx_finecode_project *project) {
    const dx_allocator *alloc = &project->alloc;
    char *own = dx__finecode_join(alloc, project->path, "finecode.toml");
    char *other = dx__finecode_join(alloc, project->path, "pyproject.toml");
    if (!own || !other) {
        dx__free(alloc, own);
        dx__free(alloc, other);
        return DX_ERR_NOMEM;
    }
    bool is_own = access(own, F_OK) == 0 || access(other, F_OK) != 0;
    char *file = is_own ? own : other;
    dx__free(alloc, is_own ? other : own);
    if (project->file && strcmp(project->file, file) == 0) {
        dx__free(alloc, file);
        return DX_OK;
    }
    dx__free(alloc, project->file);
    project->file = file;
    return DX_OK;
}

/* Reads the files, and does that with what they say. */
static dx_status with_load(dx_finecode_project *project, const dx__finecode_overrides *overrides,
                           dx_status (*use)(dx_finecode_project *project, dx__finecode_load *load,
                                            dx_status status)) {
    dx__finecode_load *load = dx__malloc(&project->alloc, sizeof *load);
    if (!load)
        return DX_ERR_NOMEM;
    dx_status status = dx__finecode_load_all(load, project, overrides);
    if (status == DX_OK || status == DX_MISFIT)
        status = use(project, load, status);
    dx__finecode_load_done(load);
    dx__free(&project->alloc, load);
    return status;
}

static dx_status read_files(dx_finecode_project *project, const dx__finecode_overrides *overrides) {
    dx_status status = find_file(project);
    if (status == DX_OK)
        status = with_load(project, overrides, take_load);
    return status == DX_OK ? DX_OK : DX_ERR_NOMEM;
}

/* DX_OK: it is the same. */
static dx_status compare_load(dx_finecode_project *project, dx__finecode_load *load,
                              dx_status status) {
    dx__finecode_reading *reading = NULL;
    if (status == DX_OK)
        status = dx__finecode_reading_new(load, &reading);
    if (status == DX_MISFIT && load->state == DX_FINECODE_VALID)
        load->state = DX_FINECODE_INVALID;
    bool same = status == DX_MISFIT
                    ? project->state == load->state && strcmp(project->why, load->why) == 0
                    : status == DX_OK && is_same(project, reading);
    dx__finecode_reading_free(&project->alloc, reading);
    return same ? DX_OK : DX_MISFIT;
}

bool dx__finecode_project_has_changed(dx_finecode_project *project,
                                      const dx__finecode_overrides *overrides) {
    return with_load(project, overrides, compare_load) == DX_MISFIT;
}

/* False if it had to be changed. */
static bool make_utf8(char *text) {
    bool was = true;
    for (size_t left = strlen(text), len; left; text += len, left -= len) {
        len = dx__utf8(text, left);
        if (len)
            continue;
        *text = '?';
        len = 1;
        was = false;
    }
    return was;
}

dx_status dx__finecode_project_read(const dx_allocator *alloc, const char *folder,
                                    const dx__finecode_overrides *overrides,
                                    dx_finecode_project **ret_project) {
    dx_allocator memory = dx__finecode_allocator(alloc);
    dx_finecode_project *project = dx__malloc(&memory, sizeof *project);
    if (!project)
        return DX_ERR_NOMEM;
    memset(project, 0, sizeof *project);
    project->alloc = memory;
    project->path = dx__finecode_absolute(&memory, folder);
    project->is_unspoken = project->path && !make_utf8(project->path);
    project->name = project->path ? name_of(&memory, project->path) : NULL;
    if (!project->name || read_files(project, overrides) != DX_OK) {
        dx__finecode_project_free(project);
        return DX_ERR_NOMEM;
    }
    *ret_project = project;
    return DX_OK;
}

dx_status dx__finecode_project_reread(dx_finecode_project *project,
                                      const dx__finecode_overrides *overrides,
                                      const char *const *preset_folders) {
    dx_status status = dx__finecode_presets_take(project, preset_folders);
    return status == DX_OK ? read_files(project, overrides) : status;
}
