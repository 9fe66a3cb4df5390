/* The table of `duplex reginald`: duplex makes the help, the man page and the completions from it,
 * duplex-reginald parses with it. */
#include "systems/reginald/command/command.h"

#define AT(member) offsetof(struct reginald_options, member)

static const struct reginald_options usual = {.jobs = 8, .handshake_ms = 5000, .stop_ms = 15000};

static const cli_option plugin_options[] = {
    {"plugin-dir", 0, CLI_FOLDER, "FOLDER",
     "start the plugins in this folder: programs whose names begin with reginald-"
     " ($REGINALD_PLUGIN_DIR, or $XDG_DATA_HOME/reginald/plugins, or"
     " ~/.local/share/reginald/plugins)",
     AT(plugin_dir)},
    {"plugin", 0, CLI_FILES, "FILE", "start this plugin too, whatever its name; may be repeated",
     AT(plugins)},
    {"revision", 0, CLI_CHOICE, "seed|gen-a|exact",
     "seed: follow the protocol document to the letter; gen-a: behave like the real host of"
     " generation A; exact: including its defects (default: only what both the document and real "
     "plugins understand)",
     AT(revision)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option work_options[] = {
    {"config", 'c', CLI_FILE, "FILE",
     "read settings and tasks from this TOML file; -: standard input ($REGINALD_CONFIG, or none)",
     AT(config)},
    {"jobs", 'j', CLI_COUNT, "N", "attend: run up to N tasks at a time, at least 1 (8)", AT(jobs)},
    {"dry-run", 0, CLI_FLAG, NULL,
     "attend: only check the tasks; those with a setting dry-run (or dryRun, dry_run, dry) run with"
     " it",
     AT(dry_run)},
    {"log-level", 0, CLI_TEXT, "LEVEL",
     "show plugin logs from this level on: trace, debug, info, warn, error, or info+2"
     " ($REGINALD_LOG_LEVEL, or as configured, or info)",
     AT(log_level)},
    {"log-format", 0, CLI_CHOICE, "text|json",
     "print logs to stderr as text or JSON ($REGINALD_LOG_FORMAT, or as configured, or text)",
     AT(log_format)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic to this file", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"handshake-timeout", 0, CLI_LIMIT, "TIME",
     "limit for each response of a plugin to handshake and initialize (5s)", AT(handshake_ms)},
    {"stop-timeout", 0, CLI_TIME, "TIME",
     "limit for plugins to exit; then they are killed; 0: at once (15s)", AT(stop_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Plugins", plugin_options, 0},
    {"Tasks and logs", work_options, 0},
    {"Timeouts", time_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "List the plugins and what they offer:",
    "duplex reginald --plugin-dir build/examples plugins",
    "Run a command of a plugin, with one of its flags:",
    "duplex reginald --plugin-dir build/examples sleep -t 1",
    "List the flags of that command:",
    "duplex reginald --plugin-dir build/examples sleep --help",
    "Check the tasks of a configuration without running them:",
    ("duplex reginald --plugin-dir build/examples --dry-run -c build/examples/workstation.toml "
     "attend"),
    NULL,
};

static const char *const attend_examples[] = {
    "Check the tasks of a configuration without running them:",
    ("duplex reginald --plugin-dir build/examples -c build/examples/workstation.toml --dry-run"
     " attend"),
    "Run them:",
    "duplex reginald --plugin-dir build/examples -c build/examples/workstation.toml attend",
    "Run one at a time, for a script, with logs in a file:",
    ("duplex reginald --plugin-dir build/examples -c build/examples/workstation.toml --jobs 1"
     " --json --log-format json attend 2>log.jsonl"),
    NULL,
};

static const char *const plugins_examples[] = {
    "List the plugins of a folder:",
    "duplex reginald --plugin-dir build/examples plugins",
    "Also list their settings, flags and environment variables:",
    "duplex reginald --plugin-dir build/examples --json plugins",
    "See why a plugin does not start:",
    "duplex reginald --plugin build/examples/reginald-sleep --show plugins",
    NULL,
};

static const char *const environment[] = {
    "REGINALD_CONFIG",
    "the configuration, see --config",
    "REGINALD_PLUGIN_DIR",
    "where plugins are, see --plugin-dir",
    "REGINALD_LOG_LEVEL, REGINALD_LOG_FORMAT",
    "see --log-level and --log-format",
    "REGINALD_<PLUGIN>_<KEY>, REGINALD_<COMMAND>_<KEY>",
    "a setting of a plugin or command, in capitals, with _ for other characters; ignored if empty",
    "XDG_DATA_HOME, HOME",
    "see --plugin-dir",
    NULL,
};

static const cli_subcommand subcommands[] = {
    {.name = "attend",
     .words = "[OPTION...]",
     .summary = "Run the tasks of the configuration (also: apply, tend)",
     .text = "All tasks are checked first; if the settings of one are invalid, none is run. A task"
             " runs once those that it needs are done; other tasks run at the same time. If a task"
             " fails, the tasks that need it are skipped. The outcome of each task is printed, and"
             " then a summary.\n\n"
             "Flags of plugins go before attend, or after --.",
     .shown = "plugin-dir plugin config jobs dry-run log-level log-format show record",
     .examples = attend_examples},
    {.name = "plugins",
     .words = "[OPTION...]",
     .summary = "List the plugins, what they offer, and why some failed",
     .text = "Starts all plugins, prints their versions, states, commands and tasks, and stops"
             " them.",
     .shown = "plugin-dir plugin config handshake-timeout show record",
     .examples = plugins_examples},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

const cli_verb cli_reginald = {
    .name = "reginald",
    .words = "[OPTION...] COMMAND [FLAG...] [ARG...]\n"
             "[OPTION...] attend\n"
             "[OPTION...] plugins",
    .summary = "Set up a workstation with Reginald plugins",
    .text =
        "Plugins are the programs in --plugin-dir whose names begin with reginald-. All of them"
        " are started; one that fails is reported and left out.\n\n"
        "COMMAND is a command of a plugin. Everything after it is for the plugin; put options of"
        " duplex reginald before it. attend runs the tasks of --config, and plugins lists the"
        " plugins and what they offer.",
    .details =
        "COMMAND may be followed by flags that the command or its plugin declares (-t 1, -t1,"
        " --time 1, --time=1; --flag or --flag=false for a boolean), and arguments, which the"
        " plugin gets unchanged. After -- there are only arguments, unless -- comes right after"
        " COMMAND. A flag that belongs to a plugin rather than to one command is passed to every "
        "plugin that declares it; it may also stand before COMMAND, after the options of duplex "
        "reginald. Before COMMAND, a name or letter that duplex reginald has, too, is its option."
        " COMMAND --help lists the flags. The result of a command is printed: text with control "
        "characters escaped, "
        "anything else as JSON, and nothing for {} and null.\n\n"
        "attend (also: apply, tend) checks all tasks of the configuration first; if the settings"
        " of one are invalid, none is run. A task runs once those that it needs are done; other"
        " tasks run at the same time. If a task fails, the tasks that need it are skipped. The"
        " outcome of each task is printed, and then a summary. Flags of plugins go before attend, "
        "or after --.\n\n"
        "The configuration is read only if you name it. An error in it is reported with its "
        "location. For example:\n\n"
        "  [logging]\n"
        "  level = \"debug\"          # as --log-level\n"
        "  format = \"json\"          # as --log-format\n"
        "  enabled = true           # false: plugins do not log\n"
        "  [plugins.NAME]           # settings of a plugin\n"
        "  key = \"value\"\n"
        "  [commands.NAME]          # settings of a command\n"
        "  time = 1\n"
        "  [[tasks]]\n"
        "  type = \"symlink\"         # a task type of a plugin\n"
        "  id = \"editor\"            # for needs, and for messages\n"
        "  needs = [\"packages\"]     # ids of tasks that run before it\n"
        "  dir = \"home\"             # its working directory (the folder of this file)\n"
        "  config = {key = \"value\"} # its settings\n\n"
        "The configuration of the real program is read, too: directory (where tasks work),"
        " plugin-dir (or plugin_dir, pluginDir), [NAME] for [plugins.NAME] or [commands.NAME], "
        "[defaults.TYPE] with settings"
        " for all tasks of a type, the settings of a task in the task itself, and dependencies,"
        " which is the same as needs. Both name ids, or types of tasks; a task without an id is"
        " TYPE-0, TYPE-1 and so on. Keys without effect here (color, quiet, verbose,"
        " logging.output) get a warning.\n\n"
        "A setting is a boolean, an integer or a string, as its plugin declares it. Its value"
        " comes from the flag, or else the environment, or else the file, or else the plugin's"
        " default.\n\n"
        "Logs of plugins, lines of their stderr (as warnings), failures and protocol violations"
        " are printed to stderr, results to stdout. With --json, each result is an object on its"
        " own line, with these members besides \"event\":\n\n"
        "  plugin     plugin, version, path, state (ready, failed), why if it failed,\n"
        "             settings, commands, tasks (of plugins)\n"
        "  command    command, plugin, state (done), result if there is one\n"
        "  task       task, type, plugin, state (running, done, failed, left-out if it\n"
        "             was skipped, looked-at if it was only checked), why, ms\n"
        "  summary    tasks, done, failed, leftOut, lookedAt, notRun\n"
        "  failed     plugin, path, text: why it was left out, or exited\n"
        "  stopped    plugin, path, text: why it was killed\n"
        "  violation  plugin, path, text: how it violated the protocol\n"
        "  suppressed plugin, text: how many logs, lines and violations are not shown\n"
        "             (repeated, or more than 1,000 or 1 MiB per second)\n\n"
        "Logs as JSON have time, level, plugin, msg, fields if there are any, and kind if it is"
        " not a log message (stderr, failed, stopped, violation, suppressed).\n\n"
        "Exit codes: 1: a command or task failed. 2: also an invalid configuration, or no plugin"
        " provides the command or task. 3: the same, but a plugin that failed might provide it,"
        " or 'plugins' found that a plugin of --plugin has failed."
        " 4: the plugin exited while it was needed. 6: the plugin was stopped for too many protocol"
        " violations. 7: invalid settings. If several tasks fail, the first one in the file"
        " decides. After SIGINT or SIGTERM, plugins have two seconds to exit, and the exit code is"
        " 130; a second signal exits at once.",
    .groups = groups,
    .examples = examples,
    .shown = "plugin-dir plugin config jobs dry-run log-level log-format show record",
    .subcommands = subcommands,
    .old_letters = "p=plugin-dir n=dry-run",
    .environment = environment,
    .codes = "134567",
    .is_program = true,
    .size = sizeof(struct reginald_options),
    .usual = &usual,
};
