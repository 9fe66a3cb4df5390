/*
 * fits OTHER SCHEMA DOCUMENT...: does each document fit the schema? OTHER is a schema that it
 * refers to by its $id. Prints what does not fit.
 */
#include "protocol/files.h"

#include <duplex/schema.h>

#include <stdlib.h>

static yyjson_doc *read_json(const char *path) {
    size_t len;
    char *bytes = read_whole(path, &len);
    yyjson_doc *doc = bytes ? yyjson_read(bytes, len, 0) : NULL;
    if (!doc) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    free(bytes);
    return doc;
}

static int tell(const dx_misfit *misfit, void *user) {
    failed("%s: %s (%s)", (const char *)user, misfit->phrase, misfit->schema);
    return 1;
}

static void expect(dx_status status, const dx_misfit *why) {
    if (status == DX_OK)
        return;
    printf("%s\n", why->phrase);
    exit(1);
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    yyjson_doc *other = read_json(argv[1]);
    yyjson_doc *meta = read_json(argv[2]);
    dx_misfit why = {.phrase = "out of memory"};
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    dx_check *check = NULL;
    expect(dx_schemas_new(NULL, &schemas), &why);
    expect(dx_schemas_add(schemas, dx_str("file:///other"), yyjson_doc_get_root(other), &why),
           &why);
    expect(dx_schemas_add(schemas, dx_str("file:///meta"), yyjson_doc_get_root(meta), &why), &why);
    expect(dx_schemas_compile(schemas, dx_str("file:///meta"), &schema, &why), &why);
    expect(dx_check_new(NULL, &check), &why);
    for (int i = 3; i < argc; i++) {
        yyjson_doc *document = read_json(argv[i]);
        dx_schema_check_all(schema, yyjson_doc_get_root(document), 0, check, tell, argv[i], &why);
        yyjson_doc_free(document);
    }
    dx_check_free(check);
    dx_schemas_free(schemas);
    yyjson_doc_free(meta);
    yyjson_doc_free(other);
    return verdict("documents", (size_t)argc - 3);
}
