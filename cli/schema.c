/* duplex schema: do JSON files fit a JSON Schema? */
#include "cli/cli.h"

#include <duplex/schema.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, EXIT_MISFIT = 7 };
enum { DOCUMENTS_MAX = 64 };

static const char usage[] =
    "Usage: duplex schema [OPTION...] SCHEMA [FILE...]\n"
    "\n"
    "Checks whether FILEs (- is the standard input) fit SCHEMA, a JSON Schema of draft 7 or "
    "2020-12.\n"
    "Without a FILE only the schema itself is checked.\n"
    "\n"
    "Options:\n"
    "  --all         tell every failure, not only the first of each file\n"
    "  --at PLACE    the schema at this place of SCHEMA: #/definitions/Pet, #name\n"
    "  --with FILE   a document that SCHEMA refers to; may be repeated\n"
    "  --format      \"format\" must hold, instead of being a note\n"
    "  --content     so must contentEncoding, contentMediaType and contentSchema\n"
    "  --json        print failures as JSON, one object a line\n"
    "  --help        this text\n"
    "\n"
    "Nothing is fetched. Exit code: 0 all fit, 7 something does not, or SCHEMA is none,\n"
    "2 wrong usage or a file that can't be read.\n";

struct work {
    dx_schemas *schemas;
    dx_check *check;
    const char *at;
    bool all;
    bool json;
    unsigned flags;
    yyjson_doc *documents[DOCUMENTS_MAX];
    size_t document_count;
    const char *file; /* at hand */
    int code;
};

static void complain(struct work *work, const char *file, const char *what, const char *why) {
    fprintf(stderr, "duplex schema: %s: %s%s%s\n", file, what, why ? ": " : "", why ? why : "");
    work->code = EXIT_USAGE;
}

static char *read_all(FILE *stream, size_t *ret_len) {
    size_t cap = 1 << 16;
    size_t len = 0;
    char *text = malloc(cap);
    while (text && !ferror(stream)) {
        len += fread(text + len, 1, cap - len, stream);
        if (len < cap)
            break;
        char *more = realloc(text, cap *= 2);
        if (!more)
            free(text);
        text = more;
    }
    *ret_len = len;
    return text;
}

/* NULL if it can't be read or is no JSON, which was told. */
static yyjson_doc *read_json(struct work *work, const char *file) {
    FILE *stream = strcmp(file, "-") == 0 ? stdin : fopen(file, "rbe");
    yyjson_read_err error;
    size_t len;
    if (!stream) {
        complain(work, file, "can't be read", strerror(errno));
        return NULL;
    }
    char *text = read_all(stream, &len);
    bool failed = !text || ferror(stream);
    if (failed)
        complain(work, file, "can't be read", strerror(text ? errno : ENOMEM));
    if (stream != stdin)
        fclose(stream);
    yyjson_doc *doc = failed ? NULL : yyjson_read_opts(text, len, YYJSON_READ_NOFLAG, NULL, &error);
    if (!failed && !doc) {
        size_t line = 1;
        size_t column = 1;
        for (size_t i = 0; i < error.pos && i < len; i++) {
            column = text[i] == '\n' ? 1 : column + 1;
            line += text[i] == '\n';
        }
        fprintf(stderr, "duplex schema: %s:%zu:%zu: %s\n", file, line, column, error.msg);
        work->code = EXIT_MISFIT;
    }
    free(text);
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
    if (work->json)
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
        complain(work, file, "too many documents", NULL);
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
        complain(work, file, "no memory", NULL);
    else
        on_misfit(&why, work);
    work->code = work->code ? work->code : EXIT_MISFIT;
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
        complain(work, file, "no memory", NULL);
    else if (status == DX_ERR_LIMIT || (status == DX_MISFIT && !work->all))
        on_misfit(&why, work);
    if (status != DX_OK && !work->code)
        work->code = EXIT_MISFIT;
    yyjson_doc_free(doc);
}

static void run(struct work *work, char **files, char **with, size_t with_count) {
    char uri[PATH_MAX + 8];
    char other[PATH_MAX + 8];
    dx_misfit why = {0};
    dx_schema *schema;
    for (size_t i = 0; i < with_count; i++)
        if (!add(work, with[i], other))
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
        work->code = EXIT_MISFIT;
        return;
    }
    for (files++; *files; files++)
        check_file(work, schema, *files);
}

int cli_schema(int argc, char **argv) {
    static const struct option options[] = {
        {"all", no_argument, NULL, 'a'},        {"at", required_argument, NULL, 'p'},
        {"with", required_argument, NULL, 'w'}, {"format", no_argument, NULL, 'f'},
        {"content", no_argument, NULL, 'c'},    {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0}};
    struct work work = {0};
    char *with[DOCUMENTS_MAX];
    size_t with_count = 0;
    dx_schemas_config config = dx_schemas_defaults();
    optind = 0;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (option) {
        case 'a':
            work.all = true;
            break;
        case 'p':
            work.at = optarg;
            break;
        case 'w':
            if (with_count == DOCUMENTS_MAX) {
                fprintf(stderr, "duplex schema: too many documents\n");
                return EXIT_USAGE;
            }
            with[with_count++] = optarg;
            break;
        case 'f':
            config.flags |= DX_SCHEMA_FORMAT;
            break;
        case 'c':
            config.flags |= DX_SCHEMA_CONTENT;
            break;
        case 'j':
            work.json = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fprintf(stderr,
                    "duplex schema: '%s' is no option, or lacks its value; 'duplex schema --help' "
                    "lists them\n",
                    argv[optind - 1]);
            return EXIT_USAGE;
        }
    }
    if (!argv[optind]) {
        fprintf(stderr, "duplex schema: a schema is missing; 'duplex schema --help' says more\n");
        return EXIT_USAGE;
    }
    if (dx_schemas_new(&config, &work.schemas) == DX_OK && dx_check_new(NULL, &work.check) == DX_OK)
        run(&work, argv + optind, with, with_count);
    else
        complain(&work, argv[optind], "no memory", NULL);
    dx_check_free(work.check);
    dx_schemas_free(work.schemas);
    for (size_t i = 0; i < work.document_count; i++)
        yyjson_doc_free(work.documents[i]);
    return work.code;
}
