/* The batch of a turn: what its tools want to change, kept until the client has decided. */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What a change costs besides its texts, roughly, and what telling it costs. */
enum { OVERHEAD = 256, TOLD_OVERHEAD = 4096 };

/* 0.6 and 0.8 read what is on disk, whatever the turn wants to write. */
static bool sees_pending(const dx_autohand_agent *agent) {
    return agent->config.compat == DX_AUTOHAND_DOC;
}

static struct dx__autohand_batch *batch_free(dx_autohand_agent *agent,
                                             struct dx__autohand_batch *batch) {
    for (size_t i = 0; batch && i < batch->count; i++) {
        dx__free(&agent->alloc, batch->changes[i].tool_id);
        dx__free(&agent->alloc, batch->changes[i].text);
    }
    for (size_t i = 0; batch && i < batch->file_count; i++) {
        dx__free(&agent->alloc, batch->files[i]->base);
        dx__free(&agent->alloc, batch->files[i]->path);
        dx__free(&agent->alloc, batch->files[i]->real);
        dx__free(&agent->alloc, batch->files[i]);
    }
    if (batch) {
        dx__free(&agent->alloc, batch->changes);
        dx__free(&agent->alloc, batch->files);
        dx__free(&agent->alloc, batch);
    }
    return NULL;
}

dx_status dx__autohand_batch_begin(dx_autohand_agent *agent, const char *turn_id) {
    agent->open = batch_free(agent, agent->open);
    agent->waiting = batch_free(agent, agent->waiting);
    if (agent->config.no_preview)
        return DX_OK;
    struct dx__autohand_batch *batch = dx__malloc(&agent->alloc, sizeof *batch);
    if (!batch)
        return DX_ERR_NOMEM;
    *batch = (struct dx__autohand_batch){.count = 0};
    dx__autohand_new_id(agent, "changes", batch->id);
    agent->open = batch;
    dx__autohand_tell_batch_start(agent, batch->id, turn_id);
    return DX_OK;
}

void dx__autohand_batch_end(dx_autohand_agent *agent) {
    struct dx__autohand_batch *batch = agent->open;
    if (!batch)
        return;
    agent->open = NULL;
    dx__autohand_tell_batch_end(agent, batch->id, batch->count);
    if (batch->count)
        agent->waiting = batch;
    else
        batch_free(agent, batch);
}

void dx__autohand_batch_free(dx_autohand_agent *agent) {
    agent->open = batch_free(agent, agent->open);
    agent->waiting = batch_free(agent, agent->waiting);
}

void dx__autohand_batch_drop(dx_autohand_agent *agent, struct dx__autohand_batch *batch) {
    batch_free(agent, batch);
}

/* The files of a batch are kept in the order of their paths. True: it is at *ret_at, else it would
 * have to be. */
static bool find(const struct dx__autohand_batch *batch, const char *path, size_t *ret_at) {
    size_t from = 0;
    size_t to = batch->file_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = strcmp(batch->files[middle]->path, path);
        if (order == 0) {
            *ret_at = middle;
            return true;
        }
        *(order < 0 ? &from : &to) = order < 0 ? middle + 1 : middle;
    }
    *ret_at = from;
    return false;
}

const struct dx__autohand_change *dx__autohand_batch_find(const dx_autohand_agent *agent,
                                                          const char *path) {
    const struct dx__autohand_batch *batch = agent->open;
    size_t at;
    if (!batch || !sees_pending(agent) || !find(batch, path, &at))
        return NULL;
    return &batch->changes[batch->files[at]->last];
}

bool dx__autohand_batch_pending(const dx_autohand_agent *agent, size_t number,
                                struct dx__autohand_pending *ret) {
    const struct dx__autohand_batch *batch = agent->open;
    if (!batch || !sees_pending(agent) || number >= batch->file_count)
        return false;
    const struct dx__autohand_change *change = &batch->changes[batch->files[number]->last];
    *ret = (struct dx__autohand_pending){
        batch->files[number]->path, !change->text, {change->text, change->len}};
    return true;
}

size_t dx__autohand_batch_from(const dx_autohand_agent *agent, const char *path) {
    size_t at = 0;
    if (agent->open)
        (void)find(agent->open, path, &at);
    return at;
}

/* What the turn has made of the folders above a file: nothing, a file, or none any more. */
static dx_status above(const dx_autohand_agent *agent, const char *path) {
    char folder[PATH_MAX];
    dx_status status = DX_OK;
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        const struct dx__autohand_change *change = dx__autohand_batch_find(agent, folder);
        if (change)
            status = change->text ? DX_ERR_INVALID : DX_GONE;
    }
    return status;
}

/* Has the turn made a folder of it? One that is empty again is still there. */
static bool is_folder(const dx_autohand_agent *agent, const char *path) {
    struct dx__autohand_pending pending;
    char room[PATH_MAX + 1];
    size_t len = (size_t)snprintf(room, sizeof room, "%s/", path);
    return dx__autohand_batch_pending(agent, dx__autohand_batch_from(agent, room), &pending) &&
           strncmp(pending.path, room, len) == 0;
}

/* A file that the turn has not changed. */
static dx_status read_disk(dx_autohand_agent *agent, const char *path, char **ret_bytes,
                           size_t *ret_len, dx_error *reterr) {
    dx_status status = above(agent, path);
    if (status == DX_ERR_INVALID)
        return dx__autohand_path_errno(reterr, path, ENOTDIR);
    return status != DX_OK
               ? status
               : dx__autohand_file_read(&agent->workspace, path, ret_bytes, ret_len, NULL, reterr);
}

/* Of a path that is clean. */
static dx_status read_seen(dx_autohand_agent *agent, const char *path, char **ret_bytes,
                           size_t *ret_len, dx_error *reterr) {
    const struct dx__autohand_change *change = dx__autohand_batch_find(agent, path);
    if (!change)
        return read_disk(agent, path, ret_bytes, ret_len, reterr);
    if (!change->text)
        return DX_GONE;
    char *copy = dx__text_copy(&agent->alloc, (dx_text){change->text, change->len});
    if (!copy)
        return DX_ERR_NOMEM;
    *ret_bytes = copy;
    *ret_len = change->len;
    return DX_OK;
}

dx_status dx__autohand_batch_read(dx_autohand_agent *agent, const char *path, char **ret_bytes,
                                  size_t *ret_len, dx_error *reterr) {
    char *clean;
    dx_status status = dx__autohand_path_clean(&agent->workspace, dx_str(path), &clean, reterr);
    if (status != DX_OK)
        return status;
    status = read_seen(agent, clean, ret_bytes, ret_len, reterr);
    dx__free(&agent->alloc, clean);
    return status;
}

bool dx__autohand_batch_creates(dx_autohand_agent *agent, const char *path) {
    char *bytes = NULL;
    size_t len;
    dx_error error;
    bool creates = dx__autohand_batch_read(agent, path, &bytes, &len, &error) == DX_GONE;
    dx__free(&agent->alloc, bytes);
    return creates;
}

static dx_status grow(const dx_allocator *alloc, void **array, size_t *room, size_t count,
                      size_t size) {
    if (count < *room)
        return DX_OK;
    size_t more = *room ? *room * 2 : 16;
    void *bigger = dx__realloc(alloc, *array, *room * size, more * size);
    if (!bigger)
        return DX_ERR_NOMEM;
    *array = bigger;
    *room = more;
    return DX_OK;
}

/* The file as a part of the batch, as it is on disk when it becomes one. */
static dx_status take_file(dx_autohand_agent *agent, const char *path,
                           struct dx__autohand_changed **ret_file, dx_error *reterr) {
    struct dx__autohand_batch *batch = agent->open;
    char *base = NULL;
    size_t len = 0;
    size_t at;
    bool known = find(batch, path, &at);
    if (known && sees_pending(agent)) {
        *ret_file = batch->files[at];
        return DX_OK;
    }
    dx_status status = read_disk(agent, path, &base, &len, reterr);
    if (status != DX_OK && status != DX_GONE)
        return status;
    struct dx__autohand_changed *file =
        known ? batch->files[at] : dx__malloc(&agent->alloc, sizeof *file);
    status = file ? grow(&agent->alloc, (void **)&batch->files, &batch->file_room,
                         batch->file_count, sizeof *batch->files)
                  : DX_ERR_NOMEM;
    char *copy = known || status != DX_OK ? NULL : dx__text_copy(&agent->alloc, dx_str(path));
    char room[PATH_MAX];
    bool leads = copy && dx__autohand_path_real(&agent->workspace, path, room);
    char *real = leads ? dx__text_copy(&agent->alloc, dx_str(room)) : NULL;
    if (status != DX_OK || (!known && !copy) || (leads && !real)) {
        dx__free(&agent->alloc, base);
        dx__free(&agent->alloc, copy);
        dx__free(&agent->alloc, known ? NULL : file);
        return DX_ERR_NOMEM;
    }
    if (known) {
        batch->bytes -= file->base_len;
        dx__free(&agent->alloc, file->base);
    } else {
        *file = (struct dx__autohand_changed){.path = copy, .real = real, .last = SIZE_MAX};
        memmove(batch->files + at + 1, batch->files + at,
                (batch->file_count++ - at) * sizeof *batch->files);
        batch->files[at] = file;
    }
    file->base = base;
    file->base_len = len;
    batch->bytes += len;
    *ret_file = file;
    return DX_OK;
}

/* A file that became a part of the batch for a change that could not be kept. */
static void drop_file(dx_autohand_agent *agent, struct dx__autohand_changed *file) {
    struct dx__autohand_batch *batch = agent->open;
    size_t at;
    if (file->last != SIZE_MAX || !find(batch, file->path, &at))
        return;
    batch->bytes -= file->base_len;
    memmove(batch->files + at, batch->files + at + 1,
            (--batch->file_count - at) * sizeof *batch->files);
    dx__free(&agent->alloc, file->base);
    dx__free(&agent->alloc, file->path);
    dx__free(&agent->alloc, file->real);
    dx__free(&agent->alloc, file);
}

static const char *type_of(const struct dx__autohand_changed *file, bool deletes) {
    return deletes ? "delete" : file->base ? "modify" : "create";
}

static void tell(dx_autohand_agent *agent, const struct dx__autohand_call *call,
                 const char *description) {
    const struct dx__autohand_batch *batch = agent->open;
    const struct dx__autohand_change *change = &batch->changes[batch->count - 1];
    const struct dx__autohand_changed *file = change->file;
    char id[128];
    char room[PATH_MAX + 16];
    (void)snprintf(id, sizeof id, "change_%s_%zu", batch->id, batch->count);
    (void)snprintf(room, sizeof room, "%s %s",
                   !change->text ? "Delete"
                   : file->base  ? "Modify"
                                 : "Create",
                   file->path);
    dx__autohand_tell_change(agent, batch->id,
                             &(struct dx__autohand_told_change){
                                 .id = id,
                                 .path = file->path,
                                 .type = change->type,
                                 .before = {file->base ? file->base : "", file->base_len},
                                 .after = {change->text ? change->text : "", change->len},
                                 .description = description ? description : room,
                             },
                             call);
}

/* What nobody can be shown, nobody can accept: because it is too long for a message, or because so
 * much waits for the client that no more is taken. */
static bool can_be_told(const dx_autohand_agent *agent, const struct dx__autohand_changed *file,
                        dx_text text, const char *description) {
    size_t size = TOLD_OVERHEAD + 2 * dx__autohand_shown_size(dx_str(file->path)) +
                  dx__autohand_shown_size(dx_str(description ? description : "")) +
                  dx__autohand_shown_size((dx_text){file->base, file->base_len}) +
                  dx__autohand_shown_size(text);
    size_t waiting = agent->link ? dx_link_waiting(agent->link) : 0;
    return size <= agent->config.line_max && waiting <= agent->config.line_max;
}

/* Into the batch. */
static dx_status add(dx_autohand_agent *agent, const struct dx__autohand_call *call,
                     struct dx__autohand_changed *file, dx_text text, dx_error *reterr) {
    struct dx__autohand_batch *batch = agent->open;
    size_t cost = OVERHEAD + strlen(file->path) + text.len;
    if (batch->bytes > agent->config.batch_max || cost > agent->config.batch_max - batch->bytes)
        return dx__autohand_path_fail(reterr, DX_ERR_LIMIT, file->path,
                                      "all changes of this turn together are too large");
    dx_status status = grow(&agent->alloc, (void **)&batch->changes, &batch->room, batch->count,
                            sizeof *batch->changes);
    if (status != DX_OK)
        return status;
    struct dx__autohand_change change = {.file = file, .type = type_of(file, !text.at)};
    const char *tool_id = call && call->tool_id ? call->tool_id : "";
    change.tool_id = dx__text_copy(&agent->alloc, dx_str(tool_id));
    change.text = text.at ? dx__text_copy(&agent->alloc, text) : NULL;
    change.len = text.len;
    if (!change.tool_id || (text.at && !change.text)) {
        dx__free(&agent->alloc, change.tool_id);
        dx__free(&agent->alloc, change.text);
        return DX_ERR_NOMEM;
    }
    file->last = batch->count;
    batch->bytes += cost;
    batch->changes[batch->count++] = change;
    return DX_OK;
}

static dx_status keep(dx_autohand_agent *agent, const struct dx__autohand_call *call,
                      const char *path, dx_text text, const char *description, dx_error *reterr) {
    struct dx__autohand_changed *file;
    if (!agent->open)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "no turn is running");
    if (text.at && is_folder(agent, path))
        return dx__autohand_path_errno(reterr, path, EISDIR);
    dx_status status = take_file(agent, path, &file, reterr);
    if (status != DX_OK)
        return status;
    bool was_there = sees_pending(agent) && file->last != SIZE_MAX
                         ? agent->open->changes[file->last].text != NULL
                         : file->base != NULL;
    if (!text.at && !was_there)
        status = DX_GONE;
    else if (!can_be_told(agent, file, text, description))
        status =
            dx__autohand_path_fail(reterr, DX_ERR_LIMIT, path, "the change is too large to show");
    else
        status = add(agent, call, file, text, reterr);
    if (status == DX_OK)
        tell(agent, call, description);
    else
        drop_file(agent, file);
    return status;
}

void dx__autohand_tell_modified(dx_autohand_agent *agent, const char *path, const char *type,
                                const char *tool_id) {
    struct dx__autohand_occasion occasion = {
        .event = DX__HOOK_FILE_MODIFIED,
        .path = dx_str(path),
        .change_type = dx_str(type),
        .tool_id = dx_str(tool_id),
        .success = -1,
        .tokens = -1,
        .calls = -1,
        .duration_ms = -1,
    };
    dx__autohand_tell_hook(agent, &occasion);
    if (dx__autohand_hooks_run(agent, &occasion, NULL, NULL, NULL) != DX_OK)
        dx__autohand_log(agent, "warn", "cannot run the hooks for a modified file");
}

static dx_status write_now(dx_autohand_agent *agent, const struct dx__autohand_call *call,
                           const char *path, dx_text text, dx_error *reterr) {
    bool creates = text.at && dx__autohand_batch_creates(agent, path);
    dx_status status = text.at ? dx__autohand_file_write(&agent->workspace, path, text, reterr)
                               : dx__autohand_file_delete(&agent->workspace, path, reterr);
    if (status == DX_OK)
        dx__autohand_tell_modified(agent, path,
                                   !text.at  ? "delete"
                                   : creates ? "create"
                                             : "modify",
                                   call && call->tool_id ? call->tool_id : "");
    return status;
}

dx_status dx__autohand_batch_write(dx_autohand_agent *agent, const struct dx__autohand_call *call,
                                   const char *path, dx_text text, const char *description,
                                   dx_error *reterr) {
    char *clean;
    dx_status status = dx__autohand_path_clean(&agent->workspace, dx_str(path), &clean, reterr);
    if (status != DX_OK)
        return status;
    const char *why = dx__autohand_path_kept(&agent->workspace, clean);
    if (why)
        status = dx__autohand_path_fail(reterr, DX_ERR_INVALID, clean, why);
    else if (text.at && text.len > agent->workspace.file_max)
        status = dx__autohand_path_fail(reterr, DX_ERR_LIMIT, clean, "the text is too large");
    else if (text.at && !dx__is_utf8(text)) /* it could not be shown as it would be written */
        status =
            dx__autohand_path_fail(reterr, DX_ERR_INVALID, clean, "the text is not valid UTF-8");
    else if (agent->config.no_preview)
        status = write_now(agent, call, clean, text, reterr);
    else
        status = keep(agent, call, clean, text, description, reterr);
    dx__free(&agent->alloc, clean);
    return status;
}
