#include "cli/session.h"

#include "cli/contact.h"
#include "cli/input.h"
#include "cli/record.h"
#include "cli/run/control.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) offsetof(cli_peer_options, member)

const cli_option cli_peer_table[] = {
    {"protocol", 'p', CLI_PROTOCOL, "NAME|FILE|auto",
     "a built-in protocol (NAME[@REVISION], see duplex list), an OpenRPC document, or auto:"
     " try MCP, LSP and others in turn (jsonrpc: any method, no handshake)",
     AT(protocol)},
    {"framing", 'f', CLI_CHOICE, "header|line|auto",
     "Content-Length headers, or one JSON text per line (auto: the protocol's framing, or the"
     " other one if only that gets a response)",
     AT(framing)},
    {"connect", 0, CLI_TEXT, "ADDRESS",
     "connect to unix:PATH or tcp:PORT instead of starting COMMAND", AT(connect)},
    {"init", 0, CLI_TEXT, "PARAMS",
     "params of the first request of the handshake: JSON, or @FILE (those of the protocol)",
     AT(init)},
    {"no-handshake", 0, CLI_FLAG, NULL, "skip the handshake", AT(no_handshake)},
    {"check", 0, CLI_CHOICE, "off|incoming|both",
     "which messages are checked against the protocol (both)", AT(check)},
    {"strict", 0, CLI_FLAG, NULL, CLI_STRICT_HELP, AT(strict)},
    {"env", 'e', CLI_TEXTS, "NAME=VALUE", "set a variable for COMMAND; may be repeated", AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    CLI_INHERIT_ENV(AT(inherit_env)),
    {"cwd", 0, CLI_FOLDER, "FOLDER", "run COMMAND in FOLDER", AT(cwd)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {"stderr", 0, CLI_TEXT, "tail|quiet|inherit|FILE",
     "what to do with COMMAND's stderr: tail shows the lines that explain a failure, quiet shows"
     " nothing, inherit shows everything, FILE gets everything (tail); the limit is 1,000 lines"
     " and 1 MiB per second",
     AT(errors)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic to FILE", AT(record)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

const cli_option cli_time_table[] = {
    {"timeout", 't', CLI_LIMIT, "TIME",
     "how long to wait for a response: 5s, 500ms, 2m, never; the handshake gets at least 5s (the "
     "protocol's time, or 30s)",
     AT(timeout_ms)},
    {"total-timeout", 0, CLI_LIMIT, "TIME", CLI_TOTAL_HELP, AT(total_ms)},
    {"start-timeout", 0, CLI_LIMIT, "TIME",
     "how long to wait for each handshake response (the protocol's time, or --timeout if that is"
     " shorter, but at least 5s)",
     AT(start_ms)},
    {"stop-timeout", 0, CLI_TIME, "TIME",
     "how long each step of stopping COMMAND may take: shutdown messages, closing its input,"
     " SIGTERM; 0: kill it at once (the protocol's time, or 2s; 400ms in all after a timeout)",
     AT(stop_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

const cli_option cli_progress_table[] = {
    {"progress", 0, CLI_FLAG, NULL, "request progress, and show it", AT(progress)},
    {"reset-on-progress", 0, CLI_FLAG, NULL,
     "request progress, which restarts --timeout; --total-timeout still limits the call",
     AT(reset)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

const cli_option cli_in_table[] = {
    {"in", 0, CLI_TEXT, "NAME",
     "talk to the server NAME of duplex run instead of starting a command", AT(in)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

/* After so long without a word, the other framing is tried; so long those attempts have; and so
 * much later than the one the other may answer. */
enum { SILENCE_MS = 1000, TRIAL_MS = 3000, GRACE_MS = 500 };

/* Other framings. */

static dx_framing other_framing(dx_framing framing) {
    return framing == DX_FRAMING_LINE ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
}

static bool has_handshake(const cli_session *session) {
    return !session->options->no_handshake && dx_protocol_facts_of(session->protocol)->start;
}

static void open_trials(cli_session *session) {
    bool probe = !has_handshake(session);
    session->tried = true;
    session->other = contact_new(session, other_framing(session->main->framing), probe);
    if (session->other)
        contact_open(session->other);
    /* A call may be slow, and a peer may know both framings: then the same question is answered in
     * this one, too. A handshake was that question. */
    session->same = probe ? contact_new(session, session->main->framing, true) : NULL;
    if (session->same)
        contact_open(session->same);
}

static void close_trials(cli_session *session) {
    session->other = contact_free(session->other);
    session->same = contact_free(session->same);
}

/* What is known of the framing. */
enum verdict { UNKNOWN, RIGHT, WRONG };

static enum verdict judge_framing(cli_session *session) {
    const struct contact *main = session->main;
    const struct contact *same = session->same;
    const struct contact *other = session->other;
    if (main->heard)
        return RIGHT;
    if (main->other_framing)
        return WRONG;
    if (same && (same->heard || same->other_framing))
        return same->heard ? RIGHT : WRONG;
    if (!other || other->state == CONTACT_STARTING)
        return UNKNOWN;
    if (other->state == CONTACT_FAILED && !other->heard)
        return RIGHT;
    /* Whoever answers in this framing, too, does so at about the same time. */
    if (!session->other_at)
        session->other_at = cli_now();
    bool late =
        !same || same->state != CONTACT_STARTING || cli_now() >= session->other_at + GRACE_MS;
    return late ? WRONG : UNKNOWN;
}

static bool is_auto(const cli_session *session) {
    const char *framing = session->options->framing;
    return !framing || strcmp(framing, "auto") == 0;
}

bool session_is_unseen(const cli_session *session) {
    const cli_peer_options *options = session->options;
    return !options->record && !options->show && !options->errors;
}

int session_change_framing(cli_session *session) {
    dx_framing wrong = session->main->framing;
    dx_framing right = other_framing(wrong);
    const char *saw =
        session->main->other_framing ? "it responded in the other one" : "it sent nothing";
    if (!is_auto(session))
        return cli_fail(CLI_VIOLATION,
                        "the server does not use %s framing (%s) but %s framing: pass --framing %s",
                        dx_framing_name(wrong), saw, dx_framing_name(right),
                        dx_framing_name(right));
    if (session->changed)
        return cli_fail(CLI_VIOLATION,
                        "the server responds in %s framing to messages in %s framing, and vice"
                        " versa",
                        dx_framing_name(right), dx_framing_name(wrong));
    session->changed = true;
    cli_note("the server speaks %s framing; pass --framing %s to skip the detection",
             dx_framing_name(right), dx_framing_name(right));
    contact_free(session->main);
    /* What it said so far was neither recorded nor shown. */
    bool adopt = session_is_unseen(session) && session->other && session->other->heard &&
                 !session->other->probe;
    session->main = adopt ? session->other : contact_new(session, right, false);
    if (adopt)
        session->other = NULL;
    close_trials(session);
    if (!session->main)
        return cli_fail(CLI_NO_START, "out of memory");
    if (!adopt)
        contact_open(session->main); /* that it failed is seen where its handshake is awaited */
    return CLI_OK;
}

int session_tell(cli_session *session, int code, const char *message, yyjson_mut_doc *doc,
                 yyjson_mut_val *more) {
    const struct contact *main = session->main;
    const char *errors = session->options->errors;
    if (!cli_voice.json || !main->wrong[0])
        return cli_tail_fail(&main->tail, errors, code, message, doc, more);
    /* No note has told what it did wrong. */
    cli_tail tail = {.len = 0};
    if (cli_tail_is_wanted(errors))
        tail = main->tail;
    cli_tail_keep(&tail, "violation: ", dx_str(main->wrong));
    return cli_tail_fail(&tail, NULL, code, message, doc, more);
}

static int tell_interrupt(void) {
    return cli_fail(CLI_INTERRUPTED, "interrupted");
}

/* Nothing can come of it, whatever the framing is. */
static bool is_hopeless(const struct contact *contact) {
    return contact->state == CONTACT_FAILED &&
           (contact->code == CLI_NO_START || contact->code == CLI_MISFIT ||
            contact->code == CLI_USAGE);
}

static bool may_try(const cli_session *session) {
    return !session->tried && !session->options->framing_known && !session->options->in;
}

void session_watch(struct session_watch *watch) {
    *watch = (struct session_watch){.silent_at = cli_now() + SILENCE_MS, .trials_end = CLI_NEVER};
}

enum session_turn session_turn(cli_session *session, struct session_watch *watch, bool over,
                               uint64_t *ret_until) {
    const struct contact *main = session->main;
    bool silent = !main->heard && (over || main->gone || cli_now() >= watch->silent_at);
    if (over && (main->heard || is_hopeless(main)))
        return SESSION_OVER;
    if (silent && may_try(session) && !main->other_framing) {
        open_trials(session);
        watch->trials_end = cli_now() + TRIAL_MS;
    }
    if (judge_framing(session) == WRONG) {
        session->tried = true;
        return SESSION_CHANGES;
    }
    if (session->tried && (judge_framing(session) == RIGHT || cli_now() >= watch->trials_end))
        close_trials(session);
    if (over && !session->other)
        return SESSION_OVER;
    bool waits_for_word = may_try(session) && !main->heard;
    uint64_t until = session->other_at ? session->other_at + GRACE_MS : watch->trials_end;
    *ret_until = session->other ? until : waits_for_word ? watch->silent_at : CLI_NEVER;
    return SESSION_WAITS;
}

int session_attend(cli_session *session, bool (*done)(cli_session *session, void *user), void *user,
                   bool *ret_changed) {
    struct session_watch watch;
    int before = cli_interrupts();
    *ret_changed = false;
    session_watch(&watch);
    for (;;) {
        uint64_t until;
        bool over = done(session, user);
        if (cli_interrupts() != before) {
            cli_waiting_end();
            return tell_interrupt();
        }
        switch (session_turn(session, &watch, over, &until)) {
        case SESSION_OVER:
            cli_waiting_end();
            return CLI_OK;
        case SESSION_CHANGES:
            cli_waiting_end();
            *ret_changed = true;
            return session_change_framing(session);
        case SESSION_WAITS:
            cli_wait(session->loop, until);
        }
    }
}

static bool is_settled(cli_session *session, void *user) {
    (void)user;
    return session->main->state != CONTACT_STARTING;
}

void session_wait_gone(cli_session *session) {
    uint64_t until = cli_now() + 1000;
    while (!session->main->gone && !session->main->broken && cli_now() < until)
        cli_wait(session->loop, until);
}

int session_shake_hands(cli_session *session) {
    bool changed;
    int code;
    do {
        if (session->main->state == CONTACT_READY)
            return CLI_OK;
        code = session_attend(session, is_settled, NULL, &changed);
    } while (code == CLI_OK && changed);
    if (code != CLI_OK || session->main->state == CONTACT_READY)
        return code;
    if (session->main->code == CLI_ENDED)
        session_wait_gone(session);
    char message[400];
    bool ended = session->main->code == CLI_ENDED && session->main->how[0];
    snprintf(message, sizeof message, "the conversation ended during the handshake: %s",
             session->main->how);
    return session_tell(session, session->main->code, ended ? message : session->main->failure,
                        NULL, NULL);
}

/* Birth and death. */

/* Nobody is waited for who does not read a pipe. */
static FILE *open_errors(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

static int open_files(cli_session *session) {
    const cli_peer_options *options = session->options;
    const char *errors = options->errors;
    if (errors && strcmp(errors, "tail") != 0 && strcmp(errors, "quiet") != 0 &&
        strcmp(errors, "inherit") != 0) {
        session->errors = open_errors(errors);
        if (!session->errors)
            return cli_fail(CLI_USAGE, "%s cannot be written: %s", errors, strerror(errno));
    }
    return cli_record_open(options->record, &session->recorder);
}

int session_check(const cli_peer_options *options, char *const *command) {
    if (options->in)
        return cli_control_check(options, command, CLI_ATTACH_ALLOWED);
    if (options->connect && command)
        return cli_fail(CLI_USAGE, "--connect and a command cannot be used together");
    if (!options->connect && (!command || !command[0]))
        return cli_fail_hint(CLI_USAGE,
                             "put the server's command line after --, or pass --in or"
                             " --connect",
                             "missing command after --");
    if (options->connect && (options->env.count || options->clean_env || options->inherit_env ||
                             options->cwd || options->keep_daemons))
        return cli_fail(CLI_USAGE,
                        "--env, --clean-env, --cwd and --keep-daemons need a command after --");
    if (options->no_handshake && options->init)
        return cli_fail(CLI_USAGE, "--no-handshake and --init cannot be used together");
    return cli_check_env(&options->env, options->clean_env, options->inherit_env);
}

static int read_init(cli_session *session) {
    char *words[] = {(char *)(uintptr_t)session->options->init, NULL};
    if (!words[0])
        return CLI_OK;
    return cli_params(words, &session->init) ? CLI_OK : CLI_USAGE;
}

dx_framing session_framing(const cli_session *session) {
    const char *framing = session->options->framing;
    if (session->options->in)
        return DX_FRAMING_LINE; /* whatever the run speaks with the peer */
    if (framing && strcmp(framing, "header") == 0)
        return DX_FRAMING_HEADER;
    if (framing && strcmp(framing, "line") == 0)
        return DX_FRAMING_LINE;
    return dx_protocol_facts_of(session->protocol)->framing;
}

/* What goes to a file of its own is counted by itself. */
static const char errors_key[] = "stderr";

/* Where the lines would have gone. */
static void on_summary(const char *peer, const char *text, void *user) {
    const cli_session *session = user;
    if (strcmp(peer, errors_key) == 0)
        fprintf(session->errors, "%s\n", text);
    else if (session->ears && session->ears->on_summary)
        session->ears->on_summary(text, session->ears->user);
    else
        fprintf(stderr, "%s\n", text);
}

bool session_shows(cli_session *session, enum session_line kind, dx_text line) {
    const char *peer = session->errors && kind == SESSION_ERRORS ? errors_key : "";
    return dx__log_limiter_pass(session->limiter, peer, (int)kind, line);
}

static void forget(cli_session *session) {
    close_trials(session);
    contact_free(session->main);
    dx__log_limiter_free(session->limiter);
    if (!session->options->loop)
        cli_loop_free(session->loop);
    cli_record_close(session->recorder);
    cli_attached_done(&session->attached);
    dx_protocol_free(session->protocol);
    session_forget_asked(session);
    if (session->errors && fclose(session->errors) != 0)
        cli_note("%s cannot be written: %s", session->options->errors, strerror(errno));
    free(session->init);
    free(session);
}

/* Reading a pipe may take forever: so signals are not caught before that. */
static int prepare(cli_session *session, const char *name) {
    session->protocol = cli_protocol(name);
    if (!session->protocol)
        return CLI_USAGE;
    int code = read_init(session);
    return code == CLI_OK ? open_files(session) : code;
}

/* A connection to a peer of a run, for the contact that is opened next. */
static int attach(cli_session *session) {
    cli_attached_done(&session->attached);
    const cli_peer_options *options = session->options;
    return cli_control_attach(&options->run, options->in, options->start_ms, options->timeout_ms,
                              &session->attached);
}

static int open_loop(cli_session *session) {
    const cli_peer_options *options = session->options;
    bool starts_none = options->connect || options->in;
    dx_error error = {.fault = DX_FAULT_NONE};
    cli_catch_signals();
    session->loop = options->loop;
    if (!session->loop &&
        cli_loop_new(options->keep_daemons || starts_none, &session->loop, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase);
    return CLI_OK;
}

/* The protocol, the loop and the files. */
static int equip(cli_session *session) {
    const char *name = session->options->protocol;
    int code = CLI_OK;
    if (session->options->in) {
        code = attach(session);
        name = session->attached.protocol;
    }
    if (code != CLI_OK)
        return code;
    if (!name || strcmp(name, "auto") != 0) {
        code = prepare(session, name ? name : "jsonrpc");
        return code == CLI_OK ? open_loop(session) : code;
    }
    code = open_loop(session);
    if (code == CLI_OK)
        code = session_detect(session, &name);
    if (code == CLI_OK)
        code = read_init(session);
    return code == CLI_OK ? open_files(session) : code;
}

static int begin(cli_session *session) {
    int code = equip(session);
    if (code != CLI_OK)
        return code;
    session->began_us = dx_recorder_now_us();
    session->limiter = dx__log_limiter_new(session->loop, on_summary, session);
    bool is_new = !session->main;
    if (is_new)
        session->main = contact_new(session, session_framing(session), false);
    if (!session->main || !session->limiter)
        return cli_fail(CLI_NO_START, "out of memory");
    if (is_new)
        contact_open(session->main);
    return session_shake_hands(session);
}

int session_restart(cli_session *session) {
    dx_framing framing = session->main->framing;
    int code = CLI_OK;
    session->run = (session->run ? session->run : session->tried ? 2 : 1) + 1;
    close_trials(session);
    session->main = contact_free(session->main);
    session->main = contact_new(session, framing, false);
    if (!session->main)
        return cli_fail(CLI_NO_START, "out of memory");
    if (session->options->in && (code = attach(session)) != CLI_OK)
        session->main->gone = true;
    if (code != CLI_OK)
        return code;
    contact_open(session->main); /* that it failed is seen where its handshake is awaited */
    return session_shake_hands(session);
}

int session_open(const cli_peer_options *options, char **command, const struct session_ears *ears,
                 cli_session **ret_session) {
    int code = session_check(options, command);
    if (code != CLI_OK)
        return code;
    cli_session *session = calloc(1, sizeof *session);
    if (!session)
        return cli_fail(CLI_NO_START, "out of memory");
    session->options = options;
    session->command = command;
    session->ears = ears;
    session->attached.fd = -1;
    code = begin(session);
    if (code == CLI_OK)
        *ret_session = session;
    else
        (void)cli_session_close(session, code);
    return code;
}

int cli_session_open(const cli_peer_options *options, char **command, cli_session **ret_session) {
    return session_open(options, command, NULL, ret_session);
}

int cli_session_close(cli_session *session, int code) {
    int before = cli_interrupts();
    if (session->loop && session->main) {
        close_trials(session);
        contact_stop(session->main);
        uint64_t until = code == CLI_LATE && !session->options->stop_ms
                             ? cli_now() + CLI_LATE_LEAVE_MS
                             : CLI_NEVER;
        while (!session->main->gone && cli_interrupts() == before && cli_now() < until)
            cli_wait(session->loop, until);
        if (cli_interrupts() != before && code == CLI_OK)
            code = tell_interrupt();
    }
    forget(session);
    return code;
}
