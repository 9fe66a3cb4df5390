/* duplex describe: describes a protocol, or one of its methods. */
#include "cli/describe/describe.h"

#include "cli/cli.h"
#include "cli/describe/bundle.h"
#include "cli/describe/nearest.h"
#include "cli/describe/parts.h"
#include "cli/input.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

struct describe_options {
    const char *protocol;
    bool openrpc;
    bool schema;
    bool result;
    const char *from;
};

static int put_json_text(char *text) {
    if (!text)
        return cli_fail(CLI_NO_START, "out of memory");
    cli_put_json(stdout, dx_str(text));
    free(text);
    return CLI_OK;
}

/* The side whose schema is meant; false if that was told. */
static bool choose_side(const dx_protocol *protocol, const dx_method *method,
                        const struct describe_options *options, dx_part part, dx_side *ret_side) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    bool both = method->from_host && method->from_plugin;
    *ret_side = method->from_host ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    if (options->from)
        *ret_side = strcmp(options->from, "host") == 0 ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    if (!cli_sends(method, *ret_side)) {
        cli_fail(CLI_USAGE, "the %s does not send %s",
                 *ret_side == DX_SIDE_HOST ? facts->host : facts->plugin, method->name);
        return false;
    }
    bool same = cli_schema_of(protocol, method, DX_SIDE_HOST, part) ==
                    cli_schema_of(protocol, method, DX_SIDE_PLUGIN, part) &&
                method->optional[DX_SIDE_HOST] == method->optional[DX_SIDE_PLUGIN];
    if (both && !options->from && !same) {
        cli_fail_hint(CLI_USAGE, "add --from host or --from plugin",
                      "%s has one schema from the %s (the host) and another from the %s (the"
                      " plugin)",
                      method->name, facts->host, facts->plugin);
        return false;
    }
    return true;
}

static int put_schema(const dx_protocol *protocol, const dx_method *method,
                      const struct describe_options *options) {
    dx_part part = options->result ? DX_PART_RESULT : DX_PART_PARAMS;
    dx_side from;
    int code;
    if (options->result && method->notification)
        return cli_fail(CLI_USAGE, "%s is a notification: it has no result", method->name);
    if (!choose_side(protocol, method, options, part, &from))
        return CLI_USAGE;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *schema = cli_bundle(doc, protocol, method, from, part, &code);
    if (schema)
        code = put_json_text(yyjson_mut_val_write(schema, YYJSON_WRITE_NOFLAG, NULL));
    yyjson_mut_doc_free(doc);
    return code;
}

static int describe_method(dx_protocol *protocol, const dx_method *method,
                           const struct describe_options *options) {
    if (options->openrpc)
        return put_json_text(
            yyjson_val_write(cli_method_object(protocol, method), YYJSON_WRITE_NOFLAG, NULL));
    if (options->schema)
        return put_schema(protocol, method, options);
    return cli_voice.json ? cli_describe_method_json(protocol, method)
                          : cli_describe_method(protocol, method);
}

static int describe_protocol(const dx_protocol *protocol, const struct describe_options *options) {
    if (options->openrpc)
        return put_json_text(
            yyjson_val_write(dx_protocol_document(protocol), YYJSON_WRITE_NOFLAG, NULL));
    return cli_voice.json ? cli_describe_protocol_json(protocol) : cli_describe_protocol(protocol);
}

static int refuse_method(const dx_protocol *protocol, const char *protocol_word, const char *word) {
    char list[300];
    snprintf(list, sizeof list, "'duplex list %s' lists the methods", protocol_word);
    char *hint = cli_near_method(protocol, word, list);
    int code = cli_fail_hint(CLI_USAGE, hint, "%s has no method '%s'",
                             dx_protocol_facts_of(protocol)->name, word);
    free(hint);
    return code;
}

/* Words and options that do not go together. */
static int check_words(const cli_words *words, const struct describe_options *options) {
    if (words->command)
        return cli_fail(CLI_USAGE, "unexpected command after --");
    size_t count = words->count + (options->protocol != NULL);
    if (!count)
        return cli_fail_hint(CLI_USAGE, "'duplex list' lists the built-in protocols",
                             "missing PROTOCOL");
    if (count > 2)
        return cli_fail(CLI_USAGE, "expected one METHOD, but also got '%s'",
                        words->at[words->count - 1]);
    if (options->openrpc && options->schema)
        return cli_fail(CLI_USAGE, "--openrpc and --json-schema cannot be used together");
    if (options->schema && count < 2)
        return cli_fail(CLI_USAGE, "--json-schema needs a METHOD");
    if ((options->result || options->from) && !options->schema)
        return cli_fail(CLI_USAGE, "--%s needs --json-schema", options->result ? "result" : "from");
    return CLI_OK;
}

static int run(const cli_words *words, void *user) {
    const struct describe_options *options = user;
    int code = check_words(words, options);
    if (code != CLI_OK)
        return code;
    const char *name = options->protocol ? options->protocol : words->at[0];
    dx_protocol *protocol = cli_protocol(name);
    if (!protocol)
        return CLI_USAGE;
    const char *word = words->at[!options->protocol];
    const dx_method *method = word ? dx_protocol_find(protocol, dx_str(word)) : NULL;
    if (word && !method)
        code = refuse_method(protocol, name, word);
    else
        code = method ? describe_method(protocol, method, options)
                      : describe_protocol(protocol, options);
    dx_protocol_free(protocol);
    return code;
}

#define AT(member) offsetof(struct describe_options, member)

static const cli_option options[] = {
    {"protocol", 'p', CLI_PROTOCOL, "NAME|FILE", "the same as PROTOCOL", AT(protocol)},
    {"openrpc", 0, CLI_FLAG, NULL, "print the OpenRPC document, or METHOD's part of it",
     AT(openrpc)},
    {"json-schema", 0, CLI_FLAG, NULL, "print a self-contained JSON Schema of METHOD's params",
     AT(schema)},
    {"result", 0, CLI_FLAG, NULL, "with --json-schema: of the result instead of the params",
     AT(result)},
    {"from", 0, CLI_CHOICE, "host|plugin",
     "with --json-schema: which side's schema, if both sides send METHOD", AT(from)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "How does a session of a language server begin and end?",
    "duplex describe lsp",
    "What does a tool call take and return?",
    "duplex describe mcp tools/call",
    "Print a JSON Schema of its result:",
    "duplex describe --json-schema --result mcp tools/call",
    NULL,
};

const cli_verb cli_describe = {
    .name = "describe",
    .words = "[OPTION...] PROTOCOL [METHOD]",
    .summary = "Describe a protocol, or one of its methods",
    .text = "Without METHOD, prints the framing, handshake, states, shutdown, errors and methods of"
            " a protocol. With METHOD, prints who sends it, its params and result, its timeout and"
            " errors, and an example. PROTOCOL is NAME, NAME@REVISION or the file of an OpenRPC"
            " document.",
    .details =
        "Params and results are shown as a tree. A type that has a name is shown with it; a type"
        " that contains itself is shown by its name only. \"More rules apply\" means that the "
        "schema"
        " has rules which the tree does not show. The OpenRPC document includes everything that it"
        " extends.\n\n"
        "With --json, all of this is one object. The schemas in it are self-contained, as with"
        " --json-schema.",
    .groups = groups,
    .examples = examples,
    .codes = "7",
    .word = CLI_A_PROTOCOL,
    .size = sizeof(struct describe_options),
    .run = run,
};
