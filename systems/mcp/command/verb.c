/* The table of `duplex mcp`: duplex makes the help, the man page and the completions from it,
 * duplex-mcp parses with it. */
#include "systems/mcp/command/command.h"

#define AT(member) offsetof(struct mcp_options, member)

static const cli_option server_options[] = {
    {"config", 'c', CLI_FILE, "FILE",
     "take the server from a configuration, \"mcpServers\" or VS Code's \"servers\", instead of a"
     " command",
     AT(config)},
    {"server", 0, CLI_TEXT, "NAME", "which one of it (the only one)", AT(server)},
    {"connect", 0, CLI_TEXT, "unix:PATH|tcp:PORT", "one that runs already", AT(connect)},
    {"in", 0, CLI_TEXT, "NAME", "talk to the server NAME of duplex run", AT(in)},
    {"mode", 0, CLI_CHOICE, "legacy|modern|auto",
     "with initialize, or as 2026-07-28 has it; auto asks a copy of the server which (legacy)",
     AT(mode)},
    {"revision", 0, CLI_TEXT, "DATE", "the revision that is asked for (the newest of the mode)",
     AT(revision)},
    {"ids", 0, CLI_CHOICE, "random|counter",
     "ids of requests: req_ and letters, or 1, 2, 3 (random)", AT(ids)},
    {"env", 0, CLI_TEXTS, "NAME=VALUE", "for the server; may be repeated", AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    {"inherit-env", 0, CLI_FLAG, NULL,
     "pass the whole environment to a server of --config or the tools of serve command, too",
     AT(inherit_env)},
    {"cwd", 0, CLI_FOLDER, "FOLDER", "where it runs (here)", AT(cwd)},
    {"stderr", 0, CLI_TEXT, "tail|quiet|inherit|FILE",
     "where its standard error goes: its end is shown if it fails, or nothing, or all, or to a file"
     " (tail); at most 1,000 lines and 1 MiB a second",
     AT(errors)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option offer_options[] = {
    {"root", 0, CLI_TEXTS, "FOLDER", "the server may work there; may be repeated", AT(roots)},
    {"sample", 0, CLI_TEXTS, "TEXT",
     "what a model would say when the server asks for sampling; may be repeated: one after the"
     " other, the last one stays",
     AT(samples)},
    {"answer", 'a', CLI_TEXTS, "ANSWER",
     "what the user would say when the server asks: decline, cancel, or accept with the form's"
     " fields as JSON or as key=text and key:=json words; may be repeated likewise",
     AT(answers)},
    {"opener", 0, CLI_TEXT, "'COMMAND ARG...'",
     "opens pages that the server wants the user to visit: the URL is its last word, there is no"
     " shell (URLs are only told)",
     AT(opener)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option call_options[] = {
    {"progress", 'p', CLI_FLAG, NULL, "ask for progress, and show it", AT(progress)},
    {"reset-on-progress", 0, CLI_FLAG, NULL,
     "ask for progress, which restarts --timeout; --total-timeout still ends the call", AT(reset)},
    {"task", 0, CLI_FLAG, NULL, "run the tool as a task (2025-11-25)", AT(task)},
    {"level", 0, CLI_CHOICE, "debug|info|notice|warning|error|critical|alert|emergency",
     "ask for log messages from that level on, and show them", AT(level)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on the standard error", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"timeout", 't', CLI_TIME, "TIME",
     "for an answer; if given, also for a whole list and for a task, unless --reset-on-progress"
     " (30s)",
     AT(timeout_ms)},
    {"total-timeout", 0, CLI_LIMIT, "TIME", CLI_TOTAL_HELP, AT(total_ms)},
    {"start-timeout", 0, CLI_TIME, "TIME",
     "for the answer to initialize or server/discover (30s, or --timeout if that is shorter, but"
     " 5s at least)",
     AT(start_ms)},
    {"probe-timeout", 0, CLI_TIME, "TIME", "with --mode auto: for the answer of the copy (10s)",
     AT(probe_ms)},
    {"for", 0, CLI_TIME, "TIME", "how long log and watch go on (until interrupted)", AT(for_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option serve_options[] = {
    {"listen", 'l', CLI_TEXT, "unix:PATH|tcp:PORT",
     "serve whoever connects there, until interrupted, instead of the standard input and output",
     AT(listen)},
    {"any-user", 0, CLI_FLAG, NULL,
     "with --listen: let every user of this machine connect (only yours, and root)", AT(any_user)},
    {"max-size", 0, CLI_SIZE, "SIZE", "files: larger ones are not read (10M)", AT(size_max)},
    {"hidden", 0, CLI_FLAG, NULL, "files: also those whose names begin with a dot", AT(hidden)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"The server", server_options, 0},
    {"What the server may ask for", offer_options, 0},
    {"Calls", call_options, 0},
    {"Times", time_options, 0},
    {"Serving", serve_options, 0},
    {"The run, with --in", cli_run_table, AT(run)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "What does a server offer?",
    "duplex mcp info -- npx -y @modelcontextprotocol/server-everything",
    "Its tools, and one of them:",
    "duplex mcp tools -- ./server; duplex mcp tools call add a:=2 b:=40 -- ./server",
    "A server of a configuration:",
    "duplex mcp resources read file:///notes.txt --config mcp.json --server files",
    "A tool that asks the user something:",
    "duplex mcp tools call book date=2026-12-01 -a 'seats:=2 name=Ada' -- ./server",
    "See what changes, and what it logs:",
    "duplex mcp watch file:///notes.txt -- duplex mcp serve files .",
    "Give a model read-only eyes on a folder:",
    "duplex mcp serve files ~/notes",
    "The same for several clients at once:",
    "duplex mcp serve files ~/notes --listen unix:$XDG_RUNTIME_DIR/notes.sock",
    NULL,
};

const cli_verb cli_mcp = {
    .name = "mcp",
    .words = "info [OPTION...] -- SERVER [ARG...]\n"
             "tools|resources|templates|prompts [list] [OPTION...] -- SERVER [ARG...]\n"
             "tools call NAME [ARGUMENTS] [OPTION...] -- SERVER [ARG...]\n"
             "resources read URI... [OPTION...] -- SERVER [ARG...]\n"
             "prompts get NAME [ARGUMENTS] [OPTION...] -- SERVER [ARG...]\n"
             "complete prompt|template NAME ARGUMENT[=VALUE] [OTHER=VALUE...] [OPTION...] -- "
             "SERVER [ARG...]\n"
             "ping|log [OPTION...] -- SERVER [ARG...]\n"
             "watch [URI...] [OPTION...] -- SERVER [ARG...]\n"
             "serve files FOLDER [OPTION...]\n"
             "serve command SPEC [OPTION...]",
    .summary = "talk to an MCP server, or be one",
    .text =
        "A client of the Model Context Protocol, in all its revisions from 2024-11-05 to"
        " 2026-07-28. It starts the server, agrees on a revision, asks, prints the answer for"
        " people or, with --json, as it came, and stops the server. Lists are asked for to their"
        " last page.\n\n"
        "  info       what the server says of itself, and all that it offers\n"
        "  tools      the tools with their arguments; call runs one\n"
        "  resources  the resources; read prints what they hold\n"
        "  templates  URIs with places to fill in\n"
        "  prompts    the prompts; get fills one in\n"
        "  complete   what could stand for an argument that begins with VALUE, the others\n"
        "             being so\n"
        "  ping       how long an answer takes\n"
        "  log        what the server logs, as it comes; --level says from which level on\n"
        "  watch      what changes: lists, and the resources that are named\n\n"
        "ARGUMENTS are a JSON object, @FILE, - for the standard input, or words like key=text and"
        " key:=json. Text content is printed as text; an image or a blob only with its type and"
        " size, its bytes with --json. A tool that answers with an error (isError) ends with exit"
        " code 1.\n\n"
        "The server may ask back while it works: for the answer of a model (--sample), for a form"
        " to be filled in or a page to be visited (--answer), for the folders that it may use"
        " (--root). On a terminal, who gives no such answer is asked there, and --timeout does not"
        " run meanwhile. Elsewhere only what there is an answer to is offered to the server.\n\n"
        "With --json each result is one line, as it came from the server; a list has all its pages."
        " info is {\"revision\", \"mode\", \"serverInfo\", \"capabilities\", …} and the lists, "
        "ping is"
        " {\"ms\"}, and what log and watch see is one of these, a line each:\n\n"
        "  {\"event\":\"log\",\"level\":…,\"logger\":…,\"data\":…}\n"
        "  {\"event\":\"changed\",\"list\":\"tools\"}, or \"resources\", or \"prompts\"\n"
        "  {\"event\":\"updated\",\"uri\":…}\n\n"
        "Of the exit codes, 6 is also a server that speaks no revision that is spoken here, and 7"
        " what the server does not offer, arguments that do not fit, an --answer that does not fit"
        " the form, and an answer that does not fit its schema. SIGINT cancels what is under way"
        " and stops the server; a second one ends at once.\n\n"
        "serve files offers the files below FOLDER to be read and searched, and nothing else: no"
        " path and no symbolic link leads out of it, and changes are told to who subscribed."
        " serve command offers programs as tools: SPEC is a JSON file that says how the arguments"
        " of a tool become words of a command; there is no shell. duplex-mcp-command(5) describes"
        " it.",
    .groups = groups,
    .examples = examples,
    .codes = "134567",
    .has_command = true,
    .is_program = true,
    .size = sizeof(struct mcp_options),
};
