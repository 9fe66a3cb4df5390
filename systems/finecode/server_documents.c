/* Documents that clients have open. One that a client leaves open is closed when it leaves, unless
 * another client has it open, too: its text would win over the disk for ever. */
#include "systems/finecode/server_parts.h"

static dx__finecode_opened **find(dx__finecode_client *client, const char *path) {
    dx__finecode_opened **at = &client->opened;
    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

static bool others_have(const dx__finecode_client *client, const char *path) {
    for (dx__finecode_client *other = client->server->clients; other; other = other->next)
        if (other != client && *find(other, path))
            return true;
    return false;
}

static void forget(dx__finecode_client *client, dx__finecode_opened **at) {
    dx__finecode_opened *opened = *at;
    *at = opened->next;
    dx__free(&client->server->alloc, opened->path);
    dx__free(&client->server->alloc, opened);
}

/* Takes the path, by which documents are known: one file has many URIs. */
static dx_status remember(dx__finecode_client *client, char *path) {
    const dx_allocator *alloc = &client->server->alloc;
    dx__finecode_opened *opened = *find(client, path) ? NULL : dx__malloc(alloc, sizeof *opened);
    if (!opened) {
        dx_status status = *find(client, path) ? DX_OK : DX_ERR_NOMEM;
        dx__free(alloc, path);
        return status;
    }
    *opened = (dx__finecode_opened){.path = path, .next = client->opened};
    client->opened = opened;
    return DX_OK;
}

static dx_status path_of(const dx__finecode_client *client, const dx_event *event,
                         char **ret_path) {
    dx_text uri = dx__finecode_string(event->value, "uri");
    dx_status status = dx__finecode_path_of(&client->server->alloc, uri, ret_path);
    return status == DX_MISFIT ? DX_ERR_INVALID : status;
}

/* They are notifications, so only who asks all the same hears of it. */
static void tell(dx_link *link, const dx_event *event, dx_status status) {
    if (event->kind != DX_EVENT_REQUEST)
        return;
    if (status == DX_OK)
        dx__finecode_answer_empty(link, event->request);
    else
        dx__finecode_answer_refuse(link, event->request, DX_CODE_PARAMS, dx_status_name(status),
                                   "");
}

static int64_t version_of(const dx_event *event) {
    return yyjson_get_sint(yyjson_obj_get(event->value, "version"));
}

void dx__finecode_opened_one(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx_text text = dx__finecode_string(event->value, "text");
    char *path = NULL;
    dx_status status = text.at ? path_of(client, event, &path) : DX_ERR_INVALID;
    if (status == DX_OK) {
        /* What it can't remember it could not close. */
        bool before = *find(client, path);
        status = remember(client, path);
        bool added = status == DX_OK && !before;
        if (status == DX_OK)
            status =
                dx_finecode_wm_open(client->server->wm, dx__finecode_string(event->value, "uri"),
                                    version_of(event), text);
        if (status != DX_OK && added)
            forget(client, &client->opened);
    }
    tell(link, event, status);
}

void dx__finecode_changed_one(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx_text uri = dx__finecode_string(event->value, "uri");
    yyjson_val *changes = yyjson_obj_get(event->value, "contentChanges");
    tell(link, event,
         uri.at ? dx_finecode_wm_change(client->server->wm, uri, version_of(event), changes)
                : DX_ERR_INVALID);
}

void dx__finecode_closed_one(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    char *path = NULL;
    dx_status status = path_of(client, event, &path);
    if (status == DX_OK) {
        if (*find(client, path))
            forget(client, find(client, path));
        if (!others_have(client, path))
            status =
                dx_finecode_wm_close(client->server->wm, dx__finecode_string(event->value, "uri"));
        dx__free(&client->server->alloc, path);
    }
    tell(link, event, status);
}

static void close_one(dx__finecode_client *client, const char *path) {
    dx_buf uri;
    dx_buf_init(&uri, SIZE_MAX / 8, &client->server->alloc);
    if (dx__finecode_uri_of(&uri, path) == DX_OK)
        (void)dx_finecode_wm_close(client->server->wm, (dx_text){uri.data, uri.len});
    dx_buf_done(&uri);
}

void dx__finecode_opened_free(dx__finecode_client *client) {
    while (client->opened) {
        if (!others_have(client, client->opened->path))
            close_one(client, client->opened->path);
        forget(client, &client->opened);
    }
}
