/* clang-tidy, cppcheck and shellcheck: their words, and how they say what they find. */
#include "systems/finecode/command/er/tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const c_files[] = {"*.c", "*.cc", "*.cpp", "*.cxx", NULL};
static const char *const shell_files[] = {"*.sh", "*.bash", "*.ksh", NULL};

bool next_line(dx_text *text, dx_text *ret_line) {
    if (!text->len)
        return false;
    const char *end = memchr(text->at, '\n', text->len);
    size_t len = end ? (size_t)(end - text->at) : text->len;
    *ret_line = (dx_text){text->at, len};
    text->at += len + (end != NULL);
    text->len -= len + (end != NULL);
    return true;
}

bool cut(dx_text *text, const char *mark, dx_text *ret_part) {
    const char *found = memmem(text->at, text->len, mark, strlen(mark));
    if (!found)
        return false;
    *ret_part = (dx_text){text->at, (size_t)(found - text->at)};
    text->len -= ret_part->len + strlen(mark);
    text->at = found + strlen(mark);
    return true;
}

bool number_of(dx_text text, size_t *to) {
    *to = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || i > 8)
            return false;
        *to = *to * 10 + (size_t)(text.at[i] - '0');
    }
    return text.len > 0;
}

size_t from_zero(size_t number) {
    return number ? number - 1 : 0;
}

void work_message(struct work *work, dx_text path, struct message *message) {
    char *copy = path_of(path, work->runner->project);
    if (!copy) {
        work_fail(work, "out of memory");
        return;
    }
    message->path = work->copies.count ? copies_origin(&work->files, copy) : copy;
    messages_add(work, message);
    free(copy);
}

/* clang-tidy */

static bool tidy_words(const struct work *work, struct batch *batch) {
    const char *build = work->settings.build;
    const char *overlay = copies_overlay(&work->copies);
    if (!build && access("build/compile_commands.json", R_OK) == 0)
        build = "build";
    return words_add(&batch->words, "--quiet") &&
           (!build || words_add_joined(&batch->words, "-p=", build)) &&
           (!overlay || words_add_joined(&batch->words, "--vfsoverlay=", overlay));
}

/* Where ":LINE:COLUMN: KIND: " stands in a line: the path may have colons, too. */
static bool tidy_head(dx_text *line, dx_text *path, struct message *message) {
    for (size_t at = 0; at < line->len; at++) {
        dx_text rest = {line->at + at + 1, line->len - at - 1};
        dx_text parts[3];
        if (line->at[at] == ':' && at && cut(&rest, ":", &parts[0]) &&
            number_of(parts[0], &message->line) && cut(&rest, ": ", &parts[1]) &&
            number_of(parts[1], &message->column) && cut(&rest, ": ", &parts[2])) {
            *path = (dx_text){line->at, at};
            message->severity = severity_of(parts[2]);
            *line = rest;
            return message->severity > 0;
        }
    }
    return false;
}

/* "text [check,-warnings-as-errors]" */
static void tidy_text(dx_text line, struct message *message) {
    const char *open = memrchr(line.at, '[', line.len);
    message->text = line;
    message->code = dx_str("");
    if (!open || open == line.at || line.at[line.len - 1] != ']')
        return;
    message->text.len = (size_t)(open - line.at) - (open[-1] == ' ');
    message->code = (dx_text){open + 1, line.len - (size_t)(open - line.at) - 2};
    const char *comma = memchr(message->code.at, ',', message->code.len);
    if (comma)
        message->code.len = (size_t)(comma - message->code.at);
}

/* Lines of the source that it shows begin with a space, and may look like anything. */
static void tidy_read(struct work *work, const struct batch *batch) {
    dx_text output = {batch->output.data, batch->output.len};
    size_t found = 0;
    for (dx_text line; !work->why[0] && next_line(&output, &line);) {
        struct message message = {0};
        dx_text path;
        if (!line.len || line.at[0] == ' ' || !tidy_head(&line, &path, &message))
            continue;
        message.line = from_zero(message.line);
        message.column = from_zero(message.column);
        tidy_text(line, &message);
        work_message(work, path, &message);
        found++;
    }
    if (batch->status && !found)
        work_fail_batch(work, batch);
}

const struct tool tool_clang_tidy = {
    .source = "duplex.clang_tidy",
    .action = "duplex.Lint",
    .program = "clang-tidy",
    .about = "check C and C++ with the options of compile_commands.json",
    .include = c_files,
    .copies = true,
    .batch_max = 1,
    .words = tidy_words,
    .read = tidy_read,
};

/* cppcheck: both its findings and its complaints go to the standard error, so it is told how to
 * write the first. */

static bool check_words(const struct work *work, struct batch *batch) {
    (void)work;
    return words_add(&batch->words, "--quiet") &&
           words_add(&batch->words,
                     "--template={file}\t{line}\t{column}\t{severity}\t{id}\t{message}") &&
           words_add(&batch->words, "--template-location=");
}

static void check_read(struct work *work, const struct batch *batch) {
    dx_text output = {batch->output.data, batch->output.len};
    dx_text odd = {NULL, 0};
    for (dx_text line; !work->why[0] && next_line(&output, &line);) {
        struct message message = {0};
        dx_text parts[5];
        dx_text rest = line;
        bool fits = true;
        for (size_t i = 0; i < 5 && fits; i++)
            fits = cut(&rest, "\t", &parts[i]);
        if (!fits || !number_of(parts[1], &message.line) || !number_of(parts[2], &message.column)) {
            odd = line.len ? line : odd;
            continue;
        }
        message.line = from_zero(message.line);
        message.column = from_zero(message.column);
        message.severity = severity_of(parts[3]) ? severity_of(parts[3]) : MESSAGE_INFO;
        message.code = parts[4];
        message.text = rest;
        if (parts[0].len && parts[0].at[0] == '/')
            work_message(work, parts[0], &message);
        else /* about no file: what it can't tell about its own options, say */
            dx_finecode_er_log(work->runner->er, "WARNING", work->tool->source, rest);
    }
    if (batch->status) {
        struct batch told = *batch;
        snprintf(told.tail, sizeof told.tail, "%.*s", (int)odd.len, odd.at ? odd.at : "");
        work_fail_batch(work, &told);
    }
}

const struct tool tool_cppcheck = {
    .source = "duplex.cppcheck",
    .action = "duplex.Lint",
    .program = "cppcheck",
    .about = "check C and C++",
    .include = c_files,
    .joined = true,
    .copies = true,
    .batch_max = 64,
    .words = check_words,
    .read = check_read,
};

/* shellcheck */

static bool shell_words(const struct work *work, struct batch *batch) {
    (void)work;
    return words_add(&batch->words, "--format=json1");
}

static size_t place_in(yyjson_val *comment, const char *name) {
    return from_zero(yyjson_get_uint(yyjson_obj_get(comment, name)));
}

static void shell_comment(struct work *work, yyjson_val *comment) {
    yyjson_val *file = yyjson_obj_get(comment, "file");
    yyjson_val *text = yyjson_obj_get(comment, "message");
    yyjson_val *level = yyjson_obj_get(comment, "level");
    char code[32];
    struct message message = {
        .line = place_in(comment, "line"),
        .column = place_in(comment, "column"),
        .end_line = place_in(comment, "endLine"),
        .end_column = place_in(comment, "endColumn"),
        .has_end = true,
        .columns = COLUMNS_CHARACTERS,
        .severity = severity_of(dx_str(yyjson_get_str(level))),
        .text = {yyjson_get_str(text), yyjson_get_len(text)},
    };
    snprintf(code, sizeof code, "SC%llu",
             (unsigned long long)yyjson_get_uint(yyjson_obj_get(comment, "code")));
    message.code = dx_str(code);
    message.severity = message.severity ? message.severity : MESSAGE_INFO;
    if (yyjson_is_str(file) && yyjson_is_str(text))
        work_message(work, dx_json_string(file), &message);
}

/* It leaves with 1 if it has found something. */
static void shell_read(struct work *work, const struct batch *batch) {
    const dx_buf *output = &batch->output;
    yyjson_doc *doc = output->len ? yyjson_read(output->data, output->len, 0) : NULL;
    yyjson_val *comments = yyjson_obj_get(yyjson_doc_get_root(doc), "comments");
    yyjson_arr_iter iter = yyjson_arr_iter_with(comments);
    if (batch->status > 1)
        work_fail_batch(work, batch);
    else if (!comments)
        work_fail_output(work, batch, "a JSON object with comments");
    for (yyjson_val *comment; !work->why[0] && (comment = yyjson_arr_iter_next(&iter));)
        shell_comment(work, comment);
    yyjson_doc_free(doc);
}

const struct tool tool_shellcheck = {
    .source = "duplex.shellcheck",
    .action = "duplex.Lint",
    .program = "shellcheck",
    .about = "check shell scripts",
    .include = shell_files,
    .scripts = true,
    .copies = true,
    .batch_max = 16,
    .words = shell_words,
    .read = shell_read,
};
