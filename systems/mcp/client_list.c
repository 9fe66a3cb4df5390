/* A list to its last page. */
#include "systems/mcp/client_parts.h"

#include <string.h>

/* A cursor that was handed out. Hashes are compared first, so that many pages take no time. */
typedef struct cursor {
    uint64_t hash;
    char *text;
    size_t len;
} cursor;

struct dx__mcp_client_list {
    const char *member; /* of the results: "tools", … */
    dx_buf items;       /* what has come of them, with commas */
    bool has_items;
    size_t pages;
    cursor *cursors;
    size_t cursors_cap;
};

void dx__mcp_client_list_free(dx__mcp_client_ask *ask) {
    struct dx__mcp_client_list *list = ask->list;
    const dx_allocator *alloc = &ask->client->alloc;
    if (!list)
        return;
    for (size_t i = 0; i + 1 < list->pages; i++)
        dx__free(alloc, list->cursors[i].text);
    dx__free(alloc, list->cursors);
    dx_buf_done(&list->items);
    dx__free(alloc, list);
    ask->list = NULL;
}

static uint64_t hash_of(dx_text text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.at[i]) * UINT64_C(1099511628211);
    return hash;
}

/* DX_MISFIT: it was handed out before. */
static dx_status add_cursor(dx__mcp_client_ask *ask, dx_text text) {
    struct dx__mcp_client_list *list = ask->list;
    const dx_allocator *alloc = &ask->client->alloc;
    uint64_t hash = hash_of(text);
    size_t known = list->pages - 1;
    for (size_t i = 0; i < known; i++)
        if (list->cursors[i].hash == hash && list->cursors[i].len == text.len &&
            memcmp(list->cursors[i].text, text.at, text.len) == 0)
            return DX_MISFIT;
    if (known == list->cursors_cap) {
        size_t cap = known ? known * 2 : 8;
        cursor *cursors =
            dx__realloc(alloc, list->cursors, known * sizeof *cursors, cap * sizeof *cursors);
        if (!cursors)
            return DX_ERR_NOMEM;
        list->cursors = cursors;
        list->cursors_cap = cap;
    }
    char *copy = dx__text_copy(alloc, text);
    if (!copy)
        return DX_ERR_NOMEM;
    list->cursors[known] = (cursor){hash, copy, text.len};
    list->pages++;
    return DX_OK;
}

/* The items of a page, as they are written. */
static dx_status add_items(struct dx__mcp_client_list *list, dx_text array) {
    dx_text inner = {array.at + 1, array.len - 2};
    if (!inner.len || strspn(inner.at, " \t\r\n") >= inner.len)
        return DX_OK;
    dx_status status = list->has_items ? dx_buf_append(&list->items, ",", 1) : DX_OK;
    list->has_items = true;
    return status == DX_OK ? dx_buf_append(&list->items, inner.at, inner.len) : status;
}

/* The last page has everything but the items of the others. */
static dx_status finish(dx__mcp_client_ask *ask, dx_text page, dx_text array) {
    struct dx__mcp_client_list *list = ask->list;
    size_t before = (size_t)(array.at - page.at) + 1;
    size_t after = page.len - before - array.len + 2;
    dx_status status = add_items(list, array);
    size_t len = list->items.len;
    if (status == DX_OK)
        status = dx_buf_reserve(&list->items, before + after);
    if (status != DX_OK)
        return status;
    memmove(list->items.data + before, list->items.data, len);
    memcpy(list->items.data, page.at, before);
    list->items.len += before;
    return dx_buf_append(&list->items, page.at + page.len - after, after);
}

/* The cursor is JSON text, sent back as it came. */
static dx_status ask_next(dx__mcp_client_ask *ask, dx_text text) {
    yyjson_mut_doc *doc = NULL;
    dx_status status = dx__mcp_client_params(ask->client, dx_json_none(), &doc);
    if (status == DX_OK && !yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), "cursor",
                                                   yyjson_mut_rawncpy(doc, text.at, text.len)))
        status = DX_ERR_NOMEM;
    if (status == DX_OK)
        status = dx__mcp_client_ask_send_built(ask, dx_str(ask->method), doc, 0);
    yyjson_mut_doc_free(doc);
    return status;
}

static void tell(dx__mcp_client_ask *ask, const dx_event *event) {
    struct dx__mcp_client_list *list = ask->list;
    dx_text body = {list->items.data, list->items.len};
    unsigned mended;
    if (dx_json_read(body, &ask->client->alloc, &ask->doc, &mended) != DX_OK) {
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_SYSTEM,
                                "out of memory for the list");
        return;
    }
    dx_event whole = {.kind = DX_EVENT_DONE,
                      .outcome = DX_OUTCOME_RESULT,
                      .id = event->id,
                      .rule = event->rule,
                      .mended = mended,
                      .body = body,
                      .value = yyjson_doc_get_root(ask->doc)};
    dx__mcp_client_ask_done(ask, &whole);
}

static void fail(dx__mcp_client_ask *ask, dx_status status) {
    if (status == DX_CLOSED)
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_LOST, DX_FAULT_ENDED,
                                "the connection closed before the last page arrived");
    else if (status == DX_ERR_LIMIT)
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_MESSAGE_LIMIT,
                                "the list is larger than the message size limit");
    else
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_SYSTEM,
                                status == DX_ERR_NOMEM ? "out of memory for the list"
                                                       : "cannot request the next page");
}

void dx__mcp_client_list_result(dx__mcp_client_ask *ask, const dx_event *event) {
    struct dx__mcp_client_list *list = ask->list;
    dx_text type = dx__mcp_client_string(event->value, "resultType");
    bool has_next = dx__mcp_client_string(event->value, "nextCursor").at;
    dx_text next = has_next ? dx_rpc_member(event->body, dx_str("nextCursor")) : dx_str(NULL);
    if (ask->client->modern && !dx_text_is(type, "complete")) {
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_RESULT_FIT,
                                "the resultType of a page is not \"complete\"");
        return;
    }
    if (list->pages == 1 && !next.at) { /* as it came */
        dx__mcp_client_ask_done(ask, event);
        return;
    }
    dx_text array = dx_rpc_member(event->body, dx_str(list->member));
    dx_status status = next.at ? add_items(list, array) : finish(ask, event->body, array);
    if (status == DX_OK && list->items.len > ask->client->config.message_max)
        status = DX_ERR_LIMIT;
    if (status == DX_OK && !next.at) {
        tell(ask, event);
        return;
    }
    if (status == DX_OK && list->pages >= ask->client->config.pages_max) {
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_RESULT_FIT, "too many pages");
        return;
    }
    if (status == DX_OK)
        status = add_cursor(ask, next);
    if (status == DX_MISFIT) {
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_RESULT_FIT,
                                "the server sent the same cursor twice");
        return;
    }
    if (status == DX_OK)
        status = ask_next(ask, next);
    if (status != DX_OK)
        fail(ask, status);
}

static dx_status begin(dx__mcp_client_ask *ask, const char *member) {
    dx_mcp_client *client = ask->client;
    struct dx__mcp_client_list *list = dx__malloc(&client->alloc, sizeof *list);
    if (!list)
        return DX_ERR_NOMEM;
    *list = (struct dx__mcp_client_list){.member = member, .pages = 1};
    dx__mcp_client_buf(client, &list->items);
    ask->list = list;
    ask->way = DX__MCP_LIST;
    return dx__mcp_client_ask_send(ask, dx_str(ask->method), dx_json_none());
}

dx_status dx_mcp_client_list(dx_mcp_client *client, dx_mcp_kind kind,
                             const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                             void *user, dx_mcp_call *ret_call) {
    static const struct {
        const char *method;
        const char *member;
    } kinds[] = {{"tools/list", "tools"},
                 {"resources/list", "resources"},
                 {"resources/templates/list", "resourceTemplates"},
                 {"prompts/list", "prompts"}};
    dx__mcp_client_ask *ask = NULL;
    if (kind < DX_MCP_TOOLS || kind > DX_MCP_PROMPTS)
        return DX_ERR_INVALID;
    const char *method = kinds[kind - DX_MCP_TOOLS].method;
    dx_status status = dx__mcp_client_may_call(client, dx_str(method));
    if (status != DX_OK)
        return status;
    dx__mcp_client_enter(client);
    status = dx__mcp_client_ask_new(client, dx_str(method), options, on_answer, user, &ask);
    if (status == DX_OK && (status = begin(ask, kinds[kind - DX_MCP_TOOLS].member)) != DX_OK)
        dx__mcp_client_ask_free(ask);
    else if (status == DX_OK && ret_call)
        *ret_call = ask->handle;
    dx__mcp_client_leave(client);
    return status;
}
