#include "cli/demo/program.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program_name[] = "duplex-finecode";
static const char workspace_name[] = "finecode-demo";

static bool is_there(void) {
    char path[DEMO_PATH];
    return demo_find(program_name, true, path) && demo_find(workspace_name, false, path);
}

/* What the user has said about his own projects is not for this. */
static void forget_settings(void) {
    static const char prefix[] = "FINECODE_";
    for (char **at = environ; *at;) {
        char *name =
            strncmp(*at, prefix, sizeof prefix - 1) == 0 ? strndup(*at, strcspn(*at, "=")) : NULL;
        /* They move up. */
        if (!name || unsetenv(name) != 0)
            at++;
        free(name);
    }
}

static int play(struct demo_score *score) {
    char workspace[DEMO_PATH];
    struct demo_program *program = calloc(1, sizeof *program);
    if (!program)
        return cli_fail(CLI_NO_START, "no memory");
    int code = demo_find(workspace_name, false, workspace)
                   ? demo_program_open(program, program_name)
                   : cli_fail(CLI_NO_START, "%s is not beside the command", workspace_name);
    const char *const list[] = {"list", "--workspace", workspace, NULL};
    const char *const run[] = {"run", "--workspace", workspace, "lint", NULL};
    forget_settings();
    if (code == CLI_OK)
        code = demo_program_run(program, list, CLI_OK);
    /* It finds something. */
    if (code == CLI_OK)
        code = demo_program_run(program, run, CLI_REFUSED);
    if (code == CLI_OK)
        code = demo_program_count(program, score);
    demo_program_close(program);
    free(program);
    return code;
}

const struct demo_scene demo_projects = {
    .example = workspace_name,
    .framing = DX_FRAMING_HEADER,
    .sentence = "a manager that runs an action in two projects, in one of them over two"
                " environments",
    .is_there = is_there,
    .play = play,
};
