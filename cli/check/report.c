#include "cli/check/report.h"

#include "cli/describe/nearest.h"
#include "cli/say.h"
#include "cli/tail.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fits(const cli_list *globs, const char *name) {
    for (size_t i = 0; i < globs->count; i++)
        if (fnmatch(globs->at[i], name, 0) == 0)
            return true;
    return false;
}

static const char *name_at(const void *unused, size_t index) {
    (void)unused;
    return index < CHECK__COUNT ? check_name((check_id)index) : NULL;
}

/* Is it the name of a group, "id"? */
static bool is_group(const char *word) {
    size_t len = strlen(word);
    for (int id = 0; id < CHECK__COUNT; id++)
        if (strncmp(check_name((check_id)id), word, len) == 0 &&
            check_name((check_id)id)[len] == '.')
            return true;
    return false;
}

static int unknown_check(const char *option, const char *name) {
    char *hint = NULL;
    if (!is_group(name))
        hint = cli_near_hint(name_at, NULL, name, "'duplex check --list' lists the checks");
    else if (asprintf(&hint, "did you mean '%s.*'?", name) < 0)
        hint = NULL;
    int code = cli_fail_hint(CLI_USAGE, hint, "%s: unknown check '%s'", option, name);
    free(hint);
    return code;
}

static int look_at_globs(const char *option, const cli_list *globs) {
    for (size_t i = 0; i < globs->count; i++) {
        const cli_list one = {globs->at + i, 1};
        int id = 0;
        while (id < CHECK__COUNT && !fits(&one, check_name((check_id)id)))
            id++;
        if (id == CHECK__COUNT)
            return unknown_check(option, globs->at[i]);
    }
    return CLI_OK;
}

int check_report_init(check_report *report, const cli_list *only, const cli_list *skip) {
    int code = look_at_globs("--only", only);
    if (code == CLI_OK)
        code = look_at_globs("--skip", skip);
    if (code != CLI_OK)
        return code;
    *report = (check_report){.out = stdout};
    pthread_mutex_init(&report->lock, NULL);
    for (int id = 0; id < CHECK__COUNT; id++) {
        const char *name = check_name((check_id)id);
        report->results[id].chosen = (!only->count || fits(only, name)) && !fits(skip, name);
    }
    return CLI_OK;
}

static void keep(check_bytes *bytes, dx_text text) {
    *bytes = (check_bytes){.is_there = text.at, .whole = text.len};
    bytes->len = text.len < sizeof bytes->at ? text.len : sizeof bytes->at;
    if (bytes->len)
        memcpy(bytes->at, text.at, bytes->len);
}

void check_try(check_report *report, check_id id) {
    pthread_mutex_lock(&report->lock);
    report->results[id].tried = true;
    pthread_mutex_unlock(&report->lock);
}

void check_fail(check_report *report, check_id id, const check_proof *proof, const char *format,
                ...) {
    check_result *result = &report->results[id];
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&report->lock);
    if (!result->failures++) {
        vsnprintf(result->message, sizeof result->message, format, args);
        if (proof) {
            snprintf(result->scene, sizeof result->scene, "%s", proof->scene ? proof->scene : "");
            keep(&result->sent, proof->sent);
            keep(&result->came, proof->came);
            result->offset = proof->offset;
        }
    }
    pthread_mutex_unlock(&report->lock);
    va_end(args);
}

void check_noise(check_report *report, check_id id, dx_text text) {
    pthread_mutex_lock(&report->lock);
    if (!report->noise.is_there) {
        keep(&report->noise, text);
        report->noise_fails = id;
    }
    pthread_mutex_unlock(&report->lock);
}

void check_warn_noise(const check_report *report) {
    const check_bytes *noise = &report->noise;
    if (!noise->is_there || report->results[report->noise_fails].chosen)
        return;
    const char *warning = cli_noise("the program", (dx_text){noise->at, noise->len});
    if (warning)
        cli_warn("%s", warning);
}

static void skip_one(check_result *result, const char *why) {
    if (!result->tried && !result->failures && !result->message[0])
        snprintf(result->message, sizeof result->message, "%s", why);
}

void check_skip(check_report *report, check_id id, const char *format, ...) {
    char why[400];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    pthread_mutex_lock(&report->lock);
    skip_one(&report->results[id], why);
    pthread_mutex_unlock(&report->lock);
}

void check_undo(check_report *report, check_id id, const char *why) {
    pthread_mutex_lock(&report->lock);
    report->results[id].tried = false;
    skip_one(&report->results[id], why);
    pthread_mutex_unlock(&report->lock);
}

void check_skip_rest(check_report *report, const char *why) {
    pthread_mutex_lock(&report->lock);
    for (int id = 0; id < CHECK__COUNT; id++)
        if (check_need_of((check_id)id) == CHECK_TRIED)
            skip_one(&report->results[id], why);
    pthread_mutex_unlock(&report->lock);
}

bool check_has_failed(check_report *report, check_id id) {
    pthread_mutex_lock(&report->lock);
    bool failed = report->results[id].failures;
    pthread_mutex_unlock(&report->lock);
    return failed;
}

void check_choose_failed(check_report *report, const cli_list *skip) {
    for (int id = 0; id < CHECK__COUNT; id++)
        report->results[id].chosen |= report->results[id].failures &&
                                      !check_is_note((check_id)id) &&
                                      !fits(skip, check_name((check_id)id));
}

void check_heard(check_report *report, check_need what) {
    pthread_mutex_lock(&report->lock);
    report->heard[what] = true;
    report->messages += what == CHECK_MESSAGES;
    pthread_mutex_unlock(&report->lock);
}

/* Was there anything that could have been wrong? */
static bool was_seen(const check_report *report, check_id id) {
    const check_result *result = &report->results[id];
    check_need need = check_need_of(id);
    if (result->tried || need == CHECK_TRIED)
        return result->tried;
    if (need == CHECK_HEADERS || need == CHECK_LINES)
        return report->heard[CHECK_ANYTHING] &&
               (report->framing == DX_FRAMING_HEADER) == (need == CHECK_HEADERS);
    return report->heard[need];
}

check_outcome check_outcome_of(const check_report *report, check_id id) {
    if (report->results[id].failures)
        return check_is_note(id) ? CHECK_NOTE : CHECK_FAIL;
    return was_seen(report, id) ? CHECK_PASS : CHECK_SKIP;
}

const char *check_message(const check_report *report, check_id id) {
    static const char *const reasons[] = {
        "the check did not run",
        "the program wrote nothing",
        "the program uses line framing, which has no headers",
        "this check is only for line framing",
        "the program sent no messages",
        "the program sent no responses",
        "the program sent no requests of its own",
        "the program sent no requests or notifications of its own",
        "the program reported no progress"};
    const check_result *result = &report->results[id];
    bool is_skip = check_outcome_of(report, id) == CHECK_SKIP;
    return is_skip && !result->message[0] ? reasons[check_need_of(id)] : result->message;
}

const char *check_outcome_name(check_outcome outcome) {
    static const char *const names[] = {"pass", "fail", "skip", "note"};
    return names[outcome];
}

uint64_t check_count(const check_report *report, check_outcome outcome) {
    uint64_t count = 0;
    for (int id = 0; id < CHECK__COUNT; id++)
        count += report->results[id].chosen && check_outcome_of(report, (check_id)id) == outcome;
    return count;
}
