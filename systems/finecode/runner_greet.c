/* How a runner is met: initialize, initialized, getInfo. */
#include "systems/finecode/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

dx_status
dx__finecode_runner_ask(dx_finecode_runner *runner, const char *method, dx_json params, uint64_t ms,
                        void (*on_done)(dx_link *link, const dx_event *event, void *user)) {
    dx_link_call_options options = {.on_done = on_done};
    options.peer.timeout_ms = dx__finecode_time(ms);
    options.peer.user = runner;
    return dx_link_call(runner->link, dx_str(method), params, &options, NULL);
}

void dx__finecode_runner_say_outcome(char *to, size_t room, const dx_event *event) {
    char code[32];
    yyjson_val *message = yyjson_obj_get(event->value, "message");
    switch (event->outcome) {
    case DX_OUTCOME_ERROR:
        snprintf(code, sizeof code, "[%" PRId64 "] ", event->code);
        dx__say_str(to, room, code);
        if (yyjson_is_str(event->value))
            message = event->value;
        dx__say(to, room, dx_json_string(message));
        break;
    case DX_OUTCOME_TIMED_OUT:
        dx__say_str(to, room, "timed out");
        break;
    default:
        dx__say_str(to, room, event->error.phrase);
        break;
    }
}

void dx__finecode_runner_fail_by(dx_finecode_runner *runner, const char *method,
                                 const dx_event *event) {
    char before[64];
    char text[300] = "";
    if (event->outcome == DX_OUTCOME_LOST)
        return; /* it is dying, and the better reason comes with its end */
    snprintf(before, sizeof before, "%s: ", method);
    dx__finecode_runner_say_outcome(text, sizeof text, event);
    dx__finecode_runner_fail(runner, before, text);
}

void dx__finecode_runner_fail_asking(dx_finecode_runner *runner, const char *method,
                                     dx_status status) {
    char before[64];
    if (status == DX_CLOSED)
        return; /* the same */
    snprintf(before, sizeof before, "cannot send %s: ", method);
    dx__finecode_runner_fail(runner, before,
                             status == DX_MISFIT ? dx_link_why(runner->link)->phrase
                                                 : dx_status_name(status));
}

/* getInfo: nothing depends on it. */
static void on_info(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    const dx_allocator *alloc = &runner->wm->alloc;
    dx_text path = dx__finecode_string(event->value, "logFilePath");
    (void)link;
    if (event->outcome == DX_OUTCOME_LOST || runner->step != FINECODE_INFO)
        return;
    dx__free(alloc, runner->log_path);
    runner->log_path = NULL;
    if (event->outcome == DX_OUTCOME_RESULT && path.at)
        runner->log_path = dx__text_copy(alloc, path);
    dx__finecode_runner_presets(runner);
}

static bool has_capabilities(const dx_event *event) {
    return (event->outcome == DX_OUTCOME_RESULT || event->outcome == DX_OUTCOME_INVALID) &&
           yyjson_is_obj(yyjson_obj_get(event->value, "capabilities"));
}

static void on_initialize(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    static const char empty[] = "{}";
    if (link != runner->link)
        return; /* of pipes that nobody reads: it has a port */
    if (runner->step < FINECODE_INITIALIZE && event->outcome != DX_OUTCOME_LOST) {
        runner->step = FINECODE_INITIALIZE;
        dx_timer_set(runner->limit, DX_NEVER);
    }
    if (runner->step != FINECODE_INITIALIZE)
        return;
    if (!has_capabilities(event)) {
        dx__finecode_runner_fail_by(runner, "initialize", event);
        return;
    }
    runner->step = FINECODE_INFO;
    dx_status status = dx_link_notify(link, dx_str("initialized"), dx_json_text(empty, 2));
    if (status == DX_OK)
        status = dx__finecode_runner_ask(runner, "finecodeRunner/getInfo",
                                         dx__finecode_no_params(runner), runner->wm->config.info_ms,
                                         on_info);
    if (status != DX_OK)
        dx__finecode_runner_fail_asking(runner, "finecodeRunner/getInfo", status);
}

/* The document's example has less in it than what programs send. */
static void add_nulls(yyjson_mut_doc *doc, yyjson_mut_val *params) {
    static const char *const names[] = {"locale", "rootPath", "rootUri", "initializationOptions"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        yyjson_mut_obj_add_null(doc, params, names[i]);
}

static bool add_folder(yyjson_mut_doc *doc, yyjson_mut_val *params,
                       const dx_finecode_runner *runner) {
    const char *path = runner->project->path;
    const char *slash = strrchr(path, '/');
    yyjson_mut_val *folders = yyjson_mut_obj_add_arr(doc, params, "workspaceFolders");
    yyjson_mut_val *folder = yyjson_mut_arr_add_obj(doc, folders);
    dx_buf uri;
    dx_buf_init(&uri, SIZE_MAX / 4, &runner->wm->alloc);
    bool done = dx__finecode_uri_of(&uri, path) == DX_OK &&
                yyjson_mut_obj_add_strncpy(doc, folder, "uri", uri.data, uri.len) &&
                yyjson_mut_obj_add_str(doc, folder, "name", slash && slash[1] ? slash + 1 : path);
    dx_buf_done(&uri);
    return done;
}

static bool fill(yyjson_mut_doc *doc, yyjson_mut_val *params, const dx_finecode_runner *runner) {
    yyjson_mut_val *capabilities = yyjson_mut_obj_add_obj(doc, params, "capabilities");
    if (runner->is_real) {
        yyjson_mut_obj_add_null(doc, capabilities, "general");
        yyjson_mut_obj_add_null(doc, capabilities, "experimental");
    }
    yyjson_mut_obj_add_int(doc, params, "processId", getpid());
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, params, "clientInfo");
    yyjson_mut_obj_add_str(doc, info, "name", "FineCode_WorkspaceManager");
    yyjson_mut_obj_add_str(doc, info, "version", "0.1.0");
    if (runner->is_real)
        add_nulls(doc, params);
    yyjson_mut_obj_add_str(doc, params, "trace", "verbose");
    if (runner->is_real)
        yyjson_mut_obj_add_null(doc, params, "workDoneToken");
    return add_folder(doc, params, runner);
}

void dx__finecode_runner_greet(dx_finecode_runner *runner) {
    yyjson_alc alc = dx__finecode_alc(&runner->wm->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    bool waits = runner->is_debugged || runner->is_open;
    uint64_t ms = waits ? DX_NEVER : runner->wm->config.initialize_ms;
    dx_status status = DX_ERR_NOMEM;
    if (!runner->is_open)
        runner->step = FINECODE_INITIALIZE;
    if (params && fill(doc, params, runner))
        status =
            dx__finecode_runner_ask(runner, "initialize", dx_json_built(params), ms, on_initialize);
    yyjson_mut_doc_free(doc);
    if (status != DX_OK)
        dx__finecode_runner_fail_asking(runner, "initialize", status);
}
