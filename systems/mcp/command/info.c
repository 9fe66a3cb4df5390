/* duplex mcp info: what a server says of itself. */
#include "systems/mcp/command/list.h"
#include "systems/mcp/command/put.h"
#include "systems/mcp/command/verbs.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static const dx_mcp_kind kinds[] = {DX_MCP_TOOLS, DX_MCP_RESOURCES, DX_MCP_TEMPLATES,
                                    DX_MCP_PROMPTS};
static const char *const titles[] = {"Tools", "Resources", "Templates", "Prompts"};
enum { KINDS = 4 };

#define MODERN_SERVER "io.modelcontextprotocol/serverInfo"

static void put_head(const char *head) {
    printf("%s%-13s%s", cli_paint(stdout, CLI_BOLD), head, cli_paint(stdout, CLI_PLAIN));
}

static void put_row(const char *head, dx_text text) {
    if (!text.len)
        return;
    put_head(head);
    put_wrapped(stdout, text, 13, 13);
}

static void put_server(const struct talk *talk) {
    yyjson_val *server = dx_mcp_client_server(talk->client);
    dx_text title = member_of(server, "title");
    put_head("Server");
    cli_put_safe(stdout, member_of(server, "name"));
    putchar(' ');
    cli_put_safe(stdout, member_of(server, "version"));
    if (title.len) {
        fputs(" (", stdout);
        cli_put_safe(stdout, title);
        putchar(')');
    }
    putchar('\n');
    put_row("Description", member_of(server, "description"));
    put_row("Website", member_of(server, "websiteUrl"));
    put_head("Revision");
    printf("%s\n", dx_mcp_client_revision(talk->client));
}

/* "tools (listChanged), logging" */
static void put_capabilities(const struct talk *talk) {
    yyjson_val *capabilities = dx_mcp_client_capabilities(talk->client);
    char *text = NULL;
    size_t len = 0;
    size_t i;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return;
    yyjson_obj_foreach(capabilities, i, max, key, value) {
        yyjson_obj_iter iter = yyjson_obj_iter_with(value);
        const char *before = " (";
        fputs(i ? ", " : "", out);
        cli_put_safe(out, dx_json_string(key));
        for (yyjson_val *part; (part = yyjson_obj_iter_next(&iter));) {
            if (yyjson_is_false(yyjson_obj_iter_get_val(part)))
                continue;
            fputs(before, out);
            cli_put_safe(out, dx_json_string(part));
            before = ", ";
        }
        fputs(before[0] == ',' ? ")" : "", out);
    }
    if (fclose(out) == 0)
        put_row("Capabilities", len ? (dx_text){text, len} : dx_str("none"));
    free(text);
}

static void put_list(size_t index, const struct answer *answer) {
    yyjson_val *items = yyjson_obj_get(answer_value(answer), list_member(kinds[index]));
    size_t i;
    size_t max;
    yyjson_val *item;
    printf("\n%s%s%s (%zu)\n", cli_paint(stdout, CLI_BOLD), titles[index],
           cli_paint(stdout, CLI_PLAIN), yyjson_arr_size(items));
    yyjson_arr_foreach(items, i, max, item) {
        list_put_short(stdout, item);
    }
}

static void put_people(const struct talk *talk, const struct answer *answers) {
    put_server(talk);
    put_capabilities(talk);
    put_row("Instructions", dx_mcp_client_instructions(talk->client));
    for (size_t i = 0; i < KINDS; i++)
        if (answers[i].doc)
            put_list(i, &answers[i]);
}

static void add_raw(yyjson_mut_doc *doc, dx_text from, const char *key) {
    dx_text value = dx_rpc_member(from, dx_str(key));
    if (value.len)
        yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), key,
                               yyjson_mut_rawncpy(doc, value.at, value.len));
}

static void put_json(const struct talk *talk, const struct answer *answers) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    dx_text hello = dx_mcp_client_hello(talk->client)->body;
    dx_text meta = dx_rpc_member(hello, dx_str("_meta"));
    bool is_modern = dx_mcp_client_is_modern(talk->client);
    dx_text server =
        dx_rpc_member(is_modern ? meta : hello, dx_str(is_modern ? MODERN_SERVER : "serverInfo"));
    yyjson_mut_obj_add_str(doc, root, "revision", dx_mcp_client_revision(talk->client));
    yyjson_mut_obj_add_str(doc, root, "mode", is_modern ? "modern" : "legacy");
    if (server.len)
        yyjson_mut_obj_add_val(doc, root, "serverInfo",
                               yyjson_mut_rawncpy(doc, server.at, server.len));
    add_raw(doc, hello, "capabilities");
    add_raw(doc, hello, "instructions");
    add_raw(doc, hello, "_meta");
    for (size_t i = 0; i < KINDS; i++) {
        const struct answer *answer = &answers[i];
        dx_text text = {answer->text, answer->doc ? answer->len : 0};
        add_raw(doc, text, list_member(kinds[i]));
    }
    size_t len;
    char *text = yyjson_mut_write(doc, 0, &len);
    cli_put_line(stdout, text ? (dx_text){text, len} : dx_str("{}"));
    putchar('\n');
    free(text);
    yyjson_mut_doc_free(doc);
}

/* Many servers that have resources don't know of templates: that is no reason to say nothing. */
static int get_list(struct talk *talk, dx_mcp_kind kind, struct answer *answer) {
    if (!dx_mcp_client_offers(talk->client, dx_str(list_method(kind))))
        return CLI_OK;
    int code = list_get(talk, kind, true, answer);
    if (code == CLI_REFUSED)
        cli_note("%s", answer->failure ? answer->failure : "out of memory");
    return code == CLI_REFUSED ? CLI_OK : code;
}

int verb_info(const struct mcp_options *options, char **words, char **command) {
    struct answer answers[KINDS] = {{.method = NULL}};
    struct talk talk;
    if (words[0])
        return cli_unexpected(words[0]);
    int code = talk_open(options, command, &talk);
    if (code != CLI_OK)
        return code;
    cli_note_mended(dx_mcp_client_is_modern(talk.client) ? "server/discover" : "initialize",
                    dx_mcp_client_hello(talk.client)->mended);
    for (size_t i = 0; code == CLI_OK && i < KINDS; i++)
        code = get_list(&talk, kinds[i], &answers[i]);
    if (code == CLI_OK)
        (cli_voice.json ? put_json : put_people)(&talk, answers);
    cli_flush();
    for (size_t i = 0; i < KINDS; i++)
        answer_done(&answers[i]);
    return talk_close(&talk, code);
}
