#include "cli/demo/stage.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAM };

static const char file_name[] = "server.conf";
static const char before[] = "host = localhost\nport = 8080\n";

/* On one line. */
static void join_lines(char *room, size_t size, const char *text) {
    size_t len = 0;
    for (; *text && len < size - 1; text++)
        if ((*text != ' ' && *text != '\n') || (len && room[len - 1] != ' '))
            room[len++] = *text == '\n' ? ' ' : *text;
    room[len] = '\0';
}

/* What it asked for, and the decision. */
static int show_permission(struct demo_stage *stage) {
    const char *rest = stage->output;
    char asked[256] = "";
    char answer[64] = "";
    for (yyjson_doc *doc; (doc = demo_next_event(&rest)); yyjson_doc_free(doc)) {
        const char *event = demo_text(doc, "/event");
        if (strcmp(event, "permission") == 0)
            join_lines(asked, sizeof asked, demo_text(doc, "/text"));
        if (strcmp(event, "permission-answer") == 0)
            snprintf(answer, sizeof answer, "%s", demo_text(doc, "/decision"));
    }
    if (!asked[0] || !answer[0])
        return demo_fail(stage, CLI_ENDED, "the agent did not ask for permission");
    return demo_add_row(stage, "asked", CLI_PLAIN, "%s (answer: %s)", asked, answer);
}

/* The lines of the file that changed. */
static int show_diff(struct demo_stage *stage, const char *was, const char *is) {
    int code = CLI_OK;
    while (code == CLI_OK && *was && *is) {
        size_t was_len = strcspn(was, "\n");
        size_t is_len = strcspn(is, "\n");
        if (was_len != is_len || memcmp(was, is, is_len) != 0) {
            code = demo_add_row(stage, "diff", CLI_RED, "-%.*s", (int)was_len, was);
            if (code == CLI_OK)
                code = demo_add_row(stage, "", CLI_GREEN, "+%.*s", (int)is_len, is);
        }
        was += was_len + (was[was_len] == '\n');
        is += is_len + (is[is_len] == '\n');
    }
    if (code == CLI_OK && stage->row_count < 2)
        code = demo_fail(stage, CLI_ENDED, "the agent did not change %s", file_name);
    return code;
}

/* The agent understands the sentence without a model. It gets no home, so that it keeps nothing
 * there. */
static int play(struct demo_stage *stage) {
    const char *const words[] = {"prompt",
                                 "--yes",
                                 "--cwd",
                                 stage->folder,
                                 "--env",
                                 "HOME=",
                                 "replace 8080 by 9090 in server.conf",
                                 "--",
                                 stage->found[PROGRAM],
                                 "agent",
                                 NULL};
    char *after = NULL;
    int code = demo_write(stage, file_name, before);
    if (code == CLI_OK)
        code = demo_stage_run(stage, words, CLI_OK);
    if (code == CLI_OK)
        code = show_permission(stage);
    if (code == CLI_OK)
        code = demo_read(stage, file_name, &after);
    if (code == CLI_OK)
        code = show_diff(stage, before, after);
    free(after);
    return code;
}

const struct demo_scene demo_autohand = {
    .system = "Autohand",
    .sentence = "a coding agent edits a file after asking for permission",
    .plugin = "duplex-autohand",
    .needs = {[PROGRAM] = {"duplex-autohand", true}},
    .play = play,
};
