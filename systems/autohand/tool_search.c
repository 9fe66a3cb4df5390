/* search: a plain text in many files. */
#include "systems/autohand/tool_look.h"

#include <stdio.h>
#include <string.h>

/* Lines that are told unless another number is asked for, or at most; bytes of each, and how many
 * of these in front of what was found. */
enum { LINES = 200, LINES_MAX = 2000, LINE_BYTES = 400, BEFORE_BYTES = 100 };

static void fold(char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] = (char)(text[i] - 'A' + 'a');
}

static bool is_inside(char c) { /* of a character */
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Of a long line, what is around the place where it was found. */
static dx_status tell(struct dx__autohand_look *look, const char *path, uint64_t number,
                      dx_text line, size_t hit) {
    char room[32];
    size_t from = line.len > LINE_BYTES && hit > BEFORE_BYTES ? hit - BEFORE_BYTES : 0;
    while (from && is_inside(line.at[from]))
        from--;
    line = (dx_text){line.at + from, line.len - from};
    bool cut = line.len > LINE_BYTES;
    if (cut)
        for (line.len = LINE_BYTES; line.len && is_inside(line.at[line.len]);)
            line.len--;
    (void)snprintf(room, sizeof room, ":%llu: %s", (unsigned long long)number, from ? "…" : "");
    dx_status status = dx__autohand_add(&look->out, dx_str(path));
    if (status == DX_OK)
        status = dx__autohand_add_str(&look->out, room);
    if (status == DX_OK)
        status = dx__autohand_add(&look->out, line);
    return status == DX_OK ? dx__autohand_add_str(&look->out, cut ? "…\n" : "\n") : status;
}

/* `in` is what is searched, `text` the same with its letters as they are. */
static dx_status search(struct dx__autohand_look *look, const char *path, dx_text text,
                        const char *in) {
    uint64_t number = 1;
    size_t counted = 0; /* lines up to here */
    dx_status status = DX_OK;
    for (size_t at = 0; status == DX_OK && at < text.len;) {
        const char *hit = memmem(in + at, text.len - at, look->query.at, look->query.len);
        if (!hit)
            break;
        if (look->found >= look->limit || look->out.len > look->out_max) {
            look->enough = true;
            break;
        }
        size_t where = (size_t)(hit - in);
        for (const char *end; (end = memchr(text.at + counted, '\n', where - counted)); number++)
            counted = (size_t)(end - text.at) + 1;
        const char *end = memchr(text.at + where, '\n', text.len - where);
        at = end ? (size_t)(end - text.at) + 1 : text.len;
        size_t to = end ? at - 1 : at;
        if (to > counted && text.at[to - 1] == '\r')
            to--;
        status =
            tell(look, path, number, (dx_text){text.at + counted, to - counted}, where - counted);
        look->found++;
    }
    return status;
}

static dx_status search_text(struct dx__autohand_look *look, const char *path, dx_text text) {
    if (dx__autohand_is_binary(text) || !text.len)
        return DX_OK;
    if (!look->folds)
        return search(look, path, text, text.at);
    char *folded = dx__text_copy(&look->alloc, text);
    if (!folded)
        return DX_ERR_NOMEM;
    fold(folded, text.len);
    dx_status status = search(look, path, text, folded);
    dx__free(&look->alloc, folded);
    return status;
}

/* Files that can't be read are left out, which is told at the end. */
static dx_status search_file(struct dx__autohand_look *look, const char *path) {
    const struct dx__autohand_change *change = dx__autohand_batch_find(look->agent, path);
    char *bytes;
    size_t len;
    dx_error error;
    if (change)
        return change->text ? search_text(look, path, (dx_text){change->text, change->len}) : DX_OK;
    dx_status status =
        dx__autohand_file_read(&look->agent->workspace, path, &bytes, &len, NULL, &error);
    if (status != DX_OK) {
        look->walk.cut |= status == DX_ERR_LIMIT || status == DX_ERR_SYSTEM;
        return status == DX_ERR_NOMEM ? status : DX_OK;
    }
    status = search_text(look, path, (dx_text){bytes, len});
    dx__free(&look->alloc, bytes);
    return status;
}

static dx_status finish(struct dx__autohand_look *look) {
    const char *note = look->enough  ? "[more matches follow]\n"
                       : look->found ? ""
                                     : "[no matches]\n";
    dx_status status = dx__autohand_add_str(&look->out, note);
    if (status == DX_OK && !look->enough && look->walk.cut)
        status = dx__autohand_add_str(&look->out, "[not everything was searched: some files are "
                                                  "too large, nested too deeply or unreadable]\n");
    return status == DX_OK ? DX_CLOSED : status;
}

static dx_status step_one(struct dx__autohand_look *look) {
    dx_status status = search_file(look, look->only);
    return status == DX_OK ? finish(look) : status;
}

static dx_status step(struct dx__autohand_look *look) {
    if (look->only)
        return step_one(look);
    dx_status status = dx__autohand_walk_next(&look->walk);
    if (status == DX_CLOSED)
        return finish(look);
    if (look->walk.kind == DX__KIND_FILE)
        status = search_file(look, look->walk.path);
    else if (look->walk.kind == DX__KIND_FOLDER && !dx__autohand_look_skips(look))
        status = dx__autohand_walk_enter(&look->walk);
    return status == DX_OK && look->enough ? finish(look) : status;
}

/* Letters are folded on both sides; a file is looked at alone. */
static dx_status prepare(struct dx__autohand_look *look, const char *path, dx_error *reterr) {
    char *bytes = NULL;
    size_t len;
    look->query = dx__autohand_arg_text(look->job, "query");
    look->limit = dx__autohand_arg_number(look->job, "limit", LINES, LINES_MAX);
    if (!look->limit)
        look->limit = LINES;
    if (yyjson_is_true(yyjson_obj_get(dx_autohand_job_args(look->job), "ignoreCase"))) {
        char *copy = dx__text_copy(&look->alloc, look->query);
        if (!copy)
            return DX_ERR_NOMEM;
        fold(copy, look->query.len);
        look->query.at = copy;
        look->folds = true;
    }
    dx_status status = dx__autohand_batch_read(look->agent, path, &bytes, &len, reterr);
    dx__free(&look->alloc, bytes);
    if (status == DX_ERR_INVALID ||
        (status == DX_GONE && !dx__autohand_batch_find(look->agent, path)))
        return DX_OK; /* it is a folder, maybe of the turn alone, or walking will tell */
    if (status != DX_OK)
        return status;
    look->only = dx__text_copy(&look->alloc, dx_str(path));
    return look->only ? DX_OK : DX_ERR_NOMEM;
}

void dx__autohand_search(dx_autohand_job *job, void *user) {
    char *path;
    struct dx__autohand_look *look = dx__autohand_look_new(job, &path, step);
    (void)user;
    if (!look)
        return;
    dx_error error = {.phrase = ""};
    dx_status status = prepare(look, path, &error);
    if (status == DX_OK)
        dx__autohand_look_run(look, path);
    else
        dx__autohand_look_fail(look, path, status, &error);
}
