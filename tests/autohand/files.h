/* An agent that is nothing but a workspace, a batch and jobs, for the tests of these: what the rest
 * of an agent would be told is noted as lines in `told`. */
#ifndef AUTOHAND_FILES_H
#define AUTOHAND_FILES_H

#include "unit/unit.h"

#include "systems/autohand/files_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

struct dx_autohand_job {
    dx_autohand_agent *agent;
    yyjson_doc *args;
    struct dx__autohand_call call;
    void (*on_cancel)(dx_autohand_job *job, void *user);
    void (*on_drained)(dx_autohand_job *job, void *user);
    void *user;
    uint64_t waiting; /* bytes that a client has not read yet … */
    uint64_t full;    /* … of which so many are too many; 0: it reads at once */
    uint64_t said[2];
    dx_buf heard; /* the first of what was said */
    unsigned says;
    bool kept;
    int ended; /* 0, or 'd', 'f', 'l' */
    char *output;
};

struct files {
    dx_autohand_agent agent;
    dx_loop *loop;
    char top[PATH_MAX];     /* the workspace … */
    char outside[PATH_MAX]; /* … and a folder beside it, that nobody may touch */
    struct unit_memory memory;
};

static char told[1 << 16];

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list args;
    size_t len = strlen(told);
    va_start(args, format);
    (void)vsnprintf(told + len, sizeof told - len, format, args);
    va_end(args);
}

/* What others do for an agent. */

void dx__autohand_new_id(dx_autohand_agent *agent, const char *prefix, char room[64]) {
    (void)snprintf(room, 64, "%s_%llu", prefix, (unsigned long long)++agent->ids);
}

void dx__autohand_log(dx_autohand_agent *agent, const char *level, const char *format, ...) {
    (void)agent;
    (void)format;
    note("log %s\n", level);
}

void dx__autohand_tell_batch_start(dx_autohand_agent *agent, const char *batch, const char *turn) {
    (void)agent;
    note("start %s %s\n", batch, turn);
}

void dx__autohand_tell_change(dx_autohand_agent *agent, const char *batch,
                              const struct dx__autohand_told_change *change,
                              const struct dx__autohand_call *call) {
    (void)agent;
    note("change %s %s %s %s \"%.*s\" \"%.*s\" %s by %s\n", batch, change->id, change->type,
         change->path, (int)change->before.len, change->before.at, (int)change->after.len,
         change->after.at, change->description, call ? call->tool_id : "nobody");
}

void dx__autohand_tell_batch_end(dx_autohand_agent *agent, const char *batch, size_t count) {
    (void)agent;
    note("end %s %zu\n", batch, count);
}

void dx__autohand_tell_hook(dx_autohand_agent *agent,
                            const struct dx__autohand_occasion *occasion) {
    (void)agent;
    assert_int_equal(occasion->event, DX__HOOK_FILE_MODIFIED);
    note("modified %s %s %s\n", occasion->change_type.at, occasion->path.at, occasion->tool_id.at);
}

dx_status
dx__autohand_hooks_run(dx_autohand_agent *agent, const struct dx__autohand_occasion *occasion,
                       void (*on_done)(void *user, const struct dx__autohand_reply *reply),
                       void *user, struct dx__autohand_hooking **ret) {
    (void)agent;
    (void)occasion;
    (void)user;
    assert_null(on_done);
    assert_null(ret);
    return DX_OK;
}

/* Jobs. */

yyjson_val *dx_autohand_job_args(const dx_autohand_job *job) {
    return yyjson_doc_get_root(job->args);
}

dx_autohand_agent *dx_autohand_job_agent(const dx_autohand_job *job) {
    return job->agent;
}

dx_loop *dx_autohand_job_loop(const dx_autohand_job *job) {
    return job->agent->loop;
}

void dx_autohand_job_say(dx_autohand_job *job, int errors, dx_text bytes) {
    assert_int_equal(job->ended, 0);
    job->said[errors]++;
    job->says++;
    job->waiting += bytes.len;
    if (job->heard.len < 4096)
        assert_int_equal(dx_buf_append(&job->heard, bytes.at, bytes.len), DX_OK);
}

int dx_autohand_job_is_full(const dx_autohand_job *job) {
    return job->full && job->waiting > job->full;
}

void dx_autohand_job_keep(dx_autohand_job *job, void (*on_cancel)(dx_autohand_job *job, void *user),
                          void (*on_drained)(dx_autohand_job *job, void *user), void *user) {
    assert_int_equal(job->ended, 0);
    assert_false(job->kept);
    job->kept = true;
    job->on_cancel = on_cancel;
    job->on_drained = on_drained;
    job->user = user;
}

static void end_job(dx_autohand_job *job, int how, dx_text text) {
    assert_int_equal(job->ended, 0);
    assert_non_null(text.at);
    job->ended = how;
    job->output = calloc(1, text.len + 1);
    memcpy(job->output, text.at, text.len);
    dx_loop_stop(job->agent->loop);
}

void dx_autohand_job_done(dx_autohand_job *job, dx_text output) {
    end_job(job, 'd', output);
}

void dx_autohand_job_fail(dx_autohand_job *job, dx_text why) {
    end_job(job, 'f', why);
}

void dx_autohand_job_late(dx_autohand_job *job, dx_text why) {
    end_job(job, 'l', why);
}

dx_status dx_autohand_job_read(dx_autohand_job *job, const char *path, dx_text *ret_text,
                               dx_error *reterr) {
    char *bytes;
    size_t len;
    dx_status status = dx__autohand_batch_read(job->agent, path, &bytes, &len, reterr);
    if (status == DX_OK)
        *ret_text = (dx_text){bytes, len};
    return status;
}

dx_status dx_autohand_job_write(dx_autohand_job *job, const char *path, dx_text text,
                                const char *description, dx_error *reterr) {
    return dx__autohand_batch_write(job->agent, &job->call, path, text, description, reterr);
}

/* Runs a tool to its end, or until it is kept. */
__attribute__((unused)) static dx_autohand_job *run_tool(struct files *files, const char *tool,
                                                         const char *args) {
    dx_autohand_job *job = calloc(1, sizeof *job);
    const dx_autohand_tool *row = dx__autohand_tools;
    static char id[] = "t1";
    assert_non_null(job);
    while (row->name && strcmp(row->name, tool) != 0)
        row++;
    assert_non_null(row->name);
    job->agent = &files->agent;
    job->args = yyjson_read(args, strlen(args), 0);
    assert_non_null(job->args);
    job->call = (struct dx__autohand_call){.agent = &files->agent, .tool_id = id};
    dx_buf_init(&job->heard, 1 << 20, NULL);
    row->run(job, row->user);
    assert_true(job->ended || job->kept);
    return job;
}

__attribute__((unused)) static void job_free(dx_autohand_job *job) {
    assert_true(job->ended);
    yyjson_doc_free(job->args);
    dx_buf_done(&job->heard);
    free(job->output);
    free(job);
}

__attribute__((unused)) static dx_autohand_job *run_to_end(struct files *files, const char *tool,
                                                           const char *args) {
    dx_autohand_job *job = run_tool(files, tool, args);
    while (!job->ended)
        assert_int_equal(dx_loop_run(files->loop), DX_OK);
    return job;
}

/* How it ended ('d', 'f', 'l') and with which text. */
__attribute__((unused)) static void must_end(struct files *files, const char *tool,
                                             const char *args, int how, const char *output) {
    dx_autohand_job *job = run_to_end(files, tool, args);
    if (output)
        assert_string_equal(job->output, output);
    assert_int_equal(job->ended, how);
    job_free(job);
}

/* Files. */

/* A path in the workspace; good until the next four calls. */
static const char *in_top(const struct files *files, const char *name) {
    static char rooms[4][2 * PATH_MAX];
    static unsigned next;
    char *room = rooms[next++ % 4];
    (void)snprintf(room, sizeof rooms[0], "%s/%s", files->top, name);
    return room;
}

/* With the folders above it; "../outside/x" is beside the workspace. */
__attribute__((unused)) static void put(const struct files *files, const char *name,
                                        const char *text) {
    char path[2 * PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", files->top, name);
    for (char *at = path + strlen(files->top) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* NULL: it is not there. */
__attribute__((unused)) static void must_have(const struct files *files, const char *name,
                                              const char *text) {
    char room[65536];
    FILE *file = fopen(in_top(files, name), "r");
    if (!text) {
        assert_null(file);
        return;
    }
    assert_non_null(file);
    size_t len = fread(room, 1, sizeof room - 1, file);
    (void)fclose(file);
    room[len] = '\0';
    assert_string_equal(room, text);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

__attribute__((unused)) static int set_up(void **state) {
    static struct files files;
    const char *place = getenv("TMPDIR");
    char room[PATH_MAX - 16];
    dx_error error;
    files = (struct files){.memory = {.fail_at = 0}};
    (void)snprintf(room, sizeof room, "%s/autohand-files-XXXXXX", place ? place : "/tmp");
    assert_non_null(mkdtemp(room));
    char *base = realpath(room, NULL);
    assert_non_null(base);
    (void)snprintf(files.top, sizeof files.top, "%s/top", base);
    (void)snprintf(files.outside, sizeof files.outside, "%s/outside", base);
    free(base);
    assert_int_equal(mkdir(files.top, 0700), 0);
    assert_int_equal(mkdir(files.outside, 0700), 0);
    dx_autohand_agent *agent = &files.agent;
    agent->alloc = unit_allocator(&files.memory);
    agent->config.file_max = 1 << 20;
    agent->config.line_max = 64 << 20;
    agent->config.batch_max = 4 << 20;
    agent->config.output_max = 64 << 10;
    agent->config.command_ms = 60000;
    assert_int_equal(dx_loop_new(NULL, &files.loop, NULL), DX_OK);
    agent->loop = files.loop;
    assert_int_equal(dx__autohand_workspace_open(&agent->workspace, files.top,
                                                 agent->config.file_max, &agent->alloc, &error),
                     DX_OK);
    told[0] = '\0';
    *state = &files;
    return 0;
}

__attribute__((unused)) static int tear_down(void **state) {
    struct files *files = *state;
    char *slash = strrchr(files->top, '/');
    dx__autohand_batch_free(&files->agent);
    dx__autohand_workspace_close(&files->agent.workspace);
    dx_loop_free(files->loop);
    assert_int_equal(files->memory.blocks, 0);
    *slash = '\0';
    return nftw(files->top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
