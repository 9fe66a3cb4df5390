/* work.h: the editor and what hangs on it. */
#ifndef HERMES_WORK_H
#define HERMES_WORK_H

#include "cli/tail.h"
#include "host/log_limiter.h"
#include "systems/hermes/command/command.h"

#include <duplex/hermes-host.h>
#include <duplex/recorder.h>

#include <sys/types.h>

/* A line of an extension's standard error. */
struct log_line {
    char *name;
    char *text;
    dx_hermes_level level;
};

enum { LOG_LINES = 1000, LOG_TEXT_MAX = 4096, OPENERS_MAX = 256 };

/* A command that went to an extension. */
struct sent {
    char *command; /* NULL: none did */
    char *file;    /* of the message that was open; NULL: it had none */
    uint64_t opened;
};

/* What is known of an extension beyond what the library says. */
struct member {
    dx_hermes_guest *guest;
    bool started;       /* there was a process */
    bool told;          /* a command of this session went to it, and it was not quiet since … */
    uint64_t told_ms;   /* … and when */
    uint64_t still_ms;  /* since then it is still … */
    uint64_t cpu_ms;    /* … and this is the processor time that it had used by then */
    bool failed;        /* it answered a command with a failure */
    bool done;          /* a command of --run counted as done … */
    bool warned;        /* … and it changed the message while another one ran */
    struct sent last;   /* the last one in a console … */
    struct sent before; /* … and the last one while another message was open before that */
    uint64_t warned_of; /* the message that it changed without knowing of it */
};

/* A program that opens a page. */
struct opener {
    pid_t pid;
    int fd; /* readable once it has exited; -1 if the kernel has no such thing */
};

/* What was read from a file. */
struct message {
    dx_buf text; /* UTF-8 */
    dx_hl7_file *file;
    size_t number; /* that was asked for; 0: none was */
    uint64_t hash; /* of all of the file */
    dx_error error;
};

struct work {
    const struct hermes_options *options;
    dx_loop *loop;
    dx_hermes *editor;
    dx_recorder *recorder;
    dx__log_limiter *limiter;
    uint64_t began_us;
    uint64_t settle_ms;
    bool interactive; /* a console at a terminal */
    bool prompted;    /* the cursor stands behind a prompt */
    bool leaving;     /* everything is on its way out */
    bool is_open;     /* a message was opened */
    bool deliver;     /* the message is to be written */
    bool stopped;
    const char *running;           /* the command of --run that is under way … */
    const dx_hermes_guest *runner; /* … and whose it is */

    struct member *members;
    size_t member_count;

    cli_written written;   /* by all extensions */
    struct log_line *logs; /* a ring of LOG_LINES */
    size_t log_count;      /* all that ever came */

    dx_hermes_dialog **dialogs; /* that wait for the user, the first one first */
    size_t dialog_count;
    size_t asked;          /* cli_voice.shown when the first one was put */
    unsigned answered[16]; /* by kind: how many dialogs --answer had an answer for */

    struct opener openers[OPENERS_MAX];
    size_t opener_count;
};

/* Dispatches what has come, at the latest at `until`. True if the standard input has something,
 * which is looked at only if `input`. */
bool work_wait(struct work *work, uint64_t until, bool input);

/* The extensions. */

/* Starts all that were asked for; *ret_count is how many did start. An exit code. */
int crew_start(struct work *work, size_t *ret_count);
struct member *crew_member(struct work *work, dx_hermes_guest *guest);
/* Had one of them to be killed, or did one send something that could not be read? An exit code. */
int crew_check_end(struct work *work);
/* Why it is not running any more: "exited on its own", … */
const char *crew_why(const dx_hermes_guest *guest);
/* Waits until none is starting, or a signal has come. */
void crew_wait_started(struct work *work);
bool crew_is_starting(const struct work *work);
/* Has it said nothing for long enough, and no request open, and does it compute nothing?
 * *ret_until: when to look again. */
bool crew_is_quiet(const struct work *work, struct member *member, uint64_t *ret_until);
void crew_on_answered(dx_hermes *editor, dx_hermes_guest *guest, int ok, void *user);
void crew_on_state(dx_hermes *editor, dx_hermes_guest *guest, void *user);

/* Commands that an extension may still be at work on when another message is opened. */

void unfinished_sent(struct work *work, struct member *member, const char *command);
void unfinished_forget(struct member *member);
/* It changed the message: was that meant for this one? */
void unfinished_warn(struct work *work, dx_hermes_guest *guest);
/* Is one known to be unfinished? Then its name is in `to`, with that of its extension. */
bool unfinished_find(const struct work *work, char *to, size_t room);

/* The message. */

/* By --format, else by how the name ends. `name` may be NULL. */
dx_hl7_format message_format(const struct work *work, const char *name);
/* Are --encoding and --message right? An exit code. */
int message_check(const struct hermes_options *options);
void message_init(struct message *message);
void message_done(struct message *message);
dx_text message_text(const struct message *message);
/* Reads a file (NULL: none, for a new message), converted to HL7 if it is something else: the
 * message of that number, 0 for the first. NULL, or why not, in `message` or static. */
const char *message_read(const struct work *work, const char *path, bool plain, size_t number,
                         struct message *message);
/* Appends it as UTF-8. DX_MISFIT and so on as dx_hermes_export(). */
dx_status message_export(const struct work *work, dx_hl7_format format, dx_buf *out,
                         dx_error *error);
/* For people: a segment a line. */
void message_show(dx_text text, dx_hl7_format format);
/* What --write, or the lack of it, asks for in the end. An exit code. */
int message_deliver(struct work *work);
/* Is it a file, and not the standard output? */
bool message_has_file(const struct work *work);
/* What was read from there ("-": from no file; NULL: nothing was) is the message from now on. NULL,
 * or why not, as message_read(); it must be HL7. */
const char *message_open(struct work *work, const char *path, struct message *message);
/* As a file, which is its own from then on. Its own file is replaced only if that is as it was read
 * or last saved, or with `overwrite`. NULL, or why not. */
enum { SAVE_FAILED, SAVE_MISFIT, SAVE_CHANGED }; /* it has no such form; its file was changed */
const char *message_save(struct work *work, const char *path, bool overwrite, dx_error *error,
                         int *ret_how);

/* Dialogs. */

/* Are the words of --answer right? An exit code. */
int answers_check(const struct hermes_options *options);
void answers_on_dialog(dx_hermes *editor, dx_hermes_dialog *dialog, void *user);
void answers_on_gone(dx_hermes *editor, dx_hermes_dialog *dialog, void *user);
/* 1: the word means yes, 0: no, -1: neither. */
int answers_read(const char *word);
/* The line is what the user says to the first dialog that waits; NULL: nothing more will come. */
void answers_take(struct work *work, const char *line);
/* The prompt of that dialog. */
const char *answers_prompt(const struct work *work);
/* The question itself. */
void answers_put_question(struct work *work);

/* Windows. */

int windows_check(const struct hermes_options *options);
int windows_on_open(dx_hermes *editor, const dx_hermes_window *window, const char **ret_why,
                    void *user);
void windows_on_close(dx_hermes *editor, const dx_hermes_window *window, const char *reason,
                      void *user);
void windows_tell_closed(struct work *work, const char *id, const char *reason);
/* Looks which programs have exited. */
void windows_reap(struct work *work);

/* News. */

/* Begins a line on the standard error: "NAME: ". */
void news_begin(struct work *work, const char *name);
void news_end(struct work *work);
void news_on_message(dx_hermes *editor, dx_hermes_guest *guest, void *user);
void news_on_log(dx_hermes *editor, dx_hermes_guest *guest, dx_hermes_level level, dx_text text,
                 void *user);
void news_on_violation(dx_hermes *editor, dx_hermes_guest *guest, const char *phrase, void *user);
void news_on_traffic(dx_hermes *editor, dx_hermes_guest *guest, int out, dx_text text, void *user);
void news_on_summary(const char *name, const char *text, void *user);
void news_tell_state(struct work *work, dx_hermes_guest *guest);
const char *news_level_name(dx_hermes_level level);
void news_done(struct work *work);

/* The console: lines from the standard input. An exit code. */
int console_run(struct work *work);

/* All of it. An exit code. */
int work_run(const struct hermes_options *options, const char *path);

#endif
