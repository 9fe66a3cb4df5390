/* What a client can be asked for. */
#include "systems/mcp/server_parts.h"

#include <string.h>

yyjson_val *dx__mcp_capabilities_of(const dx_mcp_work *work) {
    if (dx__mcp_is_modern(work->session))
        return dx__mcp_meta(work->event->value, "clientCapabilities");
    return dx_mcp_session_capabilities(work->session);
}

/* An elicitation without members is one by forms. */
static bool elicits(yyjson_val *elicitation, bool url, dx__mcp_rev rev) {
    if (!yyjson_is_obj(elicitation) || rev < DX__MCP_2025_06)
        return false;
    if (url)
        return rev >= DX__MCP_2025_11 && yyjson_obj_get(elicitation, "url");
    return yyjson_obj_get(elicitation, "form") || !yyjson_obj_get(elicitation, "url");
}

const char *dx__mcp_lacks(const dx_mcp_session *session, yyjson_val *capabilities,
                          const char *method, bool url) {
    if (strcmp(method, "sampling/createMessage") == 0)
        return yyjson_obj_get(capabilities, "sampling") ? NULL : "{\"sampling\":{}}";
    if (strcmp(method, "roots/list") == 0)
        return yyjson_obj_get(capabilities, "roots") ? NULL : "{\"roots\":{}}";
    if (strcmp(method, "elicitation/create") == 0)
        return elicits(yyjson_obj_get(capabilities, "elicitation"), url, session->rev) ? NULL
               : url ? "{\"elicitation\":{\"url\":{}}}"
                     : "{\"elicitation\":{\"form\":{}}}";
    return "{}";
}

int dx_mcp_work_may_ask(const dx_mcp_work *work, const char *method) {
    bool url = strcmp(method, "elicitation/create url") == 0;
    return !dx__mcp_lacks(work->session, dx__mcp_capabilities_of(work),
                          url ? "elicitation/create" : method, url);
}
