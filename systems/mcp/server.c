/* A server: its configuration, its birth and its end. */
#include "systems/mcp/server_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    PAGE = 100,
    ASK_MS = 5 * 60 * 1000,
    STATE_MS = 10 * 60 * 1000,
    TASK_MS = 10 * 60 * 1000,
    TASKS_MAX = 1000,
    WORK_MAX = 10000,
    WORK_MOST = 1000000,
    MESSAGE_MAX = 64 << 20
};

const char *dx__mcp_rev_name(dx__mcp_rev rev) {
    static const char *const names[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                        "2026-07-28"};
    return names[rev];
}

static void *plain_malloc(void *ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static void *plain_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    (void)ctx;
    (void)old_size;
    return realloc(ptr, size);
}

static void plain_free(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

dx_allocator dx__mcp_allocator(const dx_allocator *given) {
    return given ? *given : (dx_allocator){plain_malloc, plain_realloc, plain_free, NULL};
}

yyjson_alc dx__mcp_alc(const dx_allocator *alloc) {
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

char *dx__mcp_copy(const dx_allocator *alloc, dx_text text) {
    char *copy = dx__malloc(alloc, text.len + 1);
    if (copy) {
        if (text.len)
            memcpy(copy, text.at, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

dx_status dx__mcp_wrong(dx_misfit *reterr, const char *what, const char *why) {
    if (reterr) {
        *reterr = (dx_misfit){.instance = ""};
        (void)snprintf(reterr->phrase, sizeof reterr->phrase, "%s: %s", what, why);
    }
    return DX_ERR_INVALID;
}

dx_mcp_server_config dx_mcp_server_defaults(const char *name, const char *version) {
    return (dx_mcp_server_config){
        .name = name,
        .version = version,
        .list_changed = 1,
        .page = PAGE,
        .ask_ms = ASK_MS,
        .state_ms = STATE_MS,
        .task_ms = TASK_MS,
        .tasks_max = TASKS_MAX,
        .work_max = WORK_MAX,
        .message_max = MESSAGE_MAX,
    };
}

/* The texts of the configuration, each a place in it. */
enum { TEXTS = 8 };

static void places(dx_mcp_server_config *config, const char **ret_places[TEXTS]) {
    const char **all[TEXTS] = {&config->name,         &config->version,   &config->title,
                               &config->description,  &config->website,   &config->icons,
                               &config->instructions, &config->extensions};
    memcpy(ret_places, all, sizeof all);
}

static dx_status copy_texts(dx_mcp_server *server) {
    const char **texts[TEXTS];
    bool failed = false;
    places(&server->config, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (!*texts[i])
            continue;
        *texts[i] = dx__mcp_copy(&server->alloc, dx_str(*texts[i]));
        failed |= !*texts[i];
    }
    return failed ? DX_ERR_NOMEM : DX_OK;
}

static bool is_settings(yyjson_val *value) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    bool fits = yyjson_is_obj(value);
    for (yyjson_val *key; fits && (key = yyjson_obj_iter_next(&iter));)
        fits = yyjson_is_obj(yyjson_obj_iter_get_val(key));
    return fits;
}

/* JSON of the configuration as it is sent: compact. */
static dx_status take_json(dx_mcp_server *server, const char *what, const char **place,
                           bool (*fits)(yyjson_val *value), dx_misfit *reterr) {
    dx__mcp_item item = {.alloc = server->alloc};
    yyjson_doc *doc = NULL;
    char *text = NULL;
    if (!*place)
        return DX_OK;
    dx_status status = dx__mcp_item_json(&item, what, *place, &doc, &text, reterr);
    if (status == DX_OK) {
        dx__free(&server->alloc, (void *)(uintptr_t)*place);
        *place = text;
        if (fits && !fits(yyjson_doc_get_root(doc)))
            status = dx__mcp_wrong(reterr, what, "expected an object of objects");
    }
    yyjson_doc_free(doc);
    return status;
}

/* What the configuration says is sent to every client: so it has to fit. */
static dx_status check_info(dx_mcp_server *server, dx_misfit *reterr) {
    dx__mcp_out out;
    yyjson_doc *doc = NULL;
    dx_protocol *protocol = server->speech->protocols[DX__MCP_2025_11];
    const dx_method *method = dx_protocol_find(protocol, dx_str("initialize"));
    dx__mcp_out_init(&out, &server->alloc);
    dx__mcp_out_raw(&out, dx_str("{\"protocolVersion\":\"\",\"capabilities\":{},\"serverInfo\":"));
    dx__mcp_info_write(server, DX__MCP_2025_11, &out);
    dx__mcp_out_text_member(&out, "instructions", server->config.instructions);
    dx__mcp_out_close(&out, '}');
    dx_status status = dx__mcp_out_parse(&out, &doc);
    if (status == DX_OK)
        status = dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_RESULT,
                                   yyjson_doc_get_root(doc), 0, reterr);
    else if (status == DX_ERR_INVALID)
        dx__mcp_wrong(reterr, "the configuration", "a string is not valid UTF-8");
    yyjson_doc_free(doc);
    dx__mcp_out_done(&out);
    return status == DX_MISFIT ? DX_ERR_INVALID : status;
}

static dx_status fill(dx_mcp_server *server, dx_misfit *reterr) {
    dx_check_config check = dx_check_defaults();
    check.allocator = &server->alloc;
    dx_status status = copy_texts(server);
    if (getrandom(server->key, sizeof server->key, 0) != (ssize_t)sizeof server->key)
        return DX_ERR_SYSTEM;
    for (int i = DX_MCP_TOOLS; i < DX__MCP_KINDS; i++)
        dx__mcp_table_init(&server->items[i].by_key, &server->alloc, server->key);
    dx__mcp_table_init(&server->watched, &server->alloc, server->key);
    if (status == DX_OK)
        status = take_json(server, "icons", &server->config.icons, NULL, reterr);
    if (status == DX_OK)
        status = take_json(server, "extensions", &server->config.extensions, is_settings, reterr);
    if (status == DX_OK)
        status = dx_check_new(&check, &server->check);
    if (status == DX_OK)
        status = dx__mcp_speech_new(server, reterr);
    if (status == DX_OK)
        status = check_info(server, reterr);
    return status;
}

dx_status dx_mcp_server_new(const dx_mcp_server_config *config, dx_mcp_server **ret_server,
                            dx_misfit *reterr) {
    if (!config->name || !config->version)
        return dx__mcp_wrong(reterr, "the configuration", "a server needs a name and a version");
    if (!config->page || !config->work_max || !config->message_max || config->work_max > WORK_MOST)
        return dx__mcp_wrong(reterr, "the configuration", "a limit is out of range");
    dx_allocator alloc = dx__mcp_allocator(config->allocator);
    dx_mcp_server *server = dx__malloc(&alloc, sizeof *server);
    if (!server)
        return DX_ERR_NOMEM;
    *server = (dx_mcp_server){.config = *config, .alloc = alloc};
    dx_status status = fill(server, reterr);
    if (status != DX_OK) {
        dx_mcp_server_free(server);
        return status;
    }
    *ret_server = server;
    return DX_OK;
}

dx_mcp_server *dx_mcp_server_free(dx_mcp_server *server) {
    if (!server)
        return NULL;
    dx_allocator alloc = server->alloc;
    const char **texts[TEXTS];
    server->config.on_subscribe = NULL;
    while (server->sessions)
        dx__mcp_session_abandon(server->sessions);
    while (server->places) {
        struct dx__mcp_place *place = server->places;
        server->places = place->next;
        dx__free(&alloc, place);
    }
    dx__mcp_items_done(server);
    for (size_t i = 0; server->watched.cap && i < server->watched.cap; i++)
        dx__free(&alloc, server->watched.slots[i].value);
    dx__mcp_table_done(&server->watched);
    dx__mcp_speech_release(server->speech);
    dx_check_free(server->check);
    places(&server->config, texts);
    for (size_t i = 0; i < TEXTS; i++)
        dx__free(&alloc, (void *)(uintptr_t)*texts[i]);
    dx__free(&alloc, server);
    return NULL;
}

void *dx_mcp_server_user(const dx_mcp_server *server) {
    return server->config.user;
}
