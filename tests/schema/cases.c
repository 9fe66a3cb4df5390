/* Plays the cases of a file: each schema is compiled once, among all the remote documents. */
#include "schema/suite.h"

#include <duplex/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char draft7[] = "http://json-schema.org/draft-07/schema#";
static const char draft2020[] = "https://json-schema.org/draft/2020-12/schema";

static struct results remotes;
static yyjson_doc *documents[FILES_MAX];

static yyjson_doc *read_json(const char *path) {
    yyjson_read_err error;
    yyjson_doc *doc = yyjson_read_file(path, 0, NULL, &error);
    if (!doc)
        printf("%s: %s, at %zu\n", path, error.msg, error.pos);
    return doc;
}

bool remotes_load(const char *suite) {
    char folder[PATH_LEN];
    char path[PATH_LEN + 200];
    snprintf(folder, sizeof folder, "%s/remotes", suite);
    if (!list_files(folder, "", true, &remotes))
        return false;
    for (size_t i = 0; i < remotes.count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, remotes.of[i].name);
        documents[i] = read_json(path);
        if (!documents[i])
            return false;
    }
    return true;
}

void remotes_free(void) {
    for (size_t i = 0; i < remotes.count; i++)
        yyjson_doc_free(documents[i]);
}

/* The suite tells a schema's draft by the folder; here it stands in the schema. Copies the value,
 * with a "$schema" in front if it is an object without one and the draft is not the default. */
static yyjson_doc *with_draft(yyjson_val *schema, const char *draft) {
    yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_val_mut_copy(copy, schema);
    if (strcmp(draft, "draft7") == 0 && yyjson_mut_is_obj(root) &&
        !yyjson_mut_obj_get(root, "$schema"))
        yyjson_mut_obj_insert(root, yyjson_mut_str(copy, "$schema"), yyjson_mut_str(copy, draft7),
                              0);
    yyjson_mut_doc_set_root(copy, root);
    yyjson_doc *doc = yyjson_mut_doc_imut_copy(copy, NULL);
    yyjson_mut_doc_free(copy);
    return doc;
}

/* Of other drafts only what is known of them: the documents of a draft that is not supported may be
 * refused, as long as nobody refers to them. */
static bool add_remotes(dx_schemas *schemas, const char *draft) {
    for (size_t i = 0; i < remotes.count; i++) {
        char uri[200];
        dx_misfit why;
        const char *name = remotes.of[i].name;
        snprintf(uri, sizeof uri, "http://localhost:1234/%s", name);
        dx_status status =
            dx_schemas_add(schemas, dx_str(uri), yyjson_doc_get_root(documents[i]), &why);
        bool is_other = (strncmp(name, "draft", 5) == 0 || strncmp(name, "v1/", 3) == 0) &&
                        strncmp(name, draft, strlen(draft)) != 0;
        if (status != DX_OK && !is_other) {
            printf("remotes/%s is not taken: %s\n", name, why.phrase);
            return false;
        }
    }
    return true;
}

struct group {
    const char *file;
    const char *name;
    dx_schemas *schemas;
    const dx_schema *schema;
    dx_check *check;
    dx_misfit why; /* it cannot be compiled */
};

static bool begin(struct group *group, yyjson_val *schema, const char *draft, unsigned flags) {
    dx_schemas_config config = dx_schemas_defaults();
    config.flags = flags;
    dx_schema *compiled = NULL;
    snprintf(group->why.phrase, sizeof group->why.phrase,
             "out of memory, or a remote is not taken");
    if (dx_schemas_new(&config, &group->schemas) != DX_OK ||
        dx_check_new(NULL, &group->check) != DX_OK || !add_remotes(group->schemas, draft) ||
        dx_schemas_add(group->schemas, dx_str(""), schema, &group->why) != DX_OK ||
        dx_schemas_compile(group->schemas, dx_str(""), &compiled, &group->why) != DX_OK)
        return false;
    group->schema = compiled;
    return true;
}

/* The metaschemas are part of the library: a schema that can be compiled fits the one that it
 * names, if that is one of them. */
static bool fits_metaschema(const struct group *group, yyjson_val *schema) {
    yyjson_val *name = yyjson_obj_get(schema, "$schema");
    const char *uri = name ? yyjson_get_str(name) : draft2020;
    dx_schema *metaschema = NULL;
    dx_misfit why = {0};
    if (strcmp(uri, draft2020) != 0 && strcmp(uri, draft7) != 0)
        return true;
    if (dx_schemas_compile(group->schemas, dx_str(uri), &metaschema, &why) == DX_OK &&
        dx_schema_check(metaschema, schema, 0, group->check, &why) == DX_OK)
        return true;
    printf("%s: %s: not a schema by %s: %s\n", group->file, group->name, uri, why.phrase);
    return false;
}

static int count_misfit(const dx_misfit *misfit, void *user) {
    size_t *count = user;
    *count += misfit->phrase[0] != '\0' && misfit->keyword[0] != '\0';
    return 1;
}

/* Both ways of asking must give the answer that the suite has. */
static bool play(const struct group *group, yyjson_val *test, bool tell) {
    bool valid = yyjson_get_bool(yyjson_obj_get(test, "valid"));
    yyjson_val *value = yyjson_obj_get(test, "data");
    dx_misfit why = {0};
    size_t count = 0;
    if (!group->schema) {
        if (tell)
            printf("%s: %s: %s: not compiled: %s\n", group->file, group->name,
                   yyjson_get_str(yyjson_obj_get(test, "description")), group->why.phrase);
        return false;
    }
    dx_status status = dx_schema_check(group->schema, value, 0, group->check, &why);
    dx_status all =
        dx_schema_check_all(group->schema, value, 0, group->check, count_misfit, &count, NULL);
    bool passed = status == (valid ? DX_OK : DX_MISFIT) && all == status && (count == 0) == valid;
    if (!passed && tell)
        printf("%s: %s: %s: should %sfit; one: %d, all: %d with %zu; %s\n", group->file,
               group->name, yyjson_get_str(yyjson_obj_get(test, "description")),
               valid ? "" : "not ", (int)status, (int)all, count, why.phrase);
    return passed;
}

static void play_group(yyjson_val *value, const char *draft, unsigned flags, bool tell,
                       struct result *result) {
    struct group group = {
        .file = result->name,
        .name = yyjson_get_str(yyjson_obj_get(value, "description")),
    };
    yyjson_doc *doc = with_draft(yyjson_obj_get(value, "schema"), draft);
    if (begin(&group, yyjson_doc_get_root(doc), draft, flags))
        result->misfits += !fits_metaschema(&group, yyjson_doc_get_root(doc));
    size_t i;
    size_t count;
    yyjson_val *test;
    yyjson_arr_foreach(yyjson_obj_get(value, "tests"), i, count, test) {
        result->passed += play(&group, test, tell);
        result->total++;
    }
    dx_check_free(group.check);
    dx_schemas_free(group.schemas);
    yyjson_doc_free(doc);
}

/* The optional files of one keyword want it asserted. */
static unsigned flags_for(const char *name) {
    if (strncmp(name, "optional/format/", 16) == 0)
        return DX_SCHEMA_FORMAT;
    return strcmp(name, "optional/content.json") == 0 ? DX_SCHEMA_CONTENT : 0;
}

void file_play(const char *suite, const char *draft, bool tell, struct result *result) {
    char path[PATH_LEN + 200];
    snprintf(path, sizeof path, "%s/tests/%s/%s", suite, draft, result->name);
    yyjson_doc *doc = read_json(path);
    if (!doc) {
        result->total++; /* a file that cannot be read is a case that fails */
        return;
    }
    size_t i;
    size_t count;
    yyjson_val *group;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, count, group)
        play_group(group, draft, flags_for(result->name), tell, result);
    yyjson_doc_free(doc);
}
