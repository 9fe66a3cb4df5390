/* Changes that an agent proposes, and what is decided about them. */
#include "systems/autohand/client_parts.h"

void dx__autohand_client_batch_free(dx_autohand_client *client) {
    struct dx__autohand_client_batch *batch = &client->batch;
    for (size_t i = 0; i < batch->count; i++)
        dx__free(&client->alloc, (void *)(uintptr_t)batch->changes[i].id.at);
    dx__free(&client->alloc, batch->changes);
    dx__free(&client->alloc, batch->id);
    *batch = (struct dx__autohand_client_batch){.id = NULL};
}

void dx__autohand_client_batch_begin(dx_autohand_client *client, dx_text id) {
    if (client->batch.count)
        dx__autohand_client_violation(
            client, "second batch of changes in one turn: dropping the first one");
    dx__autohand_client_batch_free(client);
    if (id.at && !dx__autohand_client_copy(client, &client->batch.id, id))
        dx__autohand_client_no_memory(client);
}

/* Collecting. */

static bool make_room(dx_autohand_client *client) {
    struct dx__autohand_client_batch *batch = &client->batch;
    if (batch->count < batch->cap)
        return true;
    size_t cap = batch->cap ? 2 * batch->cap : 16;
    dx_autohand_change *changes = dx__realloc(&client->alloc, batch->changes,
                                              batch->cap * sizeof *changes, cap * sizeof *changes);
    if (!changes)
        return false;
    batch->changes = changes;
    batch->cap = cap;
    return true;
}

enum { TEXTS = 7 };

static void texts_of(dx_autohand_change *change, dx_text *ret_texts[TEXTS]) {
    dx_text *texts[TEXTS] = {&change->id,    &change->path,        &change->type, &change->before,
                             &change->after, &change->description, &change->tool};
    memcpy(ret_texts, texts, sizeof texts);
}

static size_t size_of(dx_autohand_change *change) {
    dx_text *texts[TEXTS];
    size_t size = sizeof *change;
    texts_of(change, texts);
    for (size_t i = 0; i < TEXTS; i++)
        size += texts[i]->len;
    return size;
}

/* All texts in one block, which the id begins. */
static bool copy_texts(dx_autohand_client *client, dx_autohand_change *change) {
    dx_text *texts[TEXTS];
    char *block = dx__malloc(&client->alloc, size_of(change));
    char *to = block;
    if (!block)
        return false;
    change->id.at = change->id.at ? change->id.at : "";
    texts_of(change, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (!texts[i]->at)
            continue;
        if (texts[i]->len)
            memcpy(to, texts[i]->at, texts[i]->len);
        texts[i]->at = to;
        to += texts[i]->len;
    }
    return true;
}

/* The texts of what is too much are left out; who shows it says so. */
static bool fits(dx_autohand_client *client, dx_autohand_change *change) {
    size_t left = client->config.batch_max - client->batch.bytes;
    if (size_of(change) > left)
        change->before = change->after = dx_str(NULL);
    return size_of(change) <= left;
}

void dx__autohand_client_batch_add(dx_autohand_client *client, const dx_autohand_change *given) {
    struct dx__autohand_client_batch *batch = &client->batch;
    dx_autohand_change change = *given;
    if (batch->ended || batch->broken || !batch->id)
        return;
    if (!change.id.len)
        dx__autohand_client_violation(client, "change without an id");
    if (client->freed)
        return;
    if (!fits(client, &change)) {
        batch->broken = true;
        dx__autohand_client_violation(client, "too many changes to keep: all of them are rejected");
        return;
    }
    if (!make_room(client) || !copy_texts(client, &change)) {
        batch->broken = true;
        dx__autohand_client_no_memory(client);
        return;
    }
    batch->bytes += size_of(&change);
    batch->changes[batch->count++] = change;
}

void dx__autohand_client_batch_end(dx_autohand_client *client, int64_t count) {
    struct dx__autohand_client_batch *batch = &client->batch;
    batch->ended = true;
    batch->partial = count >= 0 && (uint64_t)count != batch->count;
    if (!batch->broken && batch->partial)
        dx__autohand_client_violation(
            client, "changesBatchEnd: the number of changes differs from those received");
    if (!client->freed && !batch->count && count <= 0)
        dx__autohand_client_batch_free(client);
}

void dx__autohand_client_batch_ask(dx_autohand_client *client) {
    const struct dx__autohand_client_batch *batch = &client->batch;
    if (!batch->id || !batch->ended || client->gone || client->stopping) {
        if (batch->count && !client->gone && !client->stopping)
            dx__autohand_client_violation(client, "changes without changesBatchEnd: dropping them");
        dx__autohand_client_batch_free(client);
        return;
    }
    dx_text id = dx_str(batch->id);
    if (client->freed)
        return;
    if (batch->broken || !client->config.on_changes)
        (void)dx_autohand_client_decide(client, id, 0, NULL, 0, NULL, NULL);
    else
        client->config.on_changes(client, id, batch->changes, batch->count, client->config.user);
}

/* Deciding. */

static bool same(dx_text one, dx_text other) {
    return one.len == other.len && (!one.len || memcmp(one.at, other.at, one.len) == 0);
}

static bool has(const dx_text *ids, size_t count, dx_text id) {
    for (size_t i = 0; i < count; i++)
        if (same(ids[i], id))
            return true;
    return false;
}

static bool add_id(yyjson_mut_doc *doc, yyjson_mut_val *list, dx_text id) {
    return yyjson_mut_arr_add_strncpy(doc, list, id.at ? id.at : "", id.len);
}

/* Those that are accepted: the named ones (if some are that do not exist, the agent says so), or
 * all but those. */
static bool list_ids(const dx_autohand_client *client, int accept, const dx_text *ids, size_t count,
                     yyjson_mut_doc *doc, yyjson_mut_val *list) {
    bool done = true;
    for (size_t i = 0; accept && ids && i < count && done; i++)
        done = add_id(doc, list, ids[i]);
    for (size_t i = 0; (!accept || !ids) && i < client->batch.count && done; i++)
        if (!ids || !has(ids, count, client->batch.changes[i].id))
            done = add_id(doc, list, client->batch.changes[i].id);
    return done;
}

/* Where others came than were told, nothing is accepted that was not seen. */
static bool fill(const dx_autohand_client *client, int accept, const dx_text *ids, size_t count,
                 yyjson_mut_doc *doc) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    bool selects = ids || (accept && client->batch.partial);
    if (selects && !list_ids(client, accept, ids, count, doc, list))
        return false;
    const char *action = selects && yyjson_mut_arr_size(list) ? "accept_selected"
                         : !selects && accept                 ? "accept_all"
                                                              : "reject_all";
    return yyjson_mut_obj_add_strcpy(doc, root, "batchId", client->batch.id) &&
           yyjson_mut_obj_add_str(doc, root, "action", action) &&
           (!yyjson_mut_arr_size(list) ||
            yyjson_mut_obj_add_val(doc, root, "selectedChangeIds", list));
}

dx_status dx_autohand_client_decide(dx_autohand_client *client, dx_text batch, int accept,
                                    const dx_text *ids, size_t count, dx_autohand_answer *on_answer,
                                    void *user) {
    if (!client->batch.id || !client->batch.ended || !batch.at ||
        !dx_text_is(batch, client->batch.id))
        return DX_GONE;
    yyjson_mut_doc *doc = dx__autohand_client_object(client);
    if (!fill(client, accept, ids, count, doc)) {
        yyjson_mut_doc_free(doc);
        return DX_ERR_NOMEM;
    }
    dx_status status =
        dx__autohand_client_call(client, "autohand.changesDecision", doc, on_answer, user);
    if (status == DX_OK)
        dx__autohand_client_batch_free(client);
    return status;
}
