#include "cli/demo/editor.h"

#include "cli/say.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const demo_editor_name = "hermes-normalise";
const char *const demo_editor_sentence = "an editor and an extension that changes its message";

static const char program_name[] = "duplex-hermes";
static const char message_name[] = "adt.hl7";

/* Where everything is, and where this scene may write. */
struct stage {
    char program[DEMO_PATH];
    char extension[DEMO_PATH];
    char message[DEMO_PATH];
    char folder[DEMO_PATH];
    char *words; /* the extension as a word of --extension */
    char *after; /* the message when it was edited */
    char *trace;
};

static bool find_all(struct stage *stage) {
    return demo_find(program_name, true, stage->program) &&
           demo_find(demo_editor_name, true, stage->extension) &&
           demo_find(message_name, false, stage->message);
}

bool demo_has_editor(void) {
    struct stage *stage = calloc(1, sizeof *stage);
    bool has = stage && find_all(stage);
    free(stage);
    return has;
}

/* In single quotes, as --extension splits it. */
static char *quote(const char *path) {
    char *quoted = malloc(4 * strlen(path) + 3);
    char *to = quoted;
    if (!quoted)
        return NULL;
    *to++ = '\'';
    for (; *path; path++) {
        if (*path == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *path;
        }
    }
    memcpy(to, "'", 2);
    return quoted;
}

static int open_stage(struct stage *stage) {
    const char *folder = getenv("TMPDIR");
    if (!find_all(stage))
        return cli_fail(CLI_NO_START, "%s is not beside the command", program_name);
    snprintf(stage->folder, sizeof stage->folder, "%.3000s/duplex-demo-XXXXXX",
             folder && *folder ? folder : "/tmp");
    if (!mkdtemp(stage->folder)) {
        int number = errno;
        stage->folder[0] = '\0';
        return cli_fail(CLI_NO_START, "no temporary folder: %s", strerror(number));
    }
    stage->words = quote(stage->extension);
    if (asprintf(&stage->after, "%s/after.hl7", stage->folder) < 0)
        stage->after = NULL;
    if (asprintf(&stage->trace, "%s/trace.jsonl", stage->folder) < 0)
        stage->trace = NULL;
    return stage->words && stage->after && stage->trace ? CLI_OK
                                                        : cli_fail(CLI_NO_START, "no memory");
}

static void close_stage(struct stage *stage) {
    if (stage->after)
        (void)unlink(stage->after);
    if (stage->trace)
        (void)unlink(stage->trace);
    if (stage->folder[0])
        (void)rmdir(stage->folder);
    free(stage->words);
    free(stage->after);
    free(stage->trace);
    free(stage);
}

/* A segment of the message ends with CR. */
static int show_message(const char *path, const char *when) {
    char line[4096];
    size_t len = 0;
    FILE *file = cli_voice.json ? NULL : fopen(path, "rbe");
    if (cli_voice.json)
        return CLI_OK;
    if (!file)
        return cli_fail(CLI_ENDED, "%s can't be read: %s", path, strerror(errno));
    printf("%s%s%s\n", cli_paint(stdout, CLI_DIM), when, cli_paint(stdout, CLI_PLAIN));
    for (int c = 0; c != EOF;) {
        c = getc(file);
        bool is_end = c == '\r' || c == '\n' || c == EOF;
        if (!is_end)
            line[len++] = (char)c;
        if (len == sizeof line || (is_end && len)) {
            fputs(len == sizeof line ? "" : "  ", stdout);
            cli_put_safe(stdout, (dx_text){line, len});
            fputs(is_end ? "\n" : "", stdout);
            len = 0;
        }
    }
    fclose(file);
    return CLI_OK;
}

/* What it tells goes where our results go, or nowhere. */
static int spawn(const struct stage *stage, pid_t *ret_pid) {
    static const char *const fixed[] = {"host",   "--run",    "names/normalise",
                                        "--show", "--settle", "200ms"};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    const char *color = cli_voice.colour_out ? "always" : "never";
    const char *const others[] = {"--color", color,         "--extension",  stage->words,
                                  "--data",  stage->folder, "--record",     stage->trace,
                                  "--write", stage->after,  stage->message, NULL};
    const char *argv[1 + FIXED + sizeof others / sizeof others[0]] = {program_name};
    posix_spawn_file_actions_t actions;
    memcpy(argv + 1, fixed, sizeof fixed);
    memcpy(argv + 1 + FIXED, others, sizeof others);
    int number = posix_spawn_file_actions_init(&actions);
    if (number)
        return number;
    number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!number && cli_voice.json)
        number = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!number)
        number = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!number)
        number = posix_spawn(ret_pid, stage->program, &actions, NULL,
                             (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

static int run_editor(const struct stage *stage) {
    pid_t pid;
    int status = 0;
    cli_flush();
    int number = spawn(stage, &pid);
    if (number)
        return cli_fail(CLI_NO_START, "%s can't be run: %s", program_name, strerror(number));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return CLI_OK;
    return cli_fail(WIFEXITED(status) ? WEXITSTATUS(status) : CLI_ENDED, "%s failed", program_name);
}

static void count(const dx_trace_record *record, struct demo_score *score) {
    if (record->kind != DX_TRACE_MESSAGE)
        return;
    score->sent += record->from == DX_TRACE_HOST;
    score->came += record->from == DX_TRACE_PLUGIN;
    yyjson_doc *doc = yyjson_read(record->text.at, record->text.len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (record->from == DX_TRACE_PLUGIN) {
        score->results += yyjson_obj_get(root, "result") != NULL;
        score->refused += yyjson_obj_get(root, "error") != NULL;
        score->asked_back += yyjson_obj_get(root, "method") && yyjson_obj_get(root, "id");
    }
    yyjson_doc_free(doc);
}

/* What is read so far; false if it is no trace, which is told. */
static bool take_records(dx_trace_reader *reader, struct demo_score *score) {
    dx_trace_record record;
    dx_error error;
    dx_status status;
    while ((status = dx_trace_next(reader, &record, &error)) == DX_OK)
        count(&record, score);
    if (status == DX_AGAIN || status == DX_CLOSED)
        return true;
    cli_fail(CLI_VIOLATION, "the trace: %s", error.phrase);
    return false;
}

static int read_trace(const char *path, struct demo_score *score) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    dx_trace_reader *reader;
    char piece[65536];
    FILE *file = fopen(path, "rbe");
    if (!file)
        return cli_fail(CLI_ENDED, "%s can't be read: %s", path, strerror(errno));
    if (dx_trace_reader_new(&config, &reader) != DX_OK) {
        fclose(file);
        return cli_fail(CLI_NO_START, "no memory");
    }
    bool good = true;
    for (size_t len; good && (len = fread(piece, 1, sizeof piece, file)) > 0;)
        for (size_t at = 0, used; good && at < len; at += used) {
            good = dx_trace_feed(reader, piece + at, len - at, &used) != DX_ERR_NOMEM;
            good = good && take_records(reader, score);
        }
    dx_trace_finish(reader);
    good = good && take_records(reader, score);
    dx_trace_reader_free(reader);
    fclose(file);
    return good ? CLI_OK : CLI_VIOLATION;
}

int demo_play_editor(struct demo_score *score) {
    struct stage *stage = calloc(1, sizeof *stage);
    uint64_t began = dx_recorder_now_us();
    if (!stage)
        return cli_fail(CLI_NO_START, "no memory");
    int code = open_stage(stage);
    if (code == CLI_OK)
        code = show_message(stage->message, "before:");
    if (code == CLI_OK)
        code = run_editor(stage);
    if (code == CLI_OK)
        code = show_message(stage->after, "after:");
    if (code == CLI_OK)
        code = read_trace(stage->trace, score);
    score->us = dx_recorder_now_us() - began;
    close_stage(stage);
    return code;
}
