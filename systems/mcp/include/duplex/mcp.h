/*
 * duplex/mcp.h: the Model Context Protocol, both sides.
 *
 *   duplex/mcp-client.h  calls tools, reads resources and prompts of a server
 *   duplex/mcp-server.h  offers them
 *
 * There are two eras. In the legacy one (2024-11-05 to 2025-11-25) a conversation begins with
 * `initialize`, and both sides ask. In the modern one (2026-07-28) every request says in its
 * `_meta` which revision it is of and what the client can do, and the server never asks: its answer
 * says what it needs, and the request is repeated with that. Both headers hide the difference where
 * it can be hidden.
 *
 * Link libduplex-mcp.
 */
#ifndef DUPLEX_MCP_H
#define DUPLEX_MCP_H

#include <duplex/base.h>
#include <duplex/rpc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which era a client speaks. */
typedef enum dx_mcp_mode {
    DX_MCP_LEGACY = 0,
    DX_MCP_MODERN,
    DX_MCP_AUTO /* modern if the server knows it; for that, a copy of the server is asked first */
} dx_mcp_mode;

/* How important a log message is. */
typedef enum dx_mcp_level {
    DX_MCP_NO_LEVEL = 0,
    DX_MCP_DEBUG,
    DX_MCP_INFO,
    DX_MCP_NOTICE,
    DX_MCP_WARNING,
    DX_MCP_ERROR,
    DX_MCP_CRITICAL,
    DX_MCP_ALERT,
    DX_MCP_EMERGENCY
} dx_mcp_level;
/* "debug", …; NULL if there is none. */
DX_API const char *dx_mcp_level_name(dx_mcp_level level);
/* DX_MCP_NO_LEVEL if it is the name of none. */
DX_API dx_mcp_level dx_mcp_level_named(dx_text name);

/* What a server has lists of. */
typedef enum dx_mcp_kind {
    DX_MCP_TOOLS = 1,
    DX_MCP_RESOURCES,
    DX_MCP_TEMPLATES, /* of resources */
    DX_MCP_PROMPTS
} dx_mcp_kind;

/* Codes of errors besides those of JSON-RPC. */
enum {
    DX_MCP_CODE_NO_RESOURCE = -32002, /* legacy; modern: DX_CODE_PARAMS with data.uri */
    DX_MCP_CODE_URL_NEEDED = -32042,  /* 2025-11-25: the user has to visit a page first */
    DX_MCP_CODE_CAPABILITY = -32021,  /* modern: the client can't do what is needed */
    DX_MCP_CODE_UNSUPPORTED = -32022  /* modern: that revision is not spoken; data.supported */
};

/* The revisions that are spoken, the newest first; NULL after the last. */
DX_API const char *dx_mcp_revision(size_t index);

#ifdef __cplusplus
}
#endif

#endif
