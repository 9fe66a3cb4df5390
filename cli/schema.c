/* duplex schema: validates JSON files against a JSON Schema. */
#include "cli/cli.h"

#include "cli/input.h"
#include "cli/say.h"

#include <duplex/schema.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENTS_MAX = 64 };

struct schema_options {
    bool all;
    bool format;
    bool content;
    const char *at;
    cli_list with;
};

struct work {
    dx_schemas *schemas;
    dx_check *check;
    const char *at;
    bool all;
    yyjson_doc *documents[DOCUMENTS_MAX];
    size_t document_count;
    const char *file; /* at hand */
    int code;
};

static void complain(struct work *work, const char *file, const char *what) {
    work->code = cli_fail(CLI_USAGE, "%s: %s", file, what);
}

/* NULL if it can't be read or is no JSON, which was told. */
static yyjson_doc *read_json(struct work *work, const char *file) {
    int code;
    yyjson_doc *doc = cli_read_json(file, CLI_MISFIT, &code);
    if (!doc)
        work->code = code;
    return doc;
}

static void print_json(const char *file, const dx_misfit *misfit) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "file", file);
    yyjson_mut_obj_add_str(doc, root, "instance", misfit->instance);
    yyjson_mut_obj_add_str(doc, root, "schema", misfit->schema);
    yyjson_mut_obj_add_str(doc, root, "keyword", misfit->keyword);
    yyjson_mut_obj_add_str(doc, root, "phrase", misfit->phrase);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    puts(text ? text : "{}");
    free(text);
    yyjson_mut_doc_free(doc);
}

static int on_misfit(const dx_misfit *misfit, void *user) {
    const struct work *work = user;
    if (cli_voice.json)
        print_json(work->file, misfit);
    else
        printf("%s: %s\n", work->file, misfit->phrase);
    return 1;
}

/* Its URI is the file's, so that documents can refer to each other as their files lie. */
static bool add(struct work *work, const char *file, char uri[PATH_MAX + 8]) {
    char path[PATH_MAX];
    dx_misfit why = {0};
    if (work->document_count == DOCUMENTS_MAX) {
        complain(work, file, "too many documents: at most 64 are allowed");
        return false;
    }
    yyjson_doc *doc = read_json(work, file);
    if (!doc)
        return false;
    work->documents[work->document_count++] = doc;
    const char *place = realpath(file, path) ? path : "/stdin";
    size_t len = (size_t)sprintf(uri, "file://");
    for (const char *at = place; *at && len < PATH_MAX; at++) /* no byte that a URI can't have */
        uri[len++] = strchr(" \"#%<>?[\\]^`{|}", *at) || *at < ' ' || *at == 0x7f ? '_' : *at;
    uri[len] = '\0';
    dx_status status = dx_schemas_add(work->schemas, dx_str(uri), yyjson_doc_get_root(doc), &why);
    if (status == DX_OK)
        return true;
    work->file = file;
    if (status == DX_ERR_NOMEM)
        complain(work, file, "out of memory");
    else
        on_misfit(&why, work);
    work->code = work->code ? work->code : CLI_MISFIT;
    return false;
}

static void check_file(struct work *work, const dx_schema *schema, const char *file) {
    dx_misfit why;
    yyjson_doc *doc = read_json(work, file);
    if (!doc)
        return;
    work->file = file;
    yyjson_val *value = yyjson_doc_get_root(doc);
    dx_status status =
        work->all ? dx_schema_check_all(schema, value, 0, work->check, on_misfit, work, &why)
                  : dx_schema_check(schema, value, 0, work->check, &why);
    if (status == DX_ERR_NOMEM)
        complain(work, file, "out of memory");
    else if (status == DX_ERR_LIMIT || (status == DX_MISFIT && !work->all))
        on_misfit(&why, work);
    if (status != DX_OK && !work->code)
        work->code = CLI_MISFIT;
    yyjson_doc_free(doc);
}

static void check(struct work *work, char **files, const cli_list *with) {
    char uri[PATH_MAX + 8];
    char other[PATH_MAX + 8];
    dx_misfit why = {0};
    dx_schema *schema;
    for (size_t i = 0; i < with->count; i++)
        if (!add(work, with->at[i], other))
            return;
    if (!add(work, files[0], uri))
        return;
    char *whole = malloc(strlen(uri) + (work->at ? strlen(work->at) : 0) + 2);
    if (!whole)
        return;
    sprintf(whole, "%s%s%s", uri, work->at && work->at[0] != '#' ? "#" : "",
            work->at ? work->at : "");
    dx_status status = dx_schemas_compile(work->schemas, dx_str(whole), &schema, &why);
    free(whole);
    if (status != DX_OK) {
        work->file = files[0];
        on_misfit(&why, work);
        work->code = CLI_MISFIT;
        return;
    }
    for (files++; *files; files++)
        check_file(work, schema, *files);
}

static int run(const cli_words *words, void *user) {
    const struct schema_options *options = user;
    struct work work = {.at = options->at, .all = options->all};
    dx_schemas_config config = dx_schemas_defaults();
    config.flags |=
        (options->format ? DX_SCHEMA_FORMAT : 0u) | (options->content ? DX_SCHEMA_CONTENT : 0u);
    if (!words->count)
        return cli_fail_hint(CLI_USAGE, "duplex schema SCHEMA FILE...", "missing SCHEMA file");
    if (words->command)
        return cli_fail(CLI_USAGE, "unexpected command after --");
    if (dx_schemas_new(&config, &work.schemas) == DX_OK && dx_check_new(NULL, &work.check) == DX_OK)
        check(&work, words->at, &options->with);
    else
        complain(&work, words->at[0], "out of memory");
    dx_check_free(work.check);
    dx_schemas_free(work.schemas);
    for (size_t i = 0; i < work.document_count; i++)
        yyjson_doc_free(work.documents[i]);
    return work.code;
}

#define AT(member) offsetof(struct schema_options, member)

static const cli_option options[] = {
    {"all", 0, CLI_FLAG, NULL, "report every error, not only the first of each file", AT(all)},
    {"at", 0, CLI_TEXT, "PLACE",
     "use the schema at this location in SCHEMA: #/definitions/Pet, #name", AT(at)},
    {"with", 0, CLI_FILES, "FILE", "a document that SCHEMA refers to; may be repeated", AT(with)},
    {"format", 0, CLI_FLAG, NULL, "check \"format\", which is ignored otherwise", AT(format)},
    {"content", 0, CLI_FLAG, NULL, "also check contentEncoding, contentMediaType and contentSchema",
     AT(content)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "Get a schema to work with: the params of an MCP tool call:",
    "duplex describe --json-schema mcp tools/call >call.json",
    "Check the schema itself:",
    "duplex schema call.json",
    "Validate standard input:",
    "echo '{\"name\":\"add\"}' | duplex schema call.json -",
    "Report every error as JSON:",
    "echo '{\"arguments\":1}' | duplex schema --all --json call.json - || echo \"exit code $?\"",
    NULL,
};

const cli_verb cli_schema = {
    .name = "schema",
    .words = "[OPTION...] SCHEMA [FILE...]",
    .summary = "Validate JSON files against a JSON Schema",
    .text = "Validates each FILE (- is standard input) against SCHEMA, a JSON Schema of draft 7 or"
            " 2020-12. Without FILE, only the schema itself is checked. Nothing is fetched from the"
            " network. Errors are printed to standard output, one per line, and the exit code"
            " is 7.",
    .details = "With --json, each error is an object:"
               " {\"file\":…,\"instance\":…,\"schema\":…,\"keyword\":…,\"phrase\":…}.",
    .groups = groups,
    .examples = examples,
    .codes = "7",
    .word = CLI_A_FILE,
    .size = sizeof(struct schema_options),
    .run = run,
};
