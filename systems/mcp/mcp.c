/* Names that both sides use. */
#include <duplex/mcp.h>

static const char *const levels[] = {NULL,    "debug",    "info",  "notice",   "warning",
                                     "error", "critical", "alert", "emergency"};

const char *dx_mcp_level_name(dx_mcp_level level) {
    return level > DX_MCP_NO_LEVEL && level <= DX_MCP_EMERGENCY ? levels[level] : NULL;
}

dx_mcp_level dx_mcp_level_named(dx_text name) {
    for (int i = DX_MCP_DEBUG; name.at && i <= DX_MCP_EMERGENCY; i++)
        if (dx_text_is(name, levels[i]))
            return (dx_mcp_level)i;
    return DX_MCP_NO_LEVEL;
}

const char *dx_mcp_revision(size_t index) {
    static const char *const revisions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                            "2024-11-05"};
    return index < sizeof revisions / sizeof *revisions ? revisions[index] : NULL;
}
