/* duplex run: keeps the peers of a configuration running. */
#include "cli/cli.h"

#include "cli/run/config.h"
#include "cli/run/control.h"
#include "cli/run/crew.h"
#include "cli/run/desk.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct run_options {
    cli_run_options run;
    const char *config;
    const char *sum;
    uint64_t log_max;
    uint64_t start_ms;
    bool keep_daemons;
};

struct run {
    dx_loop *loop;
    cli_config config;
    struct crew crew;
    struct desk desk;
    bool keep_daemons;
    const struct crew_peer *awaited; /* by the waiting line; NULL: none … */
    uint64_t awaited_ms;             /* … since then */
};

/* The limit for a start, if none is given; how long those who ask may take to hear the last word.
 */
enum {
    START_MS = 10000,
    FAREWELL_MS = 2500,
    LOG_LEAST = 1024,
    LOG_MOST = 64 << 20,
    LOG_USUAL = 256 << 10
};

/* Each peer takes some descriptors, and the usual limit is for programs that need few. */
static void raise_limit(size_t peers) {
    struct rlimit limit;
    rlim_t need = peers * 6 + (rlim_t)DESK_CLIENTS_MAX * 2 + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
        return;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* On a terminal, the first server that is still starting is named. */
static void show_waiting(struct run *run) {
    const struct crew_peer *peer = NULL;
    for (size_t i = 0; i < run->crew.count && !peer; i++)
        if (run->crew.peers[i].state == DX_STATE_STARTING)
            peer = &run->crew.peers[i];
    uint64_t since = peer ? peer->began_ms : 0;
    if (peer == run->awaited && since == run->awaited_ms)
        return;
    run->awaited = peer;
    run->awaited_ms = since;
    uint64_t own = peer && peer->config->start_ms ? peer->config->start_ms : run->crew.start_ms;
    if (peer)
        cli_control_waits_for(peer->config->name, own ? own : START_MS);
    else
        cli_waiting_end();
}

static void turn(struct run *run, uint64_t until) {
    show_waiting(run);
    cli_wait(run->loop, until);
    desk_tend(&run->desk);
}

/* Every peer has ended by itself: as nothing is left to wait for, so does the run. */
static int report_end(const struct run *run, size_t failed) {
    size_t count = run->crew.count;
    if (!failed) {
        cli_note("every server has exited");
        return run->config.flawed ? CLI_USAGE : CLI_OK;
    }
    return cli_fail_hint(CLI_NO_START, "fix the cause and start duplex run again",
                         failed == count ? "every server has failed"
                                         : "no server is left: %zu of %zu failed, the others"
                                           " exited",
                         failed, count);
}

/* Until all peers are gone; a second signal has no patience. */
static int attend(struct run *run) {
    size_t failed;
    while (!run->desk.down && !cli_interrupts()) {
        turn(run, DX_NEVER);
        if (crew_has_ended(&run->crew, &failed))
            return report_end(run, failed);
    }
    int before = cli_interrupts();
    crew_leave(&run->crew);
    do
        turn(run, DX_NEVER);
    while (!crew_is_gone(&run->crew) && cli_interrupts() == before);
    if (!crew_is_gone(&run->crew))
        return cli_fail(CLI_INTERRUPTED, "interrupted: killed the peers");
    return run->config.flawed ? CLI_USAGE : CLI_OK;
}

static void say_goodbye(struct run *run) {
    uint64_t until = cli_now() + FAREWELL_MS;
    desk_close(&run->desk);
    while (run->desk.clients && cli_now() < until)
        turn(run, until);
}

static int begin(struct run *run) {
    dx_error error = {.phrase = "out of memory"};
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* that nobody reads what we print is no reason to end */
    raise_limit(run->config.count);
    if (cli_loop_new(run->keep_daemons, &run->loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    cli_subreaper_listen(crew_escaped, &run->crew);
    run->crew.loop = run->loop;
    run->crew.on_state = desk_on_state;
    run->crew.on_notification = desk_on_notification;
    run->crew.user = &run->desk;
    run->desk.crew = &run->crew;
    run->desk.config = &run->config;
    /* The name is taken before anything is started, or a trace overwritten. */
    int code = desk_open(&run->desk, run->loop);
    if (code == CLI_OK)
        code = crew_open(&run->crew, &run->config);
    for (size_t i = 0; code == CLI_OK && i < run->crew.count; i++)
        crew_start(&run->crew.peers[i]);
    return code;
}

static int run_all(const cli_words *words, void *user) {
    const struct run_options *options = user;
    struct run run = {.crew = {.start_ms = options->start_ms, .log_max = options->log_max},
                      .keep_daemons = options->keep_daemons};
    if (!options->config)
        return cli_fail_hint(CLI_USAGE, "duplex run --config FILE",
                             "missing --config: there is no default file");
    if (words->command)
        return cli_fail(CLI_USAGE,
                        "unexpected --: the commands to run are in the configuration file");
    if (options->log_max && (options->log_max < LOG_LEAST || options->log_max > LOG_MOST))
        return cli_fail(CLI_USAGE, "--log-max: expected 1k to 64M, or 0 for no limit, got %llu",
                        (unsigned long long)options->log_max);
    int code = cli_config_read(options->config, options->sum, words->at, &run.config);
    if (code != CLI_OK)
        return code;
    code = cli_address_find(&options->run, true, &run.desk.address);
    if (code == CLI_OK)
        code = begin(&run);
    if (code == CLI_OK) {
        code = attend(&run);
        say_goodbye(&run);
    }
    desk_done(&run.desk);
    code = cli_subreaper_finish(code); /* while the peers' names are known */
    cli_subreaper_listen(NULL, NULL);
    crew_done(&run.crew);
    cli_loop_free(run.loop);
    cli_config_done(&run.config);
    return code;
}

#define AT(member) offsetof(struct run_options, member)

static const cli_option own_options[] = {
    {"config", 'c', CLI_FILE, "FILE", "configuration file with the servers to run (required)",
     AT(config)},
    {"sha256", 0, CLI_TEXT, "SUM", "run FILE only if this is its checksum, as printed by sha256sum",
     AT(sum)},
    {"log-max", 0, CLI_SIZE, "SIZE",
     "how much of each server's stderr to keep for duplex logs, 1k to 64M; 0: no limit (256k); of"
     " a flood, 1,000 lines a second are kept",
     AT(log_max)},
    {"start-timeout", 0, CLI_LIMIT, "TIME", "how long each server may take to become ready (10s)",
     AT(start_ms)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", own_options, 0},
    {"Which run", cli_run_table, AT(run)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Run the servers of a file; an MCP client's configuration file works too:",
    "duplex run --config build/examples/peers.json",
    "Run two of them, as a run named 'work':",
    "duplex run --config build/examples/peers.json --name work adder outline",
    "Call a tool of a server that is running, from another terminal:",
    "duplex mcp tools call add a:=2 b:=40 --in adder",
    NULL,
};

static const struct run_options usual = {.log_max = LOG_USUAL};

const cli_verb cli_run = {
    .name = "run",
    .words = "--config FILE [OPTION...] [NAME...]",
    .summary = "Run the servers of a configuration file and restart failed ones",
    .text = "Starts every server in FILE, or only those named, performs their handshakes, and"
            " restarts"
            " them when they fail. Use duplex ps, logs, restart and down from another terminal, and"
            " --in NAME of call, mcp, repl and bench to talk to a server. Ctrl-C or duplex down"
            " stops all servers; a second Ctrl-C kills them.",
    .details =
        "FILE is a Duplex configuration, or one of an MCP client, with \"mcpServers\" or"
        " \"servers\"; duplex-config(5) describes them. It is read once. duplex run reads only"
        " files that you name, shows every command that it starts, and never uses a shell. It"
        " reports and skips invalid entries; the exit code is then 2.\n\n"
        "A server that dies is restarted after a pause, which doubles each time. A server that can"
        " never start fails at once: its program, interpreter or folder does not exist or cannot be"
        " executed, or it exits with code 126 or 127 before sending a message, as a shell does if "
        "it cannot run a program. Use duplex restart to try again.\n\n"
        "The run ends when every server has exited on its own: with exit code 3 if any of them"
        " failed, otherwise with 0. While a server stopped with duplex down NAME remains stopped, "
        "the run does not end.\n\n"
        "Each change of a server's state is a line on stderr, or with --json an object on"
        " stdout.\n\n"
        "With --in, several clients share a server: each request gets a new id, and"
        " progress and cancellation reach the right client. The server's notifications go to all of"
        " them. The run itself answers the server's requests: with an empty result if the schema"
        " allows one, with an error otherwise.\n\n"
        "Processes that a server leaves behind in a session of their own are killed after it has"
        " exited, and reported; if that fails, the exit code is 5.",
    .groups = groups,
    .examples = examples,
    .codes = "35",
    .word = CLI_A_SERVER,
    .size = sizeof(struct run_options),
    .usual = &usual,
    .run = run_all,
};
