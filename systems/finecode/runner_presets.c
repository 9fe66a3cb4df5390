/* Where the presets of a project lie: only its runner of dev_workspace knows. */
#include "systems/finecode/runner.h"

#include <string.h>

/* Presets may name further ones. */
enum { PRESETS_MAX = 256 };

void dx__finecode_runner_presets_free(dx_finecode_runner *runner) {
    const dx_allocator *alloc = &runner->wm->alloc;
    for (size_t i = 0; i < runner->folder_count; i++)
        dx__free(alloc, runner->folders[i]);
    dx__free(alloc, runner->folders);
    runner->folders = NULL;
    runner->folder_count = 0;
}

/* One that was not found is "". */
static bool keep_folder(dx_finecode_runner *runner, dx_text folder) {
    const dx_allocator *alloc = &runner->wm->alloc;
    if (!runner->folders)
        runner->folders = dx__malloc(alloc, (PRESETS_MAX + 1) * sizeof *runner->folders);
    char *copy = runner->folders ? dx__text_copy(alloc, folder) : NULL;
    if (!copy)
        return false;
    runner->folders[runner->folder_count++] = copy;
    runner->folders[runner->folder_count] = NULL;
    return true;
}

static void ask_next(dx_finecode_runner *runner);

static void warn(dx_finecode_runner *runner, const dx_event *event) {
    char text[300] = "";
    dx__say_str(text, sizeof text,
                dx__finecode_project_preset(runner->project, runner->folder_count));
    dx__say_str(text, sizeof text, ": ");
    if (event->outcome == DX_OUTCOME_RESULT)
        dx__say_str(text, sizeof text, "its path is not absolute");
    else
        dx__finecode_runner_say_outcome(text, sizeof text, event);
    dx__finecode_wm_note(runner->wm, runner, "WARNING", "preset ", text);
}

/* As with all answers, more may be in it than the document has. */
static void on_path(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    bool is_result = event->outcome == DX_OUTCOME_RESULT || event->outcome == DX_OUTCOME_INVALID;
    dx_text folder = dx__finecode_string(is_result ? event->value : NULL, "packagePath");
    (void)link;
    if (event->outcome == DX_OUTCOME_LOST || runner->step != FINECODE_PRESETS)
        return;
    if (!folder.at || folder.at[0] != '/') {
        warn(runner, event);
        folder = dx_str("");
    }
    if (keep_folder(runner, folder))
        ask_next(runner);
    else
        dx__finecode_runner_fail(runner, "out of memory for presets", "");
}

static void ask_for(dx_finecode_runner *runner, const char *source) {
    yyjson_alc alc = dx__finecode_alc(&runner->wm->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    dx_status status = DX_ERR_NOMEM;
    if (params && yyjson_mut_obj_add_str(doc, params, "packageName", source))
        status = dx__finecode_runner_ask(runner, "packages/resolvePath", dx_json_built(params),
                                         runner->wm->config.info_ms, on_path);
    yyjson_mut_doc_free(doc);
    if (status != DX_OK)
        dx__finecode_runner_fail_asking(runner, "packages/resolvePath", status);
}

/* After it there may be further ones. */
static dx_status reread(dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    dx__finecode_overrides overrides = dx__finecode_wm_overrides(wm);
    dx__finecode_wm_tree_changed(wm);
    return dx__finecode_project_reread(runner->project, &overrides,
                                       (const char *const *)runner->folders);
}

static const char *next_preset(const dx_finecode_runner *runner) {
    return runner->folder_count < PRESETS_MAX
               ? dx__finecode_project_preset(runner->project, runner->folder_count)
               : NULL;
}

/* The others of the project had to do with less, or with older ones. */
static void configure_others(dx_finecode_runner *runner) {
    for (dx_finecode_runner *one = runner->wm->runners; one; one = one->next)
        if (one != runner && one->project == runner->project && one->step == FINECODE_READY &&
            dx__finecode_runner_is_ready(one))
            dx__finecode_runner_configure(one);
}

static void ask_next(dx_finecode_runner *runner) {
    const char *source = next_preset(runner);
    if (source) {
        ask_for(runner, source);
        return;
    }
    dx_status status = reread(runner);
    source = status == DX_OK ? next_preset(runner) : NULL;
    if (status != DX_OK) {
        dx__finecode_runner_fail(runner, "cannot reload the project: ", dx_status_name(status));
    } else if (runner->project->state != DX_FINECODE_VALID) {
        dx__finecode_runner_fail(runner,
                                 "the project is invalid with its presets: ", runner->project->why);
    } else if (source) {
        ask_for(runner, source);
    } else {
        runner->is_bootstrapped = true;
        configure_others(runner);
        dx__finecode_runner_configure(runner);
    }
}

void dx__finecode_runner_presets(dx_finecode_runner *runner) {
    runner->step = FINECODE_PRESETS;
    dx__finecode_runner_presets_free(runner);
    if (strcmp(runner->env, FINECODE_BOOTSTRAP) == 0 &&
        dx__finecode_project_preset(runner->project, 0))
        ask_next(runner);
    else
        dx__finecode_runner_configure(runner);
}
