#include "cli/demo/program.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program_name[] = "duplex-hermes";
static const char extension_name[] = "hermes-normalise";
static const char message_name[] = "adt.hl7";

struct stage {
    struct demo_program program;
    char extension[DEMO_PATH];
    char message[DEMO_PATH];
    char *words; /* the extension as a word of --extension */
    char *after; /* the message when it was edited */
};

static bool find_all(struct stage *stage) {
    return demo_find(program_name, true, stage->program.path) &&
           demo_find(extension_name, true, stage->extension) &&
           demo_find(message_name, false, stage->message);
}

static bool is_there(void) {
    struct stage *stage = calloc(1, sizeof *stage);
    bool has = stage && find_all(stage);
    free(stage);
    return has;
}

/* In single quotes, as --extension splits it. */
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

static int open_stage(struct stage *stage) {
    if (!find_all(stage))
        return cli_fail(CLI_NO_START, "%s is not beside the command", program_name);
    int code = demo_program_open(&stage->program, program_name);
    if (code != CLI_OK)
        return code;
    stage->words = quote(stage->extension);
    if (asprintf(&stage->after, "%s/after.hl7", stage->program.folder) < 0)
        stage->after = NULL;
    return stage->words && stage->after ? CLI_OK : cli_fail(CLI_NO_START, "no memory");
}

static void close_stage(struct stage *stage) {
    if (stage->after)
        (void)unlink(stage->after);
    demo_program_close(&stage->program);
    free(stage->words);
    free(stage->after);
    free(stage);
}

static int run_editor(struct stage *stage) {
    const char *const words[] = {"host",       "--run",   "names/normalise",     "--settle",
                                 "200ms",      "--data",  stage->program.folder, "--extension",
                                 stage->words, "--write", stage->after,          stage->message,
                                 NULL};
    return demo_program_run(&stage->program, words, CLI_OK);
}

static int play(struct demo_score *score) {
    struct stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return cli_fail(CLI_NO_START, "no memory");
    int code = open_stage(stage);
    if (code == CLI_OK)
        code = demo_show_file(stage->message, "before:");
    if (code == CLI_OK)
        code = run_editor(stage);
    if (code == CLI_OK)
        code = demo_show_file(stage->after, "after:");
    if (code == CLI_OK)
        code = demo_program_count(&stage->program, score);
    close_stage(stage);
    return code;
}

const struct demo_scene demo_editor = {
    .example = extension_name,
    .framing = DX_FRAMING_HEADER,
    .sentence = "an editor and an extension that changes its message",
    .is_there = is_there,
    .play = play,
};
