#include "systems/hermes/command/console.h"

#include "cli/describe/nearest.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_LEN_MAX = 1 << 20, WAIT_MS = 30000 };

const char *console_why(struct console *console, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(console->why, sizeof console->why, format, list);
    va_end(list);
    return console->why;
}

/* False; a terminal is asked about what *ret_why says. */
static bool ask(struct console *console, const char **ret_why) {
    if (!console->work->interactive)
        return false;
    console->pending = strdup(console->line);
    console->pause = PAUSE_ASKED;
    console->until = DX_NEVER;
    *ret_why = console->pending ? NULL : "out of memory";
    return false;
}

bool console_may_discard(struct console *console, const char **ret_why) {
    console->busy[0] = '\0';
    if (console->discard || !dx_hermes_is_changed(console->work->editor))
        return true;
    *ret_why =
        console_why(console, "the message has unsaved changes; save them, or use %s --discard",
                    console->command->name);
    return ask(console, ret_why);
}

bool console_may_replace(struct console *console, const char **ret_why) {
    bool is_changed = dx_hermes_is_changed(console->work->editor);
    if (console->discard || !unfinished_find(console->work, console->busy, sizeof console->busy))
        return console_may_discard(console, ret_why);
    *ret_why = console_why(console, "%s has not finished%s or use %s --discard", console->busy,
                           is_changed ? ", and the message has unsaved changes; wait and save,"
                                      : "; wait for it,",
                           console->command->name);
    return ask(console, ret_why);
}

/* Results. */

static void finish(struct console *console, const char *why) {
    const char *name = console->command ? console->command->name : "";
    if (console->event) {
        cli_event_add_bool(console->event, "ok", !why);
        if (why)
            cli_event_add(console->event, "error", why);
        cli_event_put(console->event);
    } else if (why) {
        cli_flush();
        fprintf(stderr, "%s%s%s%s", cli_paint(stderr, CLI_RED), name, *name ? ": " : "",
                cli_paint(stderr, CLI_PLAIN));
        cli_put_safe(stderr, dx_str(why));
        fputc('\n', stderr);
    }
    if (why && !console->work->interactive)
        console->code = CLI_REFUSED;
    console->event = NULL;
    console->command = NULL;
    console->pause = PAUSE_NONE;
    free(console->pending);
    console->pending = NULL;
}

static void begin(struct console *console, const char *name) {
    if (!cli_voice.json)
        return;
    console->event = cli_event_new("result");
    cli_event_add(console->event, "command", name);
}

/* Commands that wait. */

static const char *run_now(struct console *console, const char *command) {
    struct work *work = console->work;
    dx_hermes_guest *guest = NULL;
    dx_status status = dx_hermes_run(work->editor, dx_str(command), &guest);
    if (status != DX_OK)
        return console_why(
            console, status == DX_GONE ? "no extension has the command '%s'" : "cannot run '%s'",
            command);
    struct member *member = crew_member(work, guest);
    if (member) {
        unfinished_sent(work, member, command);
        member->told = true;
        member->told_ms = cli_now();
    }
    if (console->event)
        cli_event_add(console->event, "extension", dx_hermes_guest_name(guest));
    return NULL;
}

static const char *do_run(struct console *console, char **words) {
    if (!crew_is_starting(console->work))
        return run_now(console, words[0]);
    console->pending = strdup(words[0]);
    console->pause = PAUSE_STARTED;
    console->until = DX_NEVER; /* their own time is limited */
    return console->pending ? NULL : "out of memory";
}

static const char *do_wait(struct console *console, char **words) {
    uint64_t ms = WAIT_MS;
    if (words[0] && !cli_parse_time(words[0], &ms))
        return "expected a time such as 5s or 500ms";
    console->pause = PAUSE_QUIET;
    console->until = ms == CLI_NEVER ? DX_NEVER : cli_now() + ms;
    return NULL;
}

/* Have all that run said nothing for long enough? *ret_until: when to look again. */
static bool all_quiet(struct work *work, uint64_t *ret_until) {
    bool quiet = true;
    dx_hermes_guest *guest;
    *ret_until = DX_NEVER;
    for (size_t i = 0; (guest = dx_hermes_guest_at(work->editor, i)); i++) {
        struct member *member = crew_member(work, guest);
        dx_hermes_state state = dx_hermes_guest_state(guest);
        uint64_t until = DX_NEVER;
        if (!member || state == DX_HERMES_STOPPED || state == DX_HERMES_FAILED)
            continue;
        quiet &= state == DX_HERMES_RUNNING && crew_is_quiet(work, member, &until);
        *ret_until = until < *ret_until ? until : *ret_until;
    }
    return quiet;
}

/* One that was told to do something must have lived to do it. */
static const char *look_who_ended(struct console *console) {
    const char *why = NULL;
    for (size_t i = 0; i < console->work->member_count; i++) {
        struct member *member = &console->work->members[i];
        if (member->told && dx_hermes_guest_state(member->guest) != DX_HERMES_RUNNING)
            why = console_why(console, "%s %s", dx_hermes_guest_name(member->guest),
                              crew_why(member->guest));
        member->told = false;
    }
    return why;
}

/* Goes on with the command that waits, if it can. When to look again. */
static uint64_t look_at_pause(struct console *console) {
    uint64_t until = DX_NEVER;
    if (console->pause == PAUSE_STARTED && !crew_is_starting(console->work))
        finish(console, run_now(console, console->pending));
    else if (console->pause == PAUSE_QUIET && all_quiet(console->work, &until))
        finish(console, look_who_ended(console));
    else if (console->pause && cli_now() >= console->until)
        finish(console, "timed out: the extensions are still busy");
    return until < console->until ? until : console->until;
}

/* The rest of the table. */

static const char *do_help(struct console *console, char **words) {
    (void)words;
    if (!console->event)
        for (const struct console_command *one = console_commands; one->name; one++)
            printf("%-8s %-16s %s\n", one->name, one->words, one->help);
    yyjson_mut_val *all = console->event ? yyjson_mut_arr(console->event) : NULL;
    for (const struct console_command *one = console_commands; all && one->name; one++)
        yyjson_mut_arr_add_str(console->event, all, one->name);
    if (all)
        cli_event_add_value(console->event, "commands", all);
    return NULL;
}

/* A script that reads, edits and saves nothing is fine: it is warned in the end. */
static const char *do_quit(struct console *console, char **words) {
    const struct work *work = console->work;
    const char *why = NULL;
    (void)words;
    console->quit =
        !work->interactive || work->options->write || console_may_discard(console, &why);
    return why;
}

const struct console_command console_commands[] = {
    {"help", "", "list the commands", 0, 0, do_help},
    {"list", "", "list the extensions, their states and commands", 0, 0, console_list},
    {"run", "COMMAND", "run a command of an extension", 1, 1, do_run},
    {"show", "[FORMAT]", "print the message as hl7, json, yaml or toml", 0, 1, console_show},
    {"get", "PATH", "print the value at a path such as PID.5.1", 1, 1, console_get},
    {"set", "PATH VALUE",
     "set the value at a path; separators in it are escaped; backslashes and \"\" stay", 2, 2,
     console_set},
    {"create", "SEG", "add a segment such as NK1 or NK1[2]", 1, 1, console_create},
    {"remove", "SEG", "remove a segment", 1, 1, console_remove},
    {"undo", "", "undo the last change", 0, 0, console_undo},
    {"save", "[--overwrite] [FILE]", "save the message to its file, or to FILE", 0, 2,
     console_save},
    {"open", "[--discard] FILE [N]", "open another message; N: the message of that number in it", 1,
     3, console_open},
    {"new", "[--discard]", "start an empty message", 0, 1, console_new},
    {"windows", "", "list the open windows", 0, 0, console_windows},
    {"close", "WINDOW", "close a window, by its number or id", 1, 1, console_close},
    {"log", "[N]", "print the last N log lines of extensions (20)", 0, 1, console_log},
    {"schema", "", "print what extensions say about fields, as JSON", 0, 0, console_schema},
    {"reload", "[EXTENSION]", "restart one extension, or all of them", 0, 1, console_reload},
    {"disable", "EXTENSION", "stop an extension", 1, 1, console_disable},
    {"wait", "[TIME]", "wait until all extensions are quiet, at most TIME (30s)", 0, 1, do_wait},
    {"quit", "", "quit; so does the end of the input", 0, 0, do_quit},
    {NULL, NULL, NULL, 0, 0, NULL},
};

static const struct console_command *find_command(const char *name) {
    const struct console_command *command = console_commands;
    while (command->name && strcmp(command->name, name) != 0)
        command++;
    return command->name ? command : NULL;
}

/* What people type for some of them. */
static const char *meaning_of(const char *name) {
    static const char *const words[][2] = {
        {"exit", "quit"},  {"q", "quit"},        {"bye", "quit"},      {"ls", "list"},
        {"print", "show"}, {"cat", "show"},      {"add", "create"},    {"insert", "create"},
        {"rm", "remove"},  {"delete", "remove"}, {"write", "save"},    {"load", "open"},
        {"?", "help"},     {"stop", "disable"},  {"restart", "reload"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

static const char *command_at(const void *commands, size_t index) {
    return ((const struct console_command *)commands)[index].name;
}

static const char *unknown(struct console *console, const char *name) {
    const char *meant = meaning_of(name);
    char *near = meant ? strdup(meant) : cli_nearest_of(command_at, console_commands, name);
    const char *why =
        near ? console_why(console, "unknown command '%s'; did you mean %s?", name, near)
             : console_why(console, "unknown command '%s'; 'help' lists the commands", name);
    free(near);
    return why;
}

static bool is_set(const char *line) {
    line += strspn(line, " \t");
    return strncmp(line, "set", 3) == 0 && strchr(" \t", line[3]);
}

static void take_command(struct console *console, const char *line) {
    struct words words = {NULL, 0};
    const char *why = is_set(line) ? words_split_value(line, &words) : words_split(line, &words);
    if (!why && (!words.count || words.at[0][0] == '#')) {
        words_done(&words);
        return;
    }
    begin(console, why ? "" : words.at[0]);
    console->line = line;
    console->command = why ? NULL : find_command(words.at[0]);
    if (!why && !console->command)
        why = unknown(console, words.at[0]);
    else if (!why && words.count - 1 < console->command->least)
        why = console_why(console, "missing argument; usage: %s %s", words.at[0],
                          console->command->words);
    else if (!why && words.count - 1 > console->command->most)
        why = "too many arguments; put quotes around a value that contains spaces";
    else if (!why)
        why = console->command->run(console, words.at + 1);
    if (why || !console->pause)
        finish(console, why);
    if (words.at)
        words_done(&words);
}

/* Lines. */

/* The next whole line, without CR at its end, NULL if there is none yet; to be freed. What is too
 * long is left out, and fails. */
static char *next_line(struct console *console) {
    const char *end = console->len ? memchr(console->data, '\n', console->len) : NULL;
    size_t len = end ? (size_t)(end - console->data) : console->len;
    bool is_line = end || (console->ended && console->len);
    bool too_long = len > LINE_LEN_MAX;
    if (!is_line && !too_long)
        return NULL;
    bool fails = !console->skipping && (too_long || memchr(console->data, '\0', len));
    size_t text_len = len - (len && console->data[len - 1] == '\r');
    char *line = !console->skipping && !fails ? strndup(console->data, text_len) : NULL;
    size_t taken = len + (end != NULL);
    console->skipping = !is_line;
    console->len -= taken;
    memmove(console->data, console->data + taken, console->len);
    if (fails || (is_line && !line)) {
        if (fails) {
            begin(console, "");
            finish(console, too_long ? "the line is too long" : "the line contains a NUL byte");
        }
        return strdup("");
    }
    return line;
}

static void fill(struct console *console) {
    if (console->cap - console->len < 65536) {
        char *data = realloc(console->data, console->cap + 65536);
        if (!data) {
            console->code = cli_fail(CLI_NO_START, "out of memory");
            console->ended = true;
            return;
        }
        console->data = data;
        console->cap += 65536;
    }
    ssize_t len = read(STDIN_FILENO, console->data + console->len, 65536);
    if (len > 0)
        console->len += (size_t)len;
    else if (len == 0 || (errno != EINTR && errno != EAGAIN))
        console->ended = true;
}

static void put_prompt(const struct console *console) {
    struct work *work = console->work;
    if (!work->interactive)
        return;
    /* What an extension has printed since may look like another question. */
    if (work->dialog_count && work->asked != cli_voice.shown)
        answers_put_question(work);
    if (work->prompted)
        return;
    cli_flush();
    bool is_asked = console->pause == PAUSE_ASKED && !work->dialog_count;
    bool is_busy = is_asked && console->busy[0];
    if (is_busy) {
        cli_put_safe(stderr, dx_str(console->busy));
        fputs(" has not finished. ", stderr);
    }
    fputs(work->dialog_count                               ? answers_prompt(work)
          : is_busy && !dx_hermes_is_changed(work->editor) ? "Go on without waiting? [y/n] "
          : is_asked                                       ? "Discard unsaved changes? [y/n] "
                                                           : "hermes> ",
          stderr);
    work->prompted = true;
}

/* The answer to PAUSE_ASKED; NULL: the input has ended, which leaves, but opens nothing else. */
static void take_answer(struct console *console, const char *line) {
    bool yes = line ? answers_read(line) == 1 : strcmp(console->pending, "quit") == 0;
    if (line && answers_read(line) < 0) {
        fputs("answer y or n\n", stderr);
        return;
    }
    char *pending = console->pending;
    console->pending = NULL;
    finish(console, NULL);
    console->discard = yes;
    if (yes)
        take_command(console, pending);
    console->discard = false;
    free(pending);
}

/* The end of the input. At a terminal more may come. */
static void take_end(struct console *console) {
    struct work *work = console->work;
    if (work->interactive) {
        fputc('\n', stderr);
        work->prompted = false;
    }
    if (work->dialog_count)
        answers_take(work, NULL);
    else if (console->pause == PAUSE_ASKED)
        take_answer(console, NULL);
    else if (work->interactive)
        take_command(console, "quit");
    else
        console->quit = true;
    console->ended = !work->interactive;
}

static void take_line(struct console *console, const char *line) {
    console->work->prompted = false;
    if (console->work->dialog_count)
        answers_take(console->work, line);
    else if (console->pause == PAUSE_ASKED)
        take_answer(console, line);
    else
        take_command(console, line);
}

int console_run(struct work *work) {
    struct console console = {.work = work};
    while (!console.quit && !cli_interrupts()) {
        uint64_t until = console.pause ? look_at_pause(&console) : DX_NEVER;
        bool takes = !console.pause || console.pause == PAUSE_ASKED || work->dialog_count;
        char *line = takes ? next_line(&console) : NULL;
        if (line) {
            take_line(&console, line);
            free(line);
        } else if (takes && console.ended) {
            take_end(&console);
        } else {
            if (takes)
                put_prompt(&console);
            if (work_wait(work, console.pause ? until : DX_NEVER, takes && !console.ended))
                fill(&console);
        }
    }
    yyjson_mut_doc_free(console.event);
    free(console.pending);
    free(console.data);
    return console.code;
}
