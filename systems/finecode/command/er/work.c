/* A job of a ready-made handler: which files, how many processes, and what they said. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAST_MS = 50, OUTPUT_MAX = 64 << 20, GIT_MS = 30000 };

static void batch_free(struct batch *batch) {
    struct batch **at = &batch->work->batches;
    while (*at && *at != batch)
        at = &(*at)->next;
    if (*at)
        *at = batch->next;
    words_done(&batch->words);
    dx_buf_done(&batch->output);
    free(batch);
}

static void forget_program(struct cli_program *program) {
    if (!program)
        return;
    program->on_output = NULL;
    program->on_errors = NULL;
    program->on_end = NULL;
    cli_program_stop(program, CLI_PROGRAM_STOPPED);
}

static void work_free(struct work *work) {
    struct work **at = &work->runner->works;
    while (*at && *at != work)
        at = &(*at)->next;
    if (*at)
        *at = work->next;
    /* The runner is freed only when all its jobs have ended. */
    if (work->job)
        dx_finecode_job_cancel(work->job);
    forget_program(work->lister);
    while (work->batches) {
        struct batch *first = work->batches;
        work->batches = first->next;
        forget_program(first->program);
        batch_free(first);
    }
    copies_done(&work->copies, &work->files);
    files_done(&work->files);
    words_done(&work->folders);
    messages_done(&work->messages);
    edits_done(&work->edits);
    dx_timer_free(work->timer);
    free(work->program);
    free(work);
}

void works_drop(struct runner *runner) {
    while (runner->works) {
        struct work *first = runner->works;
        runner->works = first->next;
        work_free(first);
    }
}

static void stop_all(struct work *work) {
    if (work->lister)
        cli_program_stop(work->lister, CLI_PROGRAM_STOPPED);
    for (struct batch *batch = work->batches; batch; batch = batch->next)
        if (batch->program)
            cli_program_stop(batch->program, CLI_PROGRAM_STOPPED);
}

void work_fail(struct work *work, const char *why) {
    if (work->why[0])
        return;
    snprintf(work->why, sizeof work->why, "%s", why);
    stop_all(work);
}

void work_fail_file(struct work *work, const char *path, const char *why) {
    char room[400] = "";
    dx__say_str(room, sizeof room - 150, path);
    dx__say_str(room, sizeof room, ": ");
    dx__say_str(room, sizeof room, why);
    work_fail(work, room);
}

/* "path and 5 more: program", and why. */
static void fail_batch(struct work *work, const struct batch *batch, const char *why) {
    char room[800];
    char which[200] = "";
    dx__say_str(which, sizeof which, work->files.at[batch->from].path);
    if (batch->count > 1)
        snprintf(which + strlen(which), sizeof which - strlen(which), " and %zu more",
                 batch->count - 1);
    snprintf(room, sizeof room, "%s: %s%s", which, batch->plan.argv[0], why);
    work_fail(work, room);
}

void work_fail_batch(struct work *work, const struct batch *batch) {
    char why[400];
    snprintf(why, sizeof why, " exited with code %d%s%s", batch->status, batch->tail[0] ? ": " : "",
             batch->tail);
    fail_batch(work, batch, why);
}

void work_fail_output(struct work *work, const struct batch *batch, const char *what) {
    dx_text output = {batch->output.data, batch->output.len};
    char room[200];
    char why[250];
    if (!output.len && batch->status) {
        work_fail_batch(work, batch);
        return;
    }
    snprintf(why, sizeof why, ": its output %s", not_json(what, output, room));
    fail_batch(work, batch, why);
}

const char *work_path(const struct work *work, size_t file) {
    const struct work_file *one = &work->files.at[file];
    return one->copy ? one->copy : one->path;
}

yyjson_mut_val *work_result(struct work *work) {
    struct messages *messages = &work->messages;
    if (!messages->doc)
        messages->doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc *doc = messages->doc;
    if (doc && !messages->by_path)
        messages->by_path = yyjson_mut_obj(doc);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    bool added = root && yyjson_mut_obj_add_val(doc, root, "messages", messages->by_path);
    return added ? root : NULL;
}

void work_done(struct work *work, yyjson_mut_val *result) {
    dx_finecode_job *job = work->job;
    work->job = NULL;
    dx_finecode_job_finish(job, "");
    if (result && work->stop)
        dx_finecode_job_stop(job, dx_json_built(result), work->code);
    else if (result)
        dx_finecode_job_done(job, dx_json_built(result), work->code);
    else
        dx_finecode_job_fail(job, "out of memory");
    work_free(work);
}

/* It has failed or was cancelled, and nothing of it runs any more. */
static void give_up(struct work *work) {
    dx_finecode_job *job = work->job;
    work->job = NULL;
    if (job && work->cancelled)
        dx_finecode_job_cancel(job);
    else if (job)
        dx_finecode_job_fail(job, work->why);
    work_free(work);
}

/* What was found so far, for who looks on. */
static void tell_so_far(struct work *work, const struct batch *batch) {
    struct messages *messages = &work->messages;
    char room[80];
    size_t done = batch->from + batch->count;
    snprintf(room, sizeof room, "%zu of %zu files", done, work->files.count);
    dx_finecode_job_report(work->job, room, (int)(100 * done / work->files.count));
    if (!messages->doc || !dx_finecode_job_is_streamed(work->job))
        return;
    yyjson_mut_val *result = work_result(work);
    dx_status status =
        result ? dx_finecode_job_partial(work->job, dx_json_built(result)) : DX_ERR_NOMEM;
    if (status < 0)
        work_fail(work, status == DX_ERR_NOMEM ? "out of memory" : "its findings are too long");
    yyjson_mut_doc_free(messages->doc);
    messages->doc = NULL;
    messages->by_path = messages->list = NULL;
}

/* In the order of the files, whichever process was the first to end. */
static void read_batches(struct work *work) {
    while (work->batches && !work->batches->program) {
        struct batch *batch = work->batches;
        if (!work->cancelled && !work->why[0])
            work->tool->read(work, batch);
        if (!work->cancelled && !work->why[0])
            tell_so_far(work, batch);
        batch_free(batch);
    }
}

static void on_batch_end(struct cli_program *program) {
    struct batch *batch = program->user;
    struct work *work = batch->work;
    char room[400];
    dx_buf empty = batch->output;
    batch->output = program->output;
    program->output = empty;
    batch->status = program->status;
    batch->program = NULL;
    if (program->end != CLI_PROGRAM_EXITED) {
        cli_program_why(program, &batch->plan, room, sizeof room);
        work_fail(work, room);
    }
    read_batches(work);
    work_step(work);
}

/* The line that says most: the first that speaks of an error, else the last one. */
static bool is_reason(const char *line) {
    return strstr(line, "rror") || strstr(line, "couldn't");
}

static void on_batch_errors(struct cli_program *program, dx_text bytes) {
    struct batch *batch = program->user;
    size_t used = strlen(batch->tail);
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.at[i];
        if (c == '\n')
            batch->ended = true;
        if (c == '\n' || !c)
            continue;
        if (batch->ended && is_reason(batch->tail))
            return;
        if (batch->ended)
            used = 0;
        batch->ended = false;
        if (used + 1 < sizeof batch->tail)
            batch->tail[used++] = c;
        batch->tail[used] = '\0';
    }
}

/* What the arguments of a process may take together, besides those of the configuration. */
static size_t arguments_max(void) {
    enum { MOST = 512 << 10, LEAST = 32 << 10 };
    long max = sysconf(_SC_ARG_MAX) / 4;
    return max < LEAST ? LEAST : max > MOST ? MOST : (size_t)max;
}

static bool is_alone(const struct work *work, size_t file) {
    const struct tool *tool = work->tool;
    return (work->files.at[file].text && !tool->copies) ||
           (tool->is_odd && tool->is_odd(work, file));
}

/* As many files as one process gets: an even share of those that need not be alone. */
static size_t share_of(const struct work *work) {
    const struct files *files = &work->files;
    size_t even = (files->count + work->settings.jobs - 1) / work->settings.jobs;
    size_t most = even < work->tool->batch_max ? even : work->tool->batch_max;
    size_t count = 1;
    size_t used = strlen(work_path(work, work->at));
    size_t max = arguments_max();
    if (is_alone(work, work->at))
        return 1;
    while (count < most && work->at + count < files->count && !is_alone(work, work->at + count) &&
           (used += strlen(work_path(work, work->at + count)) + 1 + sizeof(char *)) <= max)
        count++;
    return count;
}

static bool make_words(struct work *work, struct batch *batch, bool by_input) {
    if (!words_add(&batch->words, work->program) || !work->tool->words(work, batch) ||
        !words_add_all(&batch->words, work->settings.args))
        return false;
    for (size_t i = 0; i < batch->count && !by_input && !work->settings.whole; i++)
        if (!words_add(&batch->words, work_path(work, batch->from + i)))
            return false;
    return true;
}

/* The system's reason does not say where the program was looked for. */
static const char *say_missing(const struct work *work, char room[400]) {
    const char *name = work->program;
    bool npm = work->tool->npm;
    bool is_package = npm && work->tool->program && strcmp(name, work->tool->program) == 0;
    snprintf(room, 400, "cannot start %.100s: it is not in %sPATH%s%.100s", name,
             npm ? "node_modules/.bin or " : "",
             is_package ? "; install it with npm install --save-dev " : "", is_package ? name : "");
    return room;
}

static void start_batch(struct work *work) {
    char room[400];
    struct batch *batch = calloc(1, sizeof *batch);
    const struct work_file *file = &work->files.at[work->at];
    bool by_input = file->text && !work->tool->copies;
    if (!batch) {
        work_fail(work, "out of memory");
        return;
    }
    batch->work = work;
    dx_buf_init(&batch->output, 0, NULL);
    batch->from = work->at;
    batch->count = share_of(work);
    work->at += batch->count;
    const char *why = "out of memory";
    if (make_words(work, batch, by_input)) {
        batch->plan = (struct cli_program_plan){
            .argv = batch->words.at,
            .cwd = work->runner->project,
            .input = {by_input ? file->text : NULL, file->len},
            .joined = work->tool->joined,
            .timeout_ms = work->settings.timeout_ms,
            .output_max = OUTPUT_MAX,
        };
        why = cli_program_start(&work->runner->programs, &batch->plan, room, sizeof room,
                                &batch->program);
        if (why && !strchr(work->program, '/') && !dx_program_is_there(work->program))
            why = say_missing(work, room);
    }
    if (why) {
        work_fail(work, why);
        batch_free(batch);
        return;
    }
    batch->program->on_errors = on_batch_errors;
    batch->program->on_end = on_batch_end;
    batch->program->user = batch;
    struct batch **last = &work->batches;
    while (*last)
        last = &(*last)->next;
    *last = batch;
}

void work_step(struct work *work) {
    size_t running = 0;
    bool over = work->cancelled || work->why[0];
    for (struct batch *batch = work->batches; batch; batch = batch->next)
        running += batch->program != NULL;
    while (!over && running < work->settings.jobs && work->at < work->files.count) {
        start_batch(work);
        running++;
        over = work->why[0];
    }
    if (work->batches || work->lister || work->asking)
        return;
    if (over)
        give_up(work);
    else if (work->tool->finish)
        work->tool->finish(work);
    else
        work_done(work, work_result(work));
}

/* What is not on the disk as it counts. False: there is nothing to look at. */
static bool read_text(struct work *work, struct work_file *file) {
    dx_error error = {.fault = DX_FAULT_NONE};
    char *text = NULL;
    size_t len = 0;
    size_t disk_len = 0;
    if (dx_finecode_job_read(work->job, file->path, &text, &len, &error) != DX_OK) {
        /* It was removed since it was listed. */
        if (!file->named && error.system == ENOENT)
            return false;
        work_fail(work, error.phrase[0] ? error.phrase : "out of memory");
        return true;
    }
    file->hash = text_hash(text, len);
    char *disk = file_read(file->path, &disk_len);
    bool same = disk && disk_len == len && memcmp(disk, text, len) == 0;
    free(disk);
    if (same)
        free(text);
    file->text = same ? NULL : text;
    file->len = same ? 0 : len;
    return len || !work->tool->skips_empty;
}

static void read_texts(struct work *work) {
    char room[400];
    struct files *files = &work->files;
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        if (work->why[0] || read_text(work, &files->at[i]))
            files->at[kept++] = files->at[i];
        else
            file_done(&files->at[i]);
    }
    files->count = kept;
    if (!work->why[0] && work->tool->copies &&
        !copies_make(&work->copies, &work->files, room, sizeof room))
        work_fail(work, room);
}

/* The files are known. */
static void begin(struct work *work) {
    if (work->folders.count && !files_keep_below(&work->files, &work->folders))
        work_fail(work, "out of memory");
    files_filter(&work->files, work);
    if (!work->why[0])
        read_texts(work);
    if (work->files.count && !work->why[0])
        dx_finecode_job_begin(work->job, work->settings.program, "", (int64_t)work->files.count);
    work_step(work);
}

/* The project stands for its files. */
static void begin_whole(struct work *work) {
    files_done(&work->files);
    if (!files_add(&work->files, strdup(work->runner->project)))
        work_fail(work, "out of memory");
    else
        dx_finecode_job_begin(work->job, work->settings.program, "", 1);
    work_step(work);
}

static void walk(struct work *work) {
    if (!files_walk(&work->files, work->runner->project))
        work_fail(work, "out of memory");
    begin(work);
}

/* What git does not know, or ignores as a whole, is looked for. */
static void on_list(struct cli_program *program) {
    struct work *work = program->user;
    dx_text list = {program->output.data, program->output.len};
    work->lister = NULL;
    if (work->cancelled || work->why[0])
        work_step(work);
    else if (program->end != CLI_PROGRAM_EXITED || program->status || !list.len)
        walk(work);
    else {
        if (!files_split(&work->files, list, work->runner->project))
            work_fail(work, "out of memory");
        begin(work);
    }
}

static void list_files(struct work *work) {
    /* For a hook in a second worktree, git sets GIT_DIR; it would take the project for the whole
     * worktree then. */
    static const char *const words[] = {"env",      "-u",       "GIT_DIR",
                                        "git",      "ls-files", "-z",
                                        "--cached", "--others", "--exclude-standard",
                                        NULL};
    const char *const *argv = getenv("GIT_WORK_TREE") ? words + 3 : words;
    char room[400];
    work->plan = (struct cli_program_plan){.argv = (char *const *)(uintptr_t)argv,
                                           .cwd = work->runner->project,
                                           .timeout_ms = GIT_MS,
                                           .output_max = OUTPUT_MAX};
    if (cli_program_start(&work->runner->programs, &work->plan, room, sizeof room, &work->lister)) {
        walk(work);
        return;
    }
    work->lister->on_end = on_list;
    work->lister->user = work;
}

static void on_time(dx_timer *timer, void *user) {
    struct work *work = user;
    dx_finecode_job *job = work->job;
    (void)timer;
    if (work->asking || !job)
        return;
    work->job = NULL;
    dx_finecode_job_cancel(job);
}

/* The job is ended when all of it is dead, or a moment later; that goes on without it. */
static void on_cancel(dx_finecode_job *job, void *user) {
    struct work *work = user;
    (void)job;
    work->cancelled = true;
    stop_all(work);
    dx_timer_set(work->timer, LAST_MS);
}

struct work *work_new(struct runner *runner, const struct tool *tool, dx_finecode_job *job) {
    struct work *work = calloc(1, sizeof *work);
    if (!work || dx_timer_new(runner->loop, on_time, work, &work->timer) != DX_OK) {
        free(work);
        dx_finecode_job_fail(job, "out of memory");
        return NULL;
    }
    work->runner = runner;
    work->tool = tool;
    work->job = job;
    work->next = runner->works;
    runner->works = work;
    dx_finecode_job_keep(job);
    dx_finecode_job_on_cancel(job, on_cancel, work);
    return work;
}

void work_run(dx_finecode_job *job, void *user) {
    const struct tool_binding *binding = user;
    struct runner *runner = binding->runner;
    yyjson_val *files = yyjson_obj_get(dx_finecode_job_payload(job), "files");
    struct work *work = work_new(runner, binding->tool, job);
    if (!work)
        return;
    bool named = files && !yyjson_is_null(files);
    if (!settings_read(work->tool, dx_finecode_job_config(job), &work->settings, work->why,
                       sizeof work->why) ||
        (named && !files_take(&work->files, &work->folders, files, runner->project, work->why,
                              sizeof work->why))) {
        give_up(work);
        return;
    }
    const char *program = work->settings.program;
    work->program = work->tool->npm ? find_program(program, runner->project) : strdup(program);
    if (!work->program)
        work_fail(work, "out of memory");
    if (work->settings.whole)
        begin_whole(work);
    else if (named && !work->folders.count)
        begin(work);
    else
        list_files(work);
}
