/* What a line says, and doing it. */
#include "cli/repl/repl.h"

#include "cli/describe/describe.h"
#include "cli/describe/nearest.h"
#include "cli/event.h"
#include "cli/input.h"
#include "cli/repl/words.h"
#include "cli/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A line without the word that begins it. */
struct order {
    char **words;
    const char *rest; /* the same as it stands */
    uint64_t *ret_call;
    bool behind; /* nobody waits for it */
};

/* The words of PARAMS as JSON text, which may be NULL for none. */
static bool read_params(char **words, char **ret_text) {
    if (words[0] && strcmp(words[0], "-") == 0) {
        cli_fail(CLI_USAGE, "PARAMS cannot be '-': standard input is used for the lines");
        return false;
    }
    return cli_params(words, ret_text);
}

static int say(struct repl *repl, const struct order *order, bool notification) {
    const char *method = order->words[0];
    char *params = NULL;
    uint64_t number = 0;
    int code = CLI_OK;
    if (!method)
        return cli_fail(CLI_USAGE, "missing METHOD");
    if (!read_params(order->words + 1, &params))
        return CLI_USAGE;
    session_fit_params(repl->session, method, order->words + 1, &params);
    if (!notification) {
        code = repl_call(repl, method, params, &number);
        *order->ret_call = order->behind ? 0 : number;
    } else {
        code = session_check_method(repl->session, method, true, "");
        if (code == CLI_OK)
            code = cli_session_notify(repl->session, method, params);
    }
    free(params);
    repl->quits |= code == CLI_ENDED && !repl->typed;
    return code;
}

static int do_call(struct repl *repl, const struct order *order) {
    return say(repl, order, false);
}

static int do_notify(struct repl *repl, const struct order *order) {
    return say(repl, order, true);
}

static bool read_number(const char *word, uint64_t *ret) {
    char *end;
    errno = 0;
    if (!word || *word < '0' || *word > '9')
        return false;
    *ret = strtoull(word, &end, 10);
    return !errno && !*end;
}

/* The request that the first word names; NULL if that was told. */
static struct repl_request *find_request(struct repl *repl, const struct order *order) {
    uint64_t number;
    if (!read_number(order->words[0], &number)) {
        cli_fail(CLI_USAGE, "missing ID: the number of a request; 'pending' lists them");
        return NULL;
    }
    if (!repl->typed)
        repl_await_request(repl, number);
    struct repl_request *request = repl_request_find(repl, number);
    if (!request)
        cli_fail(CLI_USAGE, "no pending request %llu", (unsigned long long)number);
    return request;
}

/* RESULT is any JSON, or as PARAMS; none is null. False if that was told. */
static bool read_result(const struct order *order, char **ret_text) {
    const char *text = order->rest + strcspn(order->rest, " \t");
    text += strspn(text, " \t");
    yyjson_doc *doc = yyjson_read(text, strlen(text), YYJSON_READ_NUMBER_AS_RAW);
    bool is_json = doc;
    yyjson_doc_free(doc);
    if (!is_json && order->words[1])
        return read_params(order->words + 1, ret_text);
    *ret_text = strdup(is_json ? text : "null");
    if (!*ret_text)
        cli_fail(CLI_NO_START, "out of memory");
    return *ret_text;
}

static int do_answer(struct repl *repl, const struct order *order) {
    char *result = NULL;
    struct repl_request *request = find_request(repl, order);
    if (!request || !read_result(order, &result))
        return CLI_USAGE;
    int code = repl_answer(repl, request, result);
    free(result);
    return code;
}

/* Words with a space between two, to be freed. */
static char *join(char **words) {
    size_t len = 1;
    for (char **word = words; *word; word++)
        len += strlen(*word) + 1;
    char *text = malloc(len);
    char *end = text;
    for (char **word = words; text && *word; word++) {
        if (word != words)
            *end++ = ' ';
        end = stpcpy(end, *word);
    }
    if (text)
        *end = '\0';
    return text;
}

static int do_refuse(struct repl *repl, const struct order *order) {
    struct repl_request *request = find_request(repl, order);
    char *end = NULL;
    if (!request)
        return CLI_USAGE;
    errno = 0;
    long long number = order->words[1] ? strtoll(order->words[1], &end, 10) : 0;
    if (!order->words[1] || *end || end == order->words[1] || errno)
        return cli_fail(CLI_USAGE, "missing CODE: a number, for example -32601");
    if (!order->words[2])
        return cli_fail(CLI_USAGE, "missing MESSAGE");
    char *message = join(order->words + 2);
    int code = message ? repl_refuse(repl, request, number, message)
                       : cli_fail(CLI_NO_START, "out of memory");
    free(message);
    return code;
}

static int do_cancel(struct repl *repl, const struct order *order) {
    uint64_t number;
    if (!read_number(order->words[0], &number))
        return cli_fail(CLI_USAGE, "missing ID: the number of a call; 'pending' lists them");
    struct repl_call *call = repl_call_find(repl, number);
    if (!call)
        return cli_fail(CLI_USAGE, "no pending call %llu", (unsigned long long)number);
    return repl_cancel(repl, call);
}

static int do_raw(struct repl *repl, const struct order *order) {
    if (!order->rest[0])
        return cli_fail(CLI_USAGE, "missing TEXT");
    dx_status status = dx_link_send(repl_link(repl), dx_str(order->rest));
    if (status == DX_OK)
        return CLI_OK;
    if (status == DX_ERR_INVALID)
        return cli_fail(CLI_USAGE, "cannot send the text: it contains a line break");
    repl->quits |= status == DX_CLOSED && !repl->typed;
    return session_tell_unsent(repl->session, "the text", status);
}

static int do_describe(struct repl *repl, const struct order *order) {
    dx_protocol *protocol = repl->session->protocol;
    const char *word = order->words[0];
    if (!word)
        return cli_fail(CLI_USAGE, "missing METHOD; 'methods' lists them");
    const dx_method *method = dx_protocol_find(protocol, dx_str(word));
    if (method) {
        int code = cli_voice.json ? cli_describe_method_json(protocol, method)
                                  : cli_describe_method(protocol, method);
        cli_flush();
        return code;
    }
    char *hint = cli_near_method(protocol, word, NULL);
    int code = cli_fail_hint(CLI_USAGE, hint, "%s has no method '%s'",
                             dx_protocol_facts_of(protocol)->name, word);
    free(hint);
    return code;
}

static int do_methods(struct repl *repl, const struct order *order) {
    (void)order;
    return repl_show_methods(repl);
}

static int do_pending(struct repl *repl, const struct order *order) {
    (void)order;
    repl_show_pending(repl);
    return CLI_OK;
}

static int do_restart(struct repl *repl, const struct order *order) {
    (void)order;
    int code = repl_restart(repl);
    repl->quits |= code != CLI_OK && !repl->typed;
    return code;
}

static int do_quit(struct repl *repl, const struct order *order) {
    (void)order;
    repl->quits = true;
    return CLI_OK;
}

static int do_help(struct repl *repl, const struct order *order);

static const struct command {
    const char *name;
    const char *words;
    const char *help;
    int (*run)(struct repl *repl, const struct order *order);
    bool takes_method;
    bool is_raw; /* what follows is no words */
    bool alone;  /* nothing follows */
} commands[] = {
    {"call", "METHOD [PARAMS]", "call a method, even if it has the name of a command", do_call,
     .takes_method = true},
    {"notify", "METHOD [PARAMS]", "send a notification", do_notify, .takes_method = true},
    {"answer", "ID RESULT", "answer a request from the server", do_answer},
    {"refuse", "ID CODE MESSAGE", "refuse a request with an error", do_refuse},
    {"cancel", "ID", "cancel a call", do_cancel},
    {"describe", "METHOD", "show the params and result of a method, with an example", do_describe,
     .takes_method = true},
    {"methods", "", "list the methods you can send", do_methods, .alone = true},
    {"pending", "", "list unanswered calls and requests", do_pending, .alone = true},
    {"raw", "TEXT", "send TEXT as a message, unchecked", do_raw, .is_raw = true},
    {"restart", "", "stop the server and start it again (with --in: connect again)", do_restart,
     .alone = true},
    {"help", "", "show this list", do_help, .alone = true},
    {"quit", "", "leave the REPL", do_quit, .alone = true},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int do_help(struct repl *repl, const struct order *order) {
    (void)repl;
    (void)order;
    for (size_t i = 0; i < COMMANDS; i++) {
        if (cli_voice.json) {
            yyjson_mut_doc *doc = cli_event_new("command");
            cli_event_add(doc, "name", commands[i].name);
            cli_event_add(doc, "words", commands[i].words);
            cli_event_add(doc, "help", commands[i].help);
            cli_event_put(doc);
        } else {
            char head[40];
            snprintf(head, sizeof head, "%s %s", commands[i].name, commands[i].words);
            printf("%-24s %s\n", head, commands[i].help);
        }
    }
    if (!cli_voice.json)
        puts("PARAMS and RESULT are JSON, @FILE, or words like key=text and key:=json. A line that"
             " starts with any other word calls that METHOD.");
    cli_flush();
    return CLI_OK;
}

static const struct command *find_command(const char *name, size_t len) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strlen(commands[i].name) == len && memcmp(commands[i].name, name, len) == 0)
            return &commands[i];
    return NULL;
}

const char *repl_command_at(size_t index) {
    return index < COMMANDS ? commands[index].name : NULL;
}

bool repl_takes_method(const char *name, size_t len) {
    const struct command *command = find_command(name, len);
    return command && command->takes_method;
}

static int run_words(struct repl *repl, const struct command *command, const char *line,
                     struct order *order) {
    struct repl_words words;
    const char *why = repl_words_read(line, &words);
    if (why)
        return cli_fail(CLI_USAGE, "%s", why);
    order->words = words.at;
    order->behind = words.behind;
    int code =
        command && command->alone && words.count
            ? cli_fail(
                  CLI_USAGE,
                  "%s takes no arguments, got '%s'; to call a method of that name, use 'call %s'",
                  command->name, words.at[0], command->name)
        : command ? command->run(repl, order)
                  : do_call(repl, order);
    repl_words_done(&words);
    return code;
}

int repl_line(struct repl *repl, char *line, size_t len, uint64_t *ret_call) {
    *ret_call = 0;
    if (memchr(line, '\0', len))
        return cli_fail(CLI_USAGE, "the line contains a NUL byte");
    line[len - (len && line[len - 1] == '\r')] = '\0';
    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return CLI_OK;
    size_t word = strcspn(line, " \t");
    const struct command *command = find_command(line, word);
    const char *rest = line + word;
    rest += strspn(rest, " \t");
    struct order order = {.rest = rest, .ret_call = ret_call};
    if (command && command->is_raw)
        return command->run(repl, &order);
    return run_words(repl, command, command ? rest : line, &order);
}
