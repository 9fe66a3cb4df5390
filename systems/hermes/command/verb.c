/* The table of `duplex hermes`: duplex makes the help, the man page and the completions from it,
 * duplex-hermes parses with it. */
#include "systems/hermes/command/command.h"

#define AT(member) offsetof(struct hermes_options, member)

static const cli_option extension_options[] = {
    {"extension", 'e', CLI_TEXTS, "'COMMAND ARG...'",
     "start this extension; its words are split as a shell does, but nothing is expanded and no"
     " shell is run; may be repeated",
     AT(extensions)},
    {"settings", 0, CLI_FILE, "FILE",
     "start the extensions that Hermes' own settings.json has, those with \"enabled\": false left"
     " out",
     AT(settings)},
    {"env", 0, CLI_TEXTS, "NAME=VALUE", "for all extensions; may be repeated", AT(env)},
    CLI_CLEAN_ENV(AT(clean_env)),
    {"inherit-env", 0, CLI_FLAG, NULL,
     "pass the whole environment to the extensions of --settings, too", AT(inherit_env)},
    {"cwd", 0, CLI_FOLDER, "FOLDER", "where extensions run (here)", AT(cwd)},
    {"data", 0, CLI_FOLDER, "FOLDER",
     "where they may keep their data; is made if it is not there ($XDG_DATA_HOME/duplex/hermes, "
     "else"
     " ~/.local/share/duplex/hermes)",
     AT(data)},
    {"revision", 0, CLI_CHOICE, "exact|2025-11-24",
     "exact: with the defects of Hermes 0.1.0 in what is answered and edited; 2025-11-24: a command"
     " is a request, as it was then (the protocol as it is documented now)",
     AT(revision)},
    {"shape", 0, CLI_CHOICE, "keys|segments",
     "how extensions get the message as json, yaml or toml: segments as keys, as the protocol's"
     " document has it, which loses the order of different segments, or as a list, as Hermes 0.1.0"
     " has it (keys; exact: segments)",
     AT(shape)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option work_options[] = {
    {"run", 'r', CLI_TEXTS, "COMMAND",
     "run this command of an extension instead of the console; may be repeated: they run in order",
     AT(runs)},
    {"write", 'w', CLI_FILE, "FILE",
     "write the message there in the end, - is the standard output (with --run: -)", AT(write)},
    {"format", 'f', CLI_CHOICE, "hl7|json|yaml|toml",
     "of what is written or shown (a file's: by how its name ends, else hl7)", AT(format)},
    {"answer", 'a', CLI_TEXTS, "DIALOG=ANSWER",
     "the answer to a dialog; may be repeated, see below", AT(answers)},
    {"opener", 0, CLI_TEXT, "'COMMAND ARG...'",
     "opens windows: the URL is its last word, there is no shell (URLs are only told)", AT(opener)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on the standard error", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic", AT(record)},
    CLI_KEEP_DAEMONS(AT(keep_daemons)),
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"settle", 0, CLI_TIME, "TIME",
     "so long an extension says nothing when its command is done (500ms)", AT(settle_ms)},
    {"start-timeout", 0, CLI_TIME, "TIME",
     "for an extension's answer to initialize; then it is ended (10s)", AT(start_ms)},
    {"stop-timeout", 0, CLI_TIME, "TIME", "for its answer to shutdown; then it is killed (5s)",
     AT(stop_ms)},
    {"debounce", 0, CLI_TIME, "TIME",
     "so long the message rests before extensions are told that it changed (500ms)",
     AT(debounce_ms)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Extensions", extension_options, 0},
    {"What is done", work_options, 0},
    {"Times", time_options, 0},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Run a command of an extension over a message, keep the result:",
    "duplex hermes host -e ./normalise --run names/normalise -w out.hl7 patient.hl7",
    "See what a message is in JSON after that, and all that was said:",
    "duplex hermes host -e ./normalise --run names/normalise --format json --show patient.hl7",
    "Try an extension by hand; windows open in the browser:",
    "duplex hermes host -e 'python3 mine.py --debug' --opener xdg-open patient.hl7",
    "The same from a script:",
    "printf 'run mine/check\\nwait\\nget PID.5.1\\n' | duplex hermes host -e ./mine patient.hl7",
    "Answer its dialogs without anybody there:",
    "duplex hermes host -e ./mine --run mine/import -a showConfirm=yes -a openFile=in.csv",
    NULL,
};

static const char *const environment[] = {
    "XDG_DATA_HOME",
    "where extensions keep their data, see --data",
    "HOME",
    "the same, if that is not set",
    NULL,
};

const cli_verb cli_hermes = {
    .name = "hermes",
    .words = "host [OPTION...] [MESSAGE]",
    .summary = "edit an HL7 message with extensions of the Hermes editor",
    .text =
        "An editor of HL7 v2 messages without a window, for extensions of Hermes (the Hermes"
        " Extension API): it starts them, opens MESSAGE, and does what they ask. MESSAGE is a file"
        " of HL7 text, or a document if its name ends in .json, .yaml, .yml or .toml; with --run it"
        " may be - for the standard input; without it the editor is empty. Bytes that no change"
        " touches stay as they are.\n\n"
        "With --run it is not interactive: the commands are run one after the other, the message is"
        " written, and everything is stopped. A command has no answer; it counts as done when its"
        " extension has no request open, has said and read nothing for the time of --settle, and"
        " did not compute in that time (for a minute at the most). When something fails, nothing is"
        " written. A file is replaced as a whole or not at all.\n\n"
        "Without --run it is a console, which reads commands from the standard input; the end of"
        " the input ends it. Words are split as a shell does. A line that begins with # says"
        " nothing. From a pipe or a file, a command that fails does not end it, but makes the exit"
        " code 1.\n\n"
        "  help               list the commands\n"
        "  list               the extensions, their state, their commands\n"
        "  run COMMAND        tell the extension that has it to run it; see wait\n"
        "  wait [TIME]        until all extensions are quiet, or fail after TIME (30s)\n"
        "  show [FORMAT]      the message, a segment a line: hl7, json, yaml, toml\n"
        "  get PATH           what stands there: PID.5.1, OBX[2].5, PID.3[2].1\n"
        "  set PATH VALUE     put a text there; separators in it are escaped\n"
        "  create SEG         add an empty segment: NK1, or NK1[2]\n"
        "  remove SEG         take a segment away\n"
        "  undo               take the last change back\n"
        "  save [FILE]        write the message to its file, or to that one\n"
        "  open FILE          another message in place of this one\n"
        "  new                an empty message in place of this one\n"
        "  windows            the windows that are open\n"
        "  close WINDOW       close one, as its user would\n"
        "  log [N]            the last N lines that extensions have logged (20)\n"
        "  schema             how extensions want fields to be shown, as JSON\n"
        "  reload [EXTENSION] start it anew (its name, or its number in the list); all\n"
        "  disable EXTENSION  end it\n"
        "  quit               end; changes that are not saved are lost\n\n"
        "A dialog of an extension is answered by --answer. Without one it is asked at the terminal"
        " if the console is at a terminal; else messages count as read, questions are answered with"
        " no, and no file is chosen. Several answers to one kind of dialog are given one after the"
        " other, and the last one stays. Paths are made absolute.\n\n"
        "  showMessage=ok            showConfirm=yes           showConfirm=no\n"
        "  openFile=PATH             openFiles=PATH:PATH...    saveFile=PATH\n"
        "  selectDirectory=PATH      DIALOG=cancel             any=cancel\n\n"
        "What happens is told on the standard error: states of extensions, their logs, changes,"
        " windows, dialogs. Results are on the standard output. With --json both are there, an"
        " object a line, with these members besides \"event\":\n\n"
        "  state      extension, state (starting, initializing, running,\n"
        "             shutting_down, stopped, failed), reason if there is one\n"
        "  log        extension, level (info, warn, error), text\n"
        "  message    by (an extension, or null), text: the message is another one\n"
        "  window     extension, id, url, title, width, height, modal, resizable\n"
        "  closed     id, reason (user, extension, shutdown)\n"
        "  dialog     extension, method, params, answer (true, false, paths, null)\n"
        "  violation  extension, text: it broke the protocol\n"
        "  suppressed extension, text: how many of its log lines and violations are not\n"
        "             shown (more than 1,000 or 1 MiB a second, or the same)\n"
        "  result     command, ok, error if it is not; and what the command gives:\n"
        "             text, file, extension, extensions, windows, lines, schema,\n"
        "             commands; of --run: the command \"write\", format, text\n\n"
        "Text that is not UTF-8 has U+FFFD in it there, and \"lossy\": true behind it.\n\n"
        "Of the exit codes, 1 is a command that no extension has, or one of a console that is not"
        " at a terminal and failed, or that a command was answered with a failure (revision"
        " 2025-11-24); 3 means that not a single extension could be started; 4 that, with --run, an"
        " extension failed or ended by itself, or changed the message after it was written; 5 "
        "that, with --run, one did not "
        "answer"
        " initialize in time; 7 that the message can't be written in that format. SIGINT and"
        " SIGTERM stop the extensions and end with 130; nothing is written then. A second one ends"
        " at once.",
    .groups = groups,
    .examples = examples,
    .environment = environment,
    .codes = "13457",
    .word = CLI_A_FILE,
    .is_program = true,
    .size = sizeof(struct hermes_options),
};
