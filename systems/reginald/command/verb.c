/* The table of `duplex reginald`: duplex makes the help, the man page and the completions from it,
 * duplex-reginald parses with it. */
#include "systems/reginald/command/command.h"

#define AT(member) offsetof(struct reginald_options, member)

static const struct reginald_options usual = {.jobs = 8};

static const cli_option plugin_options[] = {
    {"plugin-dir", 'p', CLI_FOLDER, "FOLDER",
     "where plugins are: programs whose names begin with reginald- ($REGINALD_PLUGIN_DIR, else"
     " $XDG_DATA_HOME/reginald/plugins, else ~/.local/share/reginald/plugins)",
     AT(plugin_dir)},
    {"plugin", 0, CLI_FILES, "FILE", "one more plugin, whatever its name; may be repeated",
     AT(plugins)},
    {"revision", 0, CLI_CHOICE, "seed|gen-a|exact",
     "seed: the framing of the document to the letter; gen-a: as the real host of generation A;"
     " exact: with its defects (what the document and real plugins both understand)",
     AT(revision)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option work_options[] = {
    {"config", 'c', CLI_FILE, "FILE", "settings and tasks, in TOML ($REGINALD_CONFIG; none)",
     AT(config)},
    {"jobs", 'j', CLI_COUNT, "N", "attend: so many tasks run at once, at least 1 (8)", AT(jobs)},
    {"dry-run", 'n', CLI_FLAG, NULL,
     "attend: check the tasks, but run only those that have a setting dry-run (or dryRun, dry_run,"
     " dry), with that set",
     AT(dry_run)},
    {"log-level", 0, CLI_TEXT, "LEVEL",
     "show what plugins log from there on: trace, debug, info, warn, error, also info+2"
     " ($REGINALD_LOG_LEVEL, else the configuration's, else info)",
     AT(log_level)},
    {"log-format", 0, CLI_CHOICE, "text|json",
     "how that is shown, on the standard error ($REGINALD_LOG_FORMAT, else the configuration's,"
     " else text)",
     AT(log_format)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on the standard error", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"handshake-timeout", 0, CLI_TIME, "TIME",
     "for a plugin's answer to handshake, and for that to initialize (5s)", AT(handshake_ms)},
    {"stop-timeout", 0, CLI_TIME, "TIME", "for plugins to leave; then they are killed (15s)",
     AT(stop_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Plugins", plugin_options, 0},
    {"What is done", work_options, 0},
    {"Times", time_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "See which plugins there are, and what they can do:",
    "duplex reginald plugins",
    "Run a command of one of them, with a flag of its own:",
    "duplex reginald -p ./plugins sleep -t 1",
    "See which flags that command has:",
    "duplex reginald -p ./plugins sleep --help",
    "Set this machine up as a file says; look first:",
    "duplex reginald -c workstation.toml --dry-run attend",
    "The same for a script, four tasks at once, logs in a file:",
    "duplex reginald -c workstation.toml --jobs 4 --json --log-format json attend 2>log.jsonl",
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
    "a setting of a plugin or command, in capitals, _ for other characters; an empty one is none",
    "XDG_DATA_HOME, HOME",
    "see --plugin-dir",
    NULL,
};

const cli_verb cli_reginald = {
    .name = "reginald",
    .words = "[OPTION...] COMMAND [FLAG...] [WORD...]\n"
             "[OPTION...] attend\n"
             "[OPTION...] plugins",
    .summary = "set a workstation up with Reginald plugins",
    .text =
        "A host of plugins that speak the Reginald Plugin Protocol. All plugins are started and"
        " greeted side by side; one that fails is named and left out, and the rest goes on. Then"
        " one thing is done, and the plugins are stopped.\n\n"
        "COMMAND is a command of a plugin. Everything behind it is for the plugin: flags that the"
        " command or its plugin has (-t 1, -t1, --time 1, --time=1; --flag or --flag=false for a"
        " boolean), and words, which it gets as they are. Behind -- there are only words, unless"
        " it stands right behind COMMAND, where it only marks what is the plugin's. A flag of a "
        "plugin"
        " as a whole reaches all plugins that have it. COMMAND --help lists the flags. Options of "
        "duplex reginald stand before COMMAND.\n\n"
        "attend (also apply or tend) runs the tasks of the configuration. All are checked first;"
        " if the settings of one do not fit, none is run. A task runs when those that it needs are"
        " done; others run beside it. When one fails, those that need it are left out. What became"
        " of each is printed, and a last line counts them. Flags of plugins as a whole may stand"
        " behind --.\n\n"
        "plugins lists the plugins, what they offer, and why those that failed did.\n\n"
        "The configuration is read only if it is named. What is wrong in it is told with its"
        " place:\n\n"
        "  [logging]\n"
        "  level = \"debug\"          # as --log-level\n"
        "  format = \"json\"          # as --log-format\n"
        "  enabled = true           # false: plugins are not to log\n"
        "  [plugins.NAME]           # settings of a plugin\n"
        "  key = \"value\"\n"
        "  [commands.NAME]          # settings of a command\n"
        "  time = 1\n"
        "  [[tasks]]\n"
        "  type = \"symlink\"         # which a plugin has\n"
        "  id = \"editor\"            # for needs, and for messages\n"
        "  needs = [\"packages\"]     # ids of tasks that come before it\n"
        "  dir = \"home\"             # where it works (the folder of this file)\n"
        "  config = {key = \"value\"} # its settings\n\n"
        "A setting is a boolean, an integer or a string, as its plugin declares it. A flag wins"
        " over the environment, that over the file, that over the plugin's default.\n\n"
        "Logs of plugins, lines of their standard error (as warnings), failures and violations of"
        " the protocol are on the standard error, results on the standard output. With --json"
        " results are an object a line, with these members besides \"event\":\n\n"
        "  plugin     plugin, version, path, state (ready, failed), why if it has\n"
        "             failed, settings, commands, tasks (of plugins)\n"
        "  command    command, plugin, state (done)\n"
        "  task       task, type, plugin, state (running, done, failed, left-out,\n"
        "             looked-at), why, ms\n"
        "  summary    tasks, done, failed, leftOut, lookedAt, notRun\n"
        "  failed     plugin, path, text: it is left out, or has ended\n"
        "  stopped    plugin, path, text: it had to be killed\n"
        "  violation  plugin, path, text: it broke the protocol\n"
        "  suppressed plugin, text: how many of its logs, lines and violations are not\n"
        "             shown (more than 1,000 or 1 MiB a second, or the same)\n\n"
        "Logs as JSON have time, level, plugin, msg, fields if there are any, and kind if it is"
        " something else than a log message (stderr, failed, stopped, violation,"
        " suppressed).\n\n"
        "Of the exit codes, 1 is a command or task that failed; 2 also a configuration that is"
        " wrong, or that no plugin has the command or task; 3 the same if a plugin that might have"
        " it failed; 4 that the plugin ended in the middle; 6 that it was ended for too many"
        " violations; 7 that settings do not fit. Of several tasks the first in the file that"
        " failed decides. SIGINT and SIGTERM give plugins two seconds to leave and end with 130; a"
        " second one ends at once.",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "134567",
    .is_program = true,
    .size = sizeof(struct reginald_options),
    .usual = &usual,
};
