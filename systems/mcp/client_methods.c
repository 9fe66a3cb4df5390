/* The methods of the protocol by their names. */
#include "systems/mcp/client_parts.h"

/* Params in the making: a failure is remembered until they are sent. */
typedef struct making {
    yyjson_mut_doc *doc;
    yyjson_mut_val *root;
    dx_status status;
} making;

static making make(const dx_mcp_client *client) {
    yyjson_alc alc = dx__mcp_client_alc(client);
    making params = {.doc = yyjson_mut_doc_new(&alc)};
    params.root = yyjson_mut_obj(params.doc);
    if (!params.root)
        params.status = DX_ERR_NOMEM;
    return params;
}

static void add_text(making *params, yyjson_mut_val *object, const char *name, dx_text text) {
    if (params->status == DX_OK && text.at &&
        !yyjson_mut_obj_add_strncpy(params->doc, object, name, text.at, text.len))
        params->status = DX_ERR_NOMEM;
}

static yyjson_mut_val *add_object(making *params, yyjson_mut_val *object, const char *name) {
    if (params->status != DX_OK)
        return NULL;
    yyjson_mut_val *value = yyjson_mut_obj_add_obj(params->doc, object, name);
    if (!value)
        params->status = DX_ERR_NOMEM;
    return value;
}

/* What the user gave, which must be an object, or nothing. */
static void add_json(const dx_mcp_client *client, making *params, yyjson_mut_val *object,
                     const char *name, dx_json json) {
    dx_buf text;
    yyjson_doc *doc = NULL;
    dx__mcp_client_buf(client, &text);
    if (params->status == DX_OK)
        params->status = dx_json_write(&text, json);
    if (params->status == DX_OK && text.len)
        params->status =
            dx__mcp_client_parse(client, (dx_text){text.data, text.len}, DX__MCP_EXACT, &doc);
    if (params->status == DX_OK && doc && !yyjson_is_obj(yyjson_doc_get_root(doc)))
        params->status = DX_ERR_INVALID;
    if (params->status == DX_OK && doc) {
        yyjson_mut_val *copy = yyjson_val_mut_copy(params->doc, yyjson_doc_get_root(doc));
        if (!copy || !yyjson_mut_obj_add_val(params->doc, object, name, copy))
            params->status = DX_ERR_NOMEM;
    }
    yyjson_doc_free(doc);
    dx_buf_done(&text);
}

static dx_status call(dx_mcp_client *client, const char *method, making *params,
                      const dx_mcp_call_options *options, dx_mcp_on_answer on_answer, void *user,
                      dx_mcp_call *ret_call) {
    dx_status status = params->status;
    if (status == DX_OK)
        status = dx_mcp_client_call(client, dx_str(method), dx_json_built(params->root), options,
                                    on_answer, user, ret_call);
    yyjson_mut_doc_free(params->doc);
    return status;
}

dx_status dx_mcp_client_ping(dx_mcp_client *client, const dx_mcp_call_options *options,
                             dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call) {
    return dx_mcp_client_call(client, dx_str("ping"), dx_json_none(), options, on_answer, user,
                              ret_call);
}

dx_status dx_mcp_client_page(dx_mcp_client *client, dx_mcp_kind kind, dx_text cursor,
                             const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                             void *user, dx_mcp_call *ret_call) {
    static const char *const methods[] = {[DX_MCP_TOOLS] = "tools/list",
                                          [DX_MCP_RESOURCES] = "resources/list",
                                          [DX_MCP_TEMPLATES] = "resources/templates/list",
                                          [DX_MCP_PROMPTS] = "prompts/list"};
    if (kind < DX_MCP_TOOLS || kind > DX_MCP_PROMPTS)
        return DX_ERR_INVALID;
    making params = make(client);
    add_text(&params, params.root, "cursor", cursor);
    return call(client, methods[kind], &params, options, on_answer, user, ret_call);
}

dx_status dx_mcp_client_tool(dx_mcp_client *client, dx_text name, dx_json arguments,
                             const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                             void *user, dx_mcp_call *ret_call) {
    making params = make(client);
    add_text(&params, params.root, "name", name);
    add_json(client, &params, params.root, "arguments", arguments);
    return call(client, "tools/call", &params, options, on_answer, user, ret_call);
}

dx_status dx_mcp_client_read(dx_mcp_client *client, dx_text uri, const dx_mcp_call_options *options,
                             dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call) {
    making params = make(client);
    add_text(&params, params.root, "uri", uri);
    return call(client, "resources/read", &params, options, on_answer, user, ret_call);
}

dx_status dx_mcp_client_prompt(dx_mcp_client *client, dx_text name, dx_json arguments,
                               const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                               void *user, dx_mcp_call *ret_call) {
    making params = make(client);
    add_text(&params, params.root, "name", name);
    add_json(client, &params, params.root, "arguments", arguments);
    return call(client, "prompts/get", &params, options, on_answer, user, ret_call);
}

dx_status dx_mcp_client_complete(dx_mcp_client *client, dx_mcp_kind kind, dx_text name,
                                 dx_text argument, dx_text value, dx_json context,
                                 const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                 void *user, dx_mcp_call *ret_call) {
    bool of_prompt = kind == DX_MCP_PROMPTS;
    if (!of_prompt && kind != DX_MCP_TEMPLATES)
        return DX_ERR_INVALID;
    making params = make(client);
    yyjson_mut_val *ref = add_object(&params, params.root, "ref");
    add_text(&params, ref, "type", dx_str(of_prompt ? "ref/prompt" : "ref/resource"));
    add_text(&params, ref, of_prompt ? "name" : "uri", name);
    yyjson_mut_val *what = add_object(&params, params.root, "argument");
    add_text(&params, what, "name", argument);
    add_text(&params, what, "value", value.at ? value : dx_str(""));
    dx_json none = dx_json_none();
    if (context.form != none.form) {
        yyjson_mut_val *given = add_object(&params, params.root, "context");
        add_json(client, &params, given, "arguments", context);
    }
    return call(client, "completion/complete", &params, options, on_answer, user, ret_call);
}

/* In the modern era it is said with each call. */
static dx_status set_level(dx_mcp_client *client, dx_mcp_level level, dx_mcp_on_answer on_answer,
                           void *user, dx_mcp_call *ret_call) {
    dx__mcp_client_ask *ask = NULL;
    if (dx__mcp_client_missing(client, dx_str("logging/setLevel")))
        return dx__mcp_client_misfit(client, "the server does not offer logging", dx_str(""));
    dx_status status =
        dx__mcp_client_ask_new(client, dx_str("logging/setLevel"), NULL, on_answer, user, &ask);
    if (status != DX_OK)
        return status;
    client->level = level;
    ask->way = DX__MCP_LOCAL;
    if (ret_call)
        *ret_call = ask->handle;
    dx__mcp_client_ask_end_text(ask, DX_OUTCOME_RESULT, 0, dx_str("{}"));
    return DX_OK;
}

dx_status dx_mcp_client_log(dx_mcp_client *client, dx_mcp_level level, dx_mcp_on_answer on_answer,
                            void *user, dx_mcp_call *ret_call) {
    if (!dx_mcp_level_name(level))
        return DX_ERR_INVALID;
    if (client->phase == DX__MCP_READY && client->modern && !client->freed)
        return set_level(client, level, on_answer, user, ret_call);
    making params = make(client);
    add_text(&params, params.root, "level", dx_str(dx_mcp_level_name(level)));
    return call(client, "logging/setLevel", &params, NULL, on_answer, user, ret_call);
}
