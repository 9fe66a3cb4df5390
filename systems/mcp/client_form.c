/* The answer to a form: its defaults are filled in, and it is checked against what was asked for.
 */
#include "systems/mcp/client_parts.h"

static bool is_form(const dx_mcp_question *question, yyjson_mut_val *answer) {
    return !question->is_sampling && yyjson_obj_get(question->params, "requestedSchema") &&
           !yyjson_equals_str(yyjson_obj_get(question->params, "mode"), "url") &&
           yyjson_mut_equals_str(yyjson_mut_obj_get(answer, "action"), "accept");
}

static dx_status fill_in(yyjson_mut_doc *doc, yyjson_mut_val *answer, yyjson_val *schema) {
    yyjson_mut_val *content = yyjson_mut_obj_get(answer, "content");
    yyjson_val *fields = yyjson_obj_get(schema, "properties");
    yyjson_obj_iter iter;
    if (!content && !(content = yyjson_mut_obj_add_obj(doc, answer, "content")))
        return DX_ERR_NOMEM;
    if (!yyjson_mut_is_obj(content))
        return DX_OK; /* which is found out by the check */
    yyjson_obj_iter_init(fields, &iter);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter))) {
        yyjson_val *value = yyjson_obj_get(yyjson_obj_iter_get_val(key), "default");
        if (!value || yyjson_mut_obj_getn(content, yyjson_get_str(key), yyjson_get_len(key)))
            continue;
        yyjson_mut_val *name = yyjson_val_mut_copy(doc, key);
        yyjson_mut_val *copy = yyjson_val_mut_copy(doc, value);
        if (!name || !copy || !yyjson_mut_obj_add(content, name, copy))
            return DX_ERR_NOMEM;
    }
    return DX_OK;
}

static dx_status check(dx_mcp_client *client, dx_schema *schema, yyjson_val *value) {
    dx_check_config config = dx_check_defaults();
    dx_check *walk = NULL;
    dx_misfit why = {.phrase = ""};
    config.allocator = &client->alloc;
    dx_status status = dx_check_new(&config, &walk);
    if (status == DX_OK)
        status = dx_schema_check(schema, value, 0, walk, &why);
    if (status == DX_MISFIT || status == DX_ERR_LIMIT)
        status = dx__mcp_client_misfit(client, why.phrase, dx_str(""));
    dx_check_free(walk);
    return status;
}

/* Against the schema at a place of a document. A form whose schema is none is not checked: whoever
 * fills it in can't mend that. */
static dx_status check_against(dx_mcp_client *client, yyjson_val *document, dx_text place,
                               unsigned flags, yyjson_val *value) {
    dx_schemas_config config = dx_schemas_defaults();
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    config.allocator = &client->alloc;
    config.flags = flags;
    dx_status status = dx_schemas_new(&config, &schemas);
    if (status == DX_OK)
        status = dx_schemas_add(schemas, dx_str(""), document, NULL);
    if (status == DX_OK)
        status = dx_schemas_compile(schemas, place, &schema, NULL);
    if (status == DX_OK)
        status = check(client, schema, value);
    else if (status != DX_ERR_NOMEM)
        status = DX_OK;
    dx_schemas_free(schemas);
    return status;
}

dx_status dx__mcp_client_fits(dx_mcp_client *client, const char *name, yyjson_val *value) {
    char place[80] = "#/components/schemas/";
    int revision = client->revision >= 0 ? client->revision : client->wanted;
    dx__say(place, sizeof place, dx_str(name));
    return check_against(client, dx_protocol_document(client->protocols[revision]), dx_str(place),
                         0, value);
}

dx_status dx__mcp_client_form(dx_mcp_client *client, const dx_mcp_question *question,
                              dx_json result, yyjson_doc **ret_doc) {
    yyjson_mut_doc *doc = NULL;
    yyjson_doc *done = NULL;
    yyjson_val *schema = yyjson_obj_get(question->params, "requestedSchema");
    yyjson_alc alc = dx__mcp_client_alc(client);
    dx_status status = dx__mcp_client_params(client, result, &doc);
    if (status != DX_OK)
        return status;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool form = is_form(question, root);
    if (form)
        status = fill_in(doc, root, schema);
    if (status == DX_OK && !(done = yyjson_mut_doc_imut_copy(doc, &alc)))
        status = DX_ERR_NOMEM;
    yyjson_mut_doc_free(doc);
    if (status == DX_OK && form)
        status = check_against(client, schema, dx_str(""), DX_SCHEMA_FORMAT,
                               yyjson_obj_get(yyjson_doc_get_root(done), "content"));
    if (status == DX_OK)
        *ret_doc = done;
    else
        yyjson_doc_free(done);
    return status;
}
