/* The command itself, in the form of a verb: what `duplex --help` and duplex(1) are made from. */
#include "cli/cli.h"

static const cli_option options[] = {
    {"help", 'h', CLI_FLAG, NULL, "this text; with a VERB behind it, the text of that verb", 0},
    {"version", 0, CLI_FLAG, NULL, "the version", 0},
    {"completion", 0, CLI_CHOICE, "bash|zsh|fish", "print what completes words in that shell", 0},
    {"man", 0, CLI_TEXT, "[VERB]", "print the man page of the command, or of a verb, as roff", 0},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option build_options[] = {
    {"man-protocol", 0, CLI_TEXT, "PROTOCOL", "print the man page of a built-in protocol", 0},
    {"man-page", 0, CLI_FILE, "FILE NAME SECTION",
     "print a Markdown file as the man page duplex-NAME of that section", 0},
    {"share", 0, CLI_FOLDER, "FOLDER [DOCS [HEADER...]]",
     "write all man pages and completions into FOLDER, laid out as in /usr/share; DOCS holds the"
     " Markdown of section 5, each HEADER is a page of section 3",
     0},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", options, 0},
    {"For packages", build_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "See it at work:",
    "duplex demo",
    "Complete words in this shell:",
    "source <(duplex --completion bash)",
    NULL,
};

const cli_verb cli_command = {
    .name = "",
    .words = "VERB [ARGUMENT...]",
    .summary = "JSON-RPC 2.0 between programs, both ways at once",
    .text =
        "Talks JSON-RPC 2.0 with programs over their standard input and output, or with sockets,"
        " and shows, records and checks what is said.\n\n"
        "'duplex VERB --help' tells more of each verb. 'duplex NAME' runs the program"
        " duplex-NAME if it lies beside duplex or on PATH.",
    .groups = groups,
    .examples = examples,
    .codes = "134567",
    .word = CLI_A_VERB,
};
