/* duplex mcp tools call, prompts get, resources read, complete: one call with arguments. */
#include "systems/mcp/command/arguments.h"
#include "systems/mcp/command/list.h"
#include "systems/mcp/command/put.h"
#include "systems/mcp/command/show.h"
#include "systems/mcp/command/verbs.h"

#include "cli/describe/nearest.h"
#include "cli/input.h"
#include "cli/params.h"
#include "cli/say.h"
#include "cli/seen_tools.h"

#include <stdlib.h>
#include <string.h>

static dx_json json_of(const char *text) {
    return text ? dx_json_text(text, strlen(text)) : dx_json_none();
}

static void put_answer(const struct answer *answer) {
    cli_put_line(stdout, (dx_text){answer->text, answer->len});
    putchar('\n');
}

/* ARGUMENTS, to be freed; NULL in *ret_text for none. False if that was told. */
static bool read_arguments(char **words, char **ret_text) {
    if (!cli_params(words, ret_text))
        return false;
    if (!*ret_text || (*ret_text)[strspn(*ret_text, " \t\r\n")] == '{')
        return true;
    cli_fail(CLI_USAGE, "ARGUMENTS must be a JSON object");
    free(*ret_text);
    return false;
}

struct names {
    const char **at;
    size_t count;
};

static const char *name_at(const void *names, size_t index) {
    enum { COMPARED_MAX = 2000 }; /* that takes time, and lists can be long */
    const struct names *all = names;
    return index < all->count && index < COMPARED_MAX ? all->at[index] : NULL;
}

/* `at` is to be freed; NULL: no memory. */
static struct names names_of(yyjson_val *items) {
    struct names names = {calloc(yyjson_arr_size(items) + 1, sizeof *names.at), 0};
    size_t i;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(items, i, max, item) {
        const char *name = yyjson_get_str(yyjson_obj_get(item, "name"));
        if (names.at && name)
            names.at[names.count++] = name;
    }
    return names;
}

/* tools call */

static dx_status ask_tool(struct talk *talk, const char *name, const char *arguments,
                          struct answer *answer) {
    dx_mcp_call_options call = talk_call_options(talk);
    if (talk->options->task)
        return dx_mcp_client_task(talk->client, dx_str(name), json_of(arguments), 0, &call,
                                  answer_take, answer, &answer->call);
    return dx_mcp_client_tool(talk->client, dx_str(name), json_of(arguments), &call, answer_take,
                              answer, &answer->call);
}

/* It ran and failed: what it says of that is the message. */
static int tell_failure(const char *name, yyjson_val *result, const char *hint) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return cli_fail(CLI_NO_START, "out of memory");
    fprintf(out, "%s: ", name);
    show_tool_result(out, result);
    if (fclose(out) != 0)
        return cli_fail(CLI_NO_START, "out of memory");
    size_t first = strcspn(text, "\n");
    dx_text rest = first < len ? (dx_text){text + first + 1, len - first - 1} : dx_str(NULL);
    text[first] = '\0';
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *more = yyjson_mut_obj(doc);
    if (hint)
        cli_add_text(doc, more, "hint", dx_str(hint));
    int code = cli_fail_with(CLI_REFUSED, text, doc, more, rest);
    yyjson_mut_doc_free(doc);
    free(text);
    return code;
}

/* hint: what to do if the tool is not there; NULL: it was found, or nobody looked. */
static int call_tool(struct talk *talk, const char *name, const char *arguments, const char *hint) {
    struct answer answer = {.method = "tools/call", .quiet = true};
    int code = answer_wait(talk, &answer, ask_tool(talk, name, arguments, &answer));
    yyjson_val *result = answer_value(&answer);
    bool failed = yyjson_get_bool(yyjson_obj_get(result, "isError"));
    if (code == CLI_REFUSED) {
        code = answer_tell(talk, &answer, hint);
    } else if (failed && !cli_voice.json) {
        code = tell_failure(name, result, hint);
    } else if (code == CLI_OK && cli_voice.json) {
        put_answer(&answer);
        code = failed ? CLI_REFUSED : CLI_OK;
    } else if (code == CLI_OK) {
        show_tool_result(stdout, result);
    }
    cli_flush();
    answer_done(&answer);
    return code;
}

static yyjson_val *find_tool(yyjson_val *tools, const char *name) {
    size_t i;
    size_t max;
    yyjson_val *tool;
    yyjson_arr_foreach(tools, i, max, tool) {
        if (yyjson_equals_str(yyjson_obj_get(tool, "name"), name))
            return tool;
    }
    return NULL;
}

/* "did you mean 'add'?", to be freed. */
static char *hint_for(yyjson_val *tools, const char *name) {
    struct names names = names_of(tools);
    char *hint = put_suggestion(cli_nearest_of(name_at, &names, name));
    free(names.at);
    return hint ? hint : strdup("'duplex mcp tools' lists the tools");
}

/* Only what is typed as text, or not at all, needs the tool's schema: JSON is sent as it is. A tool
 * that is not in the list may be there all the same. */
static int fit_arguments(struct talk *talk, char **words, char **arguments, char **ret_hint) {
    struct answer answer = {.method = "tools/list", .optional = true};
    if ((words[1] && !cli_params_have_text(words + 1)) ||
        !dx_mcp_client_offers(talk->client, dx_str(answer.method)))
        return CLI_OK;
    dx_status status =
        dx_mcp_client_list(talk->client, DX_MCP_TOOLS, NULL, answer_take, &answer, &answer.call);
    int code = answer_wait(talk, &answer, status);
    yyjson_val *tools = yyjson_obj_get(answer_value(&answer), "tools");
    yyjson_val *tool = find_tool(tools, words[0]);
    if (tools)
        cli_seen_tools_keep(tools);
    if (tool)
        code = arguments_fit(tool, words + 1, arguments);
    else if (tools)
        *ret_hint = hint_for(tools, words[0]);
    if (*ret_hint && words[1]) {
        cli_warn("warning: the server does not list a tool '%s', so arguments are sent as strings;"
                 " %s",
                 words[0], *ret_hint);
        free(*ret_hint); /* it was given */
        *ret_hint = NULL;
    }
    answer_done(&answer);
    return code;
}

int verb_call(const struct mcp_options *options, char **words, char **command) {
    struct talk talk;
    char *arguments;
    char *hint = NULL;
    if (!words[0])
        return cli_missing("tool NAME");
    if (!read_arguments(words + 1, &arguments))
        return CLI_USAGE;
    int code = talk_open(options, command, &talk);
    if (code == CLI_OK) {
        code = fit_arguments(&talk, words, &arguments, &hint);
        if (code == CLI_OK)
            code = call_tool(&talk, words[0], arguments, hint);
        code = talk_close(&talk, code);
    }
    free(hint);
    free(arguments);
    return code;
}

/* prompts get */

static int get_prompt(struct talk *talk, const char *name, const char *arguments) {
    struct answer answer = {.method = "prompts/get"};
    dx_mcp_call_options call = talk_call_options(talk);
    dx_status status = dx_mcp_client_prompt(talk->client, dx_str(name), json_of(arguments), &call,
                                            answer_take, &answer, &answer.call);
    int code = answer_wait(talk, &answer, status);
    if (code == CLI_OK && cli_voice.json)
        put_answer(&answer);
    else if (code == CLI_OK)
        show_prompt(stdout, answer_value(&answer));
    cli_flush();
    answer_done(&answer);
    return code;
}

int verb_get(const struct mcp_options *options, char **words, char **command) {
    struct talk talk;
    char *arguments;
    if (!words[0])
        return cli_missing("prompt NAME");
    if (!read_arguments(words + 1, &arguments))
        return CLI_USAGE;
    int code = talk_open(options, command, &talk);
    if (code == CLI_OK)
        code = talk_close(&talk, get_prompt(&talk, words[0], arguments));
    free(arguments);
    return code;
}

/* resources read */

static int read_one(struct talk *talk, const char *uri, bool named) {
    struct answer answer = {.method = "resources/read"};
    dx_mcp_call_options call = talk_call_options(talk);
    dx_status status =
        dx_mcp_client_read(talk->client, dx_str(uri), &call, answer_take, &answer, &answer.call);
    int code = answer_wait(talk, &answer, status);
    if (code == CLI_OK && cli_voice.json)
        put_answer(&answer);
    else if (code == CLI_OK)
        show_contents(stdout, answer_value(&answer), named);
    cli_flush();
    answer_done(&answer);
    return code;
}

int verb_read(const struct mcp_options *options, char **words, char **command) {
    struct talk talk;
    if (!words[0])
        return cli_missing("resource URI");
    int code = talk_open(options, command, &talk);
    if (code != CLI_OK)
        return code;
    for (char **uri = words; *uri && code == CLI_OK; uri++)
        code = read_one(&talk, *uri, words[1]);
    return talk_close(&talk, code);
}

/* complete */

static int ask_values(struct talk *talk, dx_mcp_kind kind, char **words, const char *context) {
    struct answer answer = {.method = "completion/complete"};
    dx_mcp_call_options call = talk_call_options(talk);
    size_t len = strcspn(words[1], "=");
    dx_text argument = {words[1], len};
    dx_text value = dx_str(words[1][len] ? words[1] + len + 1 : "");
    dx_status status =
        dx_mcp_client_complete(talk->client, kind, dx_str(words[0]), argument, value,
                               json_of(context), &call, answer_take, &answer, &answer.call);
    int code = answer_wait(talk, &answer, status);
    yyjson_val *completion = yyjson_obj_get(answer_value(&answer), "completion");
    size_t i;
    size_t max;
    yyjson_val *one;
    if (code == CLI_OK && cli_voice.json) {
        put_answer(&answer);
    } else if (code == CLI_OK) {
        yyjson_arr_foreach(yyjson_obj_get(completion, "values"), i, max, one) {
            cli_put_safe(stdout, dx_json_string(one));
            putchar('\n');
        }
        if (yyjson_get_bool(yyjson_obj_get(completion, "hasMore")))
            cli_note("there are more values");
    }
    cli_flush();
    answer_done(&answer);
    return code;
}

int verb_complete(const struct mcp_options *options, char **words, char **command) {
    struct talk talk;
    char *context;
    bool is_prompt = words[0] && strcmp(words[0], "prompt") == 0;
    if (!words[0])
        return cli_missing("'prompt' or 'template'");
    if (!is_prompt && strcmp(words[0], "template") != 0)
        return cli_fail(CLI_USAGE, "expected 'prompt' or 'template', got '%s'", words[0]);
    if (!words[1] || !words[2])
        return cli_missing(words[1] ? "ARGUMENT" : "NAME");
    if (!read_arguments(words + 3, &context))
        return CLI_USAGE;
    int code = talk_open(options, command, &talk);
    if (code == CLI_OK)
        code = talk_close(&talk, ask_values(&talk, is_prompt ? DX_MCP_PROMPTS : DX_MCP_TEMPLATES,
                                            words + 1, context));
    free(context);
    return code;
}
