/* The table of `duplex finecode`: duplex makes the help, the man page and the completions from it,
 * duplex-finecode parses with it. */
#include "systems/finecode/command/command.h"

#define AT(member) offsetof(struct finecode_options, member)

static const struct finecode_options usual = {.fanout = FINECODE_UNSAID, .jobs = FINECODE_UNSAID};

static const cli_option place_options[] = {
    {"workspace", 'w', CLI_FOLDER, "FOLDER",
     "the folder at and below which projects are (here; serve: none, clients name theirs)",
     AT(folder)},
    {"project", 'p', CLI_TEXTS, "NAME|FOLDER", "only this project; may be repeated (all)",
     AT(projects)},
    {"set", 0, CLI_TEXTS, "ACTION.[HANDLER.]PARAM=JSON",
     "a setting of an action or handler, over all files and the environment; may be repeated",
     AT(set)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option run_options[] = {
    {"payload", 0, CLI_TEXT, "JSON|@FILE|-",
     "what the action gets, an object; NAME=VALUE words are put into it ({})", AT(payload)},
    {"format", 'f', CLI_CHOICE, "string|json", "how results are wanted (string; with --json json)",
     AT(format)},
    {"stream", 0, CLI_FLAG, NULL, "results in parts, as they come", AT(stream)},
    {"one-by-one", 0, CLI_FLAG, NULL, "projects one after the other (side by side)",
     AT(one_by_one)},
    {"fanout", 0, CLI_COUNT, "N", "run in at most N projects, at least 1 (64)", AT(fanout)},
    {"trigger", 0, CLI_CHOICE, "user|system|unknown", "who wants it (user)", AT(trigger)},
    {"dev-env", 0, CLI_CHOICE, "ide|cli|ai|git_hook|ci", "from where (cli)", AT(dev_env)},
    {"resolve", 0, CLI_FLAG, NULL,
     "list: also what runners know of the actions; starts runners for that", AT(resolve)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option runner_options[] = {
    {"runner", 0, CLI_CHOICE, "duplex|venv",
     "the program for all envs: this one, or python of .venvs/ENV (as the projects say)",
     AT(runner)},
    {"revision", 0, CLI_CHOICE, "seed|real",
     "what is spoken with runners (seed by pipes, real by TCP)", AT(revision)},
    {"jobs", 'j', CLI_COUNT, "N", "start at most N runners at the same time, at least 1 (4)",
     AT(jobs)},
    {"debug", 0, CLI_TEXT, "ENV", "its runners wait for a debugger; where is told", AT(debug)},
    {"wal", 0, CLI_FOLDER, "FOLDER", "write what happens to runs there; runners do so, too",
     AT(wal)},
    {"log-level", 0, CLI_CHOICE, "TRACE|DEBUG|INFO|WARNING|ERROR",
     "show what runners log from there on; by pipes they log to their standard error, of which all"
     " lines are shown (nothing)",
     AT(log_level)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on the standard error", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option serve_options[] = {
    {"port", 0, CLI_TEXT, "PORT", "of the loopback address (any that is free)", AT(port)},
    {"port-file", 0, CLI_FILE, "FILE", "gets the port, and goes with the server", AT(port_file)},
    {"disconnect-timeout", 0, CLI_TIME, "TIME",
     "so long without a client it ends; also if none comes (30s)", AT(disconnect_ms)},
    {"any-user", 0, CLI_FLAG, NULL, "let every user of this machine connect (only yours, and root)",
     AT(any_user)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"port-timeout", 0, CLI_TIME, "TIME", "until a runner by TCP says its port (30s)", AT(port_ms)},
    {"initialize-timeout", 0, CLI_TIME, "TIME", "for the answer to initialize (20s)",
     AT(initialize_ms)},
    {"info-timeout", 0, CLI_TIME, "TIME", "for those to getInfo, resolveSource, resolvePath (10s)",
     AT(info_ms)},
    {"config-timeout", 0, CLI_TIME, "TIME",
     "for those to updateConfig, resolveActionMeta, mergeResults (60s)", AT(config_ms)},
    {"run-timeout", 't', CLI_TIME, "TIME", "for a run without a sign of life (10m)", AT(run_ms)},
    {"stop-timeout", 0, CLI_TIME, "TIME", "for runners to leave; then they are killed (10s)",
     AT(stop_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Projects", place_options, 0}, {"What is done", run_options, 0},
    {"Runners", runner_options, 0}, {"Serving", serve_options, 0},
    {"Times", time_options, 0},     {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Which projects, actions and handlers are there?",
    "duplex finecode list",
    "Lint all projects below this folder:",
    "duplex finecode run lint",
    "Two of them, with a payload:",
    "duplex finecode run -p core -p ./tools format save=no file_paths:='[\"a.c\"]'",
    "For a script: results as they come, one object a line:",
    "duplex finecode run --json --stream lint",
    "Does every runner start?",
    "duplex finecode runners",
    "A manager for editors:",
    "duplex finecode serve --port-file ~/.cache/finecode/port",
    NULL,
};

static const char *const environment[] = {
    "FINECODE_CONFIG_<ACTION>__[<HANDLER>__]<PARAM>",
    "a setting as JSON, see --set",
    NULL,
};

const cli_verb cli_finecode = {
    .name = "finecode",
    .words = "run [OPTION...] ACTION [NAME=VALUE | NAME:=JSON]...\n"
             "list [OPTION...]\n"
             "runners [OPTION...]\n"
             "serve [OPTION...]\n"
             "er start|handlers|version [OPTION...]",
    .summary = "run actions across projects and their environments",
    .text =
        "A workspace manager of FineCode. Projects are the folders with a finecode.toml or a"
        " pyproject.toml; they have actions, and those have handlers, each in an environment of the"
        " project. A runner is a program that has the handlers of one project and environment. It"
        " is started when it is needed, and none is left behind.\n\n"
        "  run      runs an action in every project that has it\n"
        "  list     a tree of projects, actions and handlers\n"
        "  runners  starts every runner and says what became of it\n"
        "  serve    a manager for editors and other clients, on the loopback address\n"
        "  er       is a runner itself: duplex finecode er --help\n\n"
        "ACTION is the name of an action, its source, or its canonical source. The words behind it"
        " are its payload: key=text and key:=json words, or a JSON object, @FILE, or - for the"
        " standard input. Handlers of several environments run one after the other, each seeing"
        " the result so far, or side by side if the action is such. What"
        " handlers want to edit is written to the files, all of it or nothing.\n\n"
        "Results are on the standard output, all else is on the standard error: on a terminal what"
        " is going on, redrawn as it changes; everywhere a line for each project as it ends, and a"
        " summary. Lines of a runner's standard error are shown only if something fails (see"
        " --log-level). With"
        " --format json a result is {\"project\", \"result\"}, on one line unless it is for a"
        " terminal.\n\n"
        "With --json there is an object a line, with these members besides \"event\":\n\n"
        "  project    project, name; of run: action, status (success, streamed,\n"
        "             stopped, no_handlers, failed, cancelled), returnCode, result\n"
        "             (by format), why, code, ms; of list: file, state, why, actions\n"
        "  partial    project, name, result\n"
        "  step       project, name, env, handlers, state\n"
        "  progress   project, name, value\n"
        "  runner     project, name, env, state, why, pid, log\n"
        "  message    project, name, env, kind, text: for the user\n"
        "  log        project, name, env, level, group, text, time\n"
        "  stderr     project, name, env, text\n"
        "  violation  project, name, env, text: it broke the protocol\n"
        "  suppressed runner (NAME/ENV), text: how many of its messages, logs, lines\n"
        "             and violations are not shown (more than 1,000 or 1 MiB a\n"
        "             second, or the same)\n"
        "  debug      project, name, env, port: a debugger may attach\n"
        "  serving    port\n"
        "  summary    projects, done, found, failed, notRun, returnCode, ms\n\n"
        "Of the exit codes, 1 is a return code that is not 0 (the action found something), or a"
        " runner that says that it failed; 3 a runner that could not be started; 4 one that ended"
        " in the middle; 6 one that broke the protocol; 7 a project whose configuration is wrong,"
        " or a payload that does not fit. Of several projects the first that failed decides, and"
        " only if none did a return code. SIGINT and SIGTERM cancel what runs, stop the runners"
        " and end with 130; a second one ends at once.",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "134567",
    .is_program = true,
    .size = sizeof(struct finecode_options),
    .usual = &usual,
};
