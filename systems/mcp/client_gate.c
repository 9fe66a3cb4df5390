/* What may be asked for: what the server offers. */
#include "systems/mcp/client_parts.h"

#include <string.h>

bool dx__mcp_client_has(const dx_mcp_client *client, const char *one, const char *two,
                        const char *three) {
    yyjson_val *value = yyjson_obj_get(dx_mcp_client_capabilities(client), one);
    if (value && two)
        value = yyjson_obj_get(value, two);
    if (value && two && three)
        value = yyjson_obj_get(value, three);
    return value && !yyjson_is_null(value) && !yyjson_is_false(value);
}

static bool begins(dx_text text, const char *with) {
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.at, with, len) == 0;
}

/* The first revision has no name for it; Hermes offers it under another one (M18). */
static bool completes(const dx_mcp_client *client) {
    if (client->revision == DX__MCP_2024_11_05)
        return yyjson_obj_size(dx_mcp_client_capabilities(client)) > 0;
    return dx__mcp_client_has(client, "completions", NULL, NULL) ||
           dx__mcp_client_has(client, "completion", NULL, NULL);
}

static const char *missing_task(const dx_mcp_client *client, dx_text method) {
    if (dx_text_is(method, "tasks/list"))
        return dx__mcp_client_has(client, "tasks", "list", NULL) ? NULL : "tasks.list";
    if (dx_text_is(method, "tasks/cancel"))
        return dx__mcp_client_has(client, "tasks", "cancel", NULL) ? NULL : "tasks.cancel";
    return dx__mcp_client_has(client, "tasks", NULL, NULL) ? NULL : "tasks";
}

const char *dx__mcp_client_missing(const dx_mcp_client *client, dx_text method) {
    static const char *const plain[] = {"tools", "resources", "prompts", "logging"};
    if (dx_text_is(method, "completion/complete"))
        return completes(client) ? NULL : "completions";
    if (begins(method, "tasks/"))
        return missing_task(client, method);
    if ((dx_text_is(method, "resources/subscribe") ||
         dx_text_is(method, "resources/unsubscribe")) &&
        !dx__mcp_client_has(client, "resources", "subscribe", NULL))
        return "resources.subscribe";
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        size_t len = strlen(plain[i]);
        if (begins(method, plain[i]) && method.len > len && method.at[len] == '/')
            return dx__mcp_client_has(client, plain[i], NULL, NULL) ? NULL : plain[i];
    }
    return NULL;
}

int dx_mcp_client_offers(const dx_mcp_client *client, dx_text method) {
    if (client->phase != DX__MCP_READY || !method.at)
        return 0;
    const dx_method *rule = dx_protocol_find(client->protocols[client->revision], method);
    return rule && rule->from_host && !rule->notification && !dx_text_is(method, "initialize") &&
           !dx__mcp_client_missing(client, method);
}
