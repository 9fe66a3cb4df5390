/* A diff of one file, applied: unified, or in the form "*** Begin Patch". */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* How many bytes may be compared while the places of all hunks are looked for, and as how many a
 * line counts besides its own. */
enum { EFFORT = 64 << 20, LINE_EFFORT = 16 };

struct piece { /* a line without its end */
    const char *at;
    size_t len;
};

struct patching {
    const dx_allocator *alloc;
    const char *text;
    uint32_t *starts; /* of the lines; one more, where the text ends */
    size_t lines;
    bool returns; /* its lines, where the hunk goes, end in CR LF */
    size_t done;  /* so many lines are in `out`, or were left out */
    size_t effort;
    dx_text patch;
    size_t at; /* what of it was read */
    const char *path;
    unsigned hunks;
    unsigned files;     /* that begin, as headings say it */
    bool creates;       /* it says that there is no such file … */
    bool deletes;       /* … or that there will be none; */
    bool by_name;       /* whatever is in it */
    bool patch_returns; /* the lines of the patch itself end in CR LF */
    dx_buf out;
    dx_error *reterr;
};

struct hunk {
    size_t from; /* of its body in the patch … */
    size_t to;
    size_t hint;   /* where its old lines begin, from 0; SIZE_MAX: nobody knows */
    size_t counts; /* how many old lines there are, as the heading says; SIZE_MAX: it does not */
    size_t old;    /* … and as the body says */
    size_t first;  /* the first of them in the patch */
    size_t after;  /* it comes behind so many lines; SIZE_MAX: nobody knows */
    bool at_end;   /* its old lines are the last ones */
    bool returns;  /* they end in CR, and so does what is added only if it says so */
};

static dx_status fail(struct patching *patching, const char *why) {
    dx_error *error = patching->reterr;
    if (error) {
        char room[32] = "";
        *error = (dx_error){.fault = DX_FAULT_NONE};
        if (patching->hunks)
            (void)snprintf(room, sizeof room, "hunk %u: ", patching->hunks);
        dx__say_str(error->phrase, sizeof error->phrase, room);
        dx__say_str(error->phrase, sizeof error->phrase, why);
    }
    return DX_ERR_INVALID;
}

/* The line of the patch at `at`; where the next begins. */
static size_t take_line(dx_text patch, size_t at, struct piece *ret_line) {
    const char *end = memchr(patch.at + at, '\n', patch.len - at);
    size_t len = end ? (size_t)(end - (patch.at + at)) : patch.len - at;
    *ret_line = (struct piece){patch.at + at, len};
    return at + len + (end != NULL);
}

static bool begins(struct piece line, const char *with) {
    size_t len = strlen(with);
    return line.len >= len && memcmp(line.at, with, len) == 0;
}

static struct piece without_return(struct piece line) {
    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    return line;
}

static bool is(struct piece line, const char *text) {
    line = without_return(line);
    return line.len == strlen(text) && begins(line, text);
}

/* Two lines that can't be a removed and an added one: where another file begins. */
static bool is_header(dx_text patch, size_t at) {
    struct piece line;
    size_t next = take_line(patch, at, &line);
    if (begins(line, "diff --git "))
        return true;
    if (!begins(line, "--- ") || next >= patch.len)
        return false;
    next = take_line(patch, next, &line);
    if (!begins(line, "+++ ") || next >= patch.len)
        return false;
    (void)take_line(patch, next, &line);
    return begins(line, "@@");
}

/* The lines of the text. */

static bool ends_in_return(const struct patching *patching, size_t number) {
    size_t to = patching->starts[number + 1];
    return to - patching->starts[number] >= 2 && memcmp(patching->text + to - 2, "\r\n", 2) == 0;
}

static dx_status find_lines(struct patching *patching, dx_text text) {
    size_t count = 0;
    if (text.len >= UINT32_MAX)
        return DX_ERR_LIMIT;
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == '\n';
    count += text.len && text.at[text.len - 1] != '\n';
    patching->starts = dx__malloc(patching->alloc, (count + 1) * sizeof *patching->starts);
    if (!patching->starts)
        return DX_ERR_NOMEM;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        struct piece line;
        patching->starts[i] = (uint32_t)at;
        at = take_line(text, at, &line);
    }
    patching->starts[count] = (uint32_t)text.len;
    patching->lines = count;
    patching->returns = count && ends_in_return(patching, 0); /* the first stands for all */
    return DX_OK;
}

static struct piece line_at(const struct patching *patching, size_t number) {
    size_t from = patching->starts[number];
    size_t to = patching->starts[number + 1];
    if (to > from && patching->text[to - 1] == '\n')
        to--;
    return without_return((struct piece){patching->text + from, to - from});
}

static bool is_line(struct patching *patching, size_t number, struct piece wanted) {
    struct piece line = line_at(patching, number);
    wanted = without_return(wanted);
    patching->effort += LINE_EFFORT + wanted.len;
    return line.len == wanted.len && memcmp(line.at, wanted.at, line.len) == 0;
}

/* The hunks of the patch. */

/* "@@ -12,3 +12,4 @@ …": 12 and 3. Whatever can't be read is not known. */
static void read_heading(struct piece line, struct hunk *hunk) {
    size_t numbers[2] = {SIZE_MAX, 1};
    size_t i = 2;
    while (i < line.len && line.at[i] == ' ')
        i++;
    if (i >= line.len || line.at[i] != '-')
        return;
    for (int n = 0; n < 2; n++) {
        size_t number = 0;
        size_t first = ++i;
        for (; i < line.len && line.at[i] >= '0' && line.at[i] <= '9' && number < UINT32_MAX; i++)
            number = number * 10 + (size_t)(line.at[i] - '0');
        if (i == first)
            return;
        numbers[n] = number;
        if (i >= line.len || line.at[i] != ',')
            break;
    }
    /* Of nothing, the heading names the line before it. */
    hunk->hint = numbers[0] && numbers[1] ? numbers[0] - 1 : numbers[0];
    hunk->counts = numbers[1];
}

static char kind_of(struct piece line) {
    return !line.len || (line.len == 1 && line.at[0] == '\r') ? ' ' : line.at[0];
}

/* What a line says, without its kind. */
static struct piece said(struct piece line) {
    if (line.len && (line.at[0] == ' ' || line.at[0] == '-' || line.at[0] == '+'))
        return (struct piece){line.at + 1, line.len - 1};
    return line;
}

/* What is no line of a hunk. While the heading counts more lines, what looks like the beginning of
 * another file is one, and so is the "-- " that git puts below the last. */
static bool ends_body(const struct patching *patching, const struct hunk *hunk, size_t old,
                      size_t at, struct piece line) {
    bool counted = hunk->counts != SIZE_MAX;
    if (begins(line, "@@") || begins(line, "*** "))
        return true;
    if (counted && old < hunk->counts)
        return false;
    return (counted && is(line, "-- ")) || is_header(patching->patch, at);
}

static struct piece trimmed(struct piece line) {
    while (line.len && strchr(" \t\r", line.at[line.len - 1]) && line.at[line.len - 1])
        line.len--;
    while (line.len && strchr(" \t", line.at[0]) && line.at[0])
        line = (struct piece){line.at + 1, line.len - 1};
    return line;
}

/* Empty lines at the end of a body are taken for context only if the heading counts them. */
static dx_status read_body(struct patching *patching, struct hunk *hunk) {
    size_t at = patching->at;
    size_t old = 0;
    bool has_any = false;
    bool counted = hunk->counts != SIZE_MAX;
    hunk->from = hunk->to = at;
    while (at < patching->patch.len) {
        struct piece line;
        size_t next = take_line(patching->patch, at, &line);
        char kind = kind_of(line);
        if (ends_body(patching, hunk, old, at, line))
            break;
        if (!kind || !strchr(" +-\\", kind))
            return fail(patching, "a line does not begin with a space, + or -");
        if (kind == ' ' || kind == '-') {
            if (!old++)
                hunk->first = at;
            hunk->returns |= !patching->patch_returns && line.len && line.at[line.len - 1] == '\r';
        }
        bool bare = kind == ' ' && (!line.len || line.at[0] == '\r');
        if (!bare || (counted && old <= hunk->counts)) {
            hunk->to = next;
            hunk->old = old;
        }
        has_any |= kind == '+' || kind == '-';
        at = next;
    }
    patching->at = at;
    return has_any ? DX_OK : fail(patching, "no changes");
}

/* "@@ int main(void)" without numbers: the hunk comes behind that line. Not every text there is one
 * of the file. */
static void find_anchor(struct patching *patching, struct piece line, struct hunk *hunk) {
    struct piece wanted = trimmed((struct piece){line.at + 2, line.len - 2});
    if (wanted.len >= 2 && memcmp(wanted.at + wanted.len - 2, "@@", 2) == 0)
        wanted = trimmed((struct piece){wanted.at, wanted.len - 2});
    if (!wanted.len)
        return;
    for (size_t i = hunk->after != SIZE_MAX ? hunk->after : patching->done;
         i < patching->lines && patching->effort <= EFFORT; i++) {
        struct piece found = trimmed(line_at(patching, i));
        patching->effort += LINE_EFFORT + found.len;
        if (found.len == wanted.len && memcmp(found.at, wanted.at, wanted.len) == 0) {
            hunk->after = i + 1;
            return;
        }
    }
}

/* At its headings, of which there may be several without numbers, or none at all. */
static dx_status read_hunk(struct patching *patching, struct hunk *hunk) {
    *hunk = (struct hunk){.hint = SIZE_MAX, .counts = SIZE_MAX, .after = SIZE_MAX};
    while (patching->at < patching->patch.len && hunk->hint == SIZE_MAX) {
        struct piece line;
        size_t next = take_line(patching->patch, patching->at, &line);
        if (!begins(line, "@@"))
            break;
        patching->patch_returns = line.at[line.len - 1] == '\r';
        read_heading(line, hunk);
        if (hunk->hint == SIZE_MAX)
            find_anchor(patching, line, hunk);
        patching->at = next;
    }
    patching->hunks++;
    dx_status status = read_body(patching, hunk);
    struct piece line;
    if (status == DX_OK && patching->at < patching->patch.len) {
        (void)take_line(patching->patch, patching->at, &line);
        hunk->at_end = is(line, "*** End of File");
    }
    return status;
}

static dx_status begin_file(struct patching *patching) {
    if (patching->hunks || patching->files++)
        return fail(patching, "another file follows; patch one file at a time");
    return DX_OK;
}

/* Is the last part of that name the one of our path? Where the patch was made, the folders before
 * it may have been others. */
static bool is_ours(const struct patching *patching, struct piece name) {
    const char *own = strrchr(patching->path, '/');
    own = own ? own + 1 : patching->path;
    name = trimmed(name);
    size_t from = name.len;
    while (from && name.at[from - 1] != '/')
        from--;
    return name.len - from == strlen(own) && memcmp(name.at + from, own, name.len - from) == 0;
}

/* "*** Update File: NAME" and its like. *ret_hunk: a hunk without a heading may follow. */
static dx_status read_stars(struct patching *patching, struct piece line, bool *ret_hunk) {
    static const char *const heads[] = {"*** Update File: ", "*** Add File: ", "*** Delete File: "};
    if (begins(line, "*** Move to: "))
        return fail(patching,
                    "the patch moves the file; write a new file and delete this one instead");
    for (int i = 0; i < 3; i++) {
        size_t len = strlen(heads[i]);
        if (!begins(line, heads[i]))
            continue;
        patching->patch_returns = line.at[line.len - 1] == '\r';
        patching->creates = i == 1;
        patching->deletes = patching->by_name = i == 2;
        *ret_hunk = i != 2;
        dx_status status = begin_file(patching);
        if (status == DX_OK && !is_ours(patching, (struct piece){line.at + len, line.len - len}))
            status = fail(patching, "the patch names a different file than the path");
        return status;
    }
    return DX_OK;
}

/* A line in front of the hunks, or between them. */
static dx_status read_other(struct patching *patching, struct piece line, bool *ret_hunk) {
    static const char *const moves[] = {"rename from ", "rename to ", "copy from ", "copy to "};
    if (begins(line, "*** "))
        return read_stars(patching, line, ret_hunk);
    if (begins(line, "diff --git "))
        return begin_file(patching);
    if (patching->hunks)
        return is_header(patching->patch, patching->at) ? begin_file(patching) : DX_OK;
    patching->creates |= begins(line, "--- /dev/null");
    patching->deletes |= begins(line, "+++ /dev/null");
    if (!patching->files)
        return DX_OK;
    patching->creates |= begins(line, "new file mode ");
    patching->deletes |= begins(line, "deleted file mode ");
    for (int i = 0; i < 4; i++)
        if (begins(line, moves[i]))
            return fail(patching,
                        "the patch moves the file; write a new file and delete this one instead");
    if (begins(line, "GIT binary patch") || begins(line, "Binary files "))
        return fail(patching, "the patch is for a binary file");
    return DX_OK;
}

/* False: there is none any more, or it fails with *ret_status. */
static bool next_hunk(struct patching *patching, struct hunk *hunk, dx_status *ret_status) {
    bool bare = false; /* it may begin without a heading */
    *ret_status = DX_OK;
    while (*ret_status == DX_OK && patching->at < patching->patch.len) {
        struct piece line;
        size_t next = take_line(patching->patch, patching->at, &line);
        if (begins(line, "@@") || (bare && trimmed(line).len && !begins(line, "*** "))) {
            *ret_status = read_hunk(patching, hunk);
            return *ret_status == DX_OK;
        }
        *ret_status = read_other(patching, line, &bare);
        patching->at = next;
    }
    return false;
}

/* The place of a hunk. */

static bool fits_at(struct patching *patching, const struct hunk *hunk, size_t number) {
    dx_text body = {patching->patch.at, hunk->to};
    if (hunk->old > patching->lines - number)
        return false;
    for (size_t at = hunk->old ? hunk->first : hunk->to; at < hunk->to;) {
        struct piece line;
        at = take_line(body, at, &line);
        char kind = kind_of(line);
        patching->effort += LINE_EFFORT + line.len;
        if (kind != ' ' && kind != '-')
            continue;
        if (!is_line(patching, number++, said(line)))
            return false;
    }
    return true;
}

/* Behind the line that the heading names, the first place is meant; at the end of the file, it is
 * the last one. False: it does not fit like this. */
static bool find_named(struct patching *patching, const struct hunk *hunk, size_t *ret_place) {
    if (hunk->at_end && patching->lines - patching->done >= hunk->old &&
        fits_at(patching, hunk, patching->lines - hunk->old)) {
        *ret_place = patching->lines - hunk->old;
        return true;
    }
    for (size_t i = hunk->after; i <= patching->lines && patching->effort <= EFFORT; i++)
        if (fits_at(patching, hunk, i)) {
            *ret_place = i;
            return true;
        }
    return false;
}

/* Without a hint, the first place must be the only one. */
static dx_status find_anywhere(struct patching *patching, const struct hunk *hunk,
                               size_t *ret_place) {
    size_t found = SIZE_MAX;
    if (!hunk->old && patching->lines > patching->done)
        return fail(patching, "cannot tell where its lines belong");
    for (size_t i = patching->done; i + hunk->old <= patching->lines; i++) {
        if (patching->effort > EFFORT)
            return fail(patching, "finding where it applies takes too long");
        if (!fits_at(patching, hunk, i))
            continue;
        if (found != SIZE_MAX)
            return fail(patching, "it matches more than one place; add context lines");
        found = i;
        if (!hunk->old)
            break;
    }
    if (found == SIZE_MAX)
        return fail(patching, "its context and removed lines do not match the file");
    *ret_place = found;
    return DX_OK;
}

/* The nearest one. */
static dx_status find_place(struct patching *patching, const struct hunk *hunk, size_t *ret_place) {
    if (find_named(patching, hunk, ret_place))
        return DX_OK;
    if (hunk->hint == SIZE_MAX)
        return find_anywhere(patching, hunk, ret_place);
    size_t low = patching->done;
    size_t high = patching->lines;
    size_t hint = hunk->hint < low ? low : hunk->hint > high ? high : hunk->hint;
    for (size_t far = 0; far <= high - low; far++) {
        size_t places[2] = {far <= high - hint ? hint + far : SIZE_MAX,
                            far && far <= hint - low ? hint - far : SIZE_MAX};
        for (int i = 0; i < 2; i++) {
            if (patching->effort > EFFORT)
                return fail(patching, "finding where it applies takes too long");
            if (places[i] != SIZE_MAX && fits_at(patching, hunk, places[i])) {
                *ret_place = places[i];
                return DX_OK;
            }
        }
    }
    return fail(patching, "its context and removed lines do not match the file");
}

/* The new text. */

/* Behind a last line that has no end, nothing can follow. */
static dx_status end_line(struct patching *patching) {
    dx_buf *out = &patching->out;
    if (!out->len || out->data[out->len - 1] == '\n')
        return DX_OK;
    return dx_buf_append(out, patching->returns ? "\r\n" : "\n", patching->returns ? 2 : 1);
}

static dx_status copy_lines(struct patching *patching, size_t to) {
    size_t from = patching->starts[patching->done];
    size_t end = patching->starts[to];
    dx_status status = end > from ? end_line(patching) : DX_OK;
    patching->done = to;
    return status == DX_OK ? dx_buf_append(&patching->out, patching->text + from, end - from)
                           : status;
}

static dx_status add_line(struct patching *patching, struct piece line, bool ends) {
    dx_buf *out = &patching->out;
    dx_status status = end_line(patching);
    if (patching->returns || (patching->patch_returns && patching->lines))
        line = without_return(line);
    if (status == DX_OK)
        status = dx_buf_append(out, line.at, line.len);
    if (status != DX_OK || !ends)
        return status;
    /* Also an empty line has an end of its own. */
    return dx_buf_append(out, patching->returns ? "\r\n" : "\n", patching->returns ? 2 : 1);
}

static dx_status apply(struct patching *patching, const struct hunk *hunk) {
    dx_text body = {patching->patch.at, hunk->to};
    dx_status status = DX_OK;
    /* Lines are added as those around them are, unless the hunk is exact about that. */
    size_t like = hunk->old && patching->done + 1 < patching->lines ? patching->done : 0;
    patching->returns = !hunk->returns && patching->lines && ends_in_return(patching, like);
    for (size_t at = hunk->from; status == DX_OK && at < hunk->to;) {
        struct piece line;
        struct piece next = {"", 0};
        at = take_line(body, at, &line);
        char kind = kind_of(line);
        if (at < patching->patch.len)
            (void)take_line(patching->patch, at, &next);
        if (kind == ' ')
            status = copy_lines(patching, patching->done + 1);
        else if (kind == '-')
            patching->done++;
        else if (kind == '+')
            status = add_line(patching, said(line), !begins(next, "\\"));
    }
    return status;
}

static dx_status check_new(struct patching *patching) {
    if (patching->creates && patching->lines)
        return fail(patching, "the patch creates a file that already exists");
    return DX_OK;
}

static dx_status apply_all(struct patching *patching) {
    struct hunk hunk;
    dx_status status;
    while (next_hunk(patching, &hunk, &status)) {
        size_t place = 0;
        status = check_new(patching);
        if (status == DX_OK)
            status = find_place(patching, &hunk, &place);
        if (status == DX_OK)
            status = copy_lines(patching, place);
        if (status == DX_OK)
            status = apply(patching, &hunk);
        if (status != DX_OK)
            break;
    }
    if (status == DX_OK && !patching->hunks && !patching->creates && !patching->deletes)
        status = fail(patching, "the patch has no hunk: no line begins with @@");
    if (status == DX_OK)
        status = check_new(patching);
    if (status == DX_OK)
        status = copy_lines(patching, patching->lines);
    if (status == DX_OK && patching->deletes && !patching->by_name && patching->out.len)
        status = fail(patching, "the patch deletes the file, but does not remove all of its lines");
    return status == DX_OK ? dx_buf_reserve(&patching->out, 1) : status;
}

dx_status dx__autohand_patch(const dx_allocator *alloc, const char *path, dx_text text,
                             dx_text patch, size_t max, char **ret_text, size_t *ret_len,
                             dx_error *reterr) {
    struct patching patching = {
        .alloc = alloc, .path = path, .text = text.at, .patch = patch, .reterr = reterr};
    dx_buf_init(&patching.out, max < SIZE_MAX ? max + 1 : max, alloc);
    dx_status status = find_lines(&patching, text);
    if (status == DX_OK)
        status = apply_all(&patching);
    dx__free(alloc, patching.starts);
    if (status != DX_OK || patching.deletes) {
        dx_buf_done(&patching.out);
        if (status == DX_ERR_LIMIT)
            (void)fail(&patching, "the resulting text is too large");
        *ret_text = NULL;
        *ret_len = 0;
        return status;
    }
    patching.out.data[patching.out.len] = '\0';
    *ret_text = patching.out.data;
    *ret_len = patching.out.len;
    return DX_OK;
}
