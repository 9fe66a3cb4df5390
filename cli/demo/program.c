#include "cli/demo/program.h"

#include "cli/say.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32 };

/* Nobody leaves before the folder is gone: what would end us waits, or is handed on to the program,
 * and ends us in demo_program_close(). SIGCHLD is among them so that it can be waited for. */
static void hold_signals(struct demo_program *program) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    sigemptyset(&program->held);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&program->held, numbers[i]);
    program->signal = 0;
    sigprocmask(SIG_BLOCK, &program->held, &program->mask);
}

int demo_program_open(struct demo_program *program, const char *name) {
    const char *folder = getenv("TMPDIR");
    program->name = name;
    program->trace = NULL;
    program->folder[0] = '\0';
    hold_signals(program);
    if (!demo_find(name, true, program->path))
        return cli_fail(CLI_NO_START, "%s is not beside the command", name);
    snprintf(program->folder, sizeof program->folder, "%.3000s/duplex-demo-XXXXXX",
             folder && *folder ? folder : "/tmp");
    if (!mkdtemp(program->folder)) {
        int number = errno;
        program->folder[0] = '\0';
        return cli_fail(CLI_NO_START, "no temporary folder: %s", strerror(number));
    }
    if (asprintf(&program->trace, "%s/trace.jsonl", program->folder) < 0)
        program->trace = NULL;
    return program->trace ? CLI_OK : cli_fail(CLI_NO_START, "no memory");
}

void demo_program_close(struct demo_program *program) {
    if (program->trace)
        (void)unlink(program->trace);
    if (program->folder[0])
        (void)rmdir(program->folder);
    free(program->trace);
    sigprocmask(SIG_SETMASK, &program->mask, NULL);
    if (program->signal)
        raise(program->signal);
}

/* What it tells goes where our results go, or nowhere. */
static int redirect(posix_spawn_file_actions_t *actions) {
    int number = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!number && cli_voice.json)
        number = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    return number ? number : posix_spawn_file_actions_adddup2(actions, 1, 2);
}

static int spawn(const struct demo_program *program, const char *const *argv, pid_t *ret_pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int number = posix_spawn_file_actions_init(&actions);
    if (number)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number) {
        posix_spawn_file_actions_destroy(&actions);
        return number;
    }
    number = redirect(&actions);
    if (!number)
        number = posix_spawnattr_setsigmask(&attributes, &program->mask);
    if (!number)
        number = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!number)
        number = posix_spawn(ret_pid, program->path, &actions, &attributes,
                             (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* Until it is gone. Its exit code. */
static int await(struct demo_program *program, pid_t pid) {
    int status = 0;
    for (;;) {
        pid_t gone = waitpid(pid, &status, WNOHANG);
        if (gone == pid || (gone < 0 && errno != EINTR))
            return gone == pid && WIFEXITED(status) ? WEXITSTATUS(status) : CLI_ENDED;
        int number = sigwaitinfo(&program->held, NULL);
        if (number < 0 || number == SIGCHLD)
            continue;
        program->signal = number;
        kill(pid, number);
    }
}

int demo_program_run(struct demo_program *program, const char *const *words, int expected) {
    const char *color = cli_voice.colour_out ? "always" : "never";
    const char *argv[WORDS_MAX] = {program->name, words[0],   "--show",      "--color",
                                   color,         "--record", program->trace};
    size_t count = 7;
    for (words++; *words && count < WORDS_MAX - 1; words++)
        argv[count++] = *words;
    argv[count] = NULL;
    pid_t pid;
    cli_flush();
    int number = spawn(program, argv, &pid);
    if (number)
        return cli_fail(CLI_NO_START, "%s can't be run: %s", program->name, strerror(number));
    int code = await(program, pid);
    if (program->signal)
        return CLI_INTERRUPTED;
    if (code == expected)
        return CLI_OK;
    return cli_fail(code != CLI_OK ? code : CLI_ENDED, "%s failed", program->name);
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

int demo_program_count(const struct demo_program *program, struct demo_score *score) {
    dx_trace_reader_config config = dx_trace_reader_defaults();
    dx_trace_reader *reader;
    char piece[65536];
    FILE *file = fopen(program->trace, "rbe");
    if (!file)
        return cli_fail(CLI_ENDED, "%s can't be read: %s", program->trace, strerror(errno));
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

void demo_show_heading(const char *text) {
    printf("%s%s%s\n", cli_paint(stdout, CLI_DIM), text, cli_paint(stdout, CLI_PLAIN));
}

int demo_show_file(const char *path, const char *heading) {
    char line[4096];
    size_t len = 0;
    FILE *file = cli_voice.json ? NULL : fopen(path, "rbe");
    if (cli_voice.json)
        return CLI_OK;
    if (!file)
        return cli_fail(CLI_ENDED, "%s can't be read: %s", path, strerror(errno));
    demo_show_heading(heading);
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
