#include "cli/demo/program.h"

#include "cli/say.h"

#include <stdlib.h>

static const char program_name[] = "duplex-mcp";
static const char server_name[] = "mcp-conformance";

static bool is_there(void) {
    char path[DEMO_PATH];
    return demo_find(program_name, true, path) && demo_find(server_name, true, path);
}

static int play(struct demo_score *score) {
    char server[DEMO_PATH];
    struct demo_program *program = calloc(1, sizeof *program);
    if (!program)
        return cli_fail(CLI_NO_START, "no memory");
    int code = demo_find(server_name, true, server)
                   ? demo_program_open(program, program_name)
                   : cli_fail(CLI_NO_START, "%s is not beside the command", server_name);
    if (code == CLI_OK) {
        const char *const words[] = {"tools",    "call",      "test_sampling",
                                     "--sample", "forty-two", "prompt=What is six times seven?",
                                     "--",       server,      NULL};
        code = demo_program_run(program, words, CLI_OK);
    }
    if (code == CLI_OK)
        code = demo_program_count(program, score);
    demo_program_close(program);
    free(program);
    return code;
}

const struct demo_scene demo_tools = {
    .example = server_name,
    .framing = DX_FRAMING_LINE,
    .sentence = "a tool that asks for a model's answer before it has its own",
    .is_there = is_there,
    .play = play,
};
