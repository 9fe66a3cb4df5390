/* What became of the tasks: a line for each, and a last one. */
#include "cli/event.h"
#include "systems/reginald/command/attend.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <string.h>

/* In JSON, and for people. */
static const char *const names[] = {
    [TASK_WAITING] = "waiting", [TASK_RUNNING] = "running",   [TASK_DONE] = "done",
    [TASK_FAILED] = "failed",   [TASK_LEFT_OUT] = "left-out", [TASK_LOOKED_AT] = "looked-at"};
static const char *const labels[] = {[TASK_DONE] = "done",
                                     [TASK_FAILED] = "failed",
                                     [TASK_LEFT_OUT] = "skipped",
                                     [TASK_LOOKED_AT] = "checked"};

static cli_colour colour_of(enum task_state state) {
    return state == TASK_FAILED                                ? CLI_RED
           : state == TASK_LEFT_OUT || state == TASK_LOOKED_AT ? CLI_YELLOW
                                                               : CLI_GREEN;
}

static void report_json(const struct task *task) {
    yyjson_mut_doc *event = cli_event_new("task");
    cli_event_add(event, "task", task->label);
    cli_event_add(event, "type", task->type);
    if (task->offer)
        cli_event_add(event, "plugin", dx_reginald_guest_name(task->offer->guest));
    cli_event_add(event, "state", names[task->state]);
    if (task->why && *task->why)
        cli_event_add(event, "why", task->why);
    if (task->began_ms && task->state != TASK_RUNNING)
        cli_event_add_number(event, "ms", cli_now() - task->began_ms);
    cli_event_put(event);
}

void report_task(const struct task *task) {
    if (cli_voice.json) {
        report_json(task);
        return;
    }
    if (task->state == TASK_RUNNING)
        return;
    printf("%s%-7s%s ", cli_paint(stdout, colour_of(task->state)), labels[task->state],
           cli_paint(stdout, CLI_PLAIN));
    cli_put_safe(stdout, dx_str(task->label));
    fputs(" (", stdout);
    cli_put_safe(stdout, dx_str(task->type));
    putchar(')');
    if (task->why && *task->why) {
        fputs(": ", stdout);
        cli_put_safe(stdout, dx_str(task->why));
    }
    putchar('\n');
    cli_flush();
}

int report_summary(const struct tasks *tasks, bool dry_run, bool interrupted) {
    size_t counts[TASK_LOOKED_AT + 1] = {0};
    const struct task *first = NULL;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *task = &tasks->at[i];
        counts[task->state]++;
        if (!first && task->state == TASK_FAILED)
            first = task;
    }
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("summary");
        cli_event_add_number(event, "tasks", tasks->count);
        cli_event_add_number(event, "done", counts[TASK_DONE]);
        cli_event_add_number(event, "failed", counts[TASK_FAILED]);
        cli_event_add_number(event, "leftOut", counts[TASK_LEFT_OUT]);
        cli_event_add_number(event, "lookedAt", counts[TASK_LOOKED_AT]);
        cli_event_add_number(event, "notRun", counts[TASK_WAITING] + counts[TASK_RUNNING]);
        cli_event_put(event);
    } else {
        printf("%zu done, %zu failed, %zu skipped", counts[TASK_DONE], counts[TASK_FAILED],
               counts[TASK_LEFT_OUT]);
        if (counts[TASK_LOOKED_AT])
            printf(", %zu only checked", counts[TASK_LOOKED_AT]);
        if (counts[TASK_WAITING] + counts[TASK_RUNNING])
            printf(", %zu not run", counts[TASK_WAITING] + counts[TASK_RUNNING]);
        puts(dry_run ? " (dry run)" : "");
    }
    cli_flush();
    if (interrupted)
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    if (first)
        return cli_fail(first->code, "%zu of %zu tasks failed", counts[TASK_FAILED], tasks->count);
    return CLI_OK;
}
