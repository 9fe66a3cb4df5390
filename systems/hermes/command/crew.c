/* The extensions: which there are, and whether they are busy. */
#include "systems/hermes/command/settings.h"
#include "systems/hermes/command/work.h"

#include "cli/say.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Who uses less than a fifth of a processor is not at work; how long one may be at work without a
 * word. */
enum { BUSY_PART = 5, BUSY_MS = 60000 };

struct member *crew_member(struct work *work, dx_hermes_guest *guest) {
    for (size_t i = 0; i < work->member_count; i++)
        if (work->members[i].guest == guest)
            return &work->members[i];
    struct member *members =
        realloc(work->members, (work->member_count + 1) * sizeof *work->members);
    if (!members)
        return NULL;
    work->members = members;
    members[work->member_count] = (struct member){.guest = guest};
    return &members[work->member_count++];
}

void crew_on_state(dx_hermes *editor, dx_hermes_guest *guest, void *user) {
    struct member *member = crew_member(user, guest);
    (void)editor;
    if (member && dx_hermes_guest_state(guest) == DX_HERMES_INITIALIZING) {
        member->started = true;
        unfinished_forget(member); /* they were for the process before this one */
    }
    news_tell_state(user, guest);
}

bool crew_is_starting(const struct work *work) {
    dx_hermes_guest *guest;
    for (size_t i = 0; (guest = dx_hermes_guest_at(work->editor, i)); i++) {
        dx_hermes_state state = dx_hermes_guest_state(guest);
        if (state == DX_HERMES_STARTING || state == DX_HERMES_INITIALIZING ||
            state == DX_HERMES_SHUTTING_DOWN) /* a reload begins with that */
            return true;
    }
    return false;
}

const char *crew_why(const dx_hermes_guest *guest) {
    const char *why = dx_hermes_guest_why(guest);
    return *why ? why : "stopped";
}

void crew_wait_started(struct work *work) {
    cli_waiting_begin(&(cli_waiting){.what = "the extensions to start",
                                     .who = "the extensions have",
                                     .most_ms = work->options->start_ms,
                                     .written = &work->written});
    while (crew_is_starting(work) && !cli_interrupts())
        work_wait(work, DX_NEVER, false);
    cli_waiting_end();
}

int crew_check_end(struct work *work) {
    dx_hermes_guest *guest;
    for (size_t i = 0; (guest = dx_hermes_guest_at(work->editor, i)); i++) {
        if (dx_hermes_guest_state(guest) == DX_HERMES_STOPPED && *dx_hermes_guest_why(guest))
            return cli_fail_hint(CLI_ENDED, "--settle and --stop-timeout give it more time",
                                 "%s %s: changes that it was still to make are missing",
                                 dx_hermes_guest_name(guest), dx_hermes_guest_why(guest));
        if (dx_hermes_guest_lost(guest))
            return cli_fail(CLI_VIOLATION, "%s sent a message that could not be read",
                            dx_hermes_guest_name(guest));
    }
    return CLI_OK;
}

/* The processor time that a process has used so far (0 if nobody can say), and whether it runs, or
 * would if there were a processor for it. */
static uint64_t used_ms(pid_t pid, bool *ret_runs) {
    char text[1024];
    uint64_t ticks = 0;
    snprintf(text, sizeof text, "/proc/%ld/stat", (long)pid);
    FILE *file = pid ? fopen(text, "re") : NULL;
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    /* The name in brackets may hold anything; behind it the 12th and the 13th word are these. */
    char *rest = strrchr(text, ')');
    *ret_runs = rest && strncmp(rest, ") R", 3) == 0;
    for (int word = 1; rest && word <= 13; word++) {
        rest = strchr(rest + 1, ' ');
        ticks += rest && word >= 12 ? strtoull(rest, NULL, 10) : 0;
    }
    return rest ? ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) : 0;
}

/* Nobody says when a command is done. One that is still, but computes or would, is at work, up to a
 * limit: there are programs that never rest. */
bool crew_is_quiet(const struct work *work, struct member *member, uint64_t *ret_until) {
    uint64_t heard = dx_hermes_guest_heard(member->guest);
    uint64_t since = heard > member->told_ms ? heard : member->told_ms;
    uint64_t now = cli_now();
    pid_t pid = dx_hermes_guest_pid(member->guest);
    bool runs;
    *ret_until = DX_NEVER;
    if (dx_hermes_guest_open(member->guest))
        return false;
    if (member->still_ms < since) {
        member->still_ms = since;
        member->cpu_ms = used_ms(pid, &runs);
    }
    *ret_until = member->still_ms + work->settle_ms;
    if (now < *ret_until)
        return false;
    uint64_t used = used_ms(pid, &runs) - member->cpu_ms;
    bool is_at_work = runs || used * BUSY_PART >= now - member->still_ms;
    if (!is_at_work || now - since >= BUSY_MS)
        return true;
    member->still_ms = now;
    member->cpu_ms += used;
    *ret_until = now + work->settle_ms;
    return false;
}

void crew_on_answered(dx_hermes *editor, dx_hermes_guest *guest, int ok, void *user) {
    struct member *member = crew_member(user, guest);
    (void)editor;
    if (member)
        member->failed |= !ok;
}

/* --env counts more than what the settings say. */
static const char **make_env(const cli_list *own, char **theirs) {
    size_t count = own->count + 1;
    for (char **one = theirs; one && *one; one++)
        count++;
    const char **env = calloc(count, sizeof *env);
    if (!env)
        return NULL;
    count = 0;
    for (size_t i = 0; i < own->count; i++)
        env[count++] = own->at[i];
    for (char **one = theirs; one && *one; one++) {
        size_t len = strcspn(*one, "=") + 1;
        bool is_own = false;
        for (size_t i = 0; i < own->count; i++)
            is_own |= strncmp(own->at[i], *one, len) == 0;
        if (!is_own)
            env[count++] = *one;
    }
    return env;
}

/* An extension that was typed gets the whole environment, one of the settings the strict list. */
static int add(struct work *work, const char *path, char **args, char **env, bool typed,
               size_t *count) {
    dx_error error = {.fault = DX_FAULT_NONE};
    const char **all = make_env(&work->options->env, env);
    dx_hermes_entry entry = {.path = path,
                             .args = (const char *const *)(void *)args,
                             .env = all,
                             .inherit_env = typed && !work->options->clean_env};
    dx_status status = all ? dx_hermes_add(work->editor, &entry, NULL, &error) : DX_ERR_NOMEM;
    free(all);
    *count += status == DX_OK;
    if (status == DX_ERR_INVALID)
        return cli_fail(CLI_USAGE, "extension '%s': %s", path,
                        error.fault || error.phrase[0] ? error.phrase : "invalid command line");
    if (status == DX_ERR_NOMEM)
        return cli_fail(CLI_NO_START, "out of memory");
    return CLI_OK;
}

int crew_start(struct work *work, size_t *ret_count) {
    const struct hermes_options *options = work->options;
    struct settings settings = {NULL, 0, 0};
    int code = options->settings ? settings_read(options->settings, &settings) : CLI_OK;
    size_t asked = options->extensions.count + settings.count + settings.wrong;
    *ret_count = 0;
    for (size_t i = 0; i < options->extensions.count && code == CLI_OK; i++)
        code = add(work, options->extensions.at[i], NULL, NULL, true, ret_count);
    for (size_t i = 0; i < settings.count && code == CLI_OK; i++)
        code = add(work, settings.at[i].path, settings.at[i].args, settings.at[i].env, false,
                   ret_count);
    settings_done(&settings);
    if (code == CLI_OK && asked && !*ret_count)
        code = cli_fail(CLI_NO_START, "no extension could be started");
    return code;
}
