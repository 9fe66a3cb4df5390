/* duplex tap: runs a plugin transparently and records its traffic. */
#include "cli/cli.h"

#include "cli/attach.h"
#include "cli/noise_scan.h"
#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/tail.h"
#include "host/recorder.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct tap_options {
    const char *record;
    uint64_t size;
    uint64_t keep;
    uint64_t limit;
    cli_list redact;
    const char *listen;
    bool show;
    const char *attach;
    const char *framing;
    const char *name;
    cli_list env;
    bool inherit_env;
    bool keep_daemons;
    bool clean_env;
    bool small_env;
    const char *cwd;
};

static const struct tap_options usual = {.size = 64 << 20, .keep = 3, .limit = 8 << 20};

/* How long the end waits for those who look on, and for the disk after a signal; how much may wait
 * for the disk, at least; the least and the most that --limit can be; the most that --keep can be.
 */
enum {
    FINISH_MS = 1000,
    SIGNALLED_S = 3,
    WAITING = 128 << 20,
    LIMIT_MIN = 64 << 10,
    LIMIT_MAX = 1 << 28
};
enum { KEEP_MAX = 1000 };

struct work {
    const struct tap_options *options;
    dx_loop *loop;
    dx_recorder *recorder;
    dx_watchers *watchers;
    dx_tap *tap;
    dx_gone gone;
    const char **redact;
    const char **env;
    sigset_t signals;
    bool is_told_to_end; /* by a signal */
    int code;
    bool has_viewer;
    pthread_t viewer;
    int view;            /* what the viewer reads */
    bool in_line;        /* the command's stderr has not ended its last line */
    cli_noise_scan scan; /* of the command's output, if there is no recorder */
};

/* Signals: a thread waits for them, and has them handed on. */

struct handed {
    struct work *work;
    int number;
    bool group;
};

static void hand_on(void *user) {
    struct handed *handed = user;
    if (handed->work->tap)
        dx_tap_signal(handed->work->tap, handed->number, handed->group);
    free(handed);
}

/* What a terminal sends, it sends to all that run in front of it; what somebody sends, to one. The
 * thread is cancelled only while it waits. */
static void *wait_for_signals(void *user) {
    struct work *work = user;
    for (;;) {
        siginfo_t info;
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        int number = sigwaitinfo(&work->signals, &info);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        if (number < 0)
            continue;
        struct handed *handed = malloc(sizeof *handed);
        if (!handed)
            continue;
        work->is_told_to_end |= number != SIGUSR1 && number != SIGUSR2;
        *handed = (struct handed){work, info.si_signo, info.si_code == SI_KERNEL};
        if (dx_loop_post(work->loop, hand_on, handed) != DX_OK)
            free(handed);
    }
    return NULL;
}

static void block_signals(struct work *work) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    sigemptyset(&work->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&work->signals, numbers[i]);
    sigprocmask(SIG_BLOCK, &work->signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* --show: a watcher like others, in a thread, so that a terminal that stands still is no matter. */

static void *view(void *user) {
    struct work *work = user;
    cli_viewing viewing = {.out = stderr, .json = cli_voice.json, .no_stderr = true};
    cli_view(&viewing, work->view);
    return NULL;
}

static bool start_viewer(struct work *work) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    work->view = pair[1];
    if (dx_watchers_add(work->watchers, pair[0]) != DX_OK) {
        close(pair[0]);
        return false;
    }
    work->has_viewer = pthread_create(&work->viewer, NULL, view, work) == 0;
    return work->has_viewer;
}

/* False if it hangs, because nobody takes our standard error. */
static bool viewer_ended(struct work *work) {
    struct timespec until;
    if (!work->has_viewer)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += FINISH_MS / 1000;
    return pthread_clockjoin_np(work->viewer, NULL, CLOCK_MONOTONIC, &until) == 0;
}

/* The parts. */

/* The first text that the command printed and that is not JSON-RPC, as the recorder found it. */
static char noise[DX__NOISE];

static int open_recorder(struct work *work) {
    const struct tap_options *options = work->options;
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_recorder_config config = dx_recorder_defaults(options->record);
    if (!options->record)
        return CLI_OK;
    config.size_max = options->size;
    config.keep = options->keep < KEEP_MAX ? (unsigned)options->keep : KEEP_MAX;
    config.waiting_max = 4 * options->limit > WAITING ? 4 * options->limit : WAITING;
    config.redact = work->redact;
    dx_status status = cli_recorder_open(&config, &work->recorder, &error);
    if (status == DX_OK)
        work->recorder->noise = noise;
    if (status == DX_ERR_INVALID)
        return cli_fail(CLI_USAGE, "--redact: expected names of 1 to 64 bytes, and at most 32"
                                   " pointers");
    if (status != DX_OK)
        return cli_fail(CLI_USAGE, "%s", error.fault ? error.phrase : "out of memory");
    return CLI_OK;
}

static int open_watchers(struct work *work) {
    const struct tap_options *options = work->options;
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_watchers_config config = dx_watchers_defaults();
    if (!options->listen && !options->show)
        return CLI_OK;
    config.path = options->listen;
    if (config.path && strncmp(config.path, "unix:", 5) == 0)
        config.path += 5;
    config.redact = work->redact;
    if (config.waiting_max < 2 * options->limit)
        config.waiting_max = 2 * options->limit;
    if (dx_watchers_open(work->loop, &config, &work->watchers, &error) != DX_OK)
        return cli_fail(CLI_USAGE, "%s", error.fault ? error.phrase : "out of memory");
    if (options->show && !start_viewer(work))
        return cli_fail(CLI_USAGE, "--show: cannot start the viewer");
    return CLI_OK;
}

static void on_bytes(dx_tap *tap, dx_trace_from from, int errors, dx_text bytes, void *user) {
    struct work *work = user;
    (void)tap;
    if (errors && bytes.len)
        work->in_line = bytes.at[bytes.len - 1] != '\n';
    if (!errors && from == DX_TRACE_PLUGIN && !work->recorder)
        cli_noise_scan_feed(&work->scan, bytes);
}

static void on_gone(dx_tap *tap, const dx_gone *gone, void *user) {
    struct work *work = user;
    work->gone = *gone;
    work->tap = dx_tap_free(tap);
    dx_loop_stop(work->loop);
}

/* The relays have copies: if we kept ours, nobody would see that the command closes its own. */
static void leave_standard_fds(void) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        return;
    dup2(nothing, 0);
    dup2(nothing, 1);
    close(nothing);
}

static int start_tap(struct work *work, char **command) {
    const struct tap_options *options = work->options;
    const char *slash = strrchr(command[0], '/');
    dx_tap_config config = dx_tap_defaults((const char *const *)command);
    dx_error error = {.fault = DX_FAULT_NONE};
    config.cwd = options->cwd;
    config.env = work->env;
    config.small_env = options->clean_env || options->small_env;
    config.framing = options->framing ? dx_framing_named(options->framing) : 0;
    config.message_max = options->limit;
    config.name = options->name ? options->name : slash ? slash + 1 : command[0];
    config.run = 1;
    config.recorder = work->recorder;
    config.watchers = work->watchers;
    config.on_bytes = on_bytes;
    config.on_gone = on_gone;
    config.user = work;
    if (dx_tap_start(work->loop, &config, &work->tap, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.fault ? error.phrase : "out of memory");
    leave_standard_fds();
    return CLI_OK;
}

static int run_tap(struct work *work, char **command) {
    pthread_t waiter;
    int code = start_tap(work, command);
    if (code != CLI_OK)
        return code;
    bool waits = pthread_create(&waiter, NULL, wait_for_signals, work) == 0;
    if (!waits)
        sigprocmask(SIG_UNBLOCK, &work->signals, NULL);
    dx_loop_run(work->loop);
    if (waits) {
        pthread_cancel(waiter);
        pthread_join(waiter, NULL);
    }
    if (!work->gone.known)
        return CLI_ENDED;
    return work->gone.signal ? 128 + work->gone.signal : work->gone.code;
}

/* While the rest of the record is written nobody is left to hand a signal on to. Whoever sent one
 * before wants us to leave, and does not wait long. */
static void *leave_on_signal(void *user) {
    const struct work *work = user;
    struct timespec patience = {.tv_sec = work->is_told_to_end ? SIGNALLED_S : 3600};
    int number = 0;
    do {
        number = sigtimedwait(&work->signals, NULL, &patience);
    } while (number == SIGUSR1 || number == SIGUSR2 || (number < 0 && errno == EINTR));
    if (work->recorder)
        cli_record_left();
    _exit(number > 0 ? 128 + number : work->code);
}

static void close_all(struct work *work) {
    pthread_t waiter;
    bool waits = pthread_create(&waiter, NULL, leave_on_signal, work) == 0;
    if (work->watchers)
        dx_watchers_finish(work->watchers, FINISH_MS);
    work->watchers = dx_watchers_free(work->watchers);
    work->loop = cli_loop_free(work->loop);
    bool ended = viewer_ended(work);
    cli_noise_scan_finish(&work->scan);
    if (ended && cli_record_close(work->recorder) && (work->scan.found || noise[0])) {
        const cli_noise_scan *scan = &work->scan;
        fputs(work->in_line ? "\n" : "", stderr);
        cli_warn("%s", cli_noise("the program",
                                 scan->found ? (dx_text){scan->text, scan->len} : dx_str(noise)));
    } else if (!ended) {
        dx_recorder_close(work->recorder, NULL);
    }
    if (!ended)
        _exit(work->code);
    if (waits) {
        pthread_cancel(waiter);
        pthread_join(waiter, NULL);
    }
    if (work->has_viewer)
        close(work->view);
    free(work->redact);
    free(work->env);
}

/* Who writes to us is not interrupted by our waking up: so more is passed on at once, and two busy
 * programs lose less time with switching. Not so for what we start. */
static void let_others_finish(void) {
    struct sched_param none = {.sched_priority = 0};
    if (sched_getscheduler(0) == SCHED_OTHER)
        (void)sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &none);
}

static int tap(const struct tap_options *options, char **command) {
    struct work work = {.options = options,
                        .redact = cli_redactions(&options->redact),
                        .env = cli_ended(&options->env)};
    if (options->framing)
        work.scan.framing = dx_framing_named(options->framing);
    block_signals(&work);
    let_others_finish();
    int code = CLI_OK;
    if (!work.redact || !work.env || cli_loop_new(options->keep_daemons, &work.loop, NULL) != DX_OK)
        code = cli_fail(CLI_NO_START, "cannot start: out of memory or file descriptors");
    if (code == CLI_OK)
        code = open_recorder(&work);
    if (code == CLI_OK)
        code = open_watchers(&work);
    if (code == CLI_OK)
        code = run_tap(&work, command);
    work.code = code;
    close_all(&work);
    return code;
}

#define AT(member) offsetof(struct tap_options, member)

static const cli_option record_options[] = {
    {"record", 'o', CLI_FILE, "FILE",
     "record the traffic in FILE, as a trace; an existing FILE is overwritten, the mode is 0600",
     AT(record)},
    {"size", 0, CLI_SIZE, "SIZE", "start a new FILE when it reaches this size; 0: never (64M)",
     AT(size)},
    {"keep", 0, CLI_COUNT, "N", "how many older files to keep, as FILE.1, FILE.2, …; 0: none (3)",
     AT(keep)},
    {"limit", 0, CLI_SIZE, "SIZE", "pass on longer messages without recording them (8M)",
     AT(limit)},
    {"redact", 0, CLI_TEXTS, "NAME|/POINTER",
     "record *** instead of the value of any member with this name, or of the one at this JSON"
     " Pointer; may be repeated",
     AT(redact)},
    {"framing", 'f', CLI_CHOICE, "header|line|auto",
     "how to split the recorded bytes into messages (auto: decided by the first bytes in each"
     " direction)",
     AT(framing)},
    {"name", 0, CLI_TEXT, "NAME", "the command's name in the trace (its file name)", AT(name)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option view_options[] = {
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"listen", 'l', CLI_FILE, "PATH",
     "let duplex tap --attach connect to this Unix socket (mode 0600)", AT(listen)},
    {"attach", 0, CLI_FILE, "PATH",
     "show the traffic of another tap: the socket of its --listen, or the FILE it records",
     AT(attach)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option command_options[] = {
    {"env", 'e', CLI_TEXTS, "NAME=VALUE", "set a variable for the command; may be repeated",
     AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    CLI_INHERIT_ENV(AT(inherit_env)),
    {"small-env", 0, CLI_FLAG, NULL, "the old name of --clean-env", AT(small_env)},
    {"cwd", 0, CLI_FOLDER, "FOLDER", "run the command in FOLDER", AT(cwd)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

/* Whoever looks on starts and records nothing. */
static int look_on(const struct tap_options *options) {
    const cli_option *tables[] = {record_options, view_options, command_options};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const cli_option *row = tables[i]; row->name; row++)
            if (strcmp(row->name, "attach") != 0 && cli_is_set(row, options, &usual))
                return cli_fail(CLI_USAGE, "--attach and --%s cannot be used together", row->name);
    return cli_attach(options->attach);
}

static int run(const cli_words *words, void *user) {
    const struct tap_options *options = user;
    if (words->count)
        return cli_unexpected(words->at[0]);
    if (options->attach && words->command)
        return cli_fail(CLI_USAGE, "--attach does not take a command");
    if (options->attach)
        return look_on(options);
    if (!words->command || !words->command[0])
        return cli_fail_hint(CLI_USAGE, "duplex tap [OPTION...] -- COMMAND [ARG...]",
                             "missing command after --");
    int code = cli_check_env(&options->env, options->clean_env || options->small_env,
                             options->inherit_env);
    if (code == CLI_OK && options->small_env)
        cli_warn("warning: --small-env is now called --clean-env");
    if (code == CLI_OK)
        code = cli_check_redactions(&options->redact);
    if (code != CLI_OK)
        return code;
    if (options->limit < LIMIT_MIN || options->limit > LIMIT_MAX)
        return cli_fail(CLI_USAGE, "--limit: expected 64k to 256M");
    return tap(options, words->command);
}

static const cli_group groups[] = {
    {"Recording", record_options, 0},
    {"Watching", view_options, 0},
    {"Command", command_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Record what an editor says to clangd; configure the editor to start this instead:",
    "duplex tap -o /tmp/clangd.jsonl -- clangd --background-index",
    "Watch the traffic from another terminal while it runs:",
    "duplex tap --attach /tmp/clangd.jsonl",
    "Watch without a file, and hide two values:",
    "duplex tap --listen \"$XDG_RUNTIME_DIR/s\" --redact token --redact /params/pin -- clangd",
    NULL,
};

const cli_verb cli_tap = {
    .name = "tap",
    .words = "[-o FILE] [OPTION...] -- COMMAND [ARG...]\n"
             "[OPTION...] --attach PATH",
    .summary = "Run a server transparently and record its traffic",
    .text =
        "Put duplex tap where an editor, or any other host, would start COMMAND. It passes every"
        " byte of stdin, stdout and stderr on, unchanged and in order, and exits with COMMAND's"
        " exit code. Recording never delays the traffic: records that the disk cannot take in time"
        " are dropped and counted.",
    .details =
        "COMMAND gets the whole environment. Bytes that are not a message are also passed on, and"
        " recorded as stray text; if COMMAND wrote any, a warning follows on stderr when it has"
        " exited. The trace includes COMMAND's stderr. Values of environment variables and headers"
        " whose names look like secrets (API_KEY, Authorization, …) are recorded as ***.\n\n"
        "The exit code is COMMAND's; 128 plus the signal number if a signal killed it; 3 if"
        " COMMAND cannot be started. SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 are"
        " forwarded to"
        " COMMAND. If the host is gone, duplex tap stops COMMAND: it closes its stdin, sends"
        " SIGTERM after 2 s and SIGKILL 2 s later. If duplex tap is killed, COMMAND is also killed."
        " After COMMAND has exited, writing the rest of the trace takes at most 10 s, or 3 s after"
        " a signal; another signal stops it at once.\n\n"
        "--attach shows the traffic in another terminal; with --json it prints the lines of the"
        " trace. Lines that COMMAND wrote to stderr are marked \"stderr:\". A watcher that reads"
        " too slowly misses records, and sees how many.",
    .old_letters = "a=attach",
    .shown = "record size keep redact framing name show listen attach env clean-env cwd",
    .groups = groups,
    .examples = examples,
    .codes = "345",
    .has_command = true,
    .size = sizeof(struct tap_options),
    .usual = &usual,
    .run = run,
};
