/* clang-format: it tells what it would replace, for each file a small XML document. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char *const c_files[] = {"*.c",   "*.h",   "*.cc", "*.cpp", "*.cxx", "*.hh",
                                      "*.hpp", "*.hxx", "*.m",  "*.mm",  NULL};

static bool words(const struct work *work, struct batch *batch) {
    const struct work_file *file = &work->files.at[batch->from];
    return words_add(&batch->words, "--output-replacements-xml") &&
           (!file->text || words_add_joined(&batch->words, "--assume-filename=", file->path));
}

/* What is left to read of the output. */
struct reading {
    const char *at;
    size_t len;
};

/* Behind the next `mark`, if that comes before `limit` does; false otherwise. */
static bool skip_to(struct reading *reading, const char *mark, const char *limit) {
    const char *found = memmem(reading->at, reading->len, mark, strlen(mark));
    const char *end = limit ? memmem(reading->at, reading->len, limit, strlen(limit)) : NULL;
    if (!found || (end && end < found))
        return false;
    found += strlen(mark);
    reading->len -= (size_t)(found - reading->at);
    reading->at = found;
    return true;
}

static bool take_number(struct reading *reading, size_t *to) {
    size_t digits = 0;
    *to = 0;
    while (digits < reading->len && digits < 18 && reading->at[digits] >= '0' &&
           reading->at[digits] <= '9')
        *to = *to * 10 + (size_t)(reading->at[digits++] - '0');
    reading->at += digits;
    reading->len -= digits;
    return digits > 0;
}

/* One of the few characters that it escapes; its length with "&" and ";", or 0. */
static size_t entity(const char *at, size_t len, char *to) {
    static const struct {
        const char *name;
        char c;
    } names[] = {{"&lt;", '<'},   {"&gt;", '>'},   {"&amp;", '&'}, {"&apos;", '\''},
                 {"&quot;", '"'}, {"&#10;", '\n'}, {"&#13;", '\r'}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t name_len = strlen(names[i].name);
        if (len >= name_len && memcmp(at, names[i].name, name_len) == 0) {
            *to = names[i].c;
            return name_len;
        }
    }
    return 0;
}

/* In place of itself: it only gets shorter. */
static size_t decode(char *text, size_t len) {
    size_t to = 0;
    for (size_t i = 0; i < len;) {
        char c;
        size_t escaped = entity(text + i, len - i, &c);
        text[to++] = escaped ? c : text[i];
        i += escaped ? escaped : 1;
    }
    return to;
}

/* <replacement offset='5' length='1'>text</replacement>; false: that was the last, or `*ret_text`
 * is NULL without memory. */
static bool next_edit(struct reading *reading, struct edit *edit, char **ret_text) {
    struct reading text;
    *ret_text = NULL;
    if (!skip_to(reading, "<replacement offset='", "</replacements>") ||
        !take_number(reading, &edit->offset) || !skip_to(reading, "length='", ">") ||
        !take_number(reading, &edit->len) || !skip_to(reading, ">", NULL))
        return false;
    text = *reading;
    if (!skip_to(reading, "</replacement>", NULL))
        return false;
    size_t len = (size_t)(reading->at - text.at) - strlen("</replacement>");
    *ret_text = malloc(len + 1);
    if (!*ret_text)
        return false;
    memcpy(*ret_text, text.at, len);
    edit->text = (dx_text){*ret_text, decode(*ret_text, len)};
    return true;
}

static void tell(struct work *work, const char *path, struct place *place,
                 const struct edit *edit) {
    struct message message = {.path = path,
                              .has_end = true,
                              .severity = MESSAGE_WARNING,
                              .code = dx_str("clang-format-violations"),
                              .text = dx_str("code should be clang-formatted")};
    place_to_byte(place, edit->offset);
    message.line = place->line;
    message.column = edit->offset - place->begin;
    place_to_byte(place, edit->offset + edit->len);
    message.end_line = place->line;
    message.end_column = edit->offset + edit->len - place->begin;
    messages_add(work, &message);
}

static void take_edit(struct work *work, struct work_file *file, struct place *place,
                      const struct edit *edit, bool first) {
    const char *path = file->path;
    bool check = work->tool == &tool_clang_format_check;
    struct edits *edits = &work->edits;
    const char *why = NULL;
    if (edit->offset > place->len || edit->len > place->len - edit->offset)
        why = "the file changed in the meantime";
    else if (!dx__is_utf8(edit->text))
        why = "clang-format replaces text that is not valid UTF-8; convert the file, or exclude it";
    else if (check ? first && !words_add(&edits->changed, path)
                   : (first && !edits_begin(edits, file)) || !edits_add(edits, place, edit))
        why = "out of memory";
    else if (check)
        tell(work, path, place, edit);
    if (why)
        work_fail_file(work, path, why);
}

/* The replacements of one file. */
static void read_file(struct work *work, struct work_file *file, struct reading *reading) {
    struct place place;
    struct edit edit;
    char *replacement;
    size_t len = file->len;
    const char *text = file->text;
    for (size_t i = 0; !work->why[0] && next_edit(reading, &edit, &replacement); i++) {
        if (i == 0 && !text)
            text = messages_text(work, file->path, &len);
        if (i == 0)
            place_begin(&place, text ? text : "", text ? len : 0);
        take_edit(work, file, &place, &edit, i == 0);
        free(replacement);
    }
    if (!work->why[0] && !skip_to(reading, "</replacements>", NULL))
        work_fail_file(work, file->path, "cannot parse the output of clang-format");
}

static void read_batch(struct work *work, const struct batch *batch) {
    struct reading reading = {batch->output.data, batch->output.len};
    if (batch->status) {
        work_fail_batch(work, batch);
        return;
    }
    for (size_t i = 0; i < batch->count && !work->why[0]; i++) {
        struct work_file *file = &work->files.at[batch->from + i];
        if (skip_to(&reading, "<replacements", NULL))
            read_file(work, file, &reading);
        else
            work_fail_file(work, file->path, "clang-format reported nothing about this file");
    }
}

/* {"messages": …, "changed": [path]} */
void edits_check(struct work *work) {
    yyjson_mut_val *result = work_result(work);
    yyjson_mut_doc *doc = work->messages.doc;
    yyjson_mut_val *list = result ? yyjson_mut_obj_add_arr(doc, result, "changed") : NULL;
    bool added = list != NULL;
    for (size_t i = 0; added && i < work->edits.changed.count; i++)
        added = yyjson_mut_arr_append(list, clean_string(doc, dx_str(work->edits.changed.at[i])));
    work_done(work, added ? result : NULL);
}

const struct tool tool_clang_format = {
    .source = "duplex.clang_format",
    .action = "duplex.Format",
    .program = "clang-format",
    .about = "format C and C++",
    .include = c_files,
    .skips_empty = true,
    .batch_max = 32,
    .words = words,
    .read = read_batch,
    .finish = edits_apply,
};

const struct tool tool_clang_format_check = {
    .source = "duplex.clang_format_check",
    .action = "duplex.Lint",
    .program = "clang-format",
    .about = "report C and C++ code that is not formatted",
    .include = c_files,
    .skips_empty = true,
    .batch_max = 32,
    .words = words,
    .read = read_batch,
    .finish = edits_check,
};
