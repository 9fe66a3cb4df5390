/* What the files of the editor share. */
#ifndef HERMES_PARTS_H
#define HERMES_PARTS_H

#include "base/alloc.h"
#include "systems/hermes/hermes_text.h"
#include "systems/hermes/hl7_parts.h"
#include <duplex/hermes-host.h>

#include <stdbool.h>

/* Open dialogs of one extension; bytes of a URL or a title. */
enum { HERMES_DIALOGS_MAX = 100, HERMES_URL_MAX = 64 << 10, HERMES_TITLE_MAX = 4 << 10 };

/* Answers to what can't be read, of one extension in one second: the rest is only reported. */
enum { HERMES_REFUSALS_MAX = 10 };

/* Codes of the protocol's own. */
enum {
    HERMES_NO_MESSAGE = -32003,
    HERMES_BAD_MESSAGE = -32004,
    HERMES_BAD_URL = -32007,
    HERMES_WINDOW_ERROR = -32008,
    HERMES_DIALOG_ERROR = -32012
};

/* A version of the message; each has a number of its own, by which it is known again after an undo.
 */
typedef struct hermes_version {
    char *at; /* its text; NULL: it is empty, or only … */
    size_t len;
    dx_hl7 *hl7; /* … what was read of it is there; NULL: it was not read, or is not HL7 */
    uint64_t number;
} hermes_version;

/* The way back to a version: the whole of it, or what the edit after it changed. */
typedef struct hermes_step {
    hermes_version version;
    hl7_journal journal; /* if it is not whole: version has a number only */
    bool is_whole;
    size_t size;
} hermes_step;

/* The oldest step first. */
typedef struct hermes_undo {
    hermes_step *steps;
    size_t count;
    size_t cap;
    size_t bytes;
    size_t dropped; /* steps that were given up since the message was opened */
    unsigned max;
    size_t bytes_max;
} hermes_undo;

typedef struct hermes_discarded hermes_discarded;

typedef struct hermes_window {
    dx_hermes_window open; /* what the embedder sees; its strings stand behind this */
    struct hermes_window *next;
} hermes_window;

struct dx_hermes {
    dx_loop *loop;
    dx_hermes_config config;
    dx_allocator alloc;
    dx_protocol *protocol;
    char *words; /* the strings of the configuration */
    bool exact;
    bool stopping; /* on_stopped is still to come */
    hermes_version text;
    uint64_t number; /* of the newest version */
    uint64_t saved;  /* of the one that was opened or saved */
    char *path;
    uint64_t tag; /* the embedder's */
    bool has_opened;
    bool is_new;
    uint64_t opened; /* messages, also those that an undo brought back */
    hermes_undo undo;
    hermes_discarded *discarded; /* the last one first */
    dx_timer *rest;              /* until the message has rested */
    dx_timer *stopped; /* on_stopped comes from a dispatch, where the editor may be freed */
    dx_hermes_guest **guests;
    size_t guest_count;
    size_t guest_cap;
    hermes_window *windows; /* in the order in which they were opened */
};

struct dx_hermes_dialog {
    dx_hermes_guest *guest;
    dx_hermes_dialog *next;
    dx_event *event;
    dx_hermes_dialog_kind kind;
};

/* A request that waits until the one before it is answered (revision exact). */
typedef struct hermes_waiting {
    dx_event *event;
    struct hermes_waiting *next;
} hermes_waiting;

struct dx_hermes_guest {
    dx_hermes *editor;
    char **argv; /* one block with its words */
    char **env;
    bool inherit_env;
    dx_child *child; /* NULL without a process */
    dx_event *facts; /* the answer to initialize */
    dx_hermes_state state;
    unsigned run;
    bool restart;       /* when its process is gone */
    bool leaving;       /* it was told to, or its process is on its way out */
    bool shut;          /* and has answered that */
    bool late;          /* it did not answer initialize in time */
    dx_timer *farewell; /* after shutdown was sent */
    uint64_t told_ms;   /* when that was … */
    uint64_t read_ms;   /* … and since when it has read it; 0: not yet */
    size_t lost;        /* messages that could not be read */
    uint64_t heard;
    uint64_t refused_ms; /* the second in which … */
    unsigned refused;    /* … so many messages that can't be read were answered */
    uint64_t moved;      /* bytes in both directions, when that was last looked at */
    size_t commands;     /* that are not answered (revision 2025-11-24) */
    uint64_t got;        /* dx_hermes.opened when it last got the message … */
    uint64_t told_of; /* … and when it was first sent something about a message after another */
    uint64_t told_bytes; /* … and how much it had been sent by then */
    size_t window_count;
    size_t dialog_count;
    dx_hermes_dialog *dialogs;
    hermes_waiting *waiting;
    size_t waiting_count;
    size_t waiting_bytes;
    bool serving;   /* those that waited have their turn … */
    dx_event *kept; /* … and this is the one that has it now, unless a dialog took it */
    char label[64]; /* what a trace calls it: never changes */
    char name[200];
    char why[200];
};

/* words.c: the words of a command line, in one block that ends with NULL; see dx_hermes_entry. */
dx_status hermes_words_split(const dx_allocator *alloc, const char *line, char ***ret_words,
                             dx_error *reterr);
/* A copy of up to two lists, one behind the other, in one block; each may be NULL. What stands in
 * the second replaces what has the same NAME= in the first if `by_name`. */
dx_status hermes_words_join(const dx_allocator *alloc, const char *const *first,
                            const char *const *second, bool by_name, char ***ret_words);

/* version.c */
void hermes_version_done(hermes_version *version, const dx_allocator *alloc);
/* From now on it is part of that file, which may be NULL. */
void hermes_version_attach(hermes_version *version, dx_hl7_file *file);
size_t hermes_version_size(const hermes_version *version);
/* Its text, which is lent; it is written first if necessary. DX_ERR_NOMEM. */
dx_status hermes_version_text(hermes_version *version, const dx_allocator *alloc,
                              dx_text *ret_text);
/* Reads it, unless that was done before. DX_MISFIT with reterr. */
dx_status hermes_version_read(hermes_version *version, const dx_hl7_config *config,
                              dx_error *reterr);

/* undo.c */
void hermes_undo_done(hermes_undo *undo, const dx_allocator *alloc);
/* Room for one more step; must succeed before hermes_undo_push(), which takes it. */
dx_status hermes_undo_reserve(hermes_undo *undo, const dx_allocator *alloc);
void hermes_undo_push(hermes_undo *undo, const dx_allocator *alloc, hermes_step take_step);
/* The one that is next; NULL: there is none. */
hermes_step *hermes_undo_last(hermes_undo *undo);
/* That one was done; a whole version belongs to the caller. */
void hermes_undo_pop(hermes_undo *undo);

/* edit.c: changes of the message in place. */
typedef struct hermes_edit {
    dx_hl7 *hl7; /* what is to be changed */
    hl7_journal journal;
} hermes_edit;

/* DX_MISFIT with reterr: it is no HL7 message. Every edit that has begun must end. */
dx_status hermes_edit_begin(dx_hermes *editor, hermes_edit *edit, dx_error *reterr);
/* Keeps what was changed, by that extension (NULL: by the user), or takes it back if `status` is a
 * failure, which it returns. */
dx_status hermes_edit_end(dx_hermes *editor, hermes_edit *edit, dx_status status,
                          dx_hermes_guest *guest);

/* discarded.c */
/* Keeps the message with its path and what can be undone, and leaves the editor without one. */
dx_status hermes_discarded_push(dx_hermes *editor);
/* Brings the last one back. DX_BUSY: that would discard changes; DX_AGAIN: there is none. */
dx_status hermes_discarded_pop(dx_hermes *editor);
void hermes_discarded_done(dx_hermes *editor);

/* editor.c: another text, by that extension (NULL: by the user). */
dx_status hermes_editor_set(dx_hermes *editor, dx_text text, dx_hermes_guest *guest);
/* The text of that message replaces the editor's. */
dx_status hermes_editor_take(dx_hermes *editor, const dx_hl7 *hl7, dx_hermes_guest *guest);
/* What was read of the text, lent until the next change. */
dx_status hermes_editor_read(const dx_hermes *editor, const dx_hl7 **ret_hl7, dx_error *reterr);
void hermes_editor_tell(dx_hermes *editor, dx_hermes_guest *guest);
/* It is another version now, with that number. */
void hermes_editor_changed(dx_hermes *editor, uint64_t number, dx_hermes_guest *guest);
yyjson_alc hermes_alc(const dx_hermes *editor);

/* guest.c */
dx_status hermes_guest_start(dx_hermes_guest *guest, dx_error *reterr);
dx_hermes_guest *hermes_guest_free(dx_hermes_guest *guest);
/* Asks it to leave; what became of windows and dialogs is told first. */
void hermes_guest_stop(dx_hermes_guest *guest, const char *reason);
dx_link *hermes_guest_link(const dx_hermes_guest *guest);
void hermes_guest_violation(dx_hermes_guest *guest, const char *phrase);
/* Does the editor stop, and is every extension gone? Then on_stopped is due. */
void hermes_stop_check(dx_hermes *editor);

/* It was just sent an event or a command: once it has read that, it knows of the open message. */
void hermes_guest_told(dx_hermes_guest *guest);

/* facts.c: what it answered to initialize. */
/* What is wrong with it, or DX_OK. */
dx_status hermes_facts_check(dx_hermes_guest *guest, yyjson_val *facts, dx_misfit *reterr);
bool hermes_facts_has_command(const dx_hermes_guest *guest, dx_text command);
/* Did it ask for that event? *ret_options may be set to NULL. */
bool hermes_facts_wants(const dx_hermes_guest *guest, const char *event, yyjson_val **ret_options);

/* serve.c: a request or notification came. */
void hermes_serve(dx_hermes_guest *guest, const dx_event *event);
/* Those that wait for the one before them; see H17. */
void hermes_serve_next(dx_hermes_guest *guest);
void hermes_serve_forget(dx_hermes_guest *guest);

/* answer.c: answers. `detail` is the data by default, the message under exact; may be NULL. */
dx_status hermes_answer(dx_hermes_guest *guest, dx_request request, yyjson_mut_val *result);
/* {"success": true}, or false with the error `why` if that is not NULL. */
void hermes_answer_success(dx_hermes_guest *guest, dx_request request, const char *why);
void hermes_refuse(dx_hermes_guest *guest, dx_request request, int64_t code, const char *detail);
/* The same with what exact has in front of the detail. */
void hermes_refuse_exactly(dx_hermes_guest *guest, dx_request request, int64_t code,
                           const char *prefix, const char *detail);
void hermes_refuse_nomem(dx_hermes_guest *guest, dx_request request);

/* message.c, windows.c, dialogs.c: the methods. `params` fit. */
void hermes_get_message(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params);
void hermes_set_message(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params);
void hermes_patch_message(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params);
void hermes_open_window(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params);
void hermes_close_window(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params);
/* Its windows close; it is told so if it is still there. */
void hermes_windows_end(dx_hermes_guest *guest, const char *reason);
void hermes_windows_free(dx_hermes *editor);
void hermes_dialog_open(dx_hermes_guest *guest, const dx_event *event, dx_hermes_dialog_kind kind);
/* Its dialogs are gone; `why` is what it is told, if it is still there. */
void hermes_dialogs_end(dx_hermes_guest *guest, const char *why);
void hermes_dialogs_free(dx_hermes_guest *guest);

/* url.c: NULL, or what is wrong with it; *ret_is_scheme is set if it has another scheme. */
const char *hermes_url_check(dx_text url, bool *ret_is_scheme);

/* news.c */
/* The timer of what has to rest. */
dx_status hermes_news_init(dx_hermes *editor);
void hermes_news_opened(dx_hermes *editor, bool is_new);
/* To one that came when the message was open already. */
void hermes_news_welcome(dx_hermes_guest *guest);
void hermes_news_saved(dx_hermes *editor, bool save_as);
void hermes_news_changed(dx_hermes *editor);
void hermes_news_window(dx_hermes_guest *guest, const char *id, const char *reason);

/* logs.c: the level of a line, and the rest of it. */
dx_hermes_level hermes_log_level(dx_text line, dx_text *ret_text);

#endif
