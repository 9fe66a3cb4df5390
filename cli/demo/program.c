#include "cli/demo/program.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 32 };

int demo_program_open(struct demo_program *program, const char *name) {
    const char *folder = getenv("TMPDIR");
    program->name = name;
    program->trace = NULL;
    program->folder[0] = '\0';
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
}

/* What it tells goes where our results go, or nowhere. It hears the signals that we have caught or
 * ignore. */
static int spawn(const struct demo_program *program, const char *const *argv, pid_t *ret_pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t ignored;
    int number = posix_spawn_file_actions_init(&actions);
    if (number)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number) {
        posix_spawn_file_actions_destroy(&actions);
        return number;
    }
    sigemptyset(&none);
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!number && cli_voice.json)
        number = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!number)
        number = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!number)
        number = posix_spawn(ret_pid, program->path, &actions, &attributes,
                             (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* How it ended, as waitpid() has it. When we are told to end it is, too; the second time it must.
 */
static int wait_for(pid_t pid) {
    struct pollfd fds[] = {{(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0},
                           {cli_signal_fd(), POLLIN, 0}};
    int status = 0;
    for (int told = 0; fds[0].fd >= 0 && !fds[0].revents;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (!fds[1].revents)
            continue;
        cli_take_signals();
        kill(pid, told++ ? SIGKILL : SIGTERM);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 2; i++)
        if (fds[i].fd >= 0)
            close(fds[i].fd);
    return status;
}

/* Where it writes, we do: if a line of ours is not taken, that is why it failed. */
static bool is_output_lost(void) {
    if (!cli_voice.json)
        putchar('\n');
    cli_flush();
    return cli_voice.lost;
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
    int status = wait_for(pid);
    if (cli_interrupts())
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_ENDED;
    if (code == expected)
        return CLI_OK;
    if (is_output_lost())
        return cli_finish(CLI_OK);
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
