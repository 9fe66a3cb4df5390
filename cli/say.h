/* say.h: messages to people go to the standard error, results to the standard output; with --json
 * errors are results, too. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "cli/field.h"

#include <duplex/rpc.h>

#include <stdbool.h>
#include <stdio.h>
#include <yyjson.h>

/* The exit codes. */
enum {
    CLI_OK = 0,
    CLI_REFUSED = 1,   /* the peer answered with an error */
    CLI_USAGE = 2,     /* wrong words, or a file that can't be read */
    CLI_NO_START = 3,  /* the peer can't be started or reached */
    CLI_ENDED = 4,     /* the peer ended, or closed the conversation */
    CLI_LATE = 5,      /* a time was up */
    CLI_VIOLATION = 6, /* the peer broke the protocol */
    CLI_MISFIT = 7,    /* something does not fit its schema or protocol */
    CLI_BROKEN = 8,    /* what should have worked failed, where "refused" means findings */
    CLI_INTERRUPTED = 130
};

/* The verb at hand, for the beginning of messages, and how it shall speak. Set once, at the start.
 */
extern struct cli_voice {
    const char *verb;
    bool json;
    bool single;     /* with --json there is one result: remarks are left out of it */
    bool colour_out; /* on the standard output, and on the standard error */
    bool colour_err;
    bool terminal;   /* the standard output is one */
    bool configured; /* a configuration names the program that is started */
    bool events;     /* with --json an error is an event, too */
    size_t line;     /* the line of the standard input that is at hand; 0: none */
    size_t shown;    /* counts texts of peers that were printed, so that a question knows of them */
    int lost;        /* why not all of it could be written: an errno, or 0 */
} cli_voice;

/* One line: "duplex call: …". With --json an object on the standard output:
 * {"error":{"exit":4,"kind":"ended","message":"…"}}. Returns the code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with a second line that says what to do: "hint: …"; with --json a member "hint". `hint`
 * may be NULL. */
int cli_fail_hint(int code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes "within 5000 ms" of a phrase of ours as "within 5 s". */
void cli_say_seconds(char *phrase);
/* Only that second line. */
void cli_put_hint(const char *hint);
/* The same with what more there is to say, as members of that object; `more` may be NULL. Lines of
 * `detail` (may be absent) follow on the standard error, indented. */
int cli_fail_with(int code, const char *message, yyjson_mut_doc *doc, yyjson_mut_val *more,
                  dx_text detail);
/* A member of an object: JSON is UTF-8, whatever a peer writes to its standard error or calls its
 * files. What is none becomes U+FFFD; then it returns false. */
bool cli_add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, dx_text text);
/* A remark that is no error; nothing with --json. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same also with --json: for a loss that no result tells. */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The warning that goes with the option --any-user. */
#define CLI_ANY_USER "--any-user: every user of this machine can connect and act with your rights"

/* Whoever reads the standard output may wait for what is in its buffer. That it can't be written is
 * told at the end. */
void cli_flush(void);
/* The end of all output; that not all of it could be written is told on the standard error. The
 * exit code of the whole: `code`, unless that was 0 and something is lost. */
int cli_finish(int code);

/* The word for an exit code in that object. */
const char *cli_code_name(int code);

/* A peer's text was printed there, unless that is memory. */
void cli_count_shown(FILE *stream);

/* Colour, if that stream has it: "" otherwise. */
typedef enum cli_colour {
    CLI_PLAIN,
    CLI_BOLD,
    CLI_DIM,
    CLI_RED,
    CLI_GREEN,
    CLI_YELLOW,
    CLI_CYAN
} cli_colour;
const char *cli_paint(FILE *stream, cli_colour colour);
/* A line of a peer's document, such as the output of a tool: what would steer a terminal is shown
 * as \x1b and so on. Names, log lines and questions: cli/field.h. */
void cli_put_document(FILE *stream, dx_text text);
/* JSON as it came, but on one line, and with nothing that steers a terminal. */
void cli_put_line(FILE *stream, dx_text json);
/* JSON for people: indented and coloured on a terminal, one line otherwise; dx_json_mend() first.
 */
void cli_put_json(FILE *stream, dx_text json);
/* Reads JSON of a peer, which was checked, with dx_json_mend() where nothing else helps. NULL: it
 * can't be read, or there is no memory. */
yyjson_doc *cli_read_theirs(dx_text json, yyjson_read_flag flags);
/* A note that what `method` was answered with is not shown as it came; `mended` as in dx_event. */
void cli_note_mended(const char *method, unsigned mended);

#endif
