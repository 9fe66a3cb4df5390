/* work.h: the host and what hangs on it. */
#ifndef REGINALD_WORK_H
#define REGINALD_WORK_H

#include "cli/tail.h"
#include "host/log_limiter.h"
#include "systems/reginald/command/command.h"
#include "systems/reginald/command/file.h"
#include "systems/reginald/command/flags.h"
#include "systems/reginald/command/logs.h"

#include <duplex/recorder.h>
#include <duplex/reginald-host.h>

/* How a call ended. */
struct ending {
    bool done;
    dx_outcome outcome;
    int64_t code;
    char *why;    /* to be freed; may be NULL */
    char *result; /* what a plugin answered, as JSON; the same */
};

struct work {
    const struct reginald_options *options;
    const char *letters; /* short options of duplex reginald before the command */
    const char *word;    /* what to do; "": the flags say it, once plugins are known */
    struct file file;
    struct flags flags;
    struct logs logs;
    dx_loop *loop;
    dx_reginald *host;
    dx_recorder *recorder;
    dx__log_limiter *limiter;
    cli_written written; /* by all plugins */
    uint64_t began_us;
    uint64_t stop_ms;
    unsigned errors_max;
    bool quiet;   /* plugins that fail are told by somebody else */
    bool misfit;  /* the settings of a plugin as a whole did not fit */
    bool stopped; /* all plugins are gone */

    struct ending ending; /* of the command */
};

/* All of it. `letters`: the short options before the command; `word`: what to do. An exit code. */
int work_run(const struct reginald_options *options, const char *letters, const char *word,
             char **flags);
/* Is that the word for the tasks? */
bool work_attends(const char *word);

/* Waits until something has happened. */
void work_wait(struct work *work);
/* For on_done: keeps how a call ended in a struct ending, which `user` is. */
void work_ended(dx_reginald *host, const dx_reginald_offer *offer, dx_outcome outcome, int64_t code,
                const char *why, void *user);
/* The exit code of how a call to that plugin ended. */
int work_code(const struct work *work, dx_reginald_guest *guest, dx_outcome outcome);
/* The one of a command or task that nobody has. */
int work_missing_code(const struct work *work);

/* The host. */
int crew_open(struct work *work);
void crew_wait_ready(struct work *work);
/* Stops them, and frees what is there. An exit code, which is `code` if all goes well. */
int crew_leave(struct work *work, int code);
const char *crew_state_name(dx_reginald_state state);

/* What can be done. Exit codes. */
int command_run(struct work *work, const char *name);
int plugins_run(struct work *work);
/* "did you mean …?", if the word is like a command of duplex reginald itself, or one that people
 * try for it; to be freed. NULL: it is not. */
char *command_meant(const struct work *work);
/* The help of a command. */
void help_put(const dx_reginald_offer *command);

#endif
