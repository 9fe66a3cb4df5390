/* The table of `duplex autohand`: duplex makes the help, the man page and the completions from it,
 * duplex-autohand parses with it. */
#include "systems/autohand/command/command.h"

#define AT(member) offsetof(struct autohand_options, member)

static const struct autohand_options usual = {.model_tries = AUTOHAND_UNSAID};

static const cli_option agent_options[] = {
    {"rpc", 0, CLI_FLAG, NULL, "speak JSON-RPC (always on; accepted for compatibility)", AT(rpc)},
    {"mode", 0, CLI_CHOICE, "rpc", "the same as --rpc", AT(mode)},
    {"path", 0, CLI_FOLDER, "FOLDER", "the workspace (the current folder)", AT(path)},
    {"config", 'c', CLI_FILE, "FILE", "settings: model, hooks, permissions (HOME/config.json)",
     AT(config)},
    {"home", 0, CLI_FOLDER, "FOLDER", "folder for sessions and user settings (~/.autohand)",
     AT(home)},
    {"model", 'm', CLI_TEXT, "NAME", "name of the model (from the settings)", AT(model)},
    {"url", 0, CLI_TEXT, "URL", "endpoint of an OpenAI-compatible chat completions API", AT(url)},
    {"script", 0, CLI_FILE, "FILE", "follow this script instead of asking a model", AT(script)},
    {"compat", 0, CLI_CHOICE, "doc|0.6|0.8",
     "behave as the protocol's document says, or like that version (doc)", AT(compat)},
    {"framing", 0, CLI_CHOICE, "auto|line|header",
     "message framing (auto: the same as the client's)", AT(framing)},
    {"yolo", 0, CLI_FLAG, NULL, "never ask for permission", AT(yolo)},
    {"no-preview", 0, CLI_FLAG, NULL, "write changes at once, without a preview", AT(no_preview)},
    {"ack-timeout", 0, CLI_LIMIT, "TIME",
     "deny a permission request that the client does not acknowledge in time (30s)", AT(ack_ms)},
    {"answer-timeout", 0, CLI_LIMIT, "TIME",
     "deny a permission request that the client does not answer in time (1h)", AT(answer_ms)},
    {"command-timeout", 0, CLI_LIMIT, "TIME", "time limit for commands that tools run (120s)",
     AT(command_ms)},
    {"ping", 0, CLI_LIMIT, "TIME", "interval between pings during a turn (15s)", AT(ping_ms)},
    {"model-timeout", 0, CLI_LIMIT, "TIME",
     "give up if the model sends nothing for this long (120s)", AT(model_ms)},
    {"model-tries", 0, CLI_COUNT, "N",
     "how many times to try a failing model, up to 100; 0: no retry (4)", AT(model_tries)},
    {"client-context", 0, CLI_TEXT, "NAME", "type of the client (with --compat 0.8: browser)",
     AT(client_context)},
    {"fixed-clock", 0, CLI_FLAG, NULL, "use a fixed time everywhere, for recordings",
     AT(fixed_clock)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option client_options[] = {
    {"yes", 'y', CLI_FLAG, NULL, "grant every permission and accept all changes", AT(yes)},
    {"no", 0, CLI_FLAG, NULL, "deny every permission and reject all changes", AT(no)},
    {"ask", 0, CLI_FLAG, NULL,
     "ask on the terminal, or with --json on standard input (--no if there is no terminal)",
     AT(ask)},
    {"changes", 0, CLI_CHOICE, "accept|reject|ask|leave",
     "what to do with changes (as --yes, --no and --ask say)", AT(changes)},
    {"file", 0, CLI_FILES, "FILE", "a file the prompt is about; may be repeated", AT(files)},
    {"select", 0, CLI_TEXT, "FILE:FIRST-LAST", "lines the prompt is about", AT(select)},
    {"image", 0, CLI_FILES, "FILE", "attach an image; may be repeated", AT(images)},
    {"cwd", 'C', CLI_FOLDER, "FOLDER", "start the agent in this folder (the current one)", AT(cwd)},
    {"env", 'e', CLI_TEXTS, "NAME=VALUE", "set a variable for the agent; may be repeated", AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    CLI_INHERIT_ENV(AT(inherit_env)),
    {"timeout", 't', CLI_LIMIT, "TIME", "abort a turn that takes longer (never)", AT(timeout_ms)},
    {"start-timeout", 0, CLI_LIMIT, "TIME", "time limit for the agent to become ready (30s)",
     AT(start_ms)},
    {"thoughts", 0, CLI_FLAG, NULL, "also show the model's thoughts", AT(thoughts)},
    {"quiet", 'q', CLI_FLAG, NULL, "print only the answer", AT(quiet)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option both_options[] = {
    {"record", 'o', CLI_FILE, "FILE", "record all messages in a trace", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Agent", agent_options, 0},
    {"Client", client_options, 0},
    {"Both", both_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Give the built-in agent one instruction; this one needs no model:",
    "duplex autohand prompt 'list .' -- duplex autohand agent",
    "The same for a script, every event as a line of JSON:",
    "duplex autohand prompt --json 'list .' -- duplex autohand agent",
    "Talk to an agent; you are asked before it runs or writes anything:",
    "duplex autohand chat -- duplex autohand agent",
    NULL,
};

static const char *const agent_examples[] = {
    "Work on the files of a folder:",
    "duplex autohand agent --path .",
    "Ask a model at an OpenAI-compatible endpoint:",
    "duplex autohand agent --url http://127.0.0.1:8080/v1 --model local",
    "Record all messages in a trace:",
    "duplex autohand agent --record trace.jsonl",
    NULL,
};

static const char *const prompt_examples[] = {
    "List the files of this folder:",
    "duplex autohand prompt 'list .' -- duplex autohand agent",
    "Grant every permission, and record all messages in a trace:",
    "duplex autohand prompt --yes -o trace.jsonl 'run ls' -- duplex autohand agent",
    "Read the instruction from standard input, print only the answer:",
    "echo 'list .' | duplex autohand prompt -q - -- duplex autohand agent",
    NULL,
};

static const char *const chat_examples[] = {
    "Talk to the built-in agent; :help lists the commands:",
    "duplex autohand chat -- duplex autohand agent",
    "Without a terminal, each line is a prompt:",
    "echo 'show README.md' | duplex autohand chat -- duplex autohand agent",
    "With a model at an OpenAI-compatible endpoint:",
    "duplex autohand chat -- duplex autohand agent --url http://127.0.0.1:8080/v1 --model local",
    NULL,
};

#define ASKS "yes no ask changes"
#define STARTS "cwd env timeout show record"

static const cli_subcommand subcommands[] = {
    {"agent", "[OPTION...] [-- MODEL [ARG...]]", "Run a coding agent on standard input and output",
     "For each step the agent asks a model: the endpoint of --url, or the program after \"--\"; or"
     " it follows a script (--script). If neither options nor settings name one, it understands a"
     " few plain sentences: \"create file NAME with TEXT\", \"replace TEXT with TEXT in NAME\","
     " \"show NAME\", \"run COMMAND\" and some more.\n\n"
     "It exits with 0 when its input is closed or on a signal, and with 1 if it cannot start, after"
     " sending an error without an id.",
     "path config home model url script compat framing yolo no-preview command-timeout"
     " model-timeout model-tries record",
     agent_examples},
    {"prompt", "[OPTION...] TEXT|@FILE|- -- COMMAND [ARG...]",
     "Give an agent one instruction and show what it does",
     "The answer is printed on standard output as it arrives. Tools, permissions, errors and"
     " changes (as a diff) are shown on standard error. You are asked on the terminal before the"
     " agent runs or writes anything; type ? for the possible answers. If there is no terminal to"
     " ask on, permissions are denied and changes rejected, unless --yes or --changes say"
     " otherwise.",
     ASKS " file select image quiet " STARTS, prompt_examples},
    {"chat", "[OPTION...] -- COMMAND [ARG...]",
     "Talk to an agent: each line of standard input is a prompt",
     "Works like prompt, again and again. :help lists the lines that are commands for the client."
     " Ctrl-C aborts the turn; pressed again, or if no turn is running, it exits.",
     ASKS " thoughts quiet " STARTS, chat_examples},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const char *const guesses[] = {
    "run",    "prompt", "ask",   "prompt", "call",        "prompt", "exec",  "prompt",
    "send",   "prompt", "do",    "prompt", "tell",        "prompt", "talk",  "chat",
    "repl",   "chat",   "shell", "chat",   "interactive", "chat",   "serve", "agent",
    "server", "agent",  "start", "agent",  "rpc",         "agent",  NULL,
};

static const char *const environment[] = {
    "AUTOHAND_CONFIG",
    "as --config",
    "AUTOHAND_HOME",
    "as --home",
    "OPENAI_API_KEY",
    "API key for --url; prompt and chat pass these to the agent unless --clean-env is given",
    NULL,
};

const cli_verb cli_autohand = {
    .name = "autohand",
    .words = "agent [OPTION...] [-- MODEL [ARG...]]\n"
             "prompt [OPTION...] TEXT|@FILE|- -- COMMAND [ARG...]\n"
             "chat [OPTION...] -- COMMAND [ARG...]",
    .summary = "Run a coding agent, or give one instructions",
    .text = "An Autohand agent edits files and runs commands in one folder, the workspace, and asks"
            " before it changes anything. The client (prompt, chat) works with any agent that"
            " speaks the protocol as documented, or as version 0.6, 0.8 or later speaks it.",
    .details =
        "On the terminal, answer a permission request with y or n; with s, p or u to remember the"
        " yes for the session, the project or the user (ns, np and nu for a no); with = TEXT to"
        " allow another command or path instead; with q to abort the turn. Changes to files are"
        " applied only if you accept them: y, n, the numbers of those you want, or l to leave them"
        " undecided. The changes of an aborted turn are rejected even with --yes.\n\n"
        "With --json each event is a line {\"event\": NAME, ...} on standard output, the same for"
        " agents of all versions; members that the agent does not send are absent:\n\n"
        "  agent-start     session, model, workspace, contextPercent\n"
        "  turn-start      turn, text (the instruction)\n"
        "  message-start, text, thought, message-end\n"
        "                  message, text; aborted\n"
        "  tool-start      tool (its id), name, args\n"
        "  tool-output     tool, stream, text\n"
        "  tool-end        tool, name, success, text\n"
        "  permission      id, name, text, params\n"
        "  permission-answer\n"
        "                  id, decision, by\n"
        "  change          batch, id, path, type, before, after, description\n"
        "  changes-start, changes-end\n"
        "                  batch, count\n"
        "  ask             about, id: with --ask, the next line of standard input\n"
        "                  answers, as above or as \":answer ID y\", which is never\n"
        "                  taken for a prompt; \":abort\" works at any time\n"
        "  error           code, text, recoverable, reason\n"
        "  turn-end        turn, tokens, durationMs, contextPercent, reason\n"
        "  decision        success, applied, skipped, errors: the outcome of the changes\n"
        "  turn            success, aborted, code, error, content, tokens, durationMs,\n"
        "                  contextPercent, toolCalls, toolFailures, denied, batch: a\n"
        "                  summary, once per turn\n"
        "  ping, hook, agent-end, notification\n"
        "                  as they arrive; hook and notification with params\n"
        "  late            method, params: of a turn that has ended\n"
        "  stderr, stray, violation, left, withdrawn, unasked\n"
        "                  text\n"
        "  suppressed      text: how many of stderr, stray and violation are not shown\n"
        "                  because there were more than 1,000 or 1 MiB a second, or\n"
        "                  because they were the same\n"
        "  answer          to, result: for :state, :messages and :reset\n\n"
        "Exit codes of prompt and chat: 0 the turn ended normally, even if --no or an answer denied"
        " everything (\"denied\" counts these); 1 the turn failed or was aborted; 3 the agent "
        "could not"
        " be started, or reported that it could not start; 4 the agent exited; 5 a time limit was"
        " reached; 6 the agent violated the protocol; 7 changes could not be applied, or were"
        " rejected"
        " because there was no terminal to ask on.",
    .shown = "path url model script yes no ask changes file timeout record",
    .subcommands = subcommands,
    .guesses = guesses,
    .old_letters = "n=no f=file i=image",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "134567",
    .has_command = true,
    .is_program = true,
    .size = sizeof(struct autohand_options),
    .usual = &usual,
};
