#include "systems/reginald/command/attend.h"

#include "systems/reginald/command/settings.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

struct attend {
    struct work *work;
    struct tasks *tasks;
    size_t jobs;
    size_t running;
    size_t next;  /* tasks before it are over; or, in a check, were asked */
    bool refused; /* a check found something */
    bool leaving; /* what still comes is not told any more */
};

static void fail(struct task *task, int code, const char *why) {
    free(task->why);
    task->why = strdup(why);
    task->state = TASK_FAILED;
    task->code = code;
    report_task(task);
}

/* Settings. */

/* How plugins may call the setting that --dry-run is. */
static const char *dry_run_key(const dx_reginald_entry *entries) {
    static const char *const names[] = {"dry-run", "dryRun", "dry_run", "dry"};
    for (; entries && entries->value.key; entries++)
        for (size_t i = 0; i < 4; i++)
            if (entries->value.type == DX_REGINALD_BOOL &&
                strcmp(entries->value.key, names[i]) == 0)
                return entries->value.key;
    return NULL;
}

/* It counts more than what the file says. */
static bool force(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key) {
    size_t index;
    size_t max;
    yyjson_mut_val *one;
    yyjson_mut_arr_foreach(list, index, max, one) {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(one, "key"), key))
            return yyjson_mut_set_bool(yyjson_mut_obj_get(one, "value"), true);
    }
    return settings_add_bool(doc, list, key, true);
}

static void prepare(struct attend *attend, struct task *task) {
    const struct work *work = attend->work;
    char why[SETTINGS_WHY] = "out of memory";
    task->user = attend;
    task->offer = dx_reginald_find(work->host, 1, dx_str(task->type));
    if (!task->offer) {
        int code = work_missing_code(work);
        fail(task, code,
             code == CLI_USAGE ? "no plugin provides this task type"
                               : "no plugin that started provides this task type");
        return;
    }
    struct settings settings = {.entries = task->offer->settings,
                                .file = work->file.path,
                                .tables = {{task->place, task->config},
                                           {task->number, yyjson_doc_get_root(task->options)},
                                           {task->default_place, task->defaults}},
                                .open = true};
    const char *dry_run = work->options->dry_run ? dry_run_key(task->offer->settings) : NULL;
    task->can_dry_run = dry_run != NULL;
    task->values = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = task->values ? yyjson_mut_arr(task->values) : NULL;
    if (list && settings_resolve(&settings, task->values, list, why) &&
        (!dry_run || force(task->values, list, dry_run))) {
        yyjson_mut_doc_set_root(task->values, list);
        return;
    }
    attend->refused = true;
    fail(task, CLI_MISFIT, why);
}

static dx_json values_of(const struct task *task) {
    yyjson_mut_val *list = yyjson_mut_doc_get_root(task->values);
    return yyjson_mut_arr_size(list) ? dx_json_built(list) : dx_json_none();
}

/* The check: all of them are asked before any is run. */

static void on_checked(dx_reginald *host, const dx_reginald_offer *offer, dx_outcome outcome,
                       int64_t code, const char *why, void *user) {
    struct task *task = user;
    struct attend *attend = task->user;
    (void)host;
    attend->running--;
    task->began_ms = 0;
    if (attend->leaving)
        return;
    task->state = TASK_WAITING;
    /* A plugin that knows of no check has nothing against it. */
    bool unknown = outcome == DX_OUTCOME_ERROR && code == DX_CODE_METHOD;
    if (outcome == DX_OUTCOME_RESULT || unknown)
        return;
    attend->refused |= outcome == DX_OUTCOME_ERROR;
    fail(task,
         outcome == DX_OUTCOME_ERROR ? CLI_MISFIT : work_code(attend->work, offer->guest, outcome),
         why);
}

static void fail_to_ask(struct attend *attend, struct task *task, dx_status status) {
    attend->running--;
    if (status == DX_CLOSED)
        fail(task, work_code(attend->work, task->offer->guest, DX_OUTCOME_LOST),
             "its plugin has exited");
    else if (status == DX_ERR_INVALID)
        fail(task, CLI_USAGE, "its folder or its settings are not valid UTF-8");
    else
        fail(task, status == DX_MISFIT ? CLI_MISFIT : CLI_NO_START, dx_status_name(status));
}

static void check_more(struct attend *attend) {
    struct tasks *tasks = attend->tasks;
    for (; attend->next < tasks->count && attend->running < attend->jobs; attend->next++) {
        struct task *task = &tasks->at[attend->next];
        if (task->state != TASK_WAITING)
            continue;
        task->state = TASK_RUNNING;
        attend->running++;
        dx_status status = dx_reginald_validate_task(attend->work->host, task->offer,
                                                     values_of(task), on_checked, task);
        if (status != DX_OK)
            fail_to_ask(attend, task, status);
    }
}

static void check_all(struct attend *attend) {
    attend->next = 0;
    check_more(attend);
    while (attend->running && !cli_interrupts()) {
        work_wait(attend->work);
        check_more(attend);
    }
}

/* The run. */

static void on_ran(dx_reginald *host, const dx_reginald_offer *offer, dx_outcome outcome,
                   int64_t code, const char *why, void *user) {
    struct task *task = user;
    struct attend *attend = task->user;
    (void)host;
    (void)code;
    attend->running--;
    if (attend->leaving)
        return;
    if (outcome != DX_OUTCOME_RESULT) {
        fail(task, work_code(attend->work, offer->guest, outcome), why);
        return;
    }
    task->state = TASK_DONE;
    report_task(task);
}

/* Those that it needs: 1 if all are done, -1 if one never will be, which *ret_task is. */
static int look_at_needs(const struct tasks *tasks, const struct task *task,
                         const struct task **ret_task) {
    int all = 1;
    for (size_t i = 0; i < task->need_count; i++) {
        const struct task *need = &tasks->at[task->needs[i]];
        if (need->state == TASK_FAILED || need->state == TASK_LEFT_OUT) {
            *ret_task = need;
            return -1;
        }
        if (need->state != TASK_DONE && need->state != TASK_LOOKED_AT)
            all = 0;
    }
    return all;
}

static void leave_out(struct task *task, const struct task *need) {
    char *why;
    task->state = TASK_LEFT_OUT;
    if (asprintf(&why, "it needs %s, which did not finish", need->label) >= 0)
        task->why = why;
    report_task(task);
}

static void start(struct attend *attend, struct task *task) {
    if (attend->work->options->dry_run && !task->can_dry_run) {
        task->state = TASK_LOOKED_AT;
        report_task(task);
        return;
    }
    task->state = TASK_RUNNING;
    task->began_ms = cli_now();
    attend->running++;
    report_task(task);
    dx_status status = dx_reginald_run_task(attend->work->host, task->offer, task->dir,
                                            values_of(task), on_ran, task);
    if (status != DX_OK)
        fail_to_ask(attend, task, status);
}

/* Whatever can be begun, or is to be left out. What that decides may decide more. */
static void run_more(struct attend *attend) {
    struct tasks *tasks = attend->tasks;
    bool again = true;
    while (again) {
        again = false;
        for (size_t i = attend->next; i < tasks->count; i++) {
            struct task *task = &tasks->at[i];
            const struct task *need = NULL;
            if (task->state != TASK_WAITING)
                continue;
            int needs = look_at_needs(tasks, task, &need);
            if (needs < 0)
                leave_out(task, need);
            else if (needs > 0 && attend->running < attend->jobs)
                start(attend, task);
            again |= task->state != TASK_WAITING && task->state != TASK_RUNNING;
        }
    }
    while (attend->next < tasks->count && tasks->at[attend->next].state != TASK_WAITING)
        attend->next++;
}

static void run_all(struct attend *attend) {
    attend->next = 0;
    run_more(attend);
    while (attend->running && !cli_interrupts()) {
        size_t before = attend->running;
        work_wait(attend->work);
        if (attend->running != before)
            run_more(attend);
    }
}

/* Settings for a type are checked even if no task uses them. The real host sends them to the
 * plugin, too, before the tasks; without those of a task they may be incomplete, so that others do
 * not. */

static int ask_about(struct work *work, const char *place, const dx_reginald_offer *offer,
                     yyjson_mut_val *list) {
    struct ending *ending = &work->ending;
    dx_json values = yyjson_mut_arr_size(list) ? dx_json_built(list) : dx_json_none();
    ending->done = false;
    dx_status status = dx_reginald_validate_task(work->host, offer, values, work_ended, ending);
    if (status != DX_OK)
        return cli_fail(status == DX_CLOSED ? work_code(work, offer->guest, DX_OUTCOME_LOST)
                                            : CLI_NO_START,
                        "cannot check %s: %s", place, dx_status_name(status));
    while (!ending->done && !cli_interrupts())
        work_wait(work);
    if (!ending->done)
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    bool is_error = ending->outcome == DX_OUTCOME_ERROR;
    if (ending->outcome == DX_OUTCOME_RESULT || (is_error && ending->code == DX_CODE_METHOD))
        return CLI_OK;
    return cli_fail(is_error ? CLI_MISFIT : work_code(work, offer->guest, ending->outcome),
                    "%s: %s: %s", work->file.path, place, ending->why ? ending->why : "");
}

static int check_default(struct work *work, const char *type, yyjson_val *values) {
    const char *revision = work->options->revision;
    bool is_real = revision && (strcmp(revision, "gen-a") == 0 || strcmp(revision, "exact") == 0);
    const dx_reginald_offer *offer = dx_reginald_find(work->host, 1, dx_str(type));
    char why[SETTINGS_WHY] = "out of memory";
    char *place = NULL;
    int code = CLI_OK;
    if (!offer)
        return code;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = doc ? yyjson_mut_arr(doc) : NULL;
    if (asprintf(&place, "defaults.%s", type) < 0)
        place = NULL;
    struct settings settings = {.entries = offer->settings,
                                .file = work->file.path,
                                .tables = {{place, values}},
                                .open = true};
    if (!list || !place)
        code = cli_fail(CLI_NO_START, "out of memory");
    else if (!settings_resolve(&settings, doc, list, why))
        code = cli_fail(CLI_MISFIT, "%s", why);
    else if (is_real)
        code = ask_about(work, place, offer, list);
    yyjson_mut_doc_free(doc);
    free(place);
    return code;
}

static int check_defaults(struct work *work) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(work->file.defaults);
    int code = CLI_OK;
    for (yyjson_val *key; code == CLI_OK && (key = yyjson_obj_iter_next(&iter));)
        code = check_default(work, yyjson_get_str(key), yyjson_obj_iter_get_val(key));
    return code;
}

static int attend_all(struct attend *attend) {
    for (size_t i = 0; i < attend->tasks->count; i++)
        prepare(attend, &attend->tasks->at[i]);
    if (!attend->refused)
        check_all(attend);
    if (!attend->refused && !cli_interrupts())
        run_all(attend);
    attend->leaving = true;
    return report_summary(attend->tasks, attend->work->options->dry_run, cli_interrupts() > 0);
}

int attend_run(struct work *work, struct tasks *tasks) {
    int code = flags_check_used(&work->flags);
    if (code == CLI_OK)
        code = check_defaults(work);
    if (code != CLI_OK)
        return code;
    /* It stays with the tasks: ends of calls come until the host is gone. */
    struct attend *attend = tasks->runner = calloc(1, sizeof *attend);
    if (!attend)
        return cli_fail(CLI_NO_START, "out of memory");
    uint64_t jobs = work->options->jobs;
    *attend = (struct attend){
        .work = work, .tasks = tasks, .jobs = jobs < TASKS_MAX ? (size_t)jobs : TASKS_MAX};
    return attend_all(attend);
}
