/* duplex call, duplex notify: one message, or several, to a peer. */
#include "cli/cli.h"

#include "cli/contact.h"
#include "cli/input.h"
#include "cli/run/control.h"
#include "cli/say.h"
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

struct call_options {
    cli_peer_options peer;
    cli_run_options run;
    const char *in;
};

static const cli_option own_options[] = {
    {"then", 0, CLI_NEXT, NULL, "then call another METHOD [PARAMS]", 0},
    {"notify", 0, CLI_NEXT, NULL, "then send the notification METHOD [PARAMS]", 0},
    {"in", 0, CLI_TEXT, "NAME", "use a server kept running by duplex run instead of COMMAND",
     offsetof(struct call_options, in)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group call_groups[] = {
    {"Options", own_options, 0},
    {"Command", cli_peer_table, offsetof(struct call_options, peer)},
    {"Timeouts", cli_time_table, offsetof(struct call_options, peer)},
    {"Progress", cli_progress_table, offsetof(struct call_options, peer)},
    {"Which run", cli_run_table, offsetof(struct call_options, run)},
    {NULL, NULL, 0},
};

/* The words of every group, before anything is started: false if something is wrong, which is told.
 */
static bool check_groups(const cli_words *words, size_t *ret_count) {
    *ret_count = 0;
    for (char **group = words->at; group; group = cli_next_group(words, group)) {
        if (!group[0]) {
            cli_missing("METHOD");
            return false;
        }
        ++*ret_count;
    }
    return true;
}

static void free_all(char **texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

static char **read_params(const cli_words *words, size_t count) {
    char **texts = calloc(count + 1, sizeof *texts);
    size_t i = 0;
    if (!texts)
        cli_fail(CLI_NO_START, "out of memory");
    for (char **group = words->at; texts && group; group = cli_next_group(words, group), i++)
        if (!cli_params(group + 1, &texts[i])) {
            free_all(texts, count);
            return NULL;
        }
    return texts;
}

static void print_result(const dx_event *event, void *user) {
    const char *method = user;
    if (!cli_voice.json) {
        cli_put_json(stdout, event->body);
        cli_flush();
        return;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *name = yyjson_mut_str(doc, method);
    char *quoted = yyjson_mut_val_write(name, 0, NULL);
    printf("{\"method\":%s,\"result\":", quoted ? quoted : "null");
    cli_put_line(stdout, event->body);
    printf("}\n");
    cli_flush();
    free(quoted);
    yyjson_mut_doc_free(doc);
}

/* Whom the words are for: a peer of our own, or one of a run. */
struct target {
    const struct call_options *options;
    cli_peer_options attached; /* of a session with a peer of a run */
    cli_session *session;
    cli_control *control;
};

/* The run makes a call by itself, but what is about the messages needs a connection through it. */
static bool needs_session(const cli_peer_options *peer) {
    return peer->show || peer->record || peer->progress || peer->reset || peer->check ||
           peer->strict || peer->start_ms;
}

static int open_target(struct target *target, char **command) {
    const struct call_options *options = target->options;
    if (!options->in)
        return cli_session_open(&options->peer, command, &target->session);
    if (needs_session(&options->peer)) {
        target->attached = options->peer;
        target->attached.in = options->in;
        target->attached.run = options->run;
        return cli_session_open(&target->attached, command, &target->session);
    }
    int code = cli_control_check(&options->peer, command, CLI_CALL_ALLOWED);
    return code == CLI_OK ? cli_control_open(&options->run, &target->control) : code;
}

static int close_target(struct target *target, int code) {
    if (target->session)
        return cli_session_close(target->session, code);
    cli_control_close(target->control);
    return code;
}

/* `kind` is the option that its words stand behind. */
static int say(struct target *target, const char *kind, const char *method, const char *params) {
    bool is_notification = strcmp(kind, "notify") == 0;
    void *user = (void *)(uintptr_t)method;
    if (target->control)
        return cli_control_say(target->control, target->options->in,
                               is_notification ? "notify" : "call", method, params,
                               &target->options->peer, is_notification ? NULL : print_result, user);
    return is_notification ? cli_session_notify(target->session, method, params)
                           : cli_session_call(target->session, method, params, print_result, user);
}

/* Nothing is sent if one of the methods can't be. What a built-in protocol has is known before
 * anything is started; otherwise it is known when the server runs. */
static int check_methods(struct target *target, const cli_words *words, const char *kind) {
    const struct call_options *options = target->options;
    int code = CLI_OK;
    size_t i = 0;
    for (char **group = words->at; group && code == CLI_OK;
         group = cli_next_group(words, group), i++) {
        bool is_notification = strcmp(words->kinds[i] ? words->kinds[i] : kind, "notify") == 0;
        if (target->session)
            code = session_check_method(target->session, group[0], is_notification, "duplex ");
        else if (target->control)
            code =
                cli_control_check_method(target->control, options->in, group[0], is_notification);
        else
            code = cli_session_check_method(&options->peer, group[0], is_notification);
    }
    return code;
}

/* Words that no option stands before are of the given kind. */
static int say_all(const cli_words *words, const struct call_options *options, const char *kind) {
    struct target target = {.options = options};
    size_t count;
    if (!check_groups(words, &count))
        return CLI_USAGE;
    /* Without it, what follows METHOD may be the command rather than params. */
    if (!options->in && !options->peer.connect && !words->command)
        return session_check(&options->peer, NULL);
    int code = options->in ? CLI_OK : check_methods(&target, words, kind);
    if (code != CLI_OK)
        return code;
    char **params = read_params(words, count);
    if (!params)
        return CLI_USAGE;
    code = open_target(&target, words->command);
    if (code == CLI_OK) {
        size_t i = 0;
        code = count > 1 || target.session ? check_methods(&target, words, kind) : CLI_OK;
        for (char **group = words->at; group && code == CLI_OK;
             group = cli_next_group(words, group), i++) {
            if (target.session)
                session_fit_params(target.session, group[0], group + 1, &params[i]);
            code = say(&target, words->kinds[i] ? words->kinds[i] : kind, group[0], params[i]);
        }
        code = close_target(&target, code);
    }
    free_all(params, count);
    return code;
}

static int run_call(const cli_words *words, void *user) {
    return say_all(words, user, "then");
}

static const char *const call_examples[] = {
    "Call a method and pass it parameters:",
    ("duplex call -p mcp tools/call name=add 'arguments:={\"a\":2,\"b\":40}' --"
     " build/examples/mcp-adder"),
    "Call two methods, one after the other:",
    "duplex call -p mcp tools/list --then ping -- build/examples/mcp-adder",
    "Ask a language server, and record the session:",
    "duplex call -p lsp -o talk.jsonl workspace/symbol query=inst -- build/examples/lsp-outline",
    NULL,
};

/* What --help lists of both commands. */
#define SHOWN "protocol timeout show record env clean-env cwd stderr connect in"

const cli_verb cli_call = {
    .name = "call",
    .words = "[OPTION...] METHOD [PARAMS] [--then METHOD [PARAMS]]... -- COMMAND [ARG...]\n"
             "[OPTION...] METHOD [PARAMS] --connect ADDRESS\n"
             "[OPTION...] METHOD [PARAMS] --in NAME",
    .summary = "Call a method of a server and print the result",
    .text = "Starts COMMAND, does the protocol's handshake, calls METHOD, prints the result as JSON"
            " and stops COMMAND. PARAMS is JSON, @FILE, - for standard input, or words: key=text"
            " and key:=json make an object. key=text gets the type that the protocol asks for.",
    .details =
        "Requests from the server are answered with an empty result if the schema allows one, and"
        " with an error otherwise.\n\n"
        "With --json a result is {\"method\":…,\"result\":…} and a failure is"
        " {\"error\":{\"exit\":…,\"kind\":…,\"message\":…}}, each on one line. For an error"
        " response, it also has the code and data. \"detail\" is what the server last wrote to"
        " stderr, and its"
        " protocol violations.\n\n"
        "Many servers stay silent if they are addressed in the wrong framing. If the server sends"
        " nothing for one second, Duplex starts it again in the other framing to find out which"
        " one it uses, and stops the copy.\n\n"
        "--protocol auto starts the server once for each protocol it tries, never two copies at a"
        " time, and begins with the protocol whose name is in COMMAND's command line, or else with "
        "MCP.",
    .shown = "then notify " SHOWN,
    .old_letters = "c=connect",
    .groups = call_groups,
    .examples = call_examples,
    .codes = "134567",
    .word = CLI_A_METHOD,
    .has_command = true,
    .size = sizeof(struct call_options),
    .run = run_call,
};

static int run_notify(const cli_words *words, void *user) {
    return say_all(words, user, "notify");
}

static const char *const notify_examples[] = {
    "Send a notification:",
    "duplex notify -p mcp notifications/roots/list_changed -- build/examples/mcp-adder",
    "Send two, with parameters:",
    "duplex notify greet name=Ada --notify greet name=Grace -- build/examples/echo line",
    "See what the server sends:",
    "duplex notify --show -p mcp notifications/cancelled requestId=1 -- build/examples/mcp-adder",
    NULL,
};

const cli_verb cli_notify = {
    .name = "notify",
    .words = "[OPTION...] METHOD [PARAMS] [--notify METHOD [PARAMS]]... -- COMMAND [ARG...]\n"
             "[OPTION...] METHOD [PARAMS] --connect ADDRESS\n"
             "[OPTION...] METHOD [PARAMS] --in NAME",
    .summary = "Send a notification to a server",
    .text = "Starts COMMAND, does the protocol's handshake, sends the notification METHOD and stops"
            " COMMAND. PARAMS is written as for duplex call. There is no response to a"
            " notification: exit"
            " code 0 means that it was sent. --show prints what the server sends.",
    .shown = "notify then " SHOWN,
    .old_letters = "c=connect",
    .groups = call_groups,
    .examples = notify_examples,
    .codes = "34567",
    .word = CLI_A_METHOD,
    .has_command = true,
    .size = sizeof(struct call_options),
    .run = run_notify,
};
