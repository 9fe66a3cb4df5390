/* Regular expressions, by way of a schema that is nothing but a pattern: it has limits for hostile
 * ones. */
#include "systems/autohand/guard.h"

#include <duplex/rpc.h>

struct dx__autohand_matcher {
    dx_allocator alloc;
    yyjson_doc *doc;
    dx_schemas *schemas;
    dx_schema *schema; /* of the set */
};

void dx__autohand_matcher_free(struct dx__autohand_matcher *matcher) {
    if (!matcher)
        return;
    dx_allocator alloc = matcher->alloc;
    dx_schemas_free(matcher->schemas);
    yyjson_doc_free(matcher->doc);
    dx__free(&alloc, matcher);
}

/* A document of the JSON text `before` STRING `after`. */
static dx_status read_around(const dx_allocator *alloc, const char *before, dx_text string,
                             const char *after, yyjson_doc **ret_doc) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, alloc);
    dx_status status = dx_buf_append(&text, before, strlen(before));
    if (status == DX_OK)
        status = dx_json_write_string(&text, string);
    if (status == DX_OK)
        status = dx_buf_append(&text, after, strlen(after));
    if (status == DX_OK) {
        yyjson_alc alc = dx__autohand_guard_alc(alloc);
        *ret_doc = yyjson_read_opts(text.data, text.len, 0, &alc, NULL);
        status = *ret_doc ? DX_OK : DX_ERR_NOMEM;
    }
    dx_buf_done(&text);
    return status;
}

static dx_status compile(struct dx__autohand_matcher *matcher, const char *source, char why[200]) {
    dx_misfit misfit = {.phrase = "not valid UTF-8"};
    dx_schemas_config config = dx_schemas_defaults();
    config.allocator = &matcher->alloc;
    dx_status status =
        read_around(&matcher->alloc, "{\"pattern\":", dx_str(source), "}", &matcher->doc);
    if (status == DX_OK)
        status = dx_schemas_new(&config, &matcher->schemas);
    if (status == DX_OK)
        status = dx_schemas_add(matcher->schemas, dx_str("matcher:"),
                                yyjson_doc_get_root(matcher->doc), &misfit);
    if (status == DX_OK)
        status =
            dx_schemas_compile(matcher->schemas, dx_str("matcher:"), &matcher->schema, &misfit);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    why[0] = '\0';
    dx__say_str(why, 200, misfit.phrase);
    return DX_ERR_INVALID;
}

dx_status dx__autohand_matcher_new(const dx_allocator *alloc, const char *source,
                                   struct dx__autohand_matcher **ret, char why[200]) {
    struct dx__autohand_matcher *matcher = dx__malloc(alloc, sizeof *matcher);
    if (!matcher)
        return DX_ERR_NOMEM;
    *matcher = (struct dx__autohand_matcher){.alloc = *alloc};
    dx_status status = compile(matcher, source, why);
    if (status == DX_OK)
        *ret = matcher;
    else
        dx__autohand_matcher_free(matcher);
    return status;
}

dx_status dx__autohand_matcher_find(const struct dx__autohand_matcher *matcher, dx_text text) {
    yyjson_doc *doc = NULL;
    dx_check *check = NULL;
    dx_check_config config = dx_check_defaults();
    config.allocator = &matcher->alloc;
    dx_status status = read_around(&matcher->alloc, "", text, "", &doc);
    if (status == DX_OK)
        status = dx_check_new(&config, &check);
    if (status == DX_OK)
        status = dx_schema_check(matcher->schema, yyjson_doc_get_root(doc), 0, check, NULL);
    dx_check_free(check);
    yyjson_doc_free(doc);
    if (status == DX_ERR_NOMEM)
        return status;
    /* A hook may be what stands between a tool and its harm: in doubt it is run. */
    return status == DX_MISFIT ? DX_AGAIN : DX_OK;
}
