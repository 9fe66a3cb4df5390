/* duplex.pattern: any program that prints a line for each finding, "file:line:column: message", and
 * a pattern that says where in the line these stand. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef PCRE2_CODE_UNIT_WIDTH /* the build says so, too */
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

/* A line is matched up to here; what a line and all lines of a process may take is bounded: the
 * pattern may be slow, and the output may be anything. */
enum { LINE_LEN = 4 << 10, STEPS_MAX = 100000, HEAP_KIB = 8 << 10, MATCHING_SECONDS = 5 };

enum {
    FILE_GROUP,
    MESSAGE_GROUP,
    LINE_GROUP,
    COLUMN_GROUP,
    END_LINE_GROUP,
    END_COLUMN_GROUP,
    CODE_GROUP,
    SEVERITY_GROUP,
    GROUPS
};
static const char *const names[GROUPS] = {"file",     "message",    "line", "column",
                                          "end_line", "end_column", "code", "severity"};

/* What searches, and one line. */
struct search {
    pcre2_code *code;
    pcre2_match_context *context;
    pcre2_match_data *data;
    int groups[GROUPS]; /* negative: there is none */
    dx_text line;
    char clean[LINE_LEN];
};

static struct search *search_free(struct search *search) {
    if (search) {
        pcre2_match_data_free(search->data);
        pcre2_match_context_free(search->context);
        pcre2_code_free(search->code);
    }
    free(search);
    return NULL;
}

/* NULL with the reason. */
static struct search *search_new(const char *pattern, char *room, size_t room_len) {
    int error = 0;
    PCRE2_SIZE where = 0;
    struct search *search = calloc(1, sizeof *search);
    if (search)
        search->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_ANCHORED | PCRE2_NEVER_BACKSLASH_C, &error,
                                     &where, NULL);
    if (search && !search->code) {
        char why[120] = "";
        pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof why);
        snprintf(room, room_len, "config: pattern: %s, at %zu", why, where);
        return search_free(search);
    }
    if (search) {
        search->context = pcre2_match_context_create(NULL);
        search->data = pcre2_match_data_create_from_pattern(search->code, NULL);
    }
    if (!search || !search->context || !search->data) {
        snprintf(room, room_len, "out of memory");
        return search_free(search);
    }
    pcre2_set_match_limit(search->context, STEPS_MAX);
    pcre2_set_depth_limit(search->context, STEPS_MAX);
    pcre2_set_heap_limit(search->context, HEAP_KIB);
    for (int i = 0; i < GROUPS; i++)
        search->groups[i] = pcre2_substring_number_from_name(search->code, (PCRE2_SPTR)names[i]);
    return search;
}

bool pattern_check(const char *pattern, char *room, size_t room_len) {
    struct search *search = search_new(pattern, room, room_len);
    bool good = search != NULL;
    for (int i = 0; i < GROUPS && good; i++) {
        bool absent = search->groups[i] == PCRE2_ERROR_NOSUBSTRING;
        good = absent ? i > MESSAGE_GROUP : search->groups[i] > 0;
        if (!good)
            snprintf(room, room_len, "config: pattern: %s group (?<%s>...)",
                     absent ? "missing" : "more than one", names[i]);
    }
    search_free(search);
    return good;
}

/* Bytes that are not UTF-8 become '?', and the end of DOS goes. */
static void take_line(struct search *search, dx_text line) {
    size_t len = line.len < LINE_LEN ? line.len : LINE_LEN;
    while (len && line.at[len - 1] == '\r')
        len--;
    memcpy(search->clean, line.at, len);
    for (size_t i = 0, more; i < len; i += more ? more : 1) {
        more = dx__utf8(search->clean + i, len - i);
        if (!more)
            search->clean[i] = '?';
    }
    search->line = (dx_text){search->clean, len};
}

static dx_text group(const struct search *search, int which) {
    int number = search->groups[which];
    if (number < 0)
        return (dx_text){NULL, 0};
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(search->data) + 2 * (size_t)number;
    if (place[0] == PCRE2_UNSET || place[0] > place[1])
        return (dx_text){NULL, 0};
    return (dx_text){search->clean + place[0], place[1] - place[0]};
}

static bool number_in(const struct search *search, int which, size_t *to) {
    bool is_number = number_of(group(search, which), to);
    *to = from_zero(*to);
    return is_number;
}

/* Tools write "error", "Error", "E", …: the first letter tells them apart. */
static int severity_in(const struct search *search, int otherwise) {
    dx_text name = group(search, SEVERITY_GROUP);
    switch (name.len ? name.at[0] | 0x20 : 0) {
    case 'e':
    case 'f':
        return MESSAGE_ERROR;
    case 'w':
        return MESSAGE_WARNING;
    case 'i':
    case 'n':
        return MESSAGE_INFO;
    case 'h':
        return MESSAGE_HINT;
    default:
        return otherwise;
    }
}

/* False: it names no file. */
static bool tell(struct work *work, const struct search *search) {
    struct message message = {.columns = work->settings.columns,
                              .severity = severity_in(search, work->settings.severity),
                              .code = group(search, CODE_GROUP),
                              .text = group(search, MESSAGE_GROUP)};
    dx_text path = group(search, FILE_GROUP);
    number_in(search, LINE_GROUP, &message.line);
    number_in(search, COLUMN_GROUP, &message.column);
    bool has_line = number_in(search, END_LINE_GROUP, &message.end_line);
    message.end_line = has_line ? message.end_line : message.line;
    message.has_end = number_in(search, END_COLUMN_GROUP, &message.end_column) &&
                      (message.end_line > message.line || message.end_column > message.column);
    if (!path.len || memchr(path.at, '\0', path.len))
        return false;
    work_message(work, path, &message);
    return true;
}

static int64_t cpu_seconds(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec;
}

/* The number of findings; `last` is the last other line. */
static size_t read_lines(struct work *work, struct search *search, dx_text output, dx_text *last) {
    int64_t until = cpu_seconds() + MATCHING_SECONDS;
    size_t found = 0;
    for (dx_text line; !work->why[0] && next_line(&output, &line);) {
        take_line(search, line);
        int status = pcre2_match(search->code, (PCRE2_SPTR)search->clean, search->line.len, 0,
                                 PCRE2_NO_UTF_CHECK, search->data, search->context);
        if (status > 0 && tell(work, search))
            found++;
        else if (search->line.len)
            *last = line;
        if ((status < 0 && status != PCRE2_ERROR_NOMATCH) || cpu_seconds() > until)
            work_fail(work, "config: pattern: it takes too long to match; simplify it");
    }
    return found;
}

static void read_batch(struct work *work, const struct batch *batch) {
    dx_text last = {NULL, 0};
    char why[200];
    size_t found = 0;
    struct search *search = search_new(work->settings.pattern, why, sizeof why);
    if (search)
        found = read_lines(work, search, (dx_text){batch->output.data, batch->output.len}, &last);
    else
        work_fail(work, why);
    if (batch->status && !found && !work->why[0]) {
        struct batch told = *batch;
        snprintf(told.tail, sizeof told.tail, "%sno line fits the pattern%s%.*s",
                 last.len ? "" : "it printed nothing, so ", last.len ? "; the last one: " : "",
                 (int)(last.len < 200 ? last.len : 200), last.at ? last.at : "");
        work_fail_batch(work, &told);
    }
    search_free(search);
}

static bool words(const struct work *work, struct batch *batch) {
    (void)work;
    (void)batch;
    return true;
}

const struct tool tool_pattern = {
    .source = "duplex.pattern",
    .action = "duplex.Lint",
    .about = "check with any program whose output fits a pattern",
    .joined = true,
    .npm = true,
    .copies = true,
    .batch_max = 500,
    .words = words,
    .read = read_batch,
};
