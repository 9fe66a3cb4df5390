/* duplex mcp ping, log, watch: how a server lives. */
#include "systems/mcp/command/answer.h"
#include "systems/mcp/command/put.h"
#include "systems/mcp/command/verbs.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

static int refuse_words(char **words) {
    return words[0] ? cli_unexpected(words[0]) : CLI_OK;
}

/* In the modern era there is no ping; this is as cheap. */
int verb_ping(const struct mcp_options *options, char **words, char **command) {
    struct answer answer = {.method = "ping"};
    struct talk talk;
    int code = refuse_words(words);
    if (code == CLI_OK)
        code = talk_open(options, command, &talk);
    if (code != CLI_OK)
        return code;
    dx_mcp_call_options call = talk_call_options(&talk);
    bool is_modern = dx_mcp_client_is_modern(talk.client);
    uint64_t from = dx_recorder_now_us();
    if (is_modern)
        answer.method = "server/discover";
    dx_status status =
        is_modern ? dx_mcp_client_call(talk.client, dx_str(answer.method), dx_json_none(), &call,
                                       answer_take, &answer, &answer.call)
                  : dx_mcp_client_ping(talk.client, &call, answer_take, &answer, &answer.call);
    code = answer_wait(&talk, &answer, status);
    double ms = (double)(dx_recorder_now_us() - from) / 1000;
    if (code == CLI_OK)
        printf(cli_voice.json ? "{\"ms\":%.3f}\n" : "%.3f ms\n", ms);
    cli_flush();
    answer_done(&answer);
    return talk_close(&talk, code);
}

/* What comes, one line each. */

static void put_event(yyjson_mut_doc *doc) {
    size_t len;
    char *text = yyjson_mut_write(doc, 0, &len);
    cli_put_line(stdout, text ? (dx_text){text, len} : dx_str("{}"));
    putchar('\n');
    cli_flush();
    free(text);
    yyjson_mut_doc_free(doc);
}

static yyjson_mut_doc *new_event(const char *name) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "event", name);
    return doc;
}

static void put_log(dx_mcp_level level, dx_text logger, yyjson_val *data) {
    if (cli_voice.json) {
        yyjson_mut_doc *doc = new_event("log");
        yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
        yyjson_mut_obj_add_str(doc, root, "level", dx_mcp_level_name(level));
        if (logger.at)
            yyjson_mut_obj_add_strn(doc, root, "logger", logger.at, logger.len);
        if (data)
            yyjson_mut_obj_add_val(doc, root, "data", yyjson_val_mut_copy(doc, data));
        put_event(doc);
        return;
    }
    cli_colour colour = level >= DX_MCP_ERROR     ? CLI_RED
                        : level == DX_MCP_WARNING ? CLI_YELLOW
                                                  : CLI_PLAIN;
    printf("%s%s%s", cli_paint(stdout, colour), dx_mcp_level_name(level),
           cli_paint(stdout, CLI_PLAIN));
    if (logger.len) {
        fputs(" (", stdout);
        cli_put_safe(stdout, logger);
        putchar(')');
    }
    fputs(": ", stdout);
    put_value(stdout, data);
    putchar('\n');
    cli_flush();
}

static void put_changed(dx_mcp_kind kind) {
    const char *name = kind == DX_MCP_TOOLS ? "tools" : kind == DX_MCP_PROMPTS ? "prompts" : NULL;
    name = name ? name : "resources";
    if (cli_voice.json) {
        yyjson_mut_doc *doc = new_event("changed");
        yyjson_mut_obj_add_str(doc, yyjson_mut_doc_get_root(doc), "list", name);
        put_event(doc);
        return;
    }
    printf("changed: list of %s\n", name);
    cli_flush();
}

static void put_updated(dx_text uri) {
    if (cli_voice.json) {
        yyjson_mut_doc *doc = new_event("updated");
        yyjson_mut_obj_add_strn(doc, yyjson_mut_doc_get_root(doc), "uri", uri.at, uri.len);
        put_event(doc);
        return;
    }
    fputs("updated: ", stdout);
    cli_put_safe(stdout, uri);
    putchar('\n');
    cli_flush();
}

/* Until --for is over, or the user or the server has enough. */
static int look_on(struct talk *talk) {
    uint64_t for_ms = talk->options->for_ms;
    uint64_t now = cli_now();
    uint64_t until = !for_ms || for_ms >= CLI_NEVER - now ? CLI_NEVER : now + for_ms;
    while (!talk->closed && !talk_is_interrupted(talk) && !talk->given_up && cli_now() < until)
        talk_wait(talk, until);
    if (talk_is_interrupted(talk))
        return CLI_INTERRUPTED; /* that is how it is meant to end: nothing to be told */
    if (talk->closed)
        return talk_tell_gone(talk, NULL);
    return talk->given_up;
}

int verb_log(const struct mcp_options *options, char **words, char **command) {
    struct mcp_options own = *options;
    struct talk talk;
    int code = refuse_words(words);
    own.level = own.level ? own.level : "info";
    if (code == CLI_OK)
        code = talk_open_with(&own, command, &(struct talk_hooks){.on_log = put_log}, &talk);
    if (code != CLI_OK)
        return code;
    if (dx_mcp_client_is_modern(talk.client))
        code =
            cli_fail(CLI_MISFIT,
                     "a server of revision %s logs only while it handles a request: pass --level to"
                     " a call",
                     dx_mcp_client_revision(talk.client));
    else
        code = look_on(&talk);
    return talk_close(&talk, code);
}

static int subscribe(struct talk *talk, const char *uri) {
    struct answer answer = {.method = "resources/subscribe"};
    dx_status status =
        dx_mcp_client_subscribe(talk->client, dx_str(uri), answer_take, &answer, &answer.call);
    int code = answer_wait(talk, &answer, status);
    answer_done(&answer);
    return code;
}

static bool tells_changes(const struct talk *talk) {
    yyjson_val *capabilities = dx_mcp_client_capabilities(talk->client);
    yyjson_obj_iter iter = yyjson_obj_iter_with(capabilities);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        if (yyjson_get_bool(yyjson_obj_get(yyjson_obj_iter_get_val(key), "listChanged")))
            return true;
    return false;
}

int verb_watch(const struct mcp_options *options, char **words, char **command) {
    struct talk_hooks hooks = {.on_changed = put_changed, .on_updated = put_updated};
    struct talk talk;
    int code = talk_open_with(options, command, &hooks, &talk);
    if (code != CLI_OK)
        return code;
    if (options->in && dx_mcp_client_is_modern(talk.client))
        return talk_close(&talk, cli_fail(CLI_MISFIT,
                                          "watch --in does not work with a server of revision %s:"
                                          " it sends changes only to the client that started it",
                                          dx_mcp_client_revision(talk.client)));
    if (!words[0] && !tells_changes(&talk))
        cli_note("the server does not report changes to its lists");
    for (; *words && code == CLI_OK; words++)
        code = subscribe(&talk, *words);
    if (code == CLI_OK)
        code = look_on(&talk);
    return talk_close(&talk, code);
}
