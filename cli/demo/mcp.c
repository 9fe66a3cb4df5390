#include "cli/demo/stage.h"

#include "cli/input.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAM, SERVER };

/* What crossed, in the order of the conversation; each is to be freed. */
struct talk {
    char *tool;
    char *arguments;
    char *question; /* of the server */
    char *answer;
    char *result;
};

/* The first one counts. */
static void keep(char **place, const char *text) {
    if (!*place && *text)
        *place = strdup(text);
}

static void take_message(struct talk *talk, yyjson_doc *doc) {
    yyjson_val *arguments = yyjson_doc_ptr_get(doc, "/message/params/arguments");
    keep(&talk->tool, arguments ? demo_text(doc, "/message/params/name") : "");
    if (arguments && !talk->arguments)
        talk->arguments = yyjson_val_write(arguments, 0, NULL);
    keep(&talk->question, demo_text(doc, "/message/params/messages/0/content/text"));
    keep(&talk->answer, demo_text(doc, "/message/result/content/text"));
    keep(&talk->result, demo_text(doc, "/message/result/content/0/text"));
}

static int show_talk(struct demo_stage *stage, const struct talk *talk) {
    if (!talk->tool || !talk->arguments || !talk->result)
        return demo_fail(stage, CLI_ENDED, "no tool was called");
    if (!talk->question || !talk->answer)
        return demo_fail(stage, CLI_ENDED, "the server did not ask its question");
    int code = demo_add_row(stage, "call", CLI_PLAIN, "%s %s", talk->tool, talk->arguments);
    if (code == CLI_OK)
        code = demo_add_row(stage, "asked", CLI_PLAIN, "%s (answer: %s)", talk->question,
                            talk->answer);
    if (code == CLI_OK)
        code = demo_add_row(stage, "result", CLI_GREEN, "%s", talk->result);
    return code;
}

static int show_trace(struct demo_stage *stage) {
    struct talk talk = {.tool = NULL};
    size_t len;
    char *trace = cli_read_file(stage->trace, &len);
    const char *rest = trace;
    if (!trace)
        return CLI_USAGE;
    for (yyjson_doc *doc; (doc = demo_next_event(&rest)); yyjson_doc_free(doc))
        take_message(&talk, doc);
    int code = show_talk(stage, &talk);
    free(talk.tool);
    free(talk.arguments);
    free(talk.question);
    free(talk.answer);
    free(talk.result);
    free(trace);
    return code;
}

static int play(struct demo_stage *stage) {
    const char *const words[] = {"tools",
                                 "call",
                                 "test_sampling",
                                 "--sample",
                                 "forty-two",
                                 "prompt=What is six times seven?",
                                 "--",
                                 stage->found[SERVER],
                                 NULL};
    int code = demo_stage_run(stage, words, CLI_OK);
    return code == CLI_OK ? show_trace(stage) : code;
}

const struct demo_scene demo_mcp = {
    .system = "MCP",
    .sentence = "a client calls a tool, and the server asks a question before it responds",
    .plugin = "mcp-conformance",
    .needs = {[PROGRAM] = {"duplex-mcp", true}, [SERVER] = {"mcp-conformance", true}},
    .play = play,
};
