/* The editor as a whole: its configuration, its birth and its end. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

const char *dx_hermes_state_name(dx_hermes_state state) {
    static const char *const names[] = {
        [DX_HERMES_STARTING] = "starting", [DX_HERMES_INITIALIZING] = "initializing",
        [DX_HERMES_RUNNING] = "running",   [DX_HERMES_SHUTTING_DOWN] = "shutting_down",
        [DX_HERMES_STOPPED] = "stopped",   [DX_HERMES_FAILED] = "failed",
    };
    return state >= DX_HERMES_STARTING && state <= DX_HERMES_FAILED ? names[state] : "unknown";
}

dx_hermes_config dx_hermes_defaults(void) {
    return (dx_hermes_config){
        .version = "0.1.0",
        .api_version = "1.0",
        .data_directory = "/tmp",
        .start_ms = 10000,
        .stop_ms = 5000,
        .changed_ms = 500,
        .undo_max = 1000,
        .undo_bytes = (size_t)256 << 20,
        .windows_max = 100,
        .shape = DX_HL7_SEGMENTS,
        .hl7 = dx_hl7_defaults(),
    };
}

static dx_status copy_words(dx_hermes *editor) {
    dx_hermes_config *config = &editor->config;
    const char **places[] = {&config->revision, &config->version, &config->api_version,
                             &config->data_directory, &config->cwd};
    editor->words = dx__keep_strings(&editor->alloc, places, sizeof places / sizeof *places);
    return editor->words ? DX_OK : DX_ERR_NOMEM;
}

/* All that extensions are told must have a form in JSON. */
static dx_status check_words(const dx_hermes_config *config, dx_error *reterr) {
    const char *words[] = {config->version, config->api_version, config->data_directory};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!words[i] || !dx__is_utf8(dx_str(words[i])))
            return hermes_fail(reterr, DX_FAULT_START,
                               "version, api_version and data_directory must be valid UTF-8", "");
    return DX_OK;
}

/* Not the first message shall tell that its limits are none. */
static dx_status check_hl7(const dx_hermes_config *config, dx_error *reterr) {
    dx_hl7 *none;
    if (dx_hl7_new(&config->hl7, dx_str(""), &none, NULL) == DX_ERR_INVALID)
        return hermes_fail(reterr, DX_FAULT_START, "hl7.text_max is too large", "");
    return DX_OK;
}

static dx_status open_protocol(dx_hermes *editor, dx_error *reterr) {
    dx_protocol_config config = dx_protocol_defaults();
    dx_misfit why;
    char name[64] = "hermes";
    config.allocator = &editor->alloc;
    if (editor->config.revision) {
        dx__say_str(name, sizeof name, "@");
        dx__say_str(name, sizeof name, editor->config.revision);
    }
    dx_status status = dx_protocol_open(dx_str(name), &config, &editor->protocol, &why);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    return hermes_fail(reterr, DX_FAULT_START, why.phrase, "");
}

static void on_stopped(dx_timer *timer, void *user) {
    dx_hermes *editor = user;
    (void)timer;
    if (!editor->stopping)
        return;
    editor->stopping = false;
    if (editor->config.on_stopped)
        editor->config.on_stopped(editor, editor->config.user);
}

void hermes_stop_check(dx_hermes *editor) {
    if (!editor->stopping)
        return;
    for (size_t i = 0; i < editor->guest_count; i++)
        if (editor->guests[i]->child)
            return;
    dx_timer_set(editor->stopped, 0);
}

static dx_status equip(dx_hermes *editor, dx_error *reterr) {
    dx_status status = copy_words(editor);
    if (status == DX_OK)
        status = open_protocol(editor, reterr);
    if (status == DX_OK)
        status = dx_timer_new(editor->loop, on_stopped, editor, &editor->stopped);
    if (status == DX_OK)
        status = hermes_news_init(editor);
    return status;
}

dx_status dx_hermes_new(dx_loop *loop, const dx_hermes_config *config, dx_hermes **ret_editor,
                        dx_error *reterr) {
    dx_buf buf; /* which knows what malloc() is */
    dx_buf_init(&buf, 0, config->hl7.allocator);
    dx_status status = check_words(config, reterr);
    if (status == DX_OK)
        status = check_hl7(config, reterr);
    if (status != DX_OK)
        return status;
    dx_hermes *editor = dx__malloc(&buf.alloc, sizeof *editor);
    if (!editor)
        return DX_ERR_NOMEM;
    *editor = (dx_hermes){.loop = loop, .config = *config, .alloc = buf.alloc};
    editor->exact = config->revision && strcmp(config->revision, "exact") == 0;
    editor->config.hl7.exact = config->hl7.exact || editor->exact;
    editor->config.hl7.allocator = &editor->alloc;
    editor->config.hl7.file = NULL;
    if (editor->exact)
        editor->config.shape = DX_HL7_SEGMENTS;
    editor->undo.max = config->undo_max;
    editor->undo.bytes_max = config->undo_bytes;
    status = equip(editor, reterr);
    if (status != DX_OK) {
        dx_hermes_free(editor);
        return status;
    }
    *ret_editor = editor;
    return DX_OK;
}

dx_hermes *dx_hermes_free(dx_hermes *editor) {
    if (!editor)
        return NULL;
    dx_allocator alloc = editor->alloc;
    for (size_t i = 0; i < editor->guest_count; i++)
        hermes_guest_free(editor->guests[i]);
    dx__free(&alloc, editor->guests);
    hermes_windows_free(editor);
    dx_timer_free(editor->rest);
    dx_timer_free(editor->stopped);
    dx_protocol_free(editor->protocol);
    hermes_undo_done(&editor->undo, &alloc);
    hermes_discarded_done(editor);
    hermes_version_done(&editor->text, &alloc);
    dx_hl7_file_free(editor->config.hl7.file);
    dx__free(&alloc, editor->path);
    dx__free(&alloc, editor->words);
    dx__free(&alloc, editor);
    return NULL;
}

void *dx_hermes_user(const dx_hermes *editor) {
    return editor->config.user;
}

void dx_hermes_stop(dx_hermes *editor, const char *reason) {
    editor->stopping = true;
    /* Callbacks may add or end others meanwhile: the list only grows. */
    for (size_t i = 0; i < editor->guest_count; i++) {
        editor->guests[i]->restart = false;
        hermes_guest_stop(editor->guests[i], reason);
    }
    hermes_stop_check(editor);
}
