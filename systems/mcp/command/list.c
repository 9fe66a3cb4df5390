#include "systems/mcp/command/list.h"

#include "systems/mcp/command/fields.h"
#include "systems/mcp/command/put.h"
#include "systems/mcp/command/verbs.h"

#include "cli/say.h"
#include "cli/seen_tools.h"

#include <string.h>

static const struct {
    const char *member;
    const char *method;
    const char *none;
} kinds[] = {
    [DX_MCP_TOOLS] = {"tools", "tools/list", "no tools"},
    [DX_MCP_RESOURCES] = {"resources", "resources/list", "no resources"},
    [DX_MCP_TEMPLATES] = {"resourceTemplates", "resources/templates/list", "no templates"},
    [DX_MCP_PROMPTS] = {"prompts", "prompts/list", "no prompts"},
};

const char *list_member(dx_mcp_kind kind) {
    return kinds[kind].member;
}

const char *list_method(dx_mcp_kind kind) {
    return kinds[kind].method;
}

int list_get(struct talk *talk, dx_mcp_kind kind, bool quiet, struct answer *ret_answer) {
    *ret_answer = (struct answer){.method = list_method(kind), .quiet = quiet};
    dx_mcp_call_options call = talk_call_options(talk);
    dx_status status =
        dx_mcp_client_list(talk->client, kind, &call, answer_take, ret_answer, &ret_answer->call);
    int code = answer_wait(talk, ret_answer, status);
    if (code == CLI_OK && kind == DX_MCP_TOOLS)
        cli_seen_tools_keep(yyjson_obj_get(answer_value(ret_answer), list_member(kind)));
    return code;
}

/* For people. */

static dx_text name_of(yyjson_val *item) {
    dx_text name = member_of(item, "uri");
    if (!name.at)
        name = member_of(item, "uriTemplate");
    return name.at ? name : member_of(item, "name");
}

/* What it is called for people; absent if that is its name. */
static dx_text title_of(yyjson_val *item) {
    dx_text title = member_of(item, "title");
    if (!title.len)
        title = member_of(yyjson_obj_get(item, "annotations"), "title");
    if (!title.len && (yyjson_obj_get(item, "uri") || yyjson_obj_get(item, "uriTemplate")))
        title = member_of(item, "name");
    dx_text name = name_of(item);
    bool same = title.len == name.len && title.len && memcmp(title.at, name.at, name.len) == 0;
    return same ? dx_str(NULL) : title;
}

static void put_name(FILE *out, yyjson_val *item, size_t indent) {
    dx_text title = title_of(item);
    put_spaces(out, indent);
    fputs(cli_paint(out, CLI_BOLD), out);
    cli_put_safe(out, name_of(item));
    fputs(cli_paint(out, CLI_PLAIN), out);
    if (title.len) {
        fputs("  ", out);
        cli_put_safe(out, title);
    }
    putc('\n', out);
}

void list_put_short(FILE *out, yyjson_val *item) {
    put_name(out, item, 2);
}

static void put_arguments(FILE *out, yyjson_val *item) {
    size_t i;
    size_t max;
    yyjson_val *one;
    yyjson_arr_foreach(yyjson_obj_get(item, "arguments"), i, max, one) {
        dx_text about = member_of(one, "description");
        fprintf(out, "    %s", cli_paint(out, CLI_CYAN));
        cli_put_safe(out, member_of(one, "name"));
        fputs(cli_paint(out, CLI_PLAIN), out);
        fputs(yyjson_get_bool(yyjson_obj_get(one, "required")) ? "  required\n" : "\n", out);
        if (about.len) {
            put_spaces(out, 8);
            put_wrapped(out, about, 8, 8);
        }
    }
}

/* Hints that a server gives; they are not to be relied on. */
static void put_hints(FILE *out, yyjson_val *item) {
    static const char *const hints[][2] = {{"readOnlyHint", "read-only"},
                                           {"destructiveHint", "destructive"},
                                           {"idempotentHint", "idempotent"},
                                           {"openWorldHint", "open world"}};
    yyjson_val *annotations = yyjson_obj_get(item, "annotations");
    dx_text task = member_of(yyjson_obj_get(item, "execution"), "taskSupport");
    const char *before = "  (";
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (yyjson_get_bool(yyjson_obj_get(annotations, hints[i][0]))) {
            fprintf(out, "%s%s", before, hints[i][1]);
            before = ", ";
        }
    if (task.len && !dx_text_is(task, "forbidden")) {
        fprintf(out, "%stask ", before);
        cli_put_safe(out, task);
        before = ", ";
    }
    fputs(before[0] == ',' ? ")\n" : "", out);
}

/* "(text/plain, 1.2 KiB)" */
static void put_form(FILE *out, yyjson_val *item) {
    dx_text mime = member_of(item, "mimeType");
    uint64_t size;
    bool has_size = size_of(item, &size);
    if (!mime.len && !has_size)
        return;
    fputs("  (", out);
    cli_put_safe(out, mime);
    fputs(mime.len && has_size ? ", " : "", out);
    if (has_size)
        put_size(out, size);
    fputs(")\n", out);
}

void list_put(FILE *out, dx_mcp_kind kind, yyjson_val *item) {
    dx_text about = member_of(item, "description");
    put_name(out, item, 0);
    if (about.len) {
        put_spaces(out, 2);
        put_wrapped(out, about, 2, 2);
    }
    if (kind == DX_MCP_TOOLS) {
        put_hints(out, item);
        fields_put(out, yyjson_obj_get(item, "inputSchema"), 4);
    } else if (kind == DX_MCP_PROMPTS) {
        put_arguments(out, item);
    } else {
        put_form(out, item);
    }
}

static void put_all(dx_mcp_kind kind, yyjson_val *items) {
    size_t i;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(items, i, max, item) {
        if (i && kind != DX_MCP_RESOURCES)
            putchar('\n');
        list_put(stdout, kind, item);
    }
    if (!yyjson_arr_size(items))
        cli_note("the server has %s", kinds[kind].none);
}

int verb_list(const struct mcp_options *options, dx_mcp_kind kind, char **words, char **command) {
    struct talk talk;
    struct answer answer;
    if (words[0])
        return cli_unexpected(words[0]);
    int code = talk_open(options, command, &talk);
    if (code != CLI_OK)
        return code;
    code = list_get(&talk, kind, false, &answer);
    if (code == CLI_OK && cli_voice.json) {
        cli_put_line(stdout, (dx_text){answer.text, answer.len});
        putchar('\n');
    } else if (code == CLI_OK) {
        put_all(kind, yyjson_obj_get(answer_value(&answer), list_member(kind)));
    }
    cli_flush();
    answer_done(&answer);
    return talk_close(&talk, code);
}
