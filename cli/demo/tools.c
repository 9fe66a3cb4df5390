#include "cli/demo/tools.h"

#include "cli/demo/program.h"
#include "cli/say.h"

#include <duplex/recorder.h>

#include <stdlib.h>

const char *const demo_tools_name = "mcp-conformance";
const char *const demo_tools_sentence =
    "a tool that asks for a model's answer before it has its own";

static const char program_name[] = "duplex-mcp";

bool demo_has_tools(void) {
    char path[DEMO_PATH];
    return demo_find(program_name, true, path) && demo_find(demo_tools_name, true, path);
}

int demo_play_tools(struct demo_score *score) {
    char server[DEMO_PATH];
    uint64_t began = dx_recorder_now_us();
    struct demo_program *program = calloc(1, sizeof *program);
    if (!program)
        return cli_fail(CLI_NO_START, "no memory");
    int code = demo_find(demo_tools_name, true, server)
                   ? demo_program_open(program, program_name)
                   : cli_fail(CLI_NO_START, "%s is not beside the command", demo_tools_name);
    if (code == CLI_OK) {
        const char *const words[] = {"tools",    "call",      "test_sampling",
                                     "--sample", "forty-two", "prompt=What is six times seven?",
                                     "--",       server,      NULL};
        code = demo_program_run(program, words);
    }
    if (code == CLI_OK)
        code = demo_program_count(program, score);
    score->us = dx_recorder_now_us() - began;
    demo_program_close(program);
    free(program);
    return code;
}
