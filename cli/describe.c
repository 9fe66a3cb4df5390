/* duplex describe: what a protocol says, and what it says of a message. */
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
    bool openrpc;
    bool schema;
    bool result;
    const char *from;
};

static int put_json_text(char *text) {
    if (!text)
        return cli_fail(CLI_NO_START, "no memory");
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
        cli_fail(CLI_USAGE, "%s is not sent by the %s", method->name,
                 *ret_side == DX_SIDE_HOST ? facts->host : facts->plugin);
        return false;
    }
    bool same = cli_schema_of(protocol, method, DX_SIDE_HOST, part) ==
                    cli_schema_of(protocol, method, DX_SIDE_PLUGIN, part) &&
                method->optional[DX_SIDE_HOST] == method->optional[DX_SIDE_PLUGIN];
    if (both && !options->from && !same) {
        cli_fail(CLI_USAGE,
                 "%s differs by who sends it: --from host (%s) or --from plugin (%s) says whom",
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
    const char *name = dx_protocol_facts_of(protocol)->name;
    char *near = cli_nearest(protocol, word);
    int code =
        near ? cli_fail(CLI_USAGE, "%s has no message '%s'; did you mean %s?", name, word, near)
             : cli_fail(CLI_USAGE, "%s has no message '%s'; 'duplex list %s' has them all", name,
                        word, protocol_word);
    free(near);
    return code;
}

/* Words and options that do not go together. */
static int check_words(const cli_words *words, const struct describe_options *options) {
    if (words->command)
        return cli_fail(CLI_USAGE, "nothing stands behind --");
    if (!words->count)
        return cli_fail(CLI_USAGE, "PROTOCOL is missing; 'duplex list' has them all");
    if (words->count > 2)
        return cli_fail(CLI_USAGE, "one METHOD at a time, found '%s'", words->at[2]);
    if (options->openrpc && options->schema)
        return cli_fail(CLI_USAGE, "--openrpc or --json-schema, not both");
    if (options->schema && words->count < 2)
        return cli_fail(CLI_USAGE, "--json-schema is that of a METHOD, which is missing");
    if ((options->result || options->from) && !options->schema)
        return cli_fail(CLI_USAGE, "--%s goes with --json-schema",
                        options->result ? "result" : "from");
    return CLI_OK;
}

static int run(const cli_words *words, void *user) {
    const struct describe_options *options = user;
    int code = check_words(words, options);
    if (code != CLI_OK)
        return code;
    dx_protocol *protocol = cli_protocol(words->at[0]);
    if (!protocol)
        return CLI_USAGE;
    const char *word = words->at[1];
    const dx_method *method = word ? dx_protocol_find(protocol, dx_str(word)) : NULL;
    if (word && !method)
        code = refuse_method(protocol, words->at[0], word);
    else
        code = method ? describe_method(protocol, method, options)
                      : describe_protocol(protocol, options);
    dx_protocol_free(protocol);
    return code;
}

#define AT(member) offsetof(struct describe_options, member)

static const cli_option options[] = {
    {"openrpc", 0, CLI_FLAG, NULL,
     "the OpenRPC document, what it extends included; or METHOD's part", AT(openrpc)},
    {"json-schema", 0, CLI_FLAG, NULL, "a JSON Schema of METHOD's params that stands alone",
     AT(schema)},
    {"result", 0, CLI_FLAG, NULL, "of its result, instead of its params", AT(result)},
    {"from", 0, CLI_CHOICE, "host|plugin", "as that side sends it, where both do", AT(from)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "How does a language server begin and end?",
    "duplex describe lsp",
    "What does a tool's call take, and give?",
    "duplex describe mcp tools/call",
    "Does a file fit?",
    "duplex describe --json-schema mcp tools/call >call.json && duplex schema call.json mine.json",
    NULL,
};

const cli_verb cli_describe = {
    .name = "describe",
    .words = "[OPTION...] PROTOCOL [METHOD]",
    .summary = "describe a protocol, or a message of it",
    .text =
        "Without METHOD: how the protocol is framed, how it begins and ends, its states, its"
        " errors and its messages. With METHOD: who sends it, its params and its result as a tree,"
        " how long the answer may take, its errors, and an example as it crosses the wire."
        " PROTOCOL is NAME, NAME@REVISION or the file of a document.\n\n"
        "In a tree a type that a document names stands with its name; where it leads back to"
        " itself, only the name is there. \"There are more rules\" means that the schema says what"
        " the tree does not show.\n\n"
        "With --json all of this is one object; schemas in it stand alone, as with --json-schema.",
    .groups = groups,
    .examples = examples,
    .codes = "7",
    .word = CLI_A_PROTOCOL,
    .size = sizeof(struct describe_options),
    .run = run,
};
