/* What a runner is to do, what its actions are like, and which documents are open. May be done
 * again with one that is in use. */
#include "systems/finecode/runner.h"

#include <string.h>

void dx__finecode_runner_update_logging(dx_finecode_runner *runner) {
    const char *level = runner->wm->log_level;
    yyjson_alc alc = dx__finecode_alc(&runner->wm->alloc);
    yyjson_mut_doc *doc = NULL;
    if (!runner->is_real || !runner->link)
        return; /* the document does not have it */
    doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    if (params && yyjson_mut_obj_add_bool(doc, params, "forward", level != NULL) &&
        yyjson_mut_obj_add_str(doc, params, "forwardLevel", level ? level : "INFO"))
        (void)dx__finecode_runner_ask(runner, "finecodeRunner/updateLogging", dx_json_built(params),
                                      runner->wm->config.info_ms, NULL);
    yyjson_mut_doc_free(doc);
}

/* The one that knows the presets goes through it twice: what they add may add others. */
static bool is_once_more(dx_finecode_runner *runner) {
    return runner->round++ == 0 && strcmp(runner->env, FINECODE_BOOTSTRAP) == 0 &&
           runner->folder_count;
}

static void be_ready(dx_finecode_runner *runner) {
    bool is_new = runner->state != DX_FINECODE_RUNNING;
    bool once_more = is_new && is_once_more(runner);
    if (is_new && (once_more || runner->round == 1))
        dx__finecode_runner_update_logging(runner);
    if (once_more) {
        dx__finecode_runner_presets(runner);
        return;
    }
    if (runner->is_stale) {
        runner->is_stale = false;
        dx__finecode_runner_configure(runner);
        return;
    }
    runner->step = FINECODE_READY;
    dx__finecode_runner_release(runner);
    if (is_new) {
        dx__finecode_runner_log(runner, "runner.started");
        dx__finecode_runner_set_state(runner, DX_FINECODE_RUNNING);
    }
    if (runner->starts_others) {
        runner->starts_others = false;
        dx_finecode_wm_start_runners(runner->wm, runner->project);
    }
}

/* Whatever it says: actions that it does not name stay unresolved. */
static void on_meta(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    char text[300] = "";
    (void)link;
    if (event->outcome == DX_OUTCOME_LOST || runner->step != FINECODE_META)
        return;
    if (event->outcome == DX_OUTCOME_RESULT || event->outcome == DX_OUTCOME_INVALID) {
        dx__finecode_meta_take(runner, event->value);
    } else {
        dx__finecode_runner_say_outcome(text, sizeof text, event);
        dx__finecode_wm_note(runner->wm, runner, "WARNING", "resolveActionMeta: ", text);
    }
    dx_status status = dx__finecode_runner_open_documents(runner);
    if (status == DX_OK)
        be_ready(runner);
    else
        dx__finecode_runner_fail_asking(runner, "textDocument/didOpen", status);
}

/* The protocol's answer is {}, but an error of a command is one of this one, too. */
static bool took_config(const dx_event *event, dx_text *ret_error) {
    *ret_error = dx__finecode_string(event->value, "error");
    return (event->outcome == DX_OUTCOME_RESULT || event->outcome == DX_OUTCOME_INVALID) &&
           !ret_error->at;
}

static void on_config(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    dx_text error = {NULL, 0};
    char text[300] = "";
    (void)link;
    if (runner->step != FINECODE_CONFIG)
        return;
    if (took_config(event, &error)) {
        runner->step = FINECODE_META;
        dx_status status = dx__finecode_runner_ask(runner, "finecodeRunner/resolveActionMeta",
                                                   dx__finecode_no_params(runner),
                                                   runner->wm->config.config_ms, on_meta);
        if (status != DX_OK)
            dx__finecode_runner_fail_asking(runner, "finecodeRunner/resolveActionMeta", status);
    } else if (event->outcome != DX_OUTCOME_ERROR && error.at) {
        dx__say(text, sizeof text, error);
        dx__finecode_runner_fail(runner, "updateConfig: ", text);
    } else {
        dx__finecode_runner_fail_by(runner, "updateConfig", event);
    }
}

static bool fill(yyjson_mut_doc *doc, yyjson_mut_val *params, const dx_finecode_runner *runner) {
    const dx_finecode_project *project = runner->project;
    yyjson_mut_val *config =
        dx__finecode_project_config(project, runner->env, runner->is_real, doc);
    return config && yyjson_mut_obj_add_str(doc, params, "workingDir", project->path) &&
           yyjson_mut_obj_add_str(doc, params, "projectName", project->name) &&
           yyjson_mut_obj_add_str(doc, params, "projectDefPath", project->file) &&
           yyjson_mut_obj_add_val(doc, params, "config", config);
}

void dx__finecode_runner_configure(dx_finecode_runner *runner) {
    yyjson_alc alc = dx__finecode_alc(&runner->wm->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    dx_status status = DX_ERR_NOMEM;
    runner->step = FINECODE_CONFIG;
    runner->has_documents = false; /* it forgets them over this */
    if (params && fill(doc, params, runner))
        status =
            dx__finecode_runner_ask(runner, "finecodeRunner/updateConfig", dx_json_built(params),
                                    runner->wm->config.config_ms, on_config);
    yyjson_mut_doc_free(doc);
    if (status != DX_OK)
        dx__finecode_runner_fail_asking(runner, "finecodeRunner/updateConfig", status);
}

void dx_finecode_wm_forward_logs(dx_finecode_wm *wm, const char *level) {
    char *copy = level ? dx__text_copy(&wm->alloc, dx_str(level)) : NULL;
    if (level && !copy)
        return;
    dx__free(&wm->alloc, wm->log_level);
    wm->log_level = copy;
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next)
        if (dx__finecode_runner_is_ready(runner))
            dx__finecode_runner_update_logging(runner);
}
