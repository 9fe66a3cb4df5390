/* What the client says of itself. */
#include "systems/mcp/client_parts.h"

/* Adds an empty object under that name; NULL without memory or without an object to add to. */
static yyjson_mut_val *add(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name) {
    return object ? yyjson_mut_obj_add_obj(doc, object, name) : NULL;
}

static bool offer_roots(yyjson_mut_doc *doc, yyjson_mut_val *all, bool modern) {
    yyjson_mut_val *roots = add(doc, all, "roots");
    return roots && (modern || yyjson_mut_obj_add_bool(doc, roots, "listChanged", true));
}

static bool offer_sampling(const dx_mcp_client *client, yyjson_mut_doc *doc, yyjson_mut_val *all,
                           int revision) {
    yyjson_mut_val *sampling = add(doc, all, "sampling");
    bool tools = client->config.sampling_tools && revision <= DX__MCP_2025_11_25;
    return sampling && (!tools || add(doc, sampling, "tools"));
}

static bool offer_elicitation(const dx_mcp_client *client, yyjson_mut_doc *doc, yyjson_mut_val *all,
                              int revision) {
    yyjson_mut_val *elicitation = add(doc, all, "elicitation");
    if (!elicitation || revision > DX__MCP_2025_11_25)
        return elicitation;
    return add(doc, elicitation, "form") &&
           (!client->config.elicitation_url || add(doc, elicitation, "url"));
}

static bool offer_tasks(const dx_mcp_client *client, yyjson_mut_doc *doc, yyjson_mut_val *all) {
    yyjson_mut_val *tasks = add(doc, all, "tasks");
    yyjson_mut_val *requests = NULL;
    bool done = add(doc, tasks, "list") && add(doc, tasks, "cancel") &&
                (requests = add(doc, tasks, "requests"));
    if (done && client->config.on_sampling)
        done = add(doc, add(doc, requests, "sampling"), "createMessage");
    if (done && client->config.on_elicitation)
        done = add(doc, add(doc, requests, "elicitation"), "create");
    return done;
}

yyjson_mut_val *dx__mcp_client_offer(const dx_mcp_client *client, yyjson_mut_doc *doc,
                                     int revision) {
    const dx_mcp_client_config *config = &client->config;
    bool elicits = config->on_elicitation && revision <= DX__MCP_2025_06_18;
    bool tasks = revision == DX__MCP_2025_11_25 && !config->no_tasks &&
                 (config->on_sampling || config->on_elicitation);
    yyjson_mut_val *all = yyjson_mut_obj(doc);
    bool done = all;
    if (done && config->roots)
        done = offer_roots(doc, all, revision == DX__MCP_2026_07_28);
    if (done && config->on_sampling)
        done = offer_sampling(client, doc, all, revision);
    if (done && elicits)
        done = offer_elicitation(client, doc, all, revision);
    if (done && tasks)
        done = offer_tasks(client, doc, all);
    return done ? all : NULL;
}

yyjson_mut_val *dx__mcp_client_info(const dx_mcp_client *client, yyjson_mut_doc *doc) {
    const dx_mcp_client_config *config = &client->config;
    yyjson_mut_val *info = yyjson_mut_obj(doc);
    bool done = info && yyjson_mut_obj_add_str(doc, info, "name", config->name) &&
                yyjson_mut_obj_add_str(doc, info, "version", config->version) &&
                (!config->title || yyjson_mut_obj_add_str(doc, info, "title", config->title));
    return done ? info : NULL;
}
