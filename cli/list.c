/* duplex list: lists the built-in protocols, or the methods of one. */
#include "cli/cli.h"

#include "cli/describe/catalog.h"
#include "cli/describe/paper.h"
#include "cli/describe/parts.h"
#include "cli/input.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

struct list_options {
    bool names;
    const char *protocol;
};

struct list {
    bool names;
    cli_table *table; /* NULL: something else than a table is printed */
};

/* One object on a line of its own. */
static void put_object(yyjson_mut_doc *doc, yyjson_mut_val *object) {
    yyjson_mut_doc_set_root(doc, object);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, NULL);
    puts(text ? text : "{}");
    free(text);
    yyjson_mut_doc_free(doc);
}

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                     const char *text) {
    if (text)
        yyjson_mut_obj_add_strcpy(doc, object, name, text);
    else
        yyjson_mut_obj_add_null(doc, object, name);
}

static void put_name(const char *name) {
    cli_put_safe(stdout, dx_str(name));
    putchar('\n');
}

static void put_entry_json(const cli_entry *entry) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    add_text(doc, object, "name", entry->name);
    add_text(doc, object, "revision", entry->revision);
    add_text(doc, object, "framing", entry->framing);
    yyjson_mut_obj_add_uint(doc, object, "messages", entry->messages);
    add_text(doc, object, "title", entry->title);
    put_object(doc, object);
}

static void on_entry(const cli_entry *entry, void *user) {
    const struct list *list = user;
    char name[160];
    char count[24];
    if (list->names) {
        put_name(entry->name);
        return;
    }
    if (!list->table) {
        put_entry_json(entry);
        return;
    }
    bool apart = entry->revision && !strchr(entry->name, '@');
    snprintf(name, sizeof name, "%s%s%s%s", entry->name, apart ? " (" : "",
             apart ? entry->revision : "", apart ? ")" : "");
    snprintf(count, sizeof count, "%zu", entry->messages);
    cli_table_add(list->table, name, CLI_CYAN);
    cli_table_add(list->table, entry->framing, CLI_PLAIN);
    cli_table_add(list->table, count, CLI_PLAIN);
    cli_table_add(list->table, entry->title, CLI_PLAIN);
}

static void put_message_json(const dx_method *method, const char *direction) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    add_text(doc, object, "name", method->name);
    add_text(doc, object, "from", cli_sender(method));
    add_text(doc, object, "direction", direction);
    add_text(doc, object, "kind", method->notification ? "notification" : "request");
    add_text(doc, object, "summary", method->summary);
    put_object(doc, object);
}

static void on_message(const struct list *list, const dx_protocol_facts *facts,
                       const dx_method *method) {
    if (list->names) {
        put_name(method->name);
        return;
    }
    char *direction = cli_direction(facts, method->from_host, method->from_plugin);
    if (list->table) {
        cli_table_add(list->table, method->name, CLI_CYAN);
        cli_table_add(list->table, direction, CLI_PLAIN);
        cli_table_add(list->table, method->notification ? "notification" : "request", CLI_PLAIN);
        cli_table_add(list->table, method->summary, CLI_PLAIN);
    } else {
        put_message_json(method, direction);
    }
    free(direction);
}

static void add_heads(cli_table *table, const char *const *heads) {
    for (; *heads; heads++)
        cli_table_add(table, *heads, CLI_BOLD);
}

static int list_protocols(const struct list *list) {
    static const char *const heads[] = {"NAME", "FRAMING", "METHODS", "TITLE", NULL};
    if (list->table)
        add_heads(list->table, heads);
    return cli_catalog(on_entry, (void *)(uintptr_t)list) ? CLI_OK
                                                          : cli_fail(CLI_NO_START, "out of memory");
}

static int list_messages(const struct list *list, const char *name) {
    static const char *const heads[] = {"METHOD", "DIRECTION", "KIND", "SUMMARY", NULL};
    dx_protocol *protocol = cli_protocol(name);
    const dx_method *method;
    if (!protocol)
        return CLI_USAGE;
    if (!dx_protocol_method(protocol, 0))
        cli_note("%s lists no methods: any method may be sent",
                 dx_protocol_facts_of(protocol)->name);
    else if (list->table)
        add_heads(list->table, heads);
    for (size_t i = 0; (method = dx_protocol_method(protocol, i)); i++)
        on_message(list, dx_protocol_facts_of(protocol), method);
    dx_protocol_free(protocol);
    return CLI_OK;
}

static int run(const cli_words *words, void *user) {
    enum { COLUMNS = 4, COUNTS = 1 << 2 };
    const struct list_options *options = user;
    const char *name = options->protocol ? options->protocol : words->at[0];
    struct list list = {.names = options->names};
    if (words->command)
        return cli_fail_hint(CLI_USAGE,
                             "to list the tools of a server: duplex mcp tools -- COMMAND",
                             "unexpected command after --: it lists protocols, not servers");
    if (words->count > 1 || (words->count && options->protocol))
        return cli_fail(CLI_USAGE, "expected one PROTOCOL, but also got '%s'",
                        words->at[words->count - 1]);
    if (options->names && cli_voice.json)
        return cli_fail(CLI_USAGE, "--names and --json cannot be used together");
    if (!options->names && !cli_voice.json) {
        list.table = cli_table_new(COLUMNS, name ? 0 : COUNTS);
        if (!list.table)
            return cli_fail(CLI_NO_START, "out of memory");
    }
    int code = name ? list_messages(&list, name) : list_protocols(&list);
    if (code == CLI_OK && list.table && !cli_table_print(list.table, stdout, 0))
        code = cli_fail(CLI_NO_START, "out of memory");
    cli_table_free(list.table);
    return code;
}

#define AT(member) offsetof(struct list_options, member)

static const cli_option options[] = {
    {"names", 0, CLI_FLAG, NULL, "print only the names, one per line", AT(names)},
    {"protocol", 'p', CLI_PROTOCOL, "NAME", "same as PROTOCOL", AT(protocol)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "List the built-in protocols:",
    "duplex list",
    "List the methods of MCP:",
    "duplex list mcp",
    "List the methods of an OpenRPC document, for a script:",
    "duplex describe --openrpc mcp >mcp.json && duplex list --json ./mcp.json",
    NULL,
};

const cli_verb cli_list_verb = {
    .name = "list",
    .words = "[OPTION...] [PROTOCOL]",
    .summary = "List the built-in protocols, or the methods of one",
    .text = "With PROTOCOL, lists its methods: who sends them, whether they are requests or"
            " notifications, and what they are for. PROTOCOL is NAME, NAME@REVISION or the file of"
            " an OpenRPC document.",
    .details =
        "On a terminal, lines are cut to fit. With --json, each line is an object:"
        " {\"name\":…,\"revision\":…,\"framing\":…,\"messages\":…,\"title\":…} or"
        " {\"name\":…,\"from\":…,\"direction\":…,\"kind\":…,\"summary\":…}. The option --protocol"
        " of other commands takes the names that --names prints.",
    .groups = groups,
    .examples = examples,
    .word = CLI_A_PROTOCOL,
    .size = sizeof(struct list_options),
    .run = run,
};
