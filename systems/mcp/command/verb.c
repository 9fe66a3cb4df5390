/* The table of `duplex mcp`: duplex makes the help, the man page and the completions from it,
 * duplex-mcp parses with it. */
#include "systems/mcp/command/command.h"

#define AT(member) offsetof(struct mcp_options, member)

static const cli_option server_options[] = {
    {"config", 'c', CLI_FILE, "FILE",
     "take the server from a configuration with \"mcpServers\", or \"servers\" as in VS Code",
     AT(config)},
    {"server", 0, CLI_TEXT, "NAME", "with --config: which server (the only one)", AT(server)},
    {"connect", 0, CLI_TEXT, "unix:PATH|tcp:PORT", "connect to a server that is already running",
     AT(connect)},
    {"in", 0, CLI_TEXT, "NAME", "use the server NAME that 'duplex run' keeps running", AT(in)},
    {"mode", 0, CLI_CHOICE, "legacy|modern|auto",
     "start with initialize, or as revision 2026-07-28 does; auto starts a copy of the server to"
     " find out (legacy)",
     AT(mode)},
    {"revision", 0, CLI_TEXT, "DATE", "the protocol revision to ask for (the newest of the mode)",
     AT(revision)},
    {"ids", 0, CLI_CHOICE, "random|counter", "request ids: random (req_…) or 1, 2, 3, … (random)",
     AT(ids)},
    {"strict", 0, CLI_FLAG, NULL, CLI_STRICT_HELP, AT(strict)},
    {"env", 'e', CLI_TEXTS, "NAME=VALUE", "set a variable for the server; may be repeated",
     AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    {"inherit-env", 0, CLI_FLAG, NULL,
     "also pass the whole environment to a server of --config, or to the tools of serve command",
     AT(inherit_env)},
    {"cwd", 0, CLI_FOLDER, "FOLDER", "run the server in this folder (the current one)", AT(cwd)},
    {"stderr", 0, CLI_TEXT, "tail|quiet|inherit|FILE",
     "what to do with the server's stderr: tail shows the lines that explain a failure, quiet shows"
     " nothing, inherit shows everything, FILE gets all of it (tail); at most 1,000 lines and 1 MiB"
     " per second",
     AT(errors)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option offer_options[] = {
    {"root", 0, CLI_TEXTS, "FOLDER", "a folder that the server may work in; may be repeated",
     AT(roots)},
    {"sample", 0, CLI_TEXTS, "TEXT",
     "respond with TEXT when the server asks the model (sampling); may be repeated: they are used"
     " in order, and the last one is reused",
     AT(samples)},
    {"answer", 'a', CLI_TEXTS, "ANSWER",
     "respond to a question for the user (elicitation): decline, cancel, accept, or the form's"
     " fields as JSON or key=text and key:=json; may be repeated, like --sample",
     AT(answers)},
    {"opener", 0, CLI_TEXT, "'COMMAND ARG...'",
     "run this command to open web pages that the server asks the user to visit, with the URL as"
     " its last argument and without a shell (by default, URLs are only printed)",
     AT(opener)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option call_options[] = {
    {"progress", 0, CLI_FLAG, NULL, "ask for progress, and show it", AT(progress)},
    {"reset-on-progress", 0, CLI_FLAG, NULL,
     "ask for progress, and restart --timeout with each message; --total-timeout still applies",
     AT(reset)},
    {"task", 0, CLI_FLAG, NULL, "run the tool as a task (2025-11-25)", AT(task)},
    {"level", 0, CLI_CHOICE, "debug|info|notice|warning|error|critical|alert|emergency",
     "ask for log messages of this level and above, and show them", AT(level)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record all messages to a trace file", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"timeout", 't', CLI_LIMIT, "TIME",
     "how long to wait for a response; if given, also for all pages of a list and for a task,"
     " unless --reset-on-progress is given (30s)",
     AT(timeout_ms)},
    {"total-timeout", 0, CLI_LIMIT, "TIME", CLI_TOTAL_HELP, AT(total_ms)},
    {"start-timeout", 0, CLI_LIMIT, "TIME",
     "how long to wait for the response to initialize or server/discover (30s, or --timeout if"
     " that is shorter, but at least 5s)",
     AT(start_ms)},
    {"probe-timeout", 0, CLI_LIMIT, "TIME",
     "with --mode auto: how long to wait for the copy of the server (10s)", AT(probe_ms)},
    {"for", 0, CLI_LIMIT, "TIME", "log and watch: stop after this time (never)", AT(for_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option serve_options[] = {
    {"listen", 'l', CLI_TEXT, "unix:PATH|tcp:PORT",
     "accept clients on a socket until interrupted (one client on standard input and output)",
     AT(listen)},
    {"any-user", 0, CLI_FLAG, NULL,
     "with --listen: let every user of this machine connect, not only you and root", AT(any_user)},
    {"max-size", 0, CLI_SIZE, "SIZE",
     "serve files: do not read files larger than this; 0 means no limit (10M). Only above 10M are"
     " responses larger than 10 MiB, at which many clients close the connection.",
     AT(size_max)},
    {"hidden", 0, CLI_FLAG, NULL, "serve files: include hidden files, whose names start with a dot",
     AT(hidden)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Command", server_options, 0},
    {"What the server may ask for", offer_options, 0},
    {"Calls", call_options, 0},
    {"Timeouts", time_options, 0},
    {"Serving", serve_options, 0},
    {"Which run", cli_run_table, AT(run)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "See what a server offers:",
    "duplex mcp info -- build/examples/mcp-adder",
    "List its tools with their arguments:",
    "duplex mcp tools -- build/examples/mcp-adder",
    "Call a tool:",
    "duplex mcp tools call add a=2 b=40 -- build/examples/mcp-adder",
    "Let a model read and search a folder:",
    "duplex mcp serve files .",
    NULL,
};

static const char *const info_examples[] = {
    "See what a server offers:",
    "duplex mcp info -- build/examples/mcp-adder",
    "A server from npm:",
    "duplex mcp info -- npx -y @modelcontextprotocol/server-everything",
    "As JSON, with the full lists:",
    "duplex mcp info --json -- build/examples/mcp-adder",
    NULL,
};

static const char *const tools_examples[] = {
    "List the tools with their arguments:",
    "duplex mcp tools -- build/examples/mcp-adder",
    "As JSON, for scripts:",
    "duplex mcp tools --json -- build/examples/mcp-adder",
    NULL,
};

static const char *const call_examples[] = {
    "Call a tool:",
    "duplex mcp tools call add a=2 b=40 -- build/examples/mcp-adder",
    "Pass the arguments as JSON:",
    "duplex mcp tools call add '{\"a\": 2, \"b\": 40}' -- build/examples/mcp-adder",
    "Show the progress of a slow tool:",
    "duplex mcp tools call count to=20 --progress -- build/examples/mcp-adder",
    "Answer a question that the tool asks:",
    ("duplex mcp tools call test_elicitation message=Who -a 'username=ada email=ada@example.com'"
     " -- build/examples/mcp-conformance"),
    NULL,
};

static const char *const resources_examples[] = {
    "List the resources:",
    "duplex mcp resources -- build/examples/mcp-conformance",
    "List the files of a folder, which are also resources:",
    "duplex mcp resources -- duplex mcp serve files .",
    NULL,
};

static const char *const read_examples[] = {
    "Print a text resource:",
    "duplex mcp resources read test://static-text -- build/examples/mcp-conformance",
    "Print several, one after the other:",
    ("duplex mcp resources read test://static-text test://template/7/data"
     " -- build/examples/mcp-conformance"),
    "Get a binary resource, in base64:",
    "duplex mcp resources read test://static-binary --json -- build/examples/mcp-conformance",
    NULL,
};

static const char *const templates_examples[] = {
    "List the URI templates:",
    "duplex mcp templates -- build/examples/mcp-conformance",
    "Read a resource of a template:",
    "duplex mcp resources read test://template/7/data -- build/examples/mcp-conformance",
    "Complete a part of a template:",
    ("duplex mcp complete template 'file:///{+path}' \"path=${PWD#/}/\""
     " -- duplex mcp serve files ."),
    NULL,
};

static const char *const prompts_examples[] = {
    "List the prompts with their arguments:",
    "duplex mcp prompts -- build/examples/mcp-conformance",
    NULL,
};

static const char *const get_examples[] = {
    "Print the messages of a prompt:",
    "duplex mcp prompts get test_simple_prompt -- build/examples/mcp-conformance",
    "Fill in its arguments:",
    ("duplex mcp prompts get test_prompt_with_arguments arg1=one arg2=two"
     " -- build/examples/mcp-conformance"),
    "As JSON, for scripts:",
    "duplex mcp prompts get test_simple_prompt --json -- build/examples/mcp-conformance",
    NULL,
};

static const char *const complete_examples[] = {
    "List values for a prompt's argument:",
    ("duplex mcp complete prompt test_prompt_with_arguments arg1=te"
     " -- build/examples/mcp-conformance"),
    "Take other arguments into account:",
    ("duplex mcp complete prompt test_prompt_with_arguments arg1=te arg2=x"
     " -- build/examples/mcp-conformance"),
    "List values for a part of a URI template:",
    ("duplex mcp complete template 'file:///{+path}' \"path=${PWD#/}/\""
     " -- duplex mcp serve files ."),
    NULL,
};

static const char *const ping_examples[] = {
    "Measure the round trip:",
    "duplex mcp ping -- build/examples/mcp-adder",
    "Fail if it takes longer than 100 ms:",
    "duplex mcp ping --timeout 100ms -- build/examples/mcp-adder",
    "Print JSON:",
    "duplex mcp ping --json -- build/examples/mcp-adder",
    NULL,
};

static const char *const log_examples[] = {
    "Print warnings and errors for ten seconds:",
    "duplex mcp log --level warning --for 10s -- build/examples/mcp-adder",
    "Print one JSON object per line, until interrupted:",
    "duplex mcp log --json -- build/examples/mcp-adder",
    "Print the log messages of one call:",
    "duplex mcp tools call test_tool_with_logging --level debug -- build/examples/mcp-conformance",
    NULL,
};

static const char *const watch_examples[] = {
    "Print a line whenever a file of a folder changes:",
    ("duplex mcp watch \"file://$(realpath build/examples/adt.hl7)\""
     " -- duplex mcp serve files build/examples"),
    "Print changes to the lists of tools, resources and prompts for ten seconds:",
    "duplex mcp watch --for 10s -- build/examples/mcp-conformance",
    "Print JSON:",
    "duplex mcp watch --for 10s --json -- build/examples/mcp-conformance",
    NULL,
};

static const char *const files_examples[] = {
    "Let a model read and search a folder:",
    "duplex mcp serve files .",
    "Search it from the shell:",
    "duplex mcp tools call search pattern=PID -- duplex mcp serve files build/examples",
    "Serve several clients at once:",
    "duplex mcp serve files . --listen unix:$XDG_RUNTIME_DIR/docs.sock",
    NULL,
};

static const char *const command_examples[] = {
    "Offer the programs that a file describes:",
    "duplex mcp serve command build/examples/tools.json",
    "Try one of them:",
    "duplex mcp tools call count text=hello -- duplex mcp serve command build/examples/tools.json",
    "Read how to write SPEC:",
    "duplex docs mcp-command",
    NULL,
};

/* What all clients have. */
#define SERVER "config server in connect env cwd timeout"
#define ARGUMENTS                                                                          \
    "ARGUMENTS are a JSON object, @FILE, - for standard input, or words like key=text and" \
    " key:=json."

static const cli_subcommand subcommands[] = {
    {.name = "info",
     .words = "[OPTION...] -- SERVER [ARG...]",
     .summary = "Show what a server says about itself and everything it offers",
     .shown = SERVER " mode revision record",
     .examples = info_examples},
    {.name = "tools",
     .words = "[list] [OPTION...] -- SERVER [ARG...]",
     .summary = "List the tools of a server with their arguments",
     .shown = SERVER " record",
     .examples = tools_examples},
    {.name = "tools call",
     .words = "NAME [ARGUMENTS] [OPTION...] -- SERVER [ARG...]",
     .summary = "Call a tool and print its result",
     .text = ARGUMENTS
     " key=text gets the type that the tool's schema asks for; key:=json and JSON are sent as they"
     " are. If a tool reports an error (isError), the exit code is 1.",
     .shown = SERVER " answer sample progress task level"
                     " record",
     .examples = call_examples},
    {.name = "resources",
     .words = "[list] [OPTION...] -- SERVER [ARG...]",
     .summary = "List the resources of a server",
     .shown = SERVER " record",
     .examples = resources_examples},
    {.name = "resources read",
     .words = "URI... [OPTION...] -- SERVER [ARG...]",
     .summary = "Print the contents of resources",
     .text = "Text is printed as it is. For binary contents, only the type and size are printed,"
             " unless --json is given.",
     .shown = SERVER " record",
     .examples = read_examples},
    {.name = "templates",
     .words = "[list] [OPTION...] -- SERVER [ARG...]",
     .summary = "List the URI templates of a server's resources",
     .shown = SERVER " record",
     .examples = templates_examples},
    {.name = "prompts",
     .words = "[list] [OPTION...] -- SERVER [ARG...]",
     .summary = "List the prompts of a server with their arguments",
     .shown = SERVER " record",
     .examples = prompts_examples},
    {.name = "prompts get",
     .words = "NAME [ARGUMENTS] [OPTION...] -- SERVER [ARG...]",
     .summary = "Fill in a prompt and print its messages",
     .text = ARGUMENTS,
     .shown = SERVER " answer record",
     .examples = get_examples},
    {.name = "complete",
     .words = "prompt|template NAME ARGUMENT[=VALUE] [OTHER=VALUE...] [OPTION...] -- SERVER"
              " [ARG...]",
     .summary = "List possible values of an argument that begin with VALUE",
     .shown = SERVER " record",
     .examples = complete_examples},
    {.name = "ping",
     .words = "[OPTION...] -- SERVER [ARG...]",
     .summary = "Measure how long a server takes to respond",
     .shown = SERVER " record",
     .examples = ping_examples},
    {.name = "log",
     .words = "[OPTION...] -- SERVER [ARG...]",
     .summary = "Print the log messages of a server as they arrive",
     .shown = "level for " SERVER " record",
     .examples = log_examples},
    {.name = "watch",
     .words = "[URI...] [OPTION...] -- SERVER [ARG...]",
     .summary = "Print changes to a server's lists, and to the named resources",
     .shown = "for " SERVER " record",
     .examples = watch_examples},
    {.name = "serve files",
     .words = "FOLDER [OPTION...]",
     .summary = "Serve the files of a folder for clients to read and search",
     .text = "Clients cannot write, and no path or symbolic link leads out of FOLDER. Clients that"
             " subscribe to a file are notified when it changes.",
     .shown = "listen any-user max-size hidden record show",
     .examples = files_examples},
    {.name = "serve command",
     .words = "SPEC [OPTION...]",
     .summary = "Serve local programs as MCP tools",
     .text = "SPEC is a JSON file that says how the arguments of a tool become the arguments of a"
             " program; no shell is involved. duplex-mcp-command(5) describes it.",
     .shown = "listen any-user env clean-env cwd record show",
     .examples = command_examples},
    {.name = NULL},
};

/* Words that people try first, and what they mean. */
static const char *const guesses[] = {
    "call",
    "tools call",
    "run",
    "tools call",
    "exec",
    "tools call",
    "invoke",
    "tools call",
    "tool",
    "tools",
    "list",
    "tools",
    "ls",
    "tools",
    "tools run",
    "tools call",
    "tools exec",
    "tools call",
    "tools invoke",
    "tools call",
    "tools ls",
    "tools",
    "tools describe",
    "tools",
    "tools/list",
    "tools",
    "tools/call",
    "tools call",
    "read",
    "resources read",
    "cat",
    "resources read",
    "resource",
    "resources",
    "resources get",
    "resources read",
    "resources cat",
    "resources read",
    "resources show",
    "resources read",
    "resources/list",
    "resources",
    "resources/read",
    "resources read",
    "template",
    "templates",
    "get",
    "prompts get",
    "prompt",
    "prompts",
    "prompts show",
    "prompts get",
    "prompts call",
    "prompts get",
    "prompts read",
    "prompts get",
    "prompts/list",
    "prompts",
    "prompts/get",
    "prompts get",
    "inspect",
    "info",
    "describe",
    "info",
    "show",
    "info",
    "capabilities",
    "info",
    "initialize",
    "info",
    "logs",
    "log",
    "logging",
    "log",
    "subscribe",
    "watch",
    "completion",
    "complete",
    "server",
    "serve files",
    "files",
    "serve files",
    "serve folder",
    "serve files",
    "serve file",
    "serve files",
    "serve tools",
    "serve command",
    "serve commands",
    "serve command",
    NULL,
};

const struct mcp_options mcp_usual = {.size_max = 10 << 20};

const cli_verb cli_mcp = {
    .name = "mcp",
    .words = "SUBCOMMAND [ARGUMENT...] [OPTION...] -- SERVER [ARG...]\n"
             "SUBCOMMAND [ARGUMENT...] [OPTION...] --config FILE [--server NAME]\n"
             "serve files|command ARGUMENT [OPTION...]",
    .summary = "Call MCP servers, or serve files and programs as one",
    .text = "Starts the server whose command line follows --, calls it, prints the result for"
            " people or, with --json, as the server sent it, and stops the server.",
    .details =
        "All protocol revisions from 2024-11-05 to 2026-07-28 are supported. Fetches every page of"
        " a list.\n\n" ARGUMENTS
        " For tools call, key=text gets the type that the tool's input schema asks for, which"
        " requires a tools/list first; key:=json and JSON are sent as they are. An argument that"
        " is missing,"
        " unknown or of the wrong type is reported before the tool is called.\n\n"
        "Text content is printed as text. For images and other binary content, only the type and"
        " size are printed; --json has the bytes. If a tool reports an error (isError), the exit"
        " code is 1.\n\n"
        "While it works, the server may ask the model something (--sample), ask the user to fill in"
        " a form or visit a page (--answer), or ask for the folders that it may use (--root). On a"
        " terminal you are prompted for any missing answer, and --timeout does not run meanwhile."
        " Elsewhere, Duplex offers the server only what these options answer.\n\n"
        "With --json each result is one line, as the server sent it; a list has all its pages. info"
        " prints {\"revision\", \"mode\", \"serverInfo\", \"capabilities\", …} and the lists, ping"
        " prints {\"ms\"}, and log and watch print lines of these kinds:\n\n"
        "  {\"event\":\"log\",\"level\":…,\"logger\":…,\"data\":…}\n"
        "  {\"event\":\"changed\",\"list\":\"tools\"}, or \"resources\", or \"prompts\"\n"
        "  {\"event\":\"updated\",\"uri\":…}\n\n"
        "Exit code 6 also means that client and server have no protocol revision in common. Exit"
        " code 7 means that the server does not offer what was asked for, or that the arguments, an"
        " --answer or a result do not match their schema. SIGINT cancels the call and stops the"
        " server; a second one makes it exit at once.",
    .shown = "config server in connect env timeout record show",
    .subcommands = subcommands,
    .guesses = guesses,
    .old_letters = "p=progress",
    .groups = groups,
    .examples = examples,
    .codes = "134567",
    .has_command = true,
    .is_program = true,
    .size = sizeof(struct mcp_options),
    .usual = &mcp_usual,
};
