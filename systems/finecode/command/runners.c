/* duplex finecode runners: starts every runner, and says what became of it. */
#include "cli/event.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "systems/finecode/command/work.h"

#include <stdlib.h>
#include <string.h>

/* What became of a runner when it was started: later it may have been stopped to make room. */
struct outcome {
    const dx_finecode_runner *runner;
    dx_finecode_runner_state state;
    char *why;
    uint64_t ms;
};

struct watch {
    struct outcome *at;
    size_t count;
};

static bool is_settled(const dx_finecode_runner *runner) {
    dx_finecode_runner_state state = dx_finecode_runner_get_state(runner);
    return state != DX_FINECODE_INITIALIZING && state != DX_FINECODE_NOT_STARTED;
}

static void on_runner(struct work *work, dx_finecode_runner *runner) {
    struct watch *watch = work->verb;
    if (!is_settled(runner))
        return;
    for (size_t i = 0; i < watch->count; i++)
        if (watch->at[i].runner == runner)
            return;
    struct outcome *more = realloc(watch->at, (watch->count + 1) * sizeof *more);
    if (!more)
        return;
    watch->at = more;
    const char *why = dx_finecode_runner_why(runner);
    more[watch->count++] =
        (struct outcome){runner, dx_finecode_runner_get_state(runner),
                         why && *why ? strdup(why) : NULL, cli_now() - work->began_ms};
}

static bool is_meant(dx_finecode_project *const *projects, const dx_finecode_runner *runner) {
    while (*projects && *projects != dx_finecode_runner_project(runner))
        projects++;
    return *projects;
}

static bool are_settled(const struct work *work, dx_finecode_project *const *projects) {
    dx_finecode_runner *runner;
    for (size_t i = 0; (runner = dx_finecode_wm_runner(work->wm, i)); i++)
        if (is_meant(projects, runner) && !is_settled(runner))
            return false;
    return true;
}

/* Those that were not told are as they are now. */
static struct outcome outcome_of(const struct watch *watch, const dx_finecode_runner *runner) {
    for (size_t i = 0; i < watch->count; i++)
        if (watch->at[i].runner == runner)
            return watch->at[i];
    return (struct outcome){.runner = runner, .state = dx_finecode_runner_get_state(runner)};
}

static void put_event(const struct outcome *outcome) {
    const dx_finecode_runner *runner = outcome->runner;
    yyjson_mut_doc *event = news_event("runner", runner);
    const char *log = dx_finecode_runner_log(runner);
    cli_event_add(event, "state", dx_finecode_runner_state_name(outcome->state));
    if (outcome->why)
        cli_event_add(event, "why", outcome->why);
    if (dx_finecode_runner_pid(runner) > 0)
        cli_event_add_number(event, "pid", (uint64_t)dx_finecode_runner_pid(runner));
    if (log && *log)
        cli_event_add(event, "log", log);
    cli_event_add_number(event, "ms", outcome->ms);
    cli_event_put(event);
}

static void put_line(const struct outcome *outcome) {
    const dx_finecode_runner *runner = outcome->runner;
    uint64_t ms = outcome->ms;
    char name[200];
    bool runs = outcome->state == DX_FINECODE_RUNNING;
    const char *state = dx_finecode_runner_state_name(outcome->state);
    const char *more = runs ? dx_finecode_runner_log(runner) : outcome->why;
    printf("%s%-8s%s ", cli_paint(stdout, runs ? CLI_GREEN : CLI_RED), state,
           cli_paint(stdout, CLI_PLAIN));
    cli_put_safe(stdout, dx_str(news_name(runner, name)));
    printf("  %s%llu.%02us%s", cli_paint(stdout, CLI_DIM), (unsigned long long)(ms / 1000),
           (unsigned)(ms % 1000 / 10), cli_paint(stdout, CLI_PLAIN));
    if (dx_finecode_runner_pid(runner) > 0)
        printf("  pid %ld", (long)dx_finecode_runner_pid(runner));
    if (more && *more) {
        fputs("  ", stdout);
        cli_put_safe(stdout, dx_str(more));
    }
    putchar('\n');
}

static int show(struct work *work, dx_finecode_project *const *projects,
                const struct watch *watch) {
    dx_finecode_runner *runner;
    size_t count = 0;
    size_t running = 0;
    for (size_t i = 0; (runner = dx_finecode_wm_runner(work->wm, i)); i++) {
        if (!is_meant(projects, runner))
            continue;
        struct outcome outcome = outcome_of(watch, runner);
        count++;
        running += outcome.state == DX_FINECODE_RUNNING;
        if (cli_voice.json)
            put_event(&outcome);
        else
            put_line(&outcome);
    }
    cli_flush();
    int code = pick_tell_invalid(work, projects);
    if (!count && code == CLI_OK)
        cli_note("no project in or below %s has a runner", work->folder);
    if (running == count)
        return code;
    char message[100];
    snprintf(message, sizeof message, "%zu of %zu runners failed to start", count - running, count);
    return cli_tail_fail(&work->tail, NULL, CLI_NO_START, message, NULL, NULL);
}

static int start_all(struct work *work, dx_finecode_project *const *projects,
                     const struct watch *watch) {
    for (size_t i = 0; projects[i]; i++)
        if (dx_finecode_project_get_state(projects[i]) == DX_FINECODE_VALID)
            dx_finecode_wm_start_runners(work->wm, projects[i]);
    while (!are_settled(work, projects) && !cli_interrupts())
        work_wait(work, DX_NEVER);
    return cli_interrupts() ? cli_fail(CLI_INTERRUPTED, "interrupted")
                            : show(work, projects, watch);
}

int verb_runners(const struct finecode_options *options) {
    struct watch watch = {.count = 0};
    struct work work = {.on_runner = on_runner, .verb = &watch};
    dx_finecode_project **projects = NULL;
    int code = work_open(&work, options, options->folder ? options->folder : ".");
    if (code == CLI_OK)
        code = pick_projects(&work, &projects);
    if (code == CLI_OK)
        code = start_all(&work, projects, &watch);
    code = work_leave(&work, code);
    free(projects);
    while (watch.count)
        free(watch.at[--watch.count].why);
    free(watch.at);
    return code;
}
