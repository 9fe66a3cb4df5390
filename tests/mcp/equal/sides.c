/* The two sides of the comparison, each with its schemas compiled on demand. */
#include "mcp/equal/equal.h"
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

static const unsigned flags[FORMS] = {0, DX_SCHEMA_FORMAT};

static void need(bool right, const char *what, const char *why) {
    if (right)
        return;
    printf("%s: %s\n", what, why);
    exit(1);
}

static dx_schemas *set_of(yyjson_val *root, int form, const char *what) {
    dx_schemas_config config = dx_schemas_defaults();
    dx_schemas *schemas = NULL;
    dx_misfit why = {.phrase = "out of memory"};
    config.flags = flags[form];
    need(dx_schemas_new(&config, &schemas) == DX_OK, what, why.phrase);
    need(dx_schemas_add(schemas, dx_str(""), root, &why) == DX_OK, what, why.phrase);
    return schemas;
}

static const dx_schema *compile(dx_schemas *schemas, const char *uri) {
    dx_schema *schema = NULL;
    dx_misfit why = {.phrase = "out of memory"};
    need(dx_schemas_compile(schemas, dx_str(uri), &schema, &why) == DX_OK, uri, why.phrase);
    return schema;
}

/* Which errata a set has: all of them, or one. */
static bool has(size_t set, size_t erratum) {
    return set == WIDENED || set == ALONE + erratum;
}

static yyjson_doc *widen(const struct published *published, size_t set) {
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(published->docs[AS_PUBLISHED], NULL);
    for (size_t i = 0; i < published->errata_count; i++)
        if (has(set, i))
            need(published->errata[i]->widen(copy, published->where), published->errata[i]->id,
                 "finds nothing to widen");
    yyjson_doc *doc = yyjson_mut_doc_imut_copy(copy, NULL);
    yyjson_mut_doc_free(copy);
    return doc;
}

void published_read(struct published *published, const char *folder, const char *revision) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s/schema.json", folder, revision);
    *published = (struct published){.revision = revision, .sets = 1};
    published->docs[AS_PUBLISHED] = yyjson_read_file(path, 0, NULL, NULL);
    published->root = yyjson_doc_get_root(published->docs[AS_PUBLISHED]);
    need(published->root, path, "cannot be read");
    published->where = yyjson_obj_get(published->root, "$defs") ? "$defs" : "definitions";
    published->defs = yyjson_obj_get(published->root, published->where);
    published->errata_count = errata_of(revision, published->errata);
    if (published->errata_count)
        published->sets = ALONE + published->errata_count;
    for (size_t set = 1; set < published->sets; set++)
        published->docs[set] = widen(published, set);
    for (size_t set = 0; set < published->sets; set++)
        for (int form = 0; form < FORMS; form++)
            published->schemas[set][form] =
                set_of(yyjson_doc_get_root(published->docs[set]), form, path);
    need(dx_check_new(NULL, &published->check) == DX_OK, path, "out of memory");
}

void published_done(struct published *published) {
    for (size_t set = 0; set < published->sets; set++) {
        for (int form = 0; form < FORMS; form++)
            dx_schemas_free(published->schemas[set][form]);
        yyjson_doc_free(published->docs[set]);
    }
    dx_check_free(published->check);
}

const dx_schema *published_schema(const struct published *published, size_t set, int form,
                                  const char *def, const char *place) {
    char uri[PATH_ROOM];
    snprintf(uri, sizeof uri, "#/%s/%s%s", published->where, def, place);
    return compile(published->schemas[set][form], uri);
}

yyjson_val *published_def(const struct published *published, const char *name) {
    return yyjson_obj_get(published->defs, name);
}

const char *published_envelope(const struct published *published, const struct message *message,
                               bool result) {
    if (!result)
        return message->notification ? "JSONRPCNotification" : "JSONRPCRequest";
    /* Later revisions have this for an answer that is no error. */
    return published_def(published, "JSONRPCResultResponse") ? "JSONRPCResultResponse"
                                                             : "JSONRPCResponse";
}

void ours_read(struct ours *ours, const char *folder, const char *revision) {
    char name[PATH_ROOM];
    dx_misfit why = {.phrase = "cannot be read"};
    *ours = (struct ours){0};
    snprintf(name, sizeof name, "mcp@%s%s", revision, folder ? ".openrpc.json" : "");
    dx_status status = folder ? read_protocol(folder, name, &ours->protocol, &why)
                              : dx_protocol_open(dx_str(name), NULL, &ours->protocol, &why);
    need(status == DX_OK, name, why.phrase);
    need(dx_protocol_check_all(ours->protocol, &why) == DX_OK, name, why.phrase);
    need(dx_check_new(NULL, &ours->check) == DX_OK, name, "out of memory");
    for (int form = 0; form < FORMS; form++)
        ours->schemas[form] = set_of(dx_protocol_document(ours->protocol), form, name);
}

void ours_done(struct ours *ours) {
    for (int form = 0; form < FORMS; form++)
        dx_schemas_free(ours->schemas[form]);
    dx_check_free(ours->check);
    dx_protocol_free(ours->protocol);
}

const dx_schema *ours_schema(const struct ours *ours, int form, const char *place) {
    char uri[PATH_ROOM];
    snprintf(uri, sizeof uri, "#%s", place);
    return compile(ours->schemas[form], uri);
}

bool fits(const dx_schema *schema, yyjson_val *value, dx_check *check) {
    dx_status status = dx_schema_check(schema, value, 0, check, NULL);
    need(status == DX_OK || status == DX_MISFIT, "a check ends in", dx_status_name(status));
    return status == DX_OK;
}
