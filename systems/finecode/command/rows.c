#include "systems/finecode/command/rows.h"

#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

/* Steps of one project that are kept: an action has a few, but who knows. */
enum { STEPS_MAX = 64 };

struct row *rows_of(struct rows *rows, dx_finecode_project *project) {
    for (size_t i = rows->from; i < rows->count; i++)
        if (rows->at[i].project == project)
            return &rows->at[i];
    struct row *more = realloc(rows->at, (rows->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    rows->at = more;
    more[rows->count] = (struct row){.project = project, .action = rows->action, .percent = -1};
    return &more[rows->count++];
}

static void step_done(struct step *step) {
    free(step->env);
    free(step->handlers);
    free(step->state);
}

void rows_done(struct rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        struct row *row = &rows->at[i];
        for (size_t j = 0; j < row->step_count; j++)
            step_done(&row->steps[j]);
        free(row->steps);
        free(row->message);
    }
    free(rows->at);
    *rows = (struct rows){.at = NULL};
}

/* One that runs already: the same handlers may run again, later. */
static struct step *find_step(struct row *row, const char *env, const char *handlers) {
    for (size_t i = 0; i < row->step_count; i++) {
        struct step *step = &row->steps[i];
        if (!step->ms && strcmp(step->env, env) == 0 && strcmp(step->handlers, handlers) == 0)
            return step;
    }
    return NULL;
}

static struct step *add_step(struct row *row, const char *env, const char *handlers) {
    if (row->step_count >= STEPS_MAX)
        return NULL;
    struct step *more = realloc(row->steps, (row->step_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    row->steps = more;
    struct step step = {.env = strdup(env), .handlers = strdup(handlers), .began_ms = cli_now()};
    if (!step.env || !step.handlers) {
        step_done(&step);
        return NULL;
    }
    more[row->step_count] = step;
    return &more[row->step_count++];
}

void row_step(struct row *row, const char *env, const char *handlers, const char *state) {
    bool begins = strcmp(state, "started") == 0;
    if (row->state == ROW_WAITING) {
        row->state = ROW_RUNNING;
        row->began_ms = cli_now();
    }
    struct step *step = find_step(row, env, handlers);
    if (!step)
        step = add_step(row, env, handlers);
    char *copy = step ? strdup(state) : NULL;
    if (!copy)
        return;
    free(step->state);
    step->state = copy;
    if (!begins) {
        uint64_t ms = cli_now() - step->began_ms;
        step->ms = ms ? ms : 1;
    }
}

void row_progress(struct row *row, yyjson_val *value) {
    const char *text = yyjson_get_str(yyjson_obj_get(value, "message"));
    yyjson_val *percent = yyjson_obj_get(value, "percentage");
    if (!text || !*text)
        text = yyjson_get_str(yyjson_obj_get(value, "title"));
    char *copy = text ? strdup(text) : NULL;
    if (copy) {
        free(row->message);
        row->message = copy;
    }
    double number = yyjson_is_num(percent) ? yyjson_get_num(percent) : -1;
    if (number >= 0 && number <= 100)
        row->percent = (int)number;
}
