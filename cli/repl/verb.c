/* The table of `duplex repl`: duplex makes the help, the man page and the completions from it,
 * duplex-repl parses with it. */
#include "cli/repl/repl.h"

#define AT(member) offsetof(struct repl_options, member)

static const cli_option own_options[] = {
    {"ask", 0, CLI_FLAG, NULL,
     "requests of the peer wait for answer or refuse (so it is at a terminal)", AT(ask)},
    {"auto", 0, CLI_FLAG, NULL,
     "they are answered if an empty answer is one, and refused otherwise (so it is elsewhere)",
     AT(answers)},
    {"no-history", 0, CLI_FLAG, NULL, "neither read nor write the history", AT(no_history)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", own_options, 0},
    {"The peer", cli_peer_table, AT(peer)},
    {"Times", cli_time_table, AT(peer)},
    {"Progress", cli_progress_table, AT(peer)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Talk to an MCP server by hand; TAB completes methods and params:",
    "duplex repl -p mcp -- ./server",
    "The same from a script, one result a line:",
    "printf '%s\\n' ping tools/list | duplex repl -p mcp -- ./server",
    "Two calls at a time, and everything that happens as JSON:",
    "printf '%s\\n' 'slow seconds:=1 &' 'echo a=b' | duplex repl --json -- ./server",
    NULL,
};

static const char *const environment[] = {
    "XDG_STATE_HOME",
    "where duplex/repl-history lies (~/.local/state)",
    "TERM",
    "the terminal; with dumb, lines are read as from a pipe",
    NULL,
};

const cli_verb cli_repl = {
    .name = "repl",
    .words = "[OPTION...] -- COMMAND [ARG...]\n"
             "[OPTION...] --connect ADDRESS",
    .summary = "talk to a peer by hand, line by line",
    .text =
        "Starts COMMAND, does the protocol's handshake, and then does what each line says:\n\n"
        "  METHOD [PARAMS]         calls; PARAMS as for duplex call\n"
        "  call METHOD [PARAMS]    the same, for any METHOD\n"
        "  notify METHOD [PARAMS]  sends a notification\n"
        "  answer ID RESULT        answers a request of the peer\n"
        "  refuse ID CODE MESSAGE  answers it with an error\n"
        "  cancel ID               cancels a call\n"
        "  raw TEXT                sends TEXT as a message, whatever it is\n"
        "  methods                 lists what may be sent; describe METHOD tells more\n"
        "  pending                 lists calls and requests that are not answered\n"
        "  restart                 ends the peer and starts it anew\n"
        "  help, quit\n\n"
        "Words are quoted as in a shell, but JSON may stand as it is: echo {\"a\": 1}, or"
        " echo a:={\"b\": \"c d\"}. Lines that begin with # are passed over.\n\n"
        "At a terminal calls do not block: each answer is shown when it comes, above the line that"
        " is being typed, with the number of its call and the time it took; so are"
        " notifications, requests of the peer, which wait for answer or refuse, and what the peer"
        " writes to its standard error. TAB completes commands, methods, and names and values of"
        " PARAMS. Ctrl-C clears the line; where it is empty, the last call is cancelled. Ctrl-D"
        " quits. If the peer ends, the prompt stays, for restart. Lines are kept in a history of"
        " mode 0600, but for those that begin with a space.\n\n"
        "From a pipe or a file each call is awaited before the next line is read, unless it ends"
        " with a lone &; at the end all are. Results are printed as they come, one a line, and"
        " failures go to the standard error; the exit code is that of the first. If the peer ends"
        " before the input does, that is the end.\n\n"
        "With --json everything that happens is one object a line with an \"event\": result,"
        " error, notification, request, cancelled, progress, violation, stderr, stdout,"
        " suppressed (lines that were not shown), end.",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "134567",
    .has_command = true,
    .is_program = true,
    .size = sizeof(struct repl_options),
};
