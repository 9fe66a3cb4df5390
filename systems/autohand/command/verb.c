/* The table of `duplex autohand`: duplex makes the help, the man page and the completions from it,
 * duplex-autohand parses with it. */
#include "systems/autohand/command/command.h"

#define AT(member) offsetof(struct autohand_options, member)

static const struct autohand_options usual = {.model_tries = AUTOHAND_UNSAID};

static const cli_option agent_options[] = {
    {"rpc", 0, CLI_FLAG, NULL, "talk by JSON-RPC (it always does)", AT(rpc)},
    {"mode", 0, CLI_CHOICE, "rpc", "the same", AT(mode)},
    {"path", 0, CLI_FOLDER, "FOLDER", "the workspace (here)", AT(path)},
    {"config", 0, CLI_FILE, "FILE", "settings: model, hooks, permissions (HOME/config.json)",
     AT(config)},
    {"home", 0, CLI_FOLDER, "FOLDER", "sessions and settings of the user (~/.autohand)", AT(home)},
    {"model", 'm', CLI_TEXT, "NAME", "the model (as the settings say)", AT(model)},
    {"url", 0, CLI_TEXT, "URL", "an endpoint that speaks OpenAI's chat completions", AT(url)},
    {"script", 0, CLI_FILE, "FILE", "follow this script instead of a model", AT(script)},
    {"compat", 0, CLI_CHOICE, "doc|0.6|0.8",
     "behave as the protocol's document says, or as that version does (doc)", AT(compat)},
    {"framing", 0, CLI_CHOICE, "auto|line|header",
     "how messages are framed (auto: as the client does it)", AT(framing)},
    {"yolo", 0, CLI_FLAG, NULL, "ask for no permission", AT(yolo)},
    {"no-preview", 0, CLI_FLAG, NULL, "write changes at once", AT(no_preview)},
    {"ack-timeout", 0, CLI_TIME, "TIME", "for a sign that a question was seen (30s)", AT(ack_ms)},
    {"answer-timeout", 0, CLI_TIME, "TIME", "for its answer (1h)", AT(answer_ms)},
    {"command-timeout", 0, CLI_TIME, "TIME", "for commands that tools run (120s)", AT(command_ms)},
    {"ping", 0, CLI_TIME, "TIME", "between two signs of life in a turn (15s)", AT(ping_ms)},
    {"model-timeout", 0, CLI_TIME, "TIME", "for a sign of life of the model (120s)", AT(model_ms)},
    {"model-tries", 0, CLI_COUNT, "N",
     "how often to ask a model that fails, up to 100; 0: no retry (4)", AT(model_tries)},
    {"client-context", 0, CLI_TEXT, "NAME", "who the client is (with --compat 0.8: browser)",
     AT(client_context)},
    {"fixed-clock", 0, CLI_FLAG, NULL, "all times are the same, for recordings", AT(fixed_clock)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option client_options[] = {
    {"yes", 'y', CLI_FLAG, NULL, "allow all and accept all changes", AT(yes)},
    {"no", 'n', CLI_FLAG, NULL, "deny all and reject all changes", AT(no)},
    {"ask", 0, CLI_FLAG, NULL,
     "ask at the terminal; with --json, whoever writes the standard input (else --no)", AT(ask)},
    {"changes", 0, CLI_CHOICE, "accept|reject|ask|leave",
     "what becomes of changes (as --yes, --no and --ask say)", AT(changes)},
    {"file", 'f', CLI_FILES, "FILE", "a file that the prompt is about; may be repeated", AT(files)},
    {"select", 0, CLI_TEXT, "FILE:FIRST-LAST", "lines that the prompt is about", AT(select)},
    {"image", 'i', CLI_FILES, "FILE", "a picture to go along; may be repeated", AT(images)},
    {"cwd", 'C', CLI_FOLDER, "FOLDER", "where the agent is started (here)", AT(cwd)},
    {"env", 'e', CLI_TEXTS, "NAME=VALUE", "a variable for the agent; may be repeated", AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    CLI_INHERIT_ENV(AT(inherit_env)),
    {"timeout", 't', CLI_TIME, "TIME", "a turn that takes longer is aborted (never)",
     AT(timeout_ms)},
    {"start-timeout", 0, CLI_TIME, "TIME", "for the agent to be ready (30s)", AT(start_ms)},
    {"thoughts", 0, CLI_FLAG, NULL, "show what the model thinks, too", AT(thoughts)},
    {"quiet", 'q', CLI_FLAG, NULL, "only the answer", AT(quiet)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on the standard error", AT(show)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option both_options[] = {
    {"record", 'o', CLI_FILE, "FILE", "record the traffic", AT(record)},
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
    "One instruction to an agent, deciding everything at the terminal:",
    "duplex autohand prompt --ask 'add a test for parse()' -- autohand --mode rpc",
    "The same in a script, with our own agent, every event a line:",
    "duplex autohand prompt --yes --json 'show README.md' -- duplex autohand agent",
    "A conversation:",
    "duplex autohand chat -- duplex autohand agent --url http://127.0.0.1:8080/v1 --model local",
    "An agent whose model is a program of your own:",
    "duplex autohand agent --path ~/project -- ./my-model",
    NULL,
};

static const char *const environment[] = {
    "AUTOHAND_CONFIG",
    "as --config",
    "AUTOHAND_HOME",
    "as --home",
    "OPENAI_API_KEY",
    "the key for --url; prompt and chat pass these to the agent unless --clean-env is given",
    NULL,
};

const cli_verb cli_autohand = {
    .name = "autohand",
    .words = "agent [OPTION...] [-- MODEL [ARG...]]\n"
             "prompt [OPTION...] TEXT|@FILE|- -- COMMAND [ARG...]\n"
             "chat [OPTION...] -- COMMAND [ARG...]",
    .summary = "be a coding agent, or drive one",
    .text =
        "A coding agent behind JSON-RPC, and its client. The client works with every agent that"
        " speaks the protocol, in the form of its document, of 0.6, of 0.8 or of a later one.\n\n"
        "  agent   is the agent: it talks on its standard input and output\n"
        "  prompt  gives an agent one instruction, and shows what it does\n"
        "  chat    the same, again and again: each line of the standard input is a prompt\n\n"
        "The agent asks a model for each step: an endpoint (--url), or the program behind \"--\";"
        " or it follows a script (--script). Without any of these, and where the settings name"
        " none, it understands a few plain sentences, \"create file NAME with TEXT\", \"replace"
        " TEXT by TEXT in NAME\", \"show NAME\" and \"run COMMAND\" among them. It leaves with 0"
        " when its input ends or a signal asks for it, and with 1 if it can't start, which it tells"
        " as an error without an id.\n\n"
        "The agent's answer goes to the standard output as it comes. Its tools and what they write,"
        " permissions, errors and changes go to the standard error: changes as a diff.\n\n"
        "A permission that the agent asks for is a question at the terminal (--ask, which is the"
        " default): y and n, s, p or u to have the answer remembered for the session, the project"
        " or the user (ns, np and nu for a no), = TEXT to have another command or path taken, q to"
        " abort the turn. Changes to files are applied only when they are accepted: y, n, the"
        " numbers of those that are wanted, or l to leave that open. Where nobody can be asked all"
        " is denied and rejected, unless --yes or --changes say otherwise; the changes of a turn"
        " that was aborted are rejected in spite of --yes.\n\n"
        "In a chat, :help tells which lines are for the client. Ctrl-C aborts the turn; once more,"
        " or where none is running, it leaves.\n\n"
        "With --json each event is a line {\"event\": NAME, ...} on the standard output, the same"
        " for agents of all versions; members that the agent does not tell are not there:\n\n"
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
        "  ask             about, id: with --ask, a line of the standard input is the\n"
        "                  answer, in the words above or as in \":answer ID y\", which\n"
        "                  is never taken for a prompt; \":abort\" is always heard\n"
        "  error           code, text, recoverable, reason\n"
        "  turn-end        turn, tokens, durationMs, contextPercent, reason\n"
        "  decision        success, applied, skipped, errors: what came of the changes\n"
        "  turn            success, aborted, code, error, content, tokens, durationMs,\n"
        "                  contextPercent, toolCalls, toolFailures, denied, batch: the\n"
        "                  whole of it, once a turn\n"
        "  ping, hook, agent-end, notification\n"
        "                  as they come; hook and notification with params\n"
        "  late            method, params: of a turn that is over\n"
        "  stderr, stray, violation, left, withdrawn, unasked\n"
        "                  text\n"
        "  suppressed      text: how many of stderr, stray and violation are not shown;\n"
        "                  more than 1,000 or 1 MiB a second, or the same\n"
        "  answer          to, result: for :state, :messages and :reset\n\n"
        "Exit codes of prompt and chat: 0 the turn came to its end, also if --no or an answer"
        " denied all that it wanted (denied says how much); 1 the turn failed or was aborted; 3 "
        "the agent can't be"
        " started, or says so itself; 4 it ended; 5 a time was up; 6 it broke the protocol; 7"
        " changes could not be applied, or were rejected because nobody could be asked.",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "134567",
    .has_command = true,
    .is_program = true,
    .size = sizeof(struct autohand_options),
    .usual = &usual,
};
