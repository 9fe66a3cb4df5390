/* Pieces of a result, and the ends of work that make an answer of them. */
#include "systems/mcp/server_parts.h"

#include <string.h>

enum { VALUES_MAX = 100 };

bool dx__mcp_is_cached(dx__mcp_purpose purpose) {
    return purpose == DX__MCP_READ || purpose == DX__MCP_PAGE;
}

static void wrong(dx_mcp_work *work) {
    if (work->pieces.status == DX_OK)
        work->pieces.status = DX_ERR_INVALID;
}

/* What stands around a content item in a message of a prompt. */
static void begin_message(dx_mcp_work *work, const char *role) {
    dx__mcp_out_open(&work->pieces, '{');
    dx__mcp_out_text_member(&work->pieces, "role", role);
    dx__mcp_out_key(&work->pieces, dx_str("content"));
}

static void begin_contents(dx_mcp_work *work, const char *mime) {
    dx__mcp_out_open(&work->pieces, '{');
    dx__mcp_out_key(&work->pieces, dx_str("uri"));
    dx__mcp_out_string(&work->pieces, dx__mcp_member(work->event->value, "uri"));
    dx__mcp_out_text_member(&work->pieces, "mimeType",
                            mime         ? mime
                            : work->item ? work->item->mime
                                         : NULL);
}

static void write_text(dx__mcp_out *out, dx_text text) {
    dx__mcp_out_open(out, '{');
    dx__mcp_out_text_member(out, "type", "text");
    dx__mcp_out_key(out, dx_str("text"));
    dx__mcp_out_string(out, text);
    dx__mcp_out_close(out, '}');
}

void dx_mcp_work_text(dx_mcp_work *work, dx_text text) {
    switch (work->purpose) {
    case DX__MCP_TOOL:
        write_text(&work->pieces, text);
        break;
    case DX__MCP_PROMPT:
        begin_message(work, "user");
        write_text(&work->pieces, text);
        dx__mcp_out_close(&work->pieces, '}');
        break;
    case DX__MCP_READ:
        begin_contents(work, NULL);
        dx__mcp_out_key(&work->pieces, dx_str("text"));
        dx__mcp_out_string(&work->pieces, text);
        dx__mcp_out_close(&work->pieces, '}');
        break;
    case DX__MCP_COMPLETE:
        dx_mcp_work_value(work, text);
        break;
    default:
        wrong(work);
    }
}

void dx_mcp_work_content(dx_mcp_work *work, dx_json item) {
    if (work->purpose == DX__MCP_PROMPT)
        dx_mcp_work_message(work, "user", item);
    else if (work->purpose == DX__MCP_TOOL || work->purpose == DX__MCP_READ)
        dx__mcp_out_json(&work->pieces, item);
    else
        wrong(work);
}

static void write_media(dx__mcp_out *out, const char *type, dx_text bytes, const char *mime) {
    dx__mcp_out_open(out, '{');
    dx__mcp_out_text_member(out, "type", type);
    dx__mcp_out_key(out, dx_str("data"));
    dx__mcp_out_base64(out, bytes);
    dx__mcp_out_text_member(out, "mimeType", mime);
    dx__mcp_out_close(out, '}');
}

void dx_mcp_work_bytes(dx_mcp_work *work, dx_text bytes, const char *mime) {
    const char *type = mime && strncmp(mime, "image/", 6) == 0   ? "image"
                       : mime && strncmp(mime, "audio/", 6) == 0 ? "audio"
                                                                 : NULL;
    if (work->purpose == DX__MCP_READ) {
        begin_contents(work, mime);
        dx__mcp_out_key(&work->pieces, dx_str("blob"));
        dx__mcp_out_base64(&work->pieces, bytes);
        dx__mcp_out_close(&work->pieces, '}');
    } else if (type && work->purpose == DX__MCP_TOOL) {
        write_media(&work->pieces, type, bytes, mime);
    } else if (type && work->purpose == DX__MCP_PROMPT) {
        begin_message(work, "user");
        write_media(&work->pieces, type, bytes, mime);
        dx__mcp_out_close(&work->pieces, '}');
    } else {
        wrong(work);
    }
}

void dx_mcp_work_structured(dx_mcp_work *work, dx_json value) {
    if (work->purpose != DX__MCP_TOOL) {
        wrong(work);
        return;
    }
    dx__mcp_out_done(&work->structured);
    dx__mcp_out_json(&work->structured, value);
}

void dx_mcp_work_message(dx_mcp_work *work, const char *role, dx_json content) {
    if (work->purpose != DX__MCP_PROMPT) {
        wrong(work);
        return;
    }
    begin_message(work, role);
    dx__mcp_out_json(&work->pieces, content);
    dx__mcp_out_close(&work->pieces, '}');
}

void dx_mcp_work_description(dx_mcp_work *work, dx_text text) {
    if (work->purpose != DX__MCP_PROMPT) {
        wrong(work);
        return;
    }
    dx__mcp_out_done(&work->description);
    dx__mcp_out_string(&work->description, text);
}

void dx_mcp_work_value(dx_mcp_work *work, dx_text value) {
    if (work->purpose != DX__MCP_COMPLETE)
        wrong(work);
    else if (work->values++ < VALUES_MAX)
        dx__mcp_out_string(&work->pieces, value);
}

dx_status dx_mcp_work_fits(dx_mcp_work *work, yyjson_val *value, dx_misfit *why) {
    dx_mcp_server *server = work->session->server;
    const dx__mcp_item *tool = work->purpose == DX__MCP_TOOL ? work->item : NULL;
    if (!tool || !tool->output_schema || !server)
        return DX_OK;
    return dx_schema_check(tool->output_schema, value, 0, server->check, why);
}

/* The structured result has to fit what the tool declared. */
static dx_status check_structured(dx_mcp_work *work, dx_misfit *why) {
    const dx__mcp_item *tool = work->item;
    dx_text text = dx__mcp_out_text(&work->structured);
    if (!tool->output_schema || !work->session->server)
        return DX_OK;
    if (!text.len) {
        dx__mcp_wrong(why, "the result",
                      "the structured content that the tool declares is missing");
        return DX_MISFIT;
    }
    yyjson_doc *doc = NULL;
    dx_status status = dx__mcp_parse(&work->session->alloc, text, &doc);
    if (status == DX_OK)
        status = dx_mcp_work_fits(work, yyjson_doc_get_root(doc), why);
    else if (status == DX_ERR_INVALID)
        dx__mcp_wrong(why, "the result", "a number is out of range");
    yyjson_doc_free(doc);
    return status;
}

static void write_structured(dx_mcp_work *work, dx__mcp_out *out) {
    dx_text text = dx__mcp_out_text(&work->structured);
    dx__mcp_rev rev = work->session->rev;
    size_t blank = 0;
    while (blank < text.len && strchr(" \t\r\n", text.at[blank]))
        blank++;
    bool is_object = blank < text.len && text.at[blank] == '{';
    if (!text.len || rev < DX__MCP_2025_06 || (rev < DX__MCP_2026_07 && !is_object))
        return;
    dx__mcp_out_key(out, dx_str("structuredContent"));
    dx__mcp_out_raw(out, text);
}

static void write_tool(dx_mcp_work *work, bool failed, dx__mcp_out *out) {
    dx_text structured = dx__mcp_out_text(&work->structured);
    if (structured.len && !work->pieces.buf.len)
        write_text(&work->pieces, structured);
    dx__mcp_out_json_member(out, "content", "[");
    dx__mcp_out_raw(out, dx__mcp_out_text(&work->pieces));
    dx__mcp_out_close(out, ']');
    write_structured(work, out);
    if (failed)
        dx__mcp_out_json_member(out, "isError", "true");
}

static void write_completion(dx_mcp_work *work, dx__mcp_out *out) {
    dx__mcp_out_json_member(out, "completion", "{\"values\":[");
    dx__mcp_out_raw(out, dx__mcp_out_text(&work->pieces));
    dx__mcp_out_close(out, ']');
    dx__mcp_out_key(out, dx_str("total"));
    dx__mcp_out_integer(out, (int64_t)work->values);
    dx__mcp_out_json_member(out, "hasMore", work->values > VALUES_MAX ? "true" : "false");
    dx__mcp_out_close(out, '}');
}

static void write_others(dx_mcp_work *work, dx__mcp_out *out) {
    if (work->description.buf.len) {
        dx__mcp_out_key(out, dx_str("description"));
        dx__mcp_out_raw(out, dx__mcp_out_text(&work->description));
    }
    dx__mcp_out_json_member(out, work->purpose == DX__MCP_PROMPT ? "messages" : "contents", "[");
    dx__mcp_out_raw(out, dx__mcp_out_text(&work->pieces));
    dx__mcp_out_close(out, ']');
}

/* What was gathered, as the answer. */
static void answer(dx_mcp_work *work, bool failed) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &work->session->alloc);
    if (work->structured.status != DX_OK && work->pieces.status == DX_OK)
        work->pieces.status = work->structured.status;
    dx__mcp_out_open(&out, '{');
    if (work->purpose == DX__MCP_TOOL)
        write_tool(work, failed, &out);
    else if (work->purpose == DX__MCP_COMPLETE)
        write_completion(work, &out);
    else if (work->purpose == DX__MCP_PAGE)
        out.status = DX_ERR_INVALID; /* only dx_mcp_work_reply() goes with it */
    else
        write_others(work, &out);
    if (dx__mcp_is_modern(work->session) && work->session->server)
        dx__mcp_modern_write(work->session->server, dx__mcp_is_cached(work->purpose), &out);
    dx__mcp_out_close(&out, '}');
    if (out.status == DX_OK)
        out.status = work->pieces.status != DX_OK ? work->pieces.status : work->description.status;
    dx__mcp_work_finish(work, &out);
}

void dx_mcp_work_done(dx_mcp_work *work) {
    dx_misfit why = {.phrase = ""};
    dx_status status = DX_OK;
    if (work->purpose == DX__MCP_TOOL && work->structured.status == DX_OK && !work->cancelled)
        status = check_structured(work, &why);
    if (status == DX_OK) {
        answer(work, false);
        return;
    }
    char phrase[sizeof why.phrase + 64] = "The tool's result does not match its schema: ";
    strncat(phrase, why.phrase, sizeof phrase - strlen(phrase) - 1);
    dx__mcp_work_refused(work, DX_CODE_INTERNAL,
                         status == DX_ERR_NOMEM ? dx_str("Out of memory") : dx_str(phrase),
                         dx_json_none());
}

void dx_mcp_work_fail(dx_mcp_work *work, dx_text text) {
    if (work->lacks && dx__mcp_is_modern(work->session)) {
        dx__mcp_round_lacks(work);
    } else if (work->purpose == DX__MCP_TOOL) {
        if (text.len || !work->pieces.buf.len)
            dx_mcp_work_text(work, text.at ? text : dx_str("The tool failed"));
        answer(work, true);
    } else {
        dx__mcp_work_refused(work, DX_CODE_INTERNAL, text, dx_json_none());
    }
}

void dx_mcp_work_refuse(dx_mcp_work *work, int64_t code, dx_text message, dx_json data) {
    dx__mcp_work_refused(work, code, message, data);
}
