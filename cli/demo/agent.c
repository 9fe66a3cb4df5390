#include "cli/demo/program.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program_name[] = "duplex-autohand";
static const char file_name[] = "greeting.txt";

/* The agent understands these sentences without a model. */
static const char instruction[] =
    "create file greeting.txt with Hello! then replace Hello by \"Good morning\" in greeting.txt"
    " then show greeting.txt then run echo ready";

static bool is_there(void) {
    char path[DEMO_PATH];
    return demo_find(program_name, true, path);
}

/* In a folder of its own, and without a home: what the user has said to an agent is not for this,
 * and nothing is kept of it. */
static int run_client(struct demo_program *program) {
    const char *const words[] = {"prompt",      "--yes", "--cwd",     program->folder,
                                 "--env",       "HOME=", instruction, "--",
                                 program->path, "agent", NULL};
    return demo_program_run(program, words, CLI_OK);
}

static int play(struct demo_score *score) {
    struct demo_program *program = calloc(1, sizeof *program);
    char *file = NULL;
    if (!program)
        return cli_fail(CLI_NO_START, "no memory");
    int code = demo_program_open(program, program_name);
    if (code == CLI_OK && asprintf(&file, "%s/%s", program->folder, file_name) < 0) {
        file = NULL;
        code = cli_fail(CLI_NO_START, "no memory");
    }
    if (code == CLI_OK)
        code = run_client(program);
    if (code == CLI_OK)
        code = demo_show_file(file, "greeting.txt:");
    if (code == CLI_OK)
        code = demo_program_count(program, score);
    if (file)
        (void)unlink(file);
    demo_program_close(program);
    free(program);
    free(file);
    return code;
}

const struct demo_scene demo_agent = {
    .example = program_name,
    .framing = DX_FRAMING_LINE,
    .sentence = "a coding agent that asks before it writes and runs, and its client",
    .is_there = is_there,
    .play = play,
};
