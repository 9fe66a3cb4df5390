/* Tools, prompts and completion: from the request to the handler. */
#include "systems/mcp/server_parts.h"

#include <stdio.h>
#include <string.h>

/* Arguments that were left out are an object without members. */
static yyjson_val *arguments_of(dx_mcp_work *work) {
    yyjson_val *arguments = yyjson_obj_get(work->event->value, "arguments");
    if (arguments)
        return arguments;
    (void)dx__mcp_parse(&work->session->alloc, dx_str("{}"), &work->extra);
    return yyjson_doc_get_root(work->extra);
}

static void refuse_named(dx_mcp_session *session, dx_request request, const char *what,
                         dx_text name) {
    char message[200];
    int len = name.len < 100 ? (int)name.len : 0;
    (void)snprintf(message, sizeof message, len ? "Unknown %s: %.*s" : "Unknown %s", what, len,
                   name.at);
    dx__mcp_refuse(session, request, DX_CODE_PARAMS, message);
}

/* From 2025-11-25 on, a model is to see what was wrong with its arguments. */
static void refuse_arguments(dx_mcp_work *work, const dx_misfit *why) {
    char phrase[sizeof why->phrase + 32] = "Invalid arguments: ";
    strncat(phrase, why->phrase, sizeof phrase - strlen(phrase) - 1);
    if (work->session->rev >= DX__MCP_2025_11)
        dx_mcp_work_fail(work, dx_str(phrase));
    else
        dx__mcp_work_refused(work, DX_CODE_PARAMS, dx_str(phrase), dx_json_none());
}

/* True if the call goes on. */
static bool check_arguments(dx_mcp_work *work, yyjson_val *arguments) {
    dx_misfit why = {.phrase = ""};
    dx_status status = arguments ? dx_schema_check(work->item->input_schema, arguments, 0,
                                                   work->session->server->check, &why)
                                 : DX_ERR_NOMEM;
    if (status == DX_OK)
        return true;
    if (status == DX_ERR_NOMEM)
        dx__mcp_work_refused(work, DX_CODE_INTERNAL, dx_str("Out of memory"), dx_json_none());
    else
        refuse_arguments(work, &why);
    return false;
}

/* Only 2025-11-25 has tasks of this kind; elsewhere a tool that must be one is called as it is. */
static bool check_task(dx_mcp_session *session, const dx_event *event, const dx__mcp_item *tool) {
    bool wanted = yyjson_obj_get(event->value, "task") != NULL;
    if (session->rev != DX__MCP_2025_11)
        return true;
    if (wanted ? tool->task == DX_MCP_TASK_NEVER : tool->task == DX_MCP_TASK_MUST) {
        dx__mcp_refuse(session, event->request, DX_CODE_METHOD,
                       wanted ? "This tool cannot run as a task" : "This tool only runs as a task");
        return false;
    }
    return true;
}

static bool start_task(dx_mcp_work *work) {
    yyjson_val *wish = yyjson_obj_get(work->event->value, "task");
    return work->session->rev != DX__MCP_2025_11 || !wish || dx__mcp_task_start(work, wish);
}

void dx__mcp_call_tool(dx_mcp_session *session, const dx_event *event) {
    dx_text name = dx__mcp_member(event->value, "name");
    dx__mcp_item *tool = dx__mcp_item_find(session->server, DX_MCP_TOOLS, name);
    if (!tool) {
        refuse_named(session, event->request, "tool", name);
        return;
    }
    if (!check_task(session, event, tool))
        return;
    dx_mcp_work *work = dx__mcp_work_new(session, event, DX__MCP_TOOL, tool);
    if (!work)
        return;
    dx__mcp_work_enter(work);
    yyjson_val *arguments = arguments_of(work);
    /* A task that can't even begin is none: what is wrong with its arguments is told at once. */
    if (check_arguments(work, arguments) && dx__mcp_round_begin(work) == DX_OK && start_task(work))
        tool->call(work, arguments, tool->user);
    dx__mcp_work_ran(work);
}

/* The name of the first argument that is needed and not there. */
static dx_text missing_argument(const dx__mcp_item *prompt, yyjson_val *given) {
    size_t i;
    size_t n;
    yyjson_val *argument;
    yyjson_arr_foreach(yyjson_doc_get_root(prompt->arguments_doc), i, n, argument) {
        dx_text name = dx__mcp_member(argument, "name");
        if (yyjson_is_true(yyjson_obj_get(argument, "required")) &&
            !yyjson_obj_getn(given, name.at, name.len))
            return name;
    }
    return dx_str(NULL);
}

void dx__mcp_get_prompt(dx_mcp_session *session, const dx_event *event) {
    dx_text name = dx__mcp_member(event->value, "name");
    dx__mcp_item *prompt = dx__mcp_item_find(session->server, DX_MCP_PROMPTS, name);
    if (!prompt) {
        refuse_named(session, event->request, "prompt", name);
        return;
    }
    dx_text missing = missing_argument(prompt, yyjson_obj_get(event->value, "arguments"));
    if (missing.at) {
        char message[160];
        (void)snprintf(message, sizeof message, "Missing argument: %.*s",
                       (int)(missing.len < 100 ? missing.len : 0), missing.at);
        dx__mcp_refuse(session, event->request, DX_CODE_PARAMS, message);
        return;
    }
    dx_mcp_work *work = dx__mcp_work_new(session, event, DX__MCP_PROMPT, prompt);
    if (!work)
        return;
    dx__mcp_work_enter(work);
    yyjson_val *arguments = arguments_of(work);
    if (!arguments)
        dx__mcp_work_refused(work, DX_CODE_INTERNAL, dx_str("Out of memory"), dx_json_none());
    else if (dx__mcp_round_begin(work) == DX_OK)
        prompt->call(work, arguments, prompt->user);
    dx__mcp_work_ran(work);
}

/* A reference to a resource is its template, or the URI of one that is declared. */
static dx__mcp_item *find_reference(dx_mcp_server *server, yyjson_val *ref) {
    if (yyjson_equals_str(yyjson_obj_get(ref, "type"), "ref/prompt"))
        return dx__mcp_item_find(server, DX_MCP_PROMPTS, dx__mcp_member(ref, "name"));
    dx_text uri = dx__mcp_member(ref, "uri");
    dx__mcp_item *item = dx__mcp_item_find(server, DX_MCP_TEMPLATES, uri);
    return item ? item : dx__mcp_item_find(server, DX_MCP_RESOURCES, uri);
}

void dx__mcp_complete(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_item *item = find_reference(session->server, yyjson_obj_get(event->value, "ref"));
    if (!item) {
        dx__mcp_refuse(session, event->request, DX_CODE_PARAMS, "Unknown reference");
        return;
    }
    dx_mcp_work *work = dx__mcp_work_new(session, event, DX__MCP_COMPLETE, item);
    if (!work)
        return;
    dx__mcp_work_enter(work);
    yyjson_val *argument = yyjson_obj_get(work->event->value, "argument");
    yyjson_val *context = yyjson_obj_get(work->event->value, "context");
    if (item->complete)
        item->complete(work, dx__mcp_member(argument, "name"), dx__mcp_member(argument, "value"),
                       yyjson_obj_get(context, "arguments"), item->user);
    else
        dx_mcp_work_done(work);
    dx__mcp_work_ran(work);
}
