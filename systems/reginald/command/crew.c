/* The plugins: which there are, what they say by themselves, and their end. */
#include "cli/event.h"
#include "systems/reginald/command/option.h"
#include "systems/reginald/command/settings.h"
#include "systems/reginald/command/work.h"

#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/tail.h"
#include "cli/traffic.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long plugins have to leave when the user wants an end; and how much later than it should be
 * the end is still waited for. */
enum { HURRY_MS = 2000, SLACK_MS = 10000 };

const char *crew_state_name(dx_reginald_state state) {
    static const char *const names[] = {"",         "new",     "starting", "ready",
                                        "stopping", "stopped", "failed"};
    return names[state];
}

static void tell(struct work *work, dx_reginald_guest *guest, const char *event, int level,
                 const char *text) {
    const char *name = dx_reginald_guest_name(guest);
    if (!cli_voice.json) {
        logs_put(&work->logs, name, level, event, dx_str(text), NULL);
        return;
    }
    yyjson_mut_doc *doc = cli_event_new(event);
    cli_event_add(doc, "plugin", name);
    cli_event_add(doc, "path", dx_reginald_guest_path(guest));
    cli_event_add(doc, "text", text);
    cli_event_put(doc);
}

/* That it has failed; or, at the end, that it would not leave. */
static void on_state(dx_reginald *host, dx_reginald_guest *guest, void *user) {
    struct work *work = user;
    dx_reginald_state state = dx_reginald_guest_state(guest);
    const char *why = dx_reginald_guest_why(guest);
    (void)host;
    dx__log_limiter_flush(work->limiter, dx_reginald_guest_name(guest));
    if (state == DX_REGINALD_STOPPED && *why)
        tell(work, guest, "stopped", DX_REGINALD_WARN, why);
    if (state == DX_REGINALD_FAILED && !work->quiet)
        tell(work, guest, "failed", DX_REGINALD_ERROR, why);
}

static void on_summary(const char *name, const char *text, void *user) {
    const struct work *work = user;
    if (cli_voice.json)
        cli_event_put_summary("plugin", name, text);
    else
        logs_put(&work->logs, name, DX_REGINALD_WARN, "suppressed", dx_str(text), NULL);
}

/* What a plugin says at its own pace. Levels of logs are small numbers. */
enum { VIOLATION = 1000, ERRORS };
static bool is_shown(struct work *work, dx_reginald_guest *guest, int kind, dx_text text) {
    return dx__log_limiter_pass(work->limiter, dx_reginald_guest_name(guest), kind, text);
}

/* The fields are a part of the line. */
static bool is_log_shown(struct work *work, dx_reginald_guest *guest, int level, dx_text text,
                         yyjson_val *fields) {
    size_t len;
    char *json = fields ? yyjson_val_write(fields, 0, &len) : NULL;
    if (!json)
        return is_shown(work, guest, level, text);
    dx_buf line;
    dx_buf_init(&line, SIZE_MAX / 2, NULL);
    bool whole = dx_buf_append(&line, text.at, text.len) == DX_OK &&
                 dx_buf_append(&line, json, len) == DX_OK;
    bool shown = is_shown(work, guest, level, whole ? (dx_text){line.data, line.len} : text);
    dx_buf_done(&line);
    free(json);
    return shown;
}

static void on_violation(dx_reginald *host, dx_reginald_guest *guest, const char *phrase,
                         void *user) {
    struct work *work = user;
    (void)host;
    bool is_noise = cli_warn_noise("plugin", dx_reginald_guest_name(guest), phrase, NULL, NULL);
    work->written.noise += is_noise;
    if (!is_noise && is_shown(work, guest, VIOLATION, dx_str(phrase)))
        tell(work, guest, "violation", DX_REGINALD_WARN, phrase);
}

static void on_log(dx_reginald *host, dx_reginald_guest *guest, int level, dx_text text,
                   yyjson_val *fields, void *user) {
    struct work *work = user;
    (void)host;
    if (!work->logs.off && level >= work->logs.level &&
        is_log_shown(work, guest, level, text, fields))
        logs_put(&work->logs, dx_reginald_guest_name(guest), level, NULL, text, fields);
}

static void on_errors(dx_reginald *host, dx_reginald_guest *guest, dx_text line, void *user) {
    struct work *work = user;
    (void)host;
    work->written.errors++;
    while (line.len && (line.at[line.len - 1] == '\n' || line.at[line.len - 1] == '\r'))
        line.len--;
    if (!work->logs.off && DX_REGINALD_WARN >= work->logs.level &&
        is_shown(work, guest, ERRORS, line))
        logs_put(&work->logs, dx_reginald_guest_name(guest), DX_REGINALD_WARN, "stderr", line,
                 NULL);
}

static void on_traffic(dx_reginald *host, dx_reginald_guest *guest, int out, dx_text text,
                       void *user) {
    struct work *work = user;
    (void)host;
    work->written.messages += !out;
    if (!work->options->show)
        return;
    cli_flush();
    cli_show(stderr, dx_recorder_now_us() - work->began_us, out != 0, dx_reginald_guest_name(guest),
             text);
}

static void on_stopped(dx_reginald *host, void *user) {
    struct work *work = user;
    (void)host;
    work->stopped = true;
}

/* A reason has little room, and its end says most: the beginning of the path gives way. */
static void shorten(const char *why, char reason[200]) {
    size_t len = strlen(why);
    if (len < 200) {
        memcpy(reason, why, len + 1);
        return;
    }
    const char *from = why + len - 190;
    while ((*from & 0xc0) == 0x80)
        from++;
    snprintf(reason, 200, "…%s", from);
}

static dx_status append(dx_buf *json, yyjson_mut_val *list, size_t count) {
    return count ? dx_json_write(json, dx_json_built(list)) : DX_OK;
}

static dx_status on_settings(dx_reginald *host, dx_reginald_guest *guest, dx_buf *json,
                             char reason[200], void *user) {
    struct work *work = user;
    const char *name = dx_reginald_guest_name(guest);
    char why[SETTINGS_WHY] = "out of memory";
    char *place = NULL;
    (void)host;
    struct settings settings = {.entries = dx_reginald_guest_settings(guest),
                                .file = work->file.path,
                                .tables = {{NULL, file_table(work->file.plugins, name)},
                                           {name, file_own_table(&work->file, name)}},
                                .scope = name};
    const char **given = flags_scan(&work->flags, settings.entries);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = doc ? yyjson_mut_arr(doc) : NULL;
    dx_status status = DX_ERR_NOMEM;
    if (given && list && asprintf(&place, "plugins.%s", name) >= 0) {
        settings.given = given;
        settings.tables[0].place = place;
        if (settings_resolve(&settings, doc, list, why)) {
            status = append(json, list, yyjson_mut_arr_size(list));
        } else {
            work->misfit = true;
            shorten(why, reason);
            status = DX_MISFIT;
        }
        free(place);
    }
    free(given);
    yyjson_mut_doc_free(doc);
    return status;
}

static dx_reginald_config configure(struct work *work) {
    const struct reginald_options *options = work->options;
    dx_reginald_config config = dx_reginald_defaults();
    const char *revision = options->revision;
    bool real = revision && (strcmp(revision, "gen-a") == 0 || strcmp(revision, "exact") == 0);
    config.revision = revision;
    /* The real host wants all there is, whatever it shows of it. */
    config.log_level = real ? DX_REGINALD_TRACE : work->logs.level;
    config.log_off = !real && work->logs.off;
    config.handshake_ms = config.initialize_ms = options->handshake_ms;
    config.stop_ms = options->stop_ms;
    config.recorder = work->recorder;
    config.on_settings = on_settings;
    config.on_state = on_state;
    config.on_log = on_log;
    config.on_errors = on_errors;
    config.on_violation = on_violation;
    config.on_traffic = on_traffic;
    config.on_stopped = on_stopped;
    config.user = work;
    work->stop_ms = config.stop_ms;
    work->errors_max = config.errors_max;
    return config;
}

/* Where plugins are; NULL if nobody knows. To be freed. *ret_named: somebody has said so. */
static char *plugin_folder(const struct work *work, bool *ret_named) {
    const char *env = getenv("REGINALD_PLUGIN_DIR");
    const char *share = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    const char *named = work->options->plugin_dir ? work->options->plugin_dir
                        : env && *env             ? env
                                                  : NULL;
    const char *in_file = file_text(work->file.plugin_dir);
    char *path = NULL;
    *ret_named = named || in_file;
    if (named)
        return strdup(named);
    if (in_file)
        return file_path(work->file.folder, in_file);
    if (share && share[0] == '/')
        return asprintf(&path, "%s/reginald/plugins", share) < 0 ? NULL : path;
    if (home && home[0] == '/')
        return asprintf(&path, "%s/.local/share/reginald/plugins", home) < 0 ? NULL : path;
    return NULL;
}

/* Which commands there are is not known, but the word may be a typo all the same. */
static int tell_no_folder(const struct work *work, const char *why) {
    if (!work->word[0] && work->flags.count) {
        const char *word = work->flags.words[0];
        char *hint = option_hint(work, NULL, word);
        int code =
            cli_fail_hint(CLI_USAGE, hint ? hint : "pass --plugin-dir FOLDER, or --plugin FILE",
                          "unknown option '%.*s': cannot list the plugins: %s",
                          (int)strcspn(word, "="), word, why);
        free(hint);
        return code;
    }
    bool is_own = work->quiet || work_attends(work->word);
    char *meant = is_own ? NULL : command_meant(work);
    const char *hint = meant ? meant : "pass --plugin-dir FOLDER, or --plugin FILE";
    int code =
        is_own ? cli_fail_hint(CLI_USAGE, hint, "cannot list the plugins: %s", why)
               : cli_fail_hint(CLI_USAGE, hint, "unknown command '%s': cannot list the plugins: %s",
                               work->word, why);
    free(meant);
    return code;
}

static int discover(struct work *work) {
    dx_error error = {.fault = DX_FAULT_NONE};
    bool named;
    size_t count;
    int code = CLI_OK;
    char *folder = plugin_folder(work, &named);
    bool needed = named || !work->options->plugins.count;
    if (!folder)
        return needed ? cli_fail_hint(CLI_USAGE, "pass --plugin-dir FOLDER",
                                      "no plugin folder: HOME is not set")
                      : CLI_OK;
    dx_status status = needed || access(folder, F_OK) == 0
                           ? dx_reginald_discover(work->host, folder, &count, &error)
                           : DX_OK;
    if (status != DX_OK)
        code = tell_no_folder(work, error.phrase[0] ? error.phrase : dx_status_name(status));
    free(folder);
    return code;
}

static int add_all(struct work *work) {
    const cli_list *paths = &work->options->plugins;
    for (size_t i = 0; i < paths->count; i++) {
        dx_error error = {.fault = DX_FAULT_NONE};
        dx_status status = dx_reginald_add(work->host, paths->at[i], NULL, NULL, &error);
        if (status != DX_OK)
            return cli_fail(status == DX_ERR_NOMEM ? CLI_NO_START : CLI_USAGE, "--plugin %s: %s",
                            paths->at[i], error.phrase[0] ? error.phrase : dx_status_name(status));
    }
    return CLI_OK;
}

int crew_open(struct work *work) {
    dx_error error = {.fault = DX_FAULT_NONE};
    int code = cli_record_open(work->options->record, &work->recorder);
    if (code != CLI_OK)
        return code;
    dx_reginald_config config = configure(work);
    if (cli_loop_new(work->options->keep_daemons, &work->loop, &error) != DX_OK ||
        dx_reginald_new(work->loop, &config, &work->host, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase[0] ? error.phrase : "out of memory");
    work->limiter = dx__log_limiter_new(work->loop, on_summary, work);
    code = discover(work);
    return code == CLI_OK ? add_all(work) : code;
}

static bool is_starting(const struct work *work) {
    dx_reginald_guest *guest;
    for (size_t i = 0; (guest = dx_reginald_guest_at(work->host, i)); i++) {
        dx_reginald_state state = dx_reginald_guest_state(guest);
        if (state == DX_REGINALD_NEW || state == DX_REGINALD_STARTING)
            return true;
    }
    return false;
}

void crew_wait_ready(struct work *work) {
    uint64_t limit = work->options->handshake_ms;
    dx_reginald_start(work->host);
    /* When all have answered the handshake, each is asked to initialize. */
    cli_waiting_begin(&(cli_waiting){.what = "the plugins to start",
                                     .who = "the plugins have",
                                     .most_ms = limit,
                                     .active_ms = limit < DX_NEVER / 2 ? 2 * limit : DX_NEVER,
                                     .written = &work->written});
    while (is_starting(work) && !cli_interrupts())
        work_wait(work);
    cli_waiting_end();
}

/* A signal makes it short, a second one shorter. What is still there then is killed. */
static void stop_all(struct work *work) {
    int first = cli_interrupts();
    uint64_t began = cli_now();
    dx_reginald_stop(work->host);
    while (!work->stopped && cli_interrupts() < 2) {
        uint64_t most = cli_interrupts()                              ? HURRY_MS
                        : work->stop_ms < DX_NEVER - began - SLACK_MS ? work->stop_ms + SLACK_MS
                                                                      : DX_NEVER - began;
        if (cli_interrupts() > first) {
            first = cli_interrupts();
            began = cli_now();
        }
        if (cli_now() - began >= most)
            break;
        cli_wait(work->loop, began + most);
    }
}

int crew_leave(struct work *work, int code) {
    int before = cli_interrupts();
    if (work->host)
        stop_all(work);
    if (cli_interrupts() > before && code == CLI_OK)
        code = cli_fail(CLI_INTERRUPTED, "interrupted");
    dx_reginald_free(work->host);
    dx__log_limiter_free(work->limiter);
    cli_loop_free(work->loop);
    cli_record_close(work->recorder);
    return code;
}
