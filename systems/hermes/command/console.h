/* console.h: what the commands of the console share. */
#ifndef HERMES_CONSOLE_H
#define HERMES_CONSOLE_H

#include "cli/event.h"
#include "systems/hermes/command/words.h"
#include "systems/hermes/command/work.h"

enum pause { PAUSE_NONE, PAUSE_QUIET, PAUSE_STARTED };

struct console {
    struct work *work;
    char *data; /* what came from the standard input and is not taken yet */
    size_t len;
    size_t cap;
    bool skipping; /* the line at hand is too long */
    bool ended;    /* nothing more will come */
    bool quit;
    const struct console_command *warned; /* that changes would be lost; said again, they are */
    int code;

    const struct console_command *command; /* that is at work */
    yyjson_mut_doc *event;                 /* its result, with --json */
    char why[512];                         /* what is wrong, where that has to be put together */
    enum pause pause;                      /* what it waits for, … */
    uint64_t until;                        /* … and how long */
    char *pending;                         /* of PAUSE_STARTED: what is run then */
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
/* Would changes be lost, and was the user not warned yet? NULL: go on. */
const char *console_guard(struct console *console);

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
