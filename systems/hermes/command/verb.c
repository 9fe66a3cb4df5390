/* The table of `duplex hermes`: duplex makes the help, the man page and the completions from it,
 * duplex-hermes parses with it. */
#include "systems/hermes/command/command.h"

#define AT(member) offsetof(struct hermes_options, member)

/* What `duplex hermes --help` and `duplex hermes host --help` say, and which options they list. */
#define HOST_TEXT                                                                                 \
    "The Hermes editor without a window, for extensions in any language. MESSAGE is HL7 v2 text," \
    " or a .json, .yaml or .toml file; without it the editor is empty.\n\n"                       \
    "With --run, the commands run in order and the message is printed. Without --run, a console"  \
    " reads commands from standard input; 'help' lists them."
#define HOST_SHOWN                                                                 \
    "extension settings env message encoding run write format answer opener show " \
    "start-timeout"

static const struct hermes_options usual = {.message = CLI_NEVER,
                                            .settle_ms = 500,
                                            .start_ms = 10000,
                                            .stop_ms = HERMES_STOP_USUAL,
                                            .debounce_ms = 500};

static const cli_option extension_options[] = {
    {"extension", 'x', CLI_TEXTS, "'COMMAND ARG...'",
     "start this extension; quotes work as in a shell, but no shell is run; may be repeated",
     AT(extensions)},
    {"settings", 0, CLI_FILE, "FILE",
     "start the extensions of a Hermes settings.json, except those with \"enabled\": false",
     AT(settings)},
    {"env", 0, CLI_TEXTS, "NAME=VALUE", "set a variable for all extensions; may be repeated",
     AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    {"inherit-env", 0, CLI_FLAG, NULL,
     "also pass the whole environment to the extensions of --settings", AT(inherit_env)},
    {"cwd", 0, CLI_FOLDER, "FOLDER", "run extensions in this folder (the current one)", AT(cwd)},
    {"data", 0, CLI_FOLDER, "FOLDER",
     "the data folder of extensions, created if it does not exist ($XDG_DATA_HOME/duplex/hermes, or"
     " ~/.local/share/duplex/hermes)",
     AT(data)},
    {"revision", 0, CLI_CHOICE, "exact|2025-11-24",
     "exact: respond and edit with the defects of Hermes 0.1.0; 2025-11-24: commands are requests,"
     " as in that version (the current protocol document)",
     AT(revision)},
    {"shape", 0, CLI_CHOICE, "keys|segments",
     "how extensions get the message as json, yaml or toml: an ordered list of segments, as in"
     " Hermes 0.1.0, or segments as keys, as in the protocol document, which loses the order of"
     " different segments (segments)",
     AT(shape)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option work_options[] = {
    {"message", 0, CLI_COUNT, "N", "edit the N-th message of a file that has several (1)",
     AT(message)},
    {"encoding", 0, CLI_TEXT, "NAME", "encoding of HL7 files: latin1, ... (as MSH.18 says)",
     AT(encoding)},
    {"run", 'r', CLI_TEXTS, "COMMAND",
     "run this command of an extension instead of the console; may be repeated, in order",
     AT(runs)},
    {"write", 0, CLI_FILE, "FILE",
     "write the message to this file at the end; -: standard output (with --run: -)", AT(write)},
    {"format", 0, CLI_CHOICE, "hl7|json|yaml|toml",
     "format of what is written or shown (from the file name, or else hl7)", AT(format)},
    {"answer", 'a', CLI_TEXTS, "DIALOG=ANSWER",
     "answer a dialog: showConfirm=yes, openFile=PATH, any=cancel, ...; may be repeated",
     AT(answers)},
    {"opener", 0, CLI_TEXT, "'COMMAND ARG...'",
     "open windows with this program; the URL is its last argument, no shell is run (print the"
     " URL)",
     AT(opener)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic to this file", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"settle", 0, CLI_TIME, "TIME",
     "a command is done once its extension has been quiet for this long; 0: at once (500ms)",
     AT(settle_ms)},
    {"start-timeout", 0, CLI_LIMIT, "TIME",
     "limit for the response to initialize; then the extension is stopped (10s)", AT(start_ms)},
    {"stop-timeout", 0, CLI_TIME, "TIME",
     "limit for the response to shutdown; then the extension is killed; 0: at once (5s; with --run"
     " or --write, up to 1m more while the extension has not read the request)",
     AT(stop_ms)},
    {"debounce", 0, CLI_TIME, "TIME",
     "notify extensions of a change once the message has not changed for this long; 0: at once"
     " (500ms)",
     AT(debounce_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Extensions", extension_options, 0},
    {"Input and output", work_options, 0},
    {"Timeouts", time_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Run a command of an extension and print the message:",
    ("duplex hermes host -x build/examples/hermes-normalise --run names/normalise"
     " build/examples/adt.hl7"),
    "Convert the result to JSON:",
    ("duplex hermes host -x build/examples/hermes-normalise --run names/normalise --format json"
     " build/examples/adt.hl7"),
    "Try an extension by hand, in a console ('help' lists its commands):",
    "duplex hermes host -x build/examples/hermes-window build/examples/adt.hl7",
    "Do the same from a script:",
    ("printf 'run window/open\\nwait\\nwindows\\n' | duplex hermes host -x"
     " build/examples/hermes-window build/examples/adt.hl7"),
    NULL,
};

static const char *const environment[] = {
    "XDG_DATA_HOME",
    "where the data folder of extensions is, see --data",
    "HOME",
    "the same, if XDG_DATA_HOME is not set",
    NULL,
};

static const cli_subcommand subcommands[] = {
    {.name = "host",
     .words = "[OPTION...] [MESSAGE]",
     .summary = "Open an HL7 message, start extensions, and do what they ask",
     .text = HOST_TEXT,
     .shown = HOST_SHOWN,
     .examples = examples},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const char *const guesses[] = {
    "edit",       "host", "editor", "host", "open",    "host", "run",       "host",
    "start",      "host", "serve",  "host", "console", "host", "extension", "host",
    "extensions", "host", "show",   "host", "client",  "host", NULL,
};

const cli_verb cli_hermes = {
    .name = "hermes",
    .words = "host [OPTION...] [MESSAGE]",
    .summary = "Edit an HL7 message with extensions of the Hermes editor",
    .text = HOST_TEXT,
    .details =
        "MESSAGE is a file of HL7 text. A file whose name ends in .json, .yaml, .yml or .toml is"
        " converted. With --run, MESSAGE may be - for standard input. Without MESSAGE, the editor"
        " is empty. Bytes that no edit touches are preserved.\n\n"
        "An HL7 file may have several messages, one after the other, in a batch (FHS, BHS, BTS,"
        " FTS) or in MLLP frames. The first one is edited, or the one that --message chooses."
        " Everything around it is kept, and is written with it.\n\n"
        "HL7 files are read and written in the character set of MSH.18, or as their byte order mark"
        " says, or as UTF-8. --encoding overrides that: ASCII, 8859/1 to 8859/9, 8859/15 (or latin1"
        " and so on), windows-1250 to 1254 and 1257, cp437, cp850, UTF-8, UTF-16LE, UTF-16BE,"
        " UTF-32LE, UTF-32BE. Extensions and the console always have UTF-8. Invalid bytes are"
        " refused, and so is an edit that the encoding has no character for. An edit of MSH.18"
        " changes what is written.\n\n"
        "With --run, Duplex runs the commands in order, stops the extensions, and writes the"
        " message with all that they changed until they exited. A command has no response. It "
        "counts as done when its extension has no open"
        " request, has sent and read nothing for the --settle time, and has hardly used the CPU "
        "during that time (Duplex waits at most one minute for an extension that keeps using it). "
        "One that is"
        " still at work then does not read shutdown, and has a minute for that. If a command"
        " fails, nothing is written. A file is replaced completely or not at all.\n\n"
        "Without --run, a console reads commands from standard input until the input ends. It"
        " splits lines into words as a shell does. A line that begins with # is a comment. If the"
        " input is not a terminal, a command that fails does not end the console, but makes the"
        " exit code 1.\n\n"
        "  help               list the commands\n"
        "  list               list the extensions, their states and commands\n"
        "  run COMMAND        run a command of an extension; see wait\n"
        "  wait [TIME]        wait until all extensions are quiet, at most TIME (30s)\n"
        "  show [FORMAT]      print the message as hl7, json, yaml or toml\n"
        "  get PATH           print the value at a path: PID.5.1, OBX[2].5, PID.3[2].1;\n"
        "                     an empty value is an empty line, an absent one is an error\n"
        "  set PATH VALUE     set the value at a path; separators in it are escaped. A\n"
        "                     backslash outside quotes stays unless a quote follows it,\n"
        "                     and \"\" is the null of HL7 ('' empties the place)\n"
        "  create SEG         add an empty segment: NK1, or NK1[2]\n"
        "  remove SEG         remove a segment\n"
        "  undo               undo the last change, or bring back a message that open or\n"
        "                     new discarded\n"
        "  save [FILE]        save the message to its file, or to FILE; if its file has\n"
        "                     changed since it was opened: save --overwrite\n"
        "  open FILE [N]      open another message; N: which one of several in FILE;\n"
        "                     with unsaved changes or an unfinished command, this\n"
        "                     asks on a terminal, and fails elsewhere: open --discard\n"
        "                     FILE\n"
        "  new                start an empty message; the same: new --discard\n"
        "  windows            list the open windows\n"
        "  close WINDOW       close a window, by its number or id, as a user would\n"
        "  log [N]            print the last N log lines of extensions (20)\n"
        "  schema             print what extensions say about fields, as JSON\n"
        "  reload [EXTENSION] restart an extension (by its name, or its number in the\n"
        "                     list), or all of them\n"
        "  disable EXTENSION  stop an extension\n"
        "  quit               quit; with unsaved changes, this asks on a terminal, and\n"
        "                     prints a warning elsewhere\n\n"
        "--answer answers a dialog of an extension. Without an answer, the dialog is shown if the"
        " console runs on a terminal. Otherwise a message counts as read, the answer to a question"
        " is no, and no file is chosen. Several answers to one kind of dialog are used in order,"
        " and the last one is reused. Paths are made absolute.\n\n"
        "  showMessage=ok            showConfirm=yes           showConfirm=no\n"
        "  openFile=PATH             openFiles=PATH:PATH...    saveFile=PATH\n"
        "  selectDirectory=PATH      DIALOG=cancel             any=cancel\n\n"
        "Events are reported on stderr: states of extensions, their logs, changes, windows,"
        " dialogs. Results are printed to stdout. With --json both are printed to stdout, one"
        " object per line, with these members besides \"event\":\n\n"
        "  state      extension, state (starting, initializing, running,\n"
        "             shutting_down, stopped, failed), reason (if any)\n"
        "  log        extension, level (info, warn, error), text\n"
        "  message    by (an extension, or null), text: the new message\n"
        "  window     extension, id, url, title, width, height, modal, resizable\n"
        "  closed     id, reason (user, extension, shutdown)\n"
        "  dialog     extension, method, params, answer (true, false, paths, null)\n"
        "  violation  extension, text: how it violated the protocol\n"
        "  suppressed extension, text: how many log lines and violations are not shown\n"
        "             (repeated, or more than 1,000 or 1 MiB per second)\n"
        "  result     command, ok, error if it failed, and the output of the command:\n"
        "             text, file, extension, extensions, windows, lines, schema,\n"
        "             commands, note; with --run: the command \"write\", format, text\n\n"
        "Text that is not valid UTF-8 is printed with U+FFFD, followed by \"lossy\": true.\n\n"
        "Exit codes: 1: no extension has the command; a command of a console that is not on a"
        " terminal failed; or the extension answered the command with a failure (revision"
        " 2025-11-24). 3: no extension could be started. 4: with --run, an extension failed or"
        " exited on its own; or one had to be killed in the end (then the message is written "
        "without"
        " what it still had to do). 5: with --run, an extension did not answer initialize in time."
        " 6: an extension sent a message that could not be read. 7: MESSAGE is"
        " not HL7, or the message cannot be written in that format or encoding. SIGINT and SIGTERM "
        "stop the "
        "extensions and exit with 130; nothing is written. A"
        " second signal exits at once.",
    .groups = groups,
    .examples = examples,
    .shown = HOST_SHOWN,
    .subcommands = subcommands,
    .guesses = guesses,
    .old_letters = "e=extension w=write f=format",
    .environment = environment,
    .codes = "134567",
    .word = CLI_A_FILE,
    .is_program = true,
    .size = sizeof(struct hermes_options),
    .usual = &usual,
};
