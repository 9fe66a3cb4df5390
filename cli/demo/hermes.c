#include "cli/demo/stage.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAM, EXTENSION, MESSAGE };

/* The parts of a message that changed, as it was and as it is. */
struct change {
    char was[256];
    char is[256];
};

/* In single quotes, as --extension splits it. To be freed. */
static char *quote(const char *path) {
    char *quoted = malloc(4 * strlen(path) + 3);
    char *to = quoted;
    if (!quoted)
        return NULL;
    *to++ = '\'';
    for (; *path; path++) {
        if (*path == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *path;
        }
    }
    memcpy(to, "'", 2);
    return quoted;
}

/* "PID|…|FIELDS": of a segment, the fields from `start` up to the last `end` bytes. */
static void add_fields(char room[256], const char *segment, size_t len, size_t start, size_t end) {
    size_t used = strlen(room);
    snprintf(room + used, 256 - used, "%s%.*s|…|%.*s", used ? "  " : "",
             (int)strcspn(segment, "|\r"), segment, (int)(len - start - end), segment + start);
}

/* Both ends that two segments share are cut off, at the borders of fields. */
static void compare_segments(struct change *change, const char *was, size_t was_len, const char *is,
                             size_t is_len) {
    size_t least = was_len < is_len ? was_len : is_len;
    size_t start = 0;
    size_t end = 0;
    while (start < least && was[start] == is[start])
        start++;
    if (start == was_len && start == is_len)
        return;
    while (start && was[start - 1] != '|')
        start--;
    while (end < least - start && was[was_len - 1 - end] == is[is_len - 1 - end])
        end++;
    while (end && was[was_len - end] != '|')
        end--;
    add_fields(change->was, was, was_len, start, end);
    add_fields(change->is, is, is_len, start, end);
}

static void compare(struct change *change, const char *was, const char *is) {
    while (*was && *is) {
        size_t was_len = strcspn(was, "\r");
        size_t is_len = strcspn(is, "\r");
        compare_segments(change, was, was_len, is, is_len);
        was += was_len + (was[was_len] == '\r');
        is += is_len + (is[is_len] == '\r');
    }
}

static int show_change(struct demo_stage *stage) {
    const char *rest = stage->output;
    struct change change = {.was = ""};
    char *after = NULL;
    char *before = NULL;
    for (yyjson_doc *doc; (doc = demo_next_event(&rest)); yyjson_doc_free(doc))
        if (!before && strcmp(demo_text(doc, "/event"), "message") == 0)
            before = strdup(demo_text(doc, "/text"));
    int code = demo_read(stage, "after.hl7", &after);
    if (code == CLI_OK)
        compare(&change, before ? before : "", after);
    if (code == CLI_OK && !change.is[0])
        code = demo_fail(stage, CLI_ENDED, "the extension did not change the message");
    if (code == CLI_OK)
        code = demo_add_row(stage, "before", CLI_RED, "%s", change.was);
    if (code == CLI_OK)
        code = demo_add_row(stage, "after", CLI_GREEN, "%s", change.is);
    free(before);
    free(after);
    return code;
}

static int play(struct demo_stage *stage) {
    char *extension = quote(stage->found[EXTENSION]);
    if (!extension)
        return demo_fail(stage, CLI_NO_START, "out of memory");
    const char *const words[] = {
        "host", "--run",       "names/normalise", "--settle", "200ms",     "--data",
        ".",    "--extension", extension,         "--write",  "after.hl7", stage->found[MESSAGE],
        NULL};
    int code = demo_stage_run(stage, words, CLI_OK);
    free(extension);
    return code == CLI_OK ? show_change(stage) : code;
}

const struct demo_scene demo_hermes = {
    .system = "Hermes",
    .sentence = "an extension corrects the names in a hospital's HL7 message",
    .plugin = "hermes-normalise",
    .needs = {[PROGRAM] = {"duplex-hermes", true},
              [EXTENSION] = {"hermes-normalise", true},
              [MESSAGE] = {"adt.hl7", false}},
    .play = play,
};
