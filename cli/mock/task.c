#include "cli/mock/task.h"

#include "cli/input.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

/* How many may be under way, and how much of what came they may hold; how many actions are done in
 * one turn. */
enum { TASKS_MAX = 10000, BYTES_MAX = 256 << 20, TURN = 1000 };

static void run(struct mock_task *task);

static size_t size_of(const mock_message *message) {
    return message ? strlen(message->text) : 0;
}

static void free_task(struct mock_task *task) {
    struct mock *mock = task->mock;
    struct mock_task **place = &mock->tasks;
    while (*place != task)
        place = &(*place)->next;
    *place = task->next;
    mock->task_count--;
    mock->task_bytes -= size_of(task->about);
    while (task->depth)
        dx_buf_done(&task->level[--task->depth].kept);
    dx_timer_free(task->timer);
    mock_message *about = task->about;
    mock_message_unref(task->answer);
    free(task);
    mock_message_unref(about); /* which may have it answered */
}

static void on_time(dx_timer *timer, void *user) {
    struct mock_task *task = user;
    (void)timer;
    task->waits = MOCK_NEXT;
    run(task);
}

static struct mock_task *new_task(struct mock *mock, mock_message *about, mock_message *answer,
                                  uint64_t count) {
    if (mock->over)
        return NULL;
    if (mock->task_count >= TASKS_MAX || mock->task_bytes + size_of(about) > BYTES_MAX) {
        mock_fail(mock, CLI_LATE, "more than %d rules or %d MiB of messages are in progress",
                  TASKS_MAX, BYTES_MAX >> 20);
        return NULL;
    }
    struct mock_task *task = calloc(1, sizeof *task);
    if (!task || dx_timer_new(mock->loop, on_time, task, &task->timer) != DX_OK) {
        free(task);
        mock_fail(mock, CLI_NO_START, "out of memory");
        return NULL;
    }
    task->mock = mock;
    task->about = mock_message_ref(about);
    task->answer = mock_message_ref(answer);
    task->count = count;
    task->next = mock->tasks;
    mock->tasks = task;
    mock->task_count++;
    mock->task_bytes += size_of(about);
    return task;
}

struct mock_level *mock_push(struct mock_task *task, mock_doing doing, yyjson_val *list) {
    if (task->depth > MOCK_NESTING)
        return NULL;
    struct mock_level *level = &task->level[task->depth++];
    *level = (struct mock_level){.doing = doing, .list = list};
    dx_buf_init(&level->kept, 64 << 20, NULL);
    if (yyjson_is_arr(list))
        yyjson_arr_iter_init(list, &level->iter);
    return level;
}

mock_after mock_pause(struct mock_task *task, uint64_t ms) {
    const struct mock *mock = task->mock;
    bool hurries = mock->input_ended && !mock->deaf_to_end;
    if (hurries && ms && cli_now() + ms > mock->hurry_ms) {
        if (task->about)
            task->about->answered = true; /* nobody waits for it */
        return MOCK_DONE;
    }
    task->wake_ms = cli_now() + ms;
    dx_timer_set(task->timer, ms);
    return MOCK_WAIT;
}

/* The next action of a level; NULL: there is none in this round. */
static yyjson_val *next_action(struct mock_level *level) {
    if (yyjson_is_arr(level->list))
        return yyjson_arr_iter_next(&level->iter);
    if (level->began)
        return NULL;
    level->began = true;
    return level->list;
}

static mock_after next_round(struct mock_task *task, struct mock_level *level) {
    level->left--;
    level->began = false;
    if (yyjson_is_arr(level->list))
        yyjson_arr_iter_init(level->list, &level->iter);
    if (level->doing == MOCK_REPEAT)
        return mock_pause(task, level->every_ms);
    return mock_outlet_full(&task->mock->outlet) ? MOCK_ROOM : MOCK_NEXT;
}

static void close_level(struct mock_task *task) {
    struct mock_level *level = &task->level[task->depth - 1];
    dx_buf kept = level->kept;
    mock_doing doing = level->doing;
    uint64_t piece = level->piece;
    uint64_t pause_ms = level->pause_ms;
    task->depth--;
    if (doing == MOCK_LENGTH)
        task->wrong_length = NULL;
    bool within = false;
    for (size_t i = 0; i < task->depth; i++)
        within |= task->level[i].doing == MOCK_TOGETHER || task->level[i].doing == MOCK_SPLIT_UP;
    if (doing == MOCK_SPLIT_UP && !within)
        mock_outlet_split(&task->mock->outlet, (dx_text){kept.data, kept.len}, piece, pause_ms);
    else if (kept.len)
        mock_put(task->mock, task, (dx_text){kept.data, kept.len});
    dx_buf_done(&kept);
}

/* What was recorded, a line. */

static void play_answer(struct mock_task *task, const mock_line *line) {
    bool is_error = line->parts.error.len;
    dx_slice slice = is_error ? line->parts.error : line->parts.result;
    dx_text body = {line->text + slice.at, slice.len};
    if (!task->about)
        return;
    if (is_error)
        mock_error(task->mock, task, task->about, body);
    else
        mock_result(task->mock, task, task->about, body);
}

/* A host does not leave before it has it. */
static void expect_answer(const struct mock_task *task, const mock_line *line) {
    dx_slice id = line->parts.id;
    dx_slice method = line->parts.method;
    struct mock_ask ask = {.asking = MOCK_ASKED,
                           .id = {line->text + id.at, id.len},
                           .method = {line->text + method.at + 1, method.len - 2},
                           .timeout_ms = mock_patience(task->mock)};
    (void)mock_expect(task->mock, &ask);
}

/* It may be a step of the handshake. */
static void greet_by(struct mock *mock, const mock_line *line) {
    dx_slice method = line->parts.method;
    char *name =
        cli_text_copy((dx_text){line->text + method.at + 1, method.len ? method.len - 2 : 0});
    if (name)
        mock_greet_by(mock, name, true);
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    free(name);
}

static void play_line(struct mock_task *task, const mock_line *line) {
    dx_text text = {line->text, line->len};
    switch (line->kind) {
    case DX_TRACE_STRAY:
        mock_put(task->mock, task, text);
        break;
    case DX_TRACE_STDERR:
        mock_write_errors(text);
        break;
    default:
        if (line->parts.kind == DX_KIND_REQUEST && !line->parts.fault)
            expect_answer(task, line);
        if (line->is_answer)
            play_answer(task, line);
        else
            mock_deliver(task->mock, task, NULL, text, false);
        if (line->parts.kind == DX_KIND_NOTIFICATION && task->mock->side == DX_SIDE_HOST)
            greet_by(task->mock, line);
    }
}

/* The answer came behind those that the other side gave meanwhile to what was asked of it. */
static bool is_too_early(const struct mock_task *task, const mock_entry *entry,
                         const mock_line *line) {
    const struct mock *mock = task->mock;
    if (!line->is_answer || mock->input_ended)
        return false;
    for (const struct mock_call *call = mock->calls; call; call = call->next)
        if (mock_trace_needs(mock->trace, entry, line, dx_str(call->id)))
            return true;
    return false;
}

static mock_after play(struct mock_task *task, struct mock_level *level) {
    const mock_line *line = &level->entry->lines[level->at];
    uint64_t now = cli_now() - level->began_ms;
    uint64_t due = task->mock->trace->real ? line->after_us / 1000 : 0;
    if (due > now)
        return mock_pause(task, due - now);
    if (is_too_early(task, level->entry, line))
        return MOCK_REPLY;
    level->at++;
    play_line(task, line);
    return mock_outlet_full(&task->mock->outlet) ? MOCK_ROOM : MOCK_NEXT;
}

/* Is anything left that could be done? */
static bool has_more(const struct mock_task *task) {
    for (size_t i = 0; i < task->depth; i++) {
        const struct mock_level *level = &task->level[i];
        bool in_list = yyjson_is_arr(level->list) ? level->iter.idx < level->iter.max
                                                  : level->list && !level->began;
        if (in_list || level->left || level->kept.len ||
            (level->doing == MOCK_PLAY && level->at < level->entry->count))
            return true;
    }
    return false;
}

static mock_after step(struct mock_task *task) {
    struct mock_level *level = &task->level[task->depth - 1];
    if (level->doing == MOCK_PLAY && level->at < level->entry->count)
        return play(task, level);
    yyjson_val *action = level->doing == MOCK_PLAY ? NULL : next_action(level);
    if (action)
        return mock_act(task, action);
    if (level->left)
        return next_round(task, level);
    close_level(task);
    return MOCK_NEXT;
}

static void run(struct mock_task *task) {
    unsigned turn = 0;
    if (task->running)
        return;
    task->running = true;
    mock_after after = MOCK_NEXT;
    while (after == MOCK_NEXT && task->depth && !task->dropped && !task->mock->over) {
        if (++turn > TURN)
            after = mock_pause(task, 0);
        else
            after = step(task);
        if (after == MOCK_ROOM && !has_more(task))
            after = MOCK_NEXT;
    }
    task->running = false;
    task->waits = after;
    if (after == MOCK_DONE || !task->depth || task->dropped || task->mock->over)
        free_task(task);
}

void mock_do(struct mock *mock, yyjson_val *actions, mock_message *about, mock_message *answer,
             uint64_t count) {
    struct mock_task *task = new_task(mock, about, answer, count);
    if (!task)
        return;
    mock_push(task, MOCK_DO, actions);
    run(task);
}

void mock_play(struct mock *mock, const mock_entry *entry, mock_message *about) {
    struct mock_task *task = new_task(mock, about, NULL, 0);
    if (!task)
        return;
    struct mock_level *level = mock_push(task, MOCK_PLAY, NULL);
    level->entry = entry;
    level->began_ms = cli_now();
    run(task);
}

void mock_tasks_go_on(struct mock *mock) {
    bool found = true;
    while (found && !mock->over && !mock_outlet_full(&mock->outlet)) {
        found = false;
        for (struct mock_task *task = mock->tasks; task && !found; task = task->next)
            if (task->waits == MOCK_ROOM && !task->running) {
                found = true;
                task->waits = MOCK_NEXT;
                run(task);
                break; /* the list may be another one now */
            }
    }
}

void mock_tasks_replied(struct mock *mock) {
    for (struct mock_task *task = mock->tasks; task; task = task->next)
        if (task->waits == MOCK_REPLY)
            dx_timer_set(task->timer, 0);
}

void mock_tasks_drop(struct mock *mock, const mock_message *about) {
    struct mock_task *task = mock->tasks;
    while (task) {
        struct mock_task *next = task->next;
        if (task->about == about) {
            task->dropped = true;
            if (!task->running)
                free_task(task);
        }
        task = next;
    }
}

void mock_tasks_hurry(struct mock *mock) {
    mock->hurry_ms = cli_now() + MOCK_HURRY_MS;
    mock_tasks_replied(mock);
    bool found = true;
    while (found) {
        found = false;
        for (struct mock_task *task = mock->tasks; task; task = task->next)
            if (task->waits == MOCK_WAIT && task->wake_ms > mock->hurry_ms && !task->running) {
                found = true;
                if (task->about)
                    task->about->answered = true; /* nobody waits for it */
                free_task(task);
                break;
            }
    }
}

void mock_tasks_free(struct mock *mock) {
    struct mock_task *next;
    for (struct mock_task *task = mock->tasks; task; task = next) {
        next = task->next;
        if (task->about)
            task->about->answered = true;
        free_task(task);
    }
}
