/* apply_patch and search_replace: a new text is made from the one that is there. */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* `ret_text` is allocated; NULL: there is to be no such file. */
typedef dx_status edit(dx_autohand_job *job, const char *path, dx_text text, char **ret_text,
                       size_t *ret_len, dx_error *reterr);

static dx_status change(dx_autohand_job *job, const char *path, dx_text text, edit *make,
                        const char *description, bool *ret_deleted, dx_error *reterr) {
    dx_allocator alloc = dx_autohand_job_agent(job)->alloc;
    char *made = NULL;
    size_t len = 0;
    if (!dx__is_utf8(text) || dx__autohand_is_binary(text))
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "not UTF-8 text");
    dx_status status = make(job, path, text, &made, &len, reterr);
    if (status != DX_OK)
        return status;
    *ret_deleted = !made;
    status =
        dx_autohand_job_write(job, path, (dx_text){made, len}, made ? description : NULL, reterr);
    dx__free(&alloc, made);
    return status;
}

/* What makes a file of nothing may do so. */
static void run(dx_autohand_job *job, edit *make, const char *what, bool creates) {
    dx_allocator alloc = dx_autohand_job_agent(job)->alloc;
    dx_error error = {.phrase = ""};
    char room[PATH_MAX + 32];
    char *path = NULL;
    dx_text text = {NULL, 0};
    bool deleted = false;
    dx_status status = dx__autohand_arg_path(job, "path", NULL, &path, &error);
    if (status == DX_OK)
        status = dx_autohand_job_read(job, path, &text, &error);
    if (status == DX_OK || (status == DX_GONE && creates)) {
        (void)snprintf(room, sizeof room, "%s %s", what, path);
        status = change(job, path, text.at ? text : dx_str(""), make, creates ? room : NULL,
                        &deleted, &error);
    }
    dx__free(&alloc, (char *)text.at);
    if (status == DX_OK) {
        (void)snprintf(room, sizeof room, "%s %s", deleted ? "Deleted" : "Updated", path);
        dx_autohand_job_done(job, dx_str(room));
    } else {
        dx__autohand_job_refuse(job, status, path, &error);
    }
    dx__free(&alloc, path);
}

static dx_status patch(dx_autohand_job *job, const char *path, dx_text text, char **ret_text,
                       size_t *ret_len, dx_error *reterr) {
    dx_autohand_agent *agent = dx_autohand_job_agent(job);
    dx_error error = {.phrase = ""};
    dx_status status =
        dx__autohand_patch(&agent->alloc, path, text, dx__autohand_arg_text(job, "patch"),
                           agent->workspace.file_max, ret_text, ret_len, &error);
    if (status == DX_ERR_INVALID || status == DX_ERR_LIMIT)
        return dx__autohand_path_fail(reterr, status, path, error.phrase);
    return status;
}

void dx__autohand_apply_patch(dx_autohand_job *job, void *user) {
    (void)user;
    run(job, patch, "Apply patch to", true);
}

static size_t count(dx_text text, dx_text wanted) {
    size_t found = 0;
    const char *end = text.at + text.len;
    for (const char *at = text.at; (at = memmem(at, (size_t)(end - at), wanted.at, wanted.len));
         at += wanted.len)
        found++;
    return found;
}

static dx_status swap(const dx_allocator *alloc, dx_text text, dx_text old, dx_text new, size_t len,
                      char **ret_text) {
    char *made = dx__malloc(alloc, len + 1);
    char *to = made;
    const char *end = text.at + text.len;
    const char *at = text.at;
    if (!made)
        return DX_ERR_NOMEM;
    for (const char *next; (next = memmem(at, (size_t)(end - at), old.at, old.len));
         at = next + old.len) {
        to = mempcpy(to, at, (size_t)(next - at));
        to = mempcpy(to, new.at, new.len);
    }
    to = mempcpy(to, at, (size_t)(end - at));
    *to = '\0';
    *ret_text = made;
    return DX_OK;
}

static dx_status replace(dx_autohand_job *job, const char *path, dx_text text, char **ret_text,
                         size_t *ret_len, dx_error *reterr) {
    dx_autohand_agent *agent = dx_autohand_job_agent(job);
    dx_text old = dx__autohand_arg_text(job, "search");
    dx_text new = dx__autohand_arg_text(job, "replace");
    bool all = yyjson_is_true(yyjson_obj_get(dx_autohand_job_args(job), "all"));
    size_t max = agent->workspace.file_max;
    char room[96];
    if (!old.at || !old.len || !new.at)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "the search text is empty");
    size_t found = count(text, old);
    if (!found)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path,
                                      "the search text was not found");
    if (found > 1 && !all) {
        (void)snprintf(room, sizeof room,
                       "the search text occurs %zu times; give more of it, or pass all", found);
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, room);
    }
    size_t rest = text.len - found * old.len;
    if (new.len && found > (max > rest ? max - rest : 0) / new.len)
        return dx__autohand_path_fail(reterr, DX_ERR_LIMIT, path,
                                      "the resulting text is too large");
    *ret_len = rest + found * new.len;
    return swap(&agent->alloc, text, old, new, *ret_len, ret_text);
}

void dx__autohand_search_replace(dx_autohand_job *job, void *user) {
    (void)user;
    run(job, replace, "Modify", false);
}
