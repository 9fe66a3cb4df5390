/* The table of `duplex repl`: duplex makes the help, the man page and the completions from it,
 * duplex-repl parses with it. */
#include "cli/repl/repl.h"

#define AT(member) offsetof(struct repl_options, member)

static const cli_option own_options[] = {
    {"ask", 0, CLI_FLAG, NULL,
     "keep the server's requests until you answer or refuse them; on by default on a terminal",
     AT(ask)},
    {"auto", 0, CLI_FLAG, NULL,
     "answer the server's requests with an empty result if the schema allows one, refuse others; on"
     " by default without a terminal",
     AT(answers)},
    {"no-history", 0, CLI_FLAG, NULL, "do not read or write the history file", AT(no_history)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", own_options, 0},
    {"Command", cli_peer_table, AT(peer)},
    {"Timeouts", cli_time_table, AT(peer)},
    {"Progress", cli_progress_table, AT(peer)},
    {"Servers of duplex run", cli_in_table, AT(peer)},
    {"Which run", cli_run_table, AT(peer) + offsetof(cli_peer_options, run)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Talk to an MCP server by hand; TAB completes methods and params:",
    "duplex repl -p mcp -- build/examples/mcp-adder",
    "Send two requests from a script and print one result per line:",
    "printf '%s\\n' ping tools/list | duplex repl -p mcp -- build/examples/mcp-adder",
    "Run two calls at the same time and print everything that happens as JSON:",
    "printf '%s\\n' 'echo a=b &' 'echo c:=1' | duplex repl --json -- build/examples/echo line",
    "Talk to a server that duplex run keeps running:",
    "duplex repl --in adder",
    NULL,
};

static const char *const environment[] = {
    "XDG_STATE_HOME",
    "folder of duplex/repl-history (~/.local/state)",
    "TERM",
    "the terminal; with 'dumb', lines are read as from a pipe",
    NULL,
};

const cli_verb cli_repl = {
    .name = "repl",
    .words = "[OPTION...] -- COMMAND [ARG...]\n"
             "[OPTION...] --connect ADDRESS\n"
             "[OPTION...] --in NAME",
    .summary = "Talk to a server interactively, line by line",
    .text = "Starts COMMAND, does the protocol's handshake, and runs each line as a command:\n\n"
            "  METHOD [PARAMS]         call a method; PARAMS as in duplex call\n"
            "  notify METHOD [PARAMS]  send a notification\n"
            "  answer ID RESULT        answer the server's request; refuse ID CODE MESSAGE\n"
            "  methods, pending        list methods; list unanswered calls and requests\n"
            "  help, quit              show all commands; leave",
    .details =
        "The other commands are: call METHOD [PARAMS], which also works for a METHOD named like a"
        " command; cancel ID; describe METHOD; raw TEXT, which sends TEXT as a message, unchecked;"
        " restart, which stops the server and starts it again, or with --in connects again.\n\n"
        "Quote words as in a shell; JSON needs no quotes: echo {\"a\": 1}, or"
        " echo a:={\"b\": \"c d\"}. Lines that begin with # are comments.\n\n"
        "On a terminal, calls do not block: each response is shown when it arrives, above the line"
        " you are typing, with the number of its call and the time it took. Notifications, the"
        " server's requests and its stderr appear the same way; a request waits until you type"
        " answer or refuse. TAB completes commands, methods, and names and values of PARAMS. Ctrl-C"
        " clears the line, or cancels the last call if the line is empty. Ctrl-D quits. If the"
        " server exits, the prompt stays, so that you can use restart. Lines are saved in a history"
        " file of mode 0600, except those that begin with a space.\n\n"
        "With a pipe or a file as input, each call is finished before the next line is read, unless"
        " the line ends with a lone &; at the end, duplex repl waits for all calls. Results are"
        " printed as"
        " they arrive, one per line; failures go to stderr, and the exit code is that of the first"
        " failure. If the server exits before the input ends, duplex repl also exits.\n\n"
        "With --in the server is one that duplex run keeps running and shares with other clients:"
        " you see its notifications, but its requests are answered by the run.\n\n"
        "With --json each line of output is an object with an \"event\": result, error,"
        " notification, request, cancelled, progress, violation, stderr, stdout, suppressed (lines"
        " that were not shown), end.",
    .shown = "ask auto no-history protocol in timeout env clean-env",
    .old_letters = "c=connect",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "134567",
    .has_command = true,
    .is_program = true,
    .size = sizeof(struct repl_options),
};
