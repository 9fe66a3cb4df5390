/* console.h: what the commands of the console share. */
#ifndef HERMES_CONSOLE_H
#define HERMES_CONSOLE_H

#include "cli/event.h"
#include "systems/hermes/command/words.h"
#include "systems/hermes/command/work.h"

enum pause { PAUSE_NONE, PAUSE_QUIET, PAUSE_STARTED, PAUSE_ASKED };

struct console {
    struct work *work;
    char *data; /* what came from the standard input and is not taken yet */
    size_t len;
    size_t cap;
    bool skipping; /* the line at hand is too long */
    bool ended;    /* nothing more will come */
    bool quit;
    bool discard; /* the user has said that changes may be lost */
    int code;

    const struct console_command *command; /* that is at work … */
    const char *line;                      /* … and how it was typed */
    yyjson_mut_doc *event;                 /* its result, with --json */
    char why[512];                         /* what is wrong, where that has to be put together */
    enum pause pause;                      /* what it waits for, … */
    uint64_t until;                        /* … and how long */
    char busy[300];                        /* PAUSE_ASKED: the command that is not finished */
    char *pending; /* PAUSE_STARTED: what is run then; PAUSE_ASKED: the line that is meant */
};

struct console_command {
    const char *name;
    const char *words; /* what follows it */
    const char *help;
    size_t least;
    size_t most;
    /* NULL: done, or console->pause is set. Otherwise why not. */
    const char *(*run)(struct console *console, char **words);
};

extern const struct console_command console_commands[];

/* A phrase in console->why. */
const char *console_why(struct console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A number from 1; 0 if the word is none. */
size_t console_number(const char *word);
/* May unsaved changes be lost? If not, *ret_why says so, or is NULL: then the user is asked, and
 * the command is taken again once that is answered with yes. */
bool console_may_discard(struct console *console, const char **ret_why);
/* The same for another message in place of this one, which a command may still be at work on. */
bool console_may_replace(struct console *console, const char **ret_why);

enum { NOTE_ROOM = 600 };
/* Would that value, which is not there yet, get separators escaped? Then the note says which, and
 * where what they separate can be set. */
bool separators_look(const dx_hermes *editor, const char *path, const char *value,
                     char note[NOTE_ROOM]);

const char *console_show(struct console *console, char **words);
const char *console_get(struct console *console, char **words);
const char *console_set(struct console *console, char **words);
const char *console_create(struct console *console, char **words);
const char *console_remove(struct console *console, char **words);
const char *console_undo(struct console *console, char **words);
const char *console_save(struct console *console, char **words);
const char *console_open(struct console *console, char **words);
const char *console_new(struct console *console, char **words);

const char *console_list(struct console *console, char **words);
const char *console_windows(struct console *console, char **words);
const char *console_close(struct console *console, char **words);
const char *console_log(struct console *console, char **words);
const char *console_schema(struct console *console, char **words);
const char *console_reload(struct console *console, char **words);
const char *console_disable(struct console *console, char **words);

#endif
