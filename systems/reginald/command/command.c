/* A command of a plugin. */
#include "cli/event.h"
#include "systems/reginald/command/option.h"
#include "systems/reginald/command/settings.h"
#include "systems/reginald/command/work.h"

#include "cli/describe/nearest.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

/* {} and null say only that it is done. */
static bool has_something(const char *json) {
    return strcmp(json, "{}") != 0 && strcmp(json, "null") != 0;
}

/* A text is printed as it is, line by line. */
static void put_result(const char *json) {
    yyjson_doc *doc = yyjson_read(json, strlen(json), YYJSON_READ_NUMBER_AS_RAW);
    yyjson_val *value = yyjson_doc_get_root(doc);
    dx_text rest = yyjson_is_str(value) ? (dx_text){yyjson_get_str(value), yyjson_get_len(value)}
                                        : dx_str(json);
    while (doc && rest.len) {
        const char *newline = memchr(rest.at, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.at) : rest.len;
        cli_put_safe(stdout, (dx_text){rest.at, len});
        putchar('\n');
        rest.at += len + (newline != NULL);
        rest.len -= len + (newline != NULL);
    }
    yyjson_doc_free(doc);
    cli_flush();
}

static int tell_ending(const struct work *work, const dx_reginald_offer *command) {
    const struct ending *ending = &work->ending;
    int code = work_code(work, command->guest, ending->outcome);
    const char *why = ending->why && *ending->why ? ending->why : "no reason given";
    if (code == CLI_OK && cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("command");
        cli_event_add(event, "command", command->name);
        cli_event_add(event, "plugin", dx_reginald_guest_name(command->guest));
        cli_event_add(event, "state", "done");
        if (ending->result && has_something(ending->result))
            cli_event_add_json(event, "result", dx_str(ending->result));
        cli_event_put(event);
    } else if (code == CLI_OK && ending->result && has_something(ending->result)) {
        put_result(ending->result);
    }
    if (code == CLI_OK)
        return code;
    if (ending->outcome == DX_OUTCOME_ERROR)
        return cli_fail(code, "%s failed: %s (%lld)", command->name, why, (long long)ending->code);
    return cli_fail(code, "%s of the plugin %s failed: %s", command->name,
                    dx_reginald_guest_name(command->guest), why);
}

static int refuse(const struct work *work, const dx_reginald_offer *command, dx_status status) {
    if (status == DX_CLOSED)
        return cli_fail(work_code(work, command->guest, DX_OUTCOME_LOST),
                        "cannot run %s: its plugin has exited", command->name);
    if (status == DX_ERR_INVALID)
        return cli_fail(CLI_USAGE, "%s: its arguments must be valid UTF-8", command->name);
    return cli_fail(status == DX_MISFIT ? CLI_MISFIT : CLI_NO_START, "cannot run %s: %s",
                    command->name, dx_status_name(status));
}

static int run_with(struct work *work, const dx_reginald_offer *command, yyjson_mut_val *list,
                    const struct flags_taken *taken) {
    dx_json values = yyjson_mut_arr_size(list) ? dx_json_built(list) : dx_json_none();
    dx_status status =
        dx_reginald_run_command(work->host, command, values,
                                taken->word_count ? taken->words : NULL, work_ended, &work->ending);
    if (status != DX_OK)
        return refuse(work, command, status);
    while (!work->ending.done && !cli_interrupts())
        work_wait(work);
    return work->ending.done ? tell_ending(work, command)
                             : cli_fail(CLI_INTERRUPTED, "interrupted");
}

/* A flag that does not fit is wrong usage, anything else wrong settings. */
static bool flags_fit(const struct settings *settings, char why[SETTINGS_WHY]) {
    struct settings only_flags = {
        .entries = settings->entries, .given = settings->given, .open = true};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = doc ? yyjson_mut_arr(doc) : NULL;
    bool fit = !list || settings_resolve(&only_flags, doc, list, why);
    yyjson_mut_doc_free(doc);
    return fit;
}

static int prepare_and_run(struct work *work, const dx_reginald_offer *command,
                           const struct flags_taken *taken) {
    char why[SETTINGS_WHY] = "out of memory";
    char *place = NULL;
    int code;
    if (asprintf(&place, "commands.%s", command->name) < 0)
        return cli_fail(CLI_NO_START, "out of memory");
    /* A table of that name is the plugin's, if it is called so, too. */
    bool is_plugins = strcmp(command->name, dx_reginald_guest_name(command->guest)) == 0 &&
                      flags_count(dx_reginald_guest_settings(command->guest));
    yyjson_val *own = is_plugins ? NULL : file_own_table(&work->file, command->name);
    struct settings settings = {
        .entries = command->settings,
        .file = work->file.path,
        .tables = {{place, file_table(work->file.commands, command->name)}, {command->name, own}},
        .scope = command->name,
        .given = taken->given};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = doc ? yyjson_mut_arr(doc) : NULL;
    if (!list)
        code = cli_fail(CLI_NO_START, "out of memory");
    else if (!flags_fit(&settings, why))
        code = cli_fail(CLI_USAGE, "%s: %s", command->name, why);
    else if (!settings_resolve(&settings, doc, list, why))
        code = cli_fail(CLI_MISFIT, "%s", why);
    else
        code = run_with(work, command, list, taken);
    yyjson_mut_doc_free(doc);
    free(place);
    return code;
}

static const char *name_at(const void *names, size_t index) {
    const dx_reginald_offer *offer;
    for (size_t i = 0; (offer = dx_reginald_offer_at(names, i)); i++)
        if (!offer->is_task && !index--)
            return offer->name;
    return NULL;
}

/* What people type for the commands of duplex reginald itself; NULL: nothing like that. */
static const char *meaning_of(const struct work *work, const char *name) {
    static const char *const words[][2] = {
        {"list", "plugins"},
        {"ls", "plugins"},
        {"show", "plugins"},
        {"plugin", "plugins"},
        {"run", "attend"},
        {"task", "attend"},
        {"tasks", "attend"},
        {"setup", "attend"},
        {"install", "attend"},
        {"sync", "attend"},
        {"check", "--dry-run attend"},
        {"validate", "--dry-run attend"},
        {"plan", "--dry-run attend"},
    };
    const char *next = work->flags.count ? work->flags.words[0] : "";
    if (strcmp(name, "run") == 0 && work->host && dx_reginald_find(work->host, 0, dx_str(next)))
        return next;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

static const char *own_at(const void *names, size_t index) {
    static const char *const own[] = {"attend", "plugins", NULL};
    (void)names;
    return own[index];
}

char *command_meant(const struct work *work) {
    const char *meant = meaning_of(work, work->word);
    char *near = meant ? NULL : cli_nearest_of(own_at, NULL, work->word);
    char *hint = NULL;
    if ((meant || near) &&
        asprintf(&hint, "did you mean 'duplex reginald %s'?", meant ? meant : near) < 0)
        hint = NULL;
    free(near);
    return hint;
}

static int tell_missing(struct work *work, const char *name) {
    int code = work_missing_code(work);
    if (dx_reginald_find(work->host, 1, dx_str(name)))
        return cli_fail_hint(CLI_USAGE, "use 'duplex reginald attend' to run tasks",
                             "'%s' is a task type, not a command", name);
    char *near = cli_nearest_of(name_at, work->host, name);
    char *meant = near && !meaning_of(work, name) ? NULL : command_meant(work);
    char hint[256] = "'duplex reginald plugins' lists the commands";
    if (meant)
        snprintf(hint, sizeof hint, "%s", meant);
    else if (near)
        snprintf(hint, sizeof hint, "did you mean %s? 'duplex reginald plugins' lists the commands",
                 near);
    cli_fail_hint(code, hint, "unknown command '%s': no plugin%s provides it", name,
                  code == CLI_USAGE ? "" : " that started");
    free(meant);
    free(near);
    return code;
}

static int refuse_flag(const struct work *work, const dx_reginald_offer *command,
                       const char *word) {
    int len = (int)(word[1] == '-' ? strcspn(word, "=") : 2);
    char *hint = option_hint(work, command, word);
    char usual[256];
    snprintf(usual, sizeof usual,
             "'duplex reginald %.100s --help' lists its flags; options of duplex reginald go before"
             " the command",
             command->name);
    int code = cli_fail_hint(CLI_USAGE, hint ? hint : usual, "%s has no flag %.*s", command->name,
                             len, word);
    free(hint);
    return code;
}

int command_run(struct work *work, const char *name) {
    struct flags_taken taken;
    const dx_reginald_offer *command = dx_reginald_find(work->host, 0, dx_str(name));
    if (!command)
        return tell_missing(work, name);
    int code = flags_take(&work->flags, name, command->settings,
                          dx_reginald_guest_settings(command->guest), &taken);
    if (taken.unknown)
        code = refuse_flag(work, command, taken.unknown);
    if (code == CLI_OK && taken.help)
        help_put(command);
    else if (code == CLI_OK)
        code = prepare_and_run(work, command, &taken);
    flags_taken_done(&taken);
    return code;
}
