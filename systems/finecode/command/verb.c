/* The table of `duplex finecode`: duplex makes the help, the man page and the completions from it,
 * duplex-finecode parses with it. */
#include "systems/finecode/command/command.h"

#define AT(member) offsetof(struct finecode_options, member)

static const struct finecode_options usual = {.fanout = FINECODE_UNSAID, .jobs = FINECODE_UNSAID};

static const cli_option place_options[] = {
    {"workspace", 'w', CLI_FOLDER, "FOLDER",
     "look for projects in and below this folder (the current one; serve: none, clients name"
     " theirs)",
     AT(folder)},
    {"project", 0, CLI_TEXTS, "NAME|FOLDER", "only this project; may be repeated (all projects)",
     AT(projects)},
    {"set", 0, CLI_TEXTS, "ACTION.[HANDLER.]PARAM=JSON",
     "a setting of an action or handler, which overrides files and environment; may be repeated",
     AT(set)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option run_options[] = {
    {"payload", 0, CLI_TEXT, "JSON|@FILE|-",
     "the action's payload, an object; NAME=VALUE arguments are added to it ({})", AT(payload)},
    {"format", 0, CLI_CHOICE, "string|json", "format of the results (string; with --json: json)",
     AT(format)},
    {"stream", 0, CLI_FLAG, NULL, "print partial results as they arrive", AT(stream)},
    {"one-by-one", 0, CLI_FLAG, NULL, "run in one project after the other, not in parallel",
     AT(one_by_one)},
    {"dry-run", 0, CLI_FLAG, NULL,
     "write no files; print what would change as a unified diff, and exit with 1 if anything would",
     AT(dry_run)},
    {"ignore-unmatched", 0, CLI_FLAG, NULL, "skip files that no project has the action for",
     AT(ignore_unmatched)},
    {"fanout", 0, CLI_COUNT, "N",
     "how many projects a handler may request in one run of its own, at least 1 (10,000)",
     AT(fanout)},
    {"trigger", 0, CLI_CHOICE, "user|system|unknown", "who started the run (user)", AT(trigger)},
    {"dev-env", 0, CLI_CHOICE, "ide|cli|ai|git_hook|ci", "where the run was started from (cli)",
     AT(dev_env)},
    {"resolve", 0, CLI_FLAG, NULL,
     "list: start the runners, and show what they know about the actions", AT(resolve)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option runner_options[] = {
    {"runner", 0, CLI_CHOICE, "duplex|venv",
     "runner for all environments: this program, or the Python of .venvs/ENV (as configured)",
     AT(runner)},
    {"revision", 0, CLI_CHOICE, "seed|real",
     "protocol revision spoken with runners (pipes: seed, TCP: real)", AT(revision)},
    {"jobs", 'j', CLI_COUNT, "N",
     "how many projects run at the same time, and how many runners there are, at least 1 (as many"
     " as there are processors)",
     AT(jobs)},
    {"debug", 0, CLI_TEXT, "ENV",
     "make the runners of this environment wait for a debugger, and print the address", AT(debug)},
    {"wal", 0, CLI_FOLDER, "FOLDER",
     "log the events of runs in this folder; runners log theirs there too", AT(wal)},
    {"log-level", 0, CLI_CHOICE, "TRACE|DEBUG|INFO|WARNING|ERROR",
     "show log messages of runners from this level on; of other runners on pipes than duplex, all"
     " of standard error (no messages)",
     AT(log_level)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record all messages in a trace", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option serve_options[] = {
    {"port", 0, CLI_TEXT, "PORT", "port on 127.0.0.1; 0: any free one (0)", AT(port)},
    {"port-file", 0, CLI_FILE, "FILE", "write the port to this file, which is removed at the end",
     AT(port_file)},
    {"disconnect-timeout", 0, CLI_LIMIT, "TIME",
     "exit after this long without a client, even if none has ever connected (30s)",
     AT(disconnect_ms)},
    {"any-user", 0, CLI_FLAG, NULL, "let every user of this machine connect, not only you and root",
     AT(any_user)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"port-timeout", 0, CLI_LIMIT, "TIME",
     "how long to wait for a runner on TCP to report its port (30s)", AT(port_ms)},
    {"initialize-timeout", 0, CLI_LIMIT, "TIME",
     "how long to wait for the response to initialize (20s)", AT(initialize_ms)},
    {"info-timeout", 0, CLI_LIMIT, "TIME",
     "how long to wait for the response to getInfo, resolveSource and resolvePath (10s)",
     AT(info_ms)},
    {"config-timeout", 0, CLI_LIMIT, "TIME",
     "how long to wait for the response to updateConfig, resolveActionMeta and mergeResults (60s)",
     AT(config_ms)},
    {"run-timeout", 0, CLI_LIMIT, "TIME", "stop a run that shows no progress for this long (10m)",
     AT(run_ms)},
    {"stop-timeout", 0, CLI_TIME, "TIME",
     "how long to wait for runners to exit before they are killed; 0: at once (10s)", AT(stop_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Projects", place_options, 0}, {"Runs", run_options, 0},      {"Runners", runner_options, 0},
    {"Serving", serve_options, 0},  {"Timeouts", time_options, 0}, {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Show all projects, actions and handlers:",
    "duplex finecode list -w build/examples/finecode",
    "Run an action in every project that has it:",
    "duplex finecode run -w build/examples/finecode report",
    "Check that every runner starts:",
    "duplex finecode runners -w build/examples/finecode",
    NULL,
};

static const char *const run_examples[] = {
    "Run an action in every project that has it:",
    "duplex finecode run -w build/examples/finecode report",
    "Lint only some files and folders:",
    "duplex finecode run -w build/examples/finecode lint -- build/examples/finecode/app",
    "Run it in one project, with another setting for a handler:",
    ("duplex finecode run -w build/examples/finecode --project app"
     " --set 'report.collect.globs=[\"*.h\"]' report"),
    "Print results as they arrive, one JSON object per line:",
    "duplex finecode run -w build/examples/finecode --json --stream report",
    NULL,
};

static const char *const list_examples[] = {
    "Show all projects, actions and handlers:",
    "duplex finecode list -w build/examples/finecode",
    "List one project, with what its runners know about the actions:",
    "duplex finecode list -w build/examples/finecode --project app --resolve",
    "List projects as JSON, one per line:",
    "duplex finecode list -w build/examples/finecode --json",
    NULL,
};

static const char *const runners_examples[] = {
    "Start every runner:",
    "duplex finecode runners -w build/examples/finecode",
    "Start the runners of one project, showing all messages:",
    "duplex finecode runners -w build/examples/finecode --project app --show",
    "Record the messages for 'duplex timeline':",
    "duplex finecode runners -w build/examples/finecode --record trace.jsonl",
    NULL,
};

static const char *const serve_examples[] = {
    "Serve editors until the last one has disconnected:",
    "duplex finecode serve --disconnect-timeout 5s",
    "Write the port to a file:",
    "duplex finecode serve --port-file finecode.port --disconnect-timeout 5s",
    "Serve one workspace, and record the messages of its runners:",
    "duplex finecode serve -w build/examples/finecode -o trace.jsonl --disconnect-timeout 5s",
    NULL,
};

static const char *const er_examples[] = {
    "List the built-in handlers:",
    "duplex finecode er handlers",
    "Print the version:",
    "duplex finecode er version",
    "Start a runner, as a workspace manager does:",
    "duplex finecode er start --project-path=build/examples/finecode/app --env-name=c",
    NULL,
};

static const cli_subcommand subcommands[] = {
    {"run", "[OPTION...] ACTION... [NAME=VALUE | NAME:=JSON]... [-- FILE...]",
     "Run actions in every project that has them",
     "ACTION is the name of an action, its source, or its canonical source. Several run one after"
     " the other; the exit code is that of the first that fails. The arguments after them are the"
     " payload: NAME=TEXT and NAME:=JSON, or a JSON object, @FILE, or - for standard input. FILE..."
     " is its member files, the only one that ready-made actions take: files and folders, each of"
     " which goes to its own project. Results are printed on standard output, the rest on standard"
     " error. Edits that handlers request are written to all files or to none.",
     "workspace project set payload dry-run ignore-unmatched format stream one-by-one jobs runner"
     " log-level show record run-timeout",
     run_examples},
    {"list", "[OPTION...]", "Show the tree of projects, actions and handlers", NULL,
     "workspace project set resolve show record", list_examples},
    {"runners", "[OPTION...]", "Start every runner and report the outcome", NULL,
     "workspace project set jobs runner revision log-level show record initialize-timeout"
     " stop-timeout",
     runners_examples},
    {"serve", "[OPTION...]", "Serve editors and other clients over TCP",
     "Prints the address it listens on. Keeps up to four runners for each of the --jobs, and at "
     "least"
     " 16; if more are needed, idle ones exit.",
     "workspace port port-file disconnect-timeout any-user fanout jobs log-level show record",
     serve_examples},
    {"er", "start|handlers|version [OPTION...]", "Act as a runner, or list the built-in handlers",
     "A workspace manager starts runners; 'duplex finecode er --help' lists their options.", "",
     er_examples},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const char *const guesses[] = {
    "exec",     "run",     "execute",    "run",      "do",          "run",    "lint",
    "run lint", "format",  "run format", "check",    "run",         "test",   "run",
    "actions",  "list",    "projects",   "list",     "ls",          "list",   "tree",
    "list",     "show",    "list",       "start",    "runners",     "status", "runners",
    "ps",       "runners", "server",     "serve",    "daemon",      "serve",  "wm",
    "serve",    "runner",  "er",         "handlers", "er handlers", NULL,
};

static const char *const environment[] = {
    "FINECODE_CONFIG_<ACTION>__[<HANDLER>__]<PARAM>",
    "a setting as JSON, see --set",
    NULL,
};

const cli_verb cli_finecode = {
    .name = "finecode",
    .words = "run [OPTION...] ACTION... [NAME=VALUE | NAME:=JSON]... [-- FILE...]\n"
             "list [OPTION...]\n"
             "runners [OPTION...]\n"
             "serve [OPTION...]\n"
             "er start|handlers|version [OPTION...]",
    .summary = "Run actions such as lint and format across projects",
    .text = "duplex finecode is a FineCode workspace manager. A project is a folder with a"
            " finecode.toml or a"
            " pyproject.toml. It has actions, and actions have handlers, each in an environment of"
            " the project. A runner is a program that runs the handlers of one project and"
            " environment; the manager starts it when needed and stops it at the end.",
    .details =
        "Handlers of several environments run one after the other, each with the result so far, or"
        " in parallel if the action allows it. If there are more runners than --jobs, idle ones are"
        " stopped, and started again when they are needed.\n\n"
        "Results are printed on standard output. Everything else is on standard error: on a"
        " terminal the current state, redrawn as it changes, and everywhere a line for each project"
        " as it ends, and a summary. Lines that runners write to standard error are shown only if"
        " something fails (see --log-level). With --format json a result is"
        " {\"project\", \"result\"}, on one line unless it is printed on a terminal.\n\n"
        "With --json each line is an object with these members in addition to \"event\":\n\n"
        "  project    project, name; of run: action, status (success, streamed,\n"
        "             stopped, no_handlers, failed, cancelled), returnCode, result\n"
        "             (by format), why, code, ms; of list: file, state, why, actions\n"
        "  partial    project, name, action, result\n"
        "  step       project, name, action, env, handlers, state\n"
        "  progress   project, name, action, value\n"
        "  diff       project, name, path, diff: with --dry-run\n"
        "  runner     project, name, env, state, why, pid, log\n"
        "  message    project, name, env, kind, text: for the user\n"
        "  log        project, name, env, level, group, text, time\n"
        "  stderr     project, name, env, text\n"
        "  violation  project, name, env, text: what the runner did wrong\n"
        "  suppressed runner (NAME/ENV), text: how many of its messages, logs, lines\n"
        "             and violations are not shown because there were more than\n"
        "             1,000 or 1 MiB a second, or because they were the same\n"
        "  debug      project, name, env, port: a debugger can attach\n"
        "  serving    port\n"
        "  summary    projects, done, found, failed, notRun, returnCode, exitCode, ms\n\n"
        "returnCode is null if there is none because something failed.\n\n"
        "Exit code 1 means that a return code was not 0 (the action has findings); 8 that a "
        "handler or"
        " runner reported a failure; 3 that a runner could not be started; 4 that one exited "
        "during a run;"
        " 6 that one violated the protocol; 7 that a project's configuration is invalid, or that a"
        " payload does not match its schema. The first project that fails decides; return codes"
        " matter only if none fails. SIGINT and SIGTERM cancel the run, stop the runners and end"
        " with 130; a"
        " second signal makes it exit at once.",
    .shown = "workspace project set payload format stream jobs show record run-timeout",
    .subcommands = subcommands,
    .guesses = guesses,
    .old_letters = "p=project f=format t=run-timeout",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "1345678",
    .is_program = true,
    .size = sizeof(struct finecode_options),
    .usual = &usual,
};
