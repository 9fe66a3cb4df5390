/* duplex list: the protocols that are built in, and the messages of one. */
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
    static const char *const heads[] = {"NAME", "FRAMING", "MESSAGES", "TITLE", NULL};
    if (list->table)
        add_heads(list->table, heads);
    return cli_catalog(on_entry, (void *)(uintptr_t)list) ? CLI_OK
                                                          : cli_fail(CLI_NO_START, "no memory");
}

static int list_messages(const struct list *list, const char *name) {
    static const char *const heads[] = {"MESSAGE", "DIRECTION", "KIND", "SUMMARY", NULL};
    dx_protocol *protocol = cli_protocol(name);
    const dx_method *method;
    if (!protocol)
        return CLI_USAGE;
    if (!dx_protocol_method(protocol, 0))
        cli_note("%s lists no messages: any may be sent", dx_protocol_facts_of(protocol)->name);
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
        return cli_fail(CLI_USAGE, "a running peer can't be asked what it offers yet; give a "
                                   "PROTOCOL instead of a command");
    if (words->count > 1 || (words->count && options->protocol))
        return cli_fail(CLI_USAGE, "one PROTOCOL at a time, found '%s'",
                        words->at[words->count - 1]);
    if (options->names && cli_voice.json)
        return cli_fail(CLI_USAGE, "--names or --json, not both");
    if (!options->names && !cli_voice.json) {
        list.table = cli_table_new(COLUMNS, name ? 0 : COUNTS);
        if (!list.table)
            return cli_fail(CLI_NO_START, "no memory");
    }
    int code = name ? list_messages(&list, name) : list_protocols(&list);
    if (code == CLI_OK && list.table && !cli_table_print(list.table, stdout, 0))
        code = cli_fail(CLI_NO_START, "no memory");
    cli_table_free(list.table);
    return code;
}

#define AT(member) offsetof(struct list_options, member)

static const cli_option options[] = {
    {"names", 0, CLI_FLAG, NULL, "only the names, one a line", AT(names)},
    {"protocol", 'p', CLI_PROTOCOL, "NAME", "the same as PROTOCOL", AT(protocol)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "What is built in?",
    "duplex list",
    "What may a language server send?",
    "duplex list lsp",
    "The messages of a protocol of your own, for a script:",
    "duplex list --json ./tea.openrpc.json",
    NULL,
};

const cli_verb cli_list_verb = {
    .name = "list",
    .words = "[OPTION...] [PROTOCOL]",
    .summary = "list the protocols, or the messages of one",
    .text =
        "Without a word: the protocols that are built in. PROTOCOL is NAME, NAME@REVISION or the"
        " file of a document; then its messages: who sends them, whether they are answered, and"
        " what they are for. Where the standard output is a terminal, lines are cut to fit.\n\n"
        "With --json each is an object on a line: {\"name\":…,\"revision\":…,\"framing\":…,"
        "\"messages\":…,\"title\":…} or {\"name\":…,\"from\":…,\"direction\":…,\"kind\":…,"
        "\"summary\":…}. With --names only the names are printed: those of protocols are what"
        " --protocol takes.",
    .groups = groups,
    .examples = examples,
    .word = CLI_A_PROTOCOL,
    .size = sizeof(struct list_options),
    .run = run,
};
