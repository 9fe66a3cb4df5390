/* Documents that a client has open, and who is told of them. */
#include "systems/finecode/runner.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same path without links above the file: as folders that were added have theirs. As much of it
 * as is not there yet stays as it is. */
static dx_status resolve(const dx_allocator *alloc, char **path) {
    char room[PATH_MAX];
    char *rest = strrchr(*path, '/');
    bool is_there = false;
    for (; rest && rest > *path; rest = memrchr(*path, '/', (size_t)(rest - *path))) {
        *rest = '\0';
        is_there = realpath(*path, room);
        *rest = '/';
        if (is_there)
            break;
    }
    if (!is_there)
        return DX_OK;
    size_t above = room[1] ? strlen(room) : 0;
    size_t below = strlen(rest);
    char *resolved = dx__malloc(alloc, above + below + 1);
    if (!resolved)
        return DX_ERR_NOMEM;
    memcpy(resolved, room, above);
    memcpy(resolved + above, rest, below + 1);
    dx__free(alloc, *path);
    *path = resolved;
    return DX_OK;
}

/* The path of a URI. A document is known by it, however the URI was written. */
static dx_status path_of(const dx_finecode_wm *wm, dx_text uri, char **ret_path) {
    char *path = NULL;
    dx_status status = dx__finecode_path_of(&wm->alloc, uri, &path);
    if (status == DX_OK)
        status = resolve(&wm->alloc, &path);
    if (status != DX_OK) {
        dx__free(&wm->alloc, path);
        return status == DX_MISFIT ? DX_ERR_INVALID : status;
    }
    *ret_path = path;
    return DX_OK;
}

/* Params. */

/* Params are made of pieces; the first failure sticks. */
typedef struct dx__finecode_text {
    dx_buf json;
    dx_status status;
} dx__finecode_text;

static dx__finecode_text begin(const dx_finecode_wm *wm) {
    dx__finecode_text text = {.status = DX_OK};
    dx_buf_init(&text.json, SIZE_MAX / 4, &wm->alloc);
    return text;
}

static void add(dx__finecode_text *text, const char *piece) {
    if (text->status == DX_OK)
        text->status = dx_buf_append(&text->json, piece, strlen(piece));
}

static void add_string(dx__finecode_text *text, dx_text string) {
    if (text->status == DX_OK)
        text->status = dx_json_write_string(&text->json, string);
}

static void add_uri(dx__finecode_text *text, const char *path) {
    dx_buf uri;
    dx_buf_init(&uri, SIZE_MAX / 4, &text->json.alloc);
    if (text->status == DX_OK)
        text->status = dx__finecode_uri_of(&uri, path);
    add(text, "{\"textDocument\":{\"uri\":");
    add_string(text, (dx_text){uri.data ? uri.data : "", uri.len});
    dx_buf_done(&uri);
}

static void add_version(dx__finecode_text *text, int64_t version) {
    char piece[48];
    snprintf(piece, sizeof piece, ",\"version\":%" PRId64, version);
    add(text, piece);
}

static dx_json json_of(const dx__finecode_text *text) {
    return dx_json_text(text->json.data, text->json.len);
}

static dx__finecode_text open_params(const dx_finecode_wm *wm,
                                     const dx__finecode_document *document) {
    dx__finecode_text text = begin(wm);
    add_uri(&text, document->path);
    add(&text, ",\"languageId\":\"\"");
    add_version(&text, document->version);
    add(&text, ",\"text\":");
    add_string(&text,
               (dx_text){document->text.data ? document->text.data : "", document->text.len});
    add(&text, "}}");
    return text;
}

/* Telling. */

dx_status dx__finecode_runner_open_documents(dx_finecode_runner *runner) {
    const dx_finecode_wm *wm = runner->wm;
    dx_status status = DX_OK;
    for (const dx__finecode_document *document = wm->documents.first; document && status == DX_OK;
         document = document->next) {
        if (!dx__finecode_is_below(document->path, runner->project->path))
            continue;
        dx__finecode_text text = open_params(wm, document);
        status = text.status;
        if (status == DX_OK)
            status = dx_link_notify(runner->link, dx_str("textDocument/didOpen"), json_of(&text));
        dx_buf_done(&text.json);
    }
    runner->has_documents = status == DX_OK;
    return status;
}

/* One that is being configured gets all of them when that is done; but what is closed meanwhile it
 * would not hear of then. */
static bool wants(const dx_finecode_runner *runner, const char *path, const char *method) {
    return runner->link && !runner->leaving &&
           (runner->has_documents ||
            (strcmp(method, "textDocument/didClose") == 0 && runner->step > FINECODE_INITIALIZE)) &&
           dx__finecode_is_below(path, runner->project->path);
}

/* One that did not hear of a change has another text than the client, so it can't be used as it is:
 * the next one gets all texts anew. */
void dx__finecode_runner_tell_documents(dx_finecode_wm *wm, const char *path, const char *method,
                                        dx_json params) {
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next) {
        if (!wants(runner, path, method))
            continue;
        dx_status status = dx_link_notify(runner->link, dx_str(method), params);
        if (status != DX_OK && status != DX_CLOSED)
            dx__finecode_runner_fail(runner, "cannot send it documents: ", dx_status_name(status));
    }
}

static void tell(dx_finecode_wm *wm, const char *path, const char *method,
                 dx__finecode_text *text) {
    static const char nothing[] = "null"; /* which no runner takes */
    if (text->status == DX_OK)
        dx__finecode_runner_tell_documents(wm, path, method, json_of(text));
    else
        dx__finecode_runner_tell_documents(wm, path, method, dx_json_text(nothing, 4));
    dx_buf_done(&text->json);
}

/* What a client does. */

dx_status dx_finecode_wm_open(dx_finecode_wm *wm, dx_text uri, int64_t version, dx_text text) {
    char *path = NULL;
    dx_status status = dx__is_utf8(text) ? path_of(wm, uri, &path) : DX_ERR_INVALID;
    if (status != DX_OK)
        return status;
    status = dx__finecode_documents_open(&wm->documents, path, version, text);
    if (status == DX_OK) {
        dx__finecode_text params =
            open_params(wm, dx__finecode_documents_find(&wm->documents, path));
        tell(wm, path, "textDocument/didOpen", &params);
    }
    dx__free(&wm->alloc, path);
    return status;
}

static void add_position(dx__finecode_text *text, const char *name, yyjson_val *position) {
    char piece[96];
    snprintf(piece, sizeof piece, "%s{\"line\":%" PRIu64 ",\"character\":%" PRIu64 "}", name,
             yyjson_get_uint(yyjson_obj_get(position, "line")),
             yyjson_get_uint(yyjson_obj_get(position, "character")));
    add(text, piece);
}

/* Only what the protocol has of it, whatever else the client says. */
static void add_changes(dx__finecode_text *text, yyjson_val *changes) {
    yyjson_val *change;
    size_t i;
    size_t count;
    yyjson_arr_foreach(changes, i, count, change) {
        yyjson_val *range = yyjson_obj_get(change, "range");
        yyjson_val *new_text = yyjson_obj_get(change, "text");
        add(text, i ? ",{" : "{");
        if (yyjson_is_obj(range)) {
            add_position(text, "\"range\":{\"start\":", yyjson_obj_get(range, "start"));
            add_position(text, ",\"end\":", yyjson_obj_get(range, "end"));
            add(text, "},");
        }
        add(text, "\"text\":");
        add_string(text, dx_json_string(new_text));
        add(text, "}");
    }
}

static void tell_change(dx_finecode_wm *wm, const dx__finecode_document *document,
                        yyjson_val *changes) {
    dx__finecode_text params = begin(wm);
    add_uri(&params, document->path);
    add_version(&params, document->version);
    add(&params, "},\"contentChanges\":[");
    add_changes(&params, changes);
    add(&params, "]}");
    tell(wm, document->path, "textDocument/didChange", &params);
}

dx_status dx_finecode_wm_change(dx_finecode_wm *wm, dx_text uri, int64_t version,
                                yyjson_val *changes) {
    char *path = NULL;
    dx_status status = path_of(wm, uri, &path);
    if (status != DX_OK)
        return status;
    dx__finecode_document *document = dx__finecode_documents_find(&wm->documents, path);
    dx__free(&wm->alloc, path);
    if (!document || !yyjson_is_arr(changes))
        return DX_ERR_INVALID;
    status = dx__finecode_text_change(&document->text, changes);
    if (status != DX_OK)
        return status == DX_MISFIT ? DX_ERR_INVALID : status;
    document->version = version;
    tell_change(wm, document, changes);
    return DX_OK;
}

dx_status dx_finecode_wm_close(dx_finecode_wm *wm, dx_text uri) {
    char *path = NULL;
    dx_status status = path_of(wm, uri, &path);
    if (status != DX_OK)
        return status;
    if (dx__finecode_documents_find(&wm->documents, path)) {
        dx__finecode_text params = begin(wm);
        add_uri(&params, path);
        add(&params, "}}");
        dx__finecode_documents_close(&wm->documents, path);
        tell(wm, path, "textDocument/didClose", &params);
    } else {
        status = DX_ERR_INVALID;
    }
    dx__free(&wm->alloc, path);
    return status;
}
