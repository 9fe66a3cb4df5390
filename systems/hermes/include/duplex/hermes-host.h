/*
 * duplex/hermes-host.h: an editor of HL7 messages without a window, which extensions work for: the
 * host side of the Hermes Extension API.
 *
 *     dx_hermes_config config = dx_hermes_defaults();
 *     config.on_state = on_state;
 *     dx_hermes_new(loop, &config, &editor, &error);
 *     dx_hermes_open(editor, text, "patient.hl7", 0, &error);
 *     dx_hermes_add(editor, &(dx_hermes_entry){.path = "./normalise"}, NULL, &error);
 *     …
 *     dx_hermes_run(editor, dx_str("names/normalise"));       // once it is running
 *     …
 *     dx_hermes_stop(editor, "closing");                      // on_stopped comes in bounded time
 *
 * What holds:
 *   - Extensions start at once and in parallel. An extension has failed if it has not answered
 *     `initialize` within start_ms, if its answer is an error or does not fit the schema, or if it
 *     has exited; its process is ended.
 *   - Requests of an extension are served while others are open: a dialog holds up nobody.
 *   - What an extension sends is checked against the protocol before it gets here.
 *   - Windows and dialogs are the embedder's: this only keeps the books.
 *   - Text is HL7 as it was opened: every byte stays until a patch or a new text replaces it.
 *
 * An editor, its extensions and windows belong to the loop's thread. Callbacks come from a
 * dispatch, or from inside the function of this header that caused them. An editor must not be
 * freed in its own callbacks, except in on_stopped.
 */
#ifndef DUPLEX_HERMES_HOST_H
#define DUPLEX_HERMES_HOST_H

#include <duplex/child.h>
#include <duplex/hl7.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_hermes dx_hermes;
/* An extension, as the editor sees it. It stays until the editor is freed, whatever becomes of its
 * process. */
typedef struct dx_hermes_guest dx_hermes_guest;

typedef enum dx_hermes_state {
    DX_HERMES_STARTING = 1, /* it is to be started again when its old process is gone */
    DX_HERMES_INITIALIZING,
    DX_HERMES_RUNNING,
    DX_HERMES_SHUTTING_DOWN,
    DX_HERMES_STOPPED,
    DX_HERMES_FAILED /* dx_hermes_guest_why() says why */
} dx_hermes_state;
/* "starting", "initializing", "running", "shutting_down", "stopped", "failed". */
DX_API const char *dx_hermes_state_name(dx_hermes_state state);

typedef struct dx_hermes_entry {
    const char *path;        /* the program. Without args: it and its words, split like a shell does
                                (quotes, backslashes), but nothing is expanded */
    const char *const *args; /* what follows it, NULL at the end; may be NULL */
    const char *const *env;  /* "NAME=value" …, NULL at the end; may be NULL */
    int inherit_env;         /* pass the whole environment, whatever the configuration says */
} dx_hermes_entry;

/* Splits a line as the path of an entry: words, NULL at the end, in one block for free(). There may
 * be none. DX_ERR_INVALID with reterr (may be NULL): a quote or backslash is open; DX_ERR_NOMEM. */
DX_API dx_status dx_hermes_split(const char *line, char ***ret_words, dx_error *reterr);

typedef struct dx_hermes_window {
    const char *id;
    const char *url; /* http or https */
    const char *title;
    uint32_t width;
    uint32_t height;
    int modal;
    int resizable;
    dx_hermes_guest *guest; /* whose it is */
} dx_hermes_window;

typedef enum dx_hermes_dialog_kind {
    DX_HERMES_SHOW_MESSAGE = 1, /* message, title, kind */
    DX_HERMES_SHOW_CONFIRM,     /* message, title, buttons */
    DX_HERMES_OPEN_FILE,        /* title, defaultPath, filters */
    DX_HERMES_OPEN_FILES,
    DX_HERMES_SAVE_FILE, /* and defaultName */
    DX_HERMES_SELECT_DIRECTORY
} dx_hermes_dialog_kind;

/* A question to the user, open until it is answered or its extension is gone. */
typedef struct dx_hermes_dialog dx_hermes_dialog;

/* How important a line of an extension's standard error is, by how it begins ("[WARN]", "error:"
 * and so on, which is taken off). */
typedef enum dx_hermes_level {
    DX_HERMES_INFO = 1,
    DX_HERMES_WARN,
    DX_HERMES_ERROR
} dx_hermes_level;

typedef struct dx_hermes_config {
    const char *revision;       /* of the protocol: NULL, "exact" (with the defects of Hermes 0.1.0
                                   in what is answered and edited), "2025-11-24" */
    const char *version;        /* what extensions are told: "0.1.0", … */
    const char *api_version;    /* … "1.0" … */
    const char *data_directory; /* … and where they may keep their data; must be there ("/tmp") */
    int inherit_env;      /* hand on the whole environment, not only the small one of a child */
    const char *cwd;      /* where extensions run; NULL: here */
    uint64_t start_ms;    /* for the answer to initialize (10 s) */
    uint64_t stop_ms;     /* for the answer to shutdown (5 s), then it is killed */
    uint64_t busy_ms;     /* how long it may leave shutdown unread, because it is still at work on
                             something else; then stop_ms begins (0: it begins at once) */
    uint64_t changed_ms;  /* how long the message has to rest before it is told that it changed
                             (500 ms) */
    unsigned undo_max;    /* edits that can be undone (1000); older ones are forgotten */
    size_t undo_bytes;    /* and so are those beyond that much text (256 MiB): what patches
                             replaced, or the whole text that another one replaced */
    unsigned windows_max; /* open windows of one extension (100) */
    /* In which shape extensions get a message as json, yaml or toml: that of Hermes 0.1.0
     * (DX_HL7_SEGMENTS; always so in the revision exact), or that of the sample in the document, in
     * which the order of different segments is lost (DX_HL7_KEYS). Both are accepted; with
     * DX_HL7_SEGMENTS, segments as keys get the order of the open message, or are refused
     * (dx_hl7_import_like()). */
    dx_hl7_shape shape;
    dx_hl7_config hl7;
    dx_recorder *recorder; /* gets all traffic; may be NULL; must outlive the editor */

    /* Each may be NULL. */
    void (*on_state)(dx_hermes *editor, dx_hermes_guest *guest, void *user);
    /* The text is another one: by dx_hermes_edit() and the like (guest NULL) or by an extension. */
    void (*on_message)(dx_hermes *editor, dx_hermes_guest *guest, void *user);
    /* Opens it. 0: it is open. Otherwise *ret_why may be set to a phrase, which the extension is
     * told. NULL: every window counts as open. */
    int (*open_window)(dx_hermes *editor, const dx_hermes_window *window, const char **ret_why,
                       void *user);
    /* It is no longer to be there: the extension closed it, or is gone, or the editor stops.
     * `reason` is "extension" or "shutdown". */
    void (*close_window)(dx_hermes *editor, const dx_hermes_window *window, const char *reason,
                         void *user);
    /* A dialog is to be shown. It may be answered at once or later. NULL: messages count as read,
     * questions are answered with no, and nothing is chosen. */
    void (*on_dialog)(dx_hermes *editor, dx_hermes_dialog *dialog, void *user);
    /* It is no longer to be shown, because its extension is gone or about to leave: it can't be
     * used after this. */
    void (*on_dialog_gone)(dx_hermes *editor, dx_hermes_dialog *dialog, void *user);
    void (*on_log)(dx_hermes *editor, dx_hermes_guest *guest, dx_hermes_level level, dx_text text,
                   void *user);
    /* A command was answered, which only the revision 2025-11-24 does; not ok: it failed, or was
     * not answered in time. What was said about it is in the log. */
    void (*on_answered)(dx_hermes *editor, dx_hermes_guest *guest, int ok, void *user);
    /* The extension broke the protocol, or wrote stray text: one line about it. */
    void (*on_violation)(dx_hermes *editor, dx_hermes_guest *guest, const char *phrase, void *user);
    /* Every message that crosses, as in dx_peer_config. */
    void (*on_traffic)(dx_hermes *editor, dx_hermes_guest *guest, int out, dx_text text,
                       void *user);
    /* After dx_hermes_stop(): every extension is gone. */
    void (*on_stopped)(dx_hermes *editor, void *user);
    void *user;
} dx_hermes_config;

DX_API dx_hermes_config dx_hermes_defaults(void);

/* Strings of the configuration are copied. DX_ERR_INVALID with reterr (may be NULL; a revision that
 * is none), DX_ERR_NOMEM. */
DX_API dx_status dx_hermes_new(dx_loop *loop, const dx_hermes_config *config,
                               dx_hermes **ret_editor, dx_error *reterr);
/* Kills extensions that still run; no callback comes any more. */
DX_API dx_hermes *dx_hermes_free(dx_hermes *editor);
DX_API void *dx_hermes_user(const dx_hermes *editor);

/* The message. */

/* Another message in place of this one: `path` is its file (NULL: none yet), is_new says that it
 * was just made. Extensions are told (message/opened), and so are those that come later. What could
 * be undone is kept only if the message before had unsaved changes. Any text is taken, also none
 * and one that is no HL7: an editor holds what is typed. DX_ERR_LIMIT beyond hl7.text_max,
 * DX_ERR_NOMEM. */
DX_API dx_status dx_hermes_open(dx_hermes *editor, dx_text text, const char *path, int is_new,
                                dx_error *reterr);
/* The file that the message is part of (NULL: none), taken: from now on edits are refused that it
 * cannot hold (dx_hl7_check(); not in the revision exact), and dx_hermes_write() writes all of it.
 * dx_hermes_open() forgets it, so call this after it:
 *
 *     dx_hl7_file_read(&file_config, bytes, &text, &file, &error);
 *     dx_hermes_open(editor, (dx_text){text.data, text.len}, path, 0, &error);
 *     dx_hermes_set_file(editor, file);
 */
DX_API void dx_hermes_set_file(dx_hermes *editor, dx_hl7_file *take_file);
/* Another text for this message, as the user types it: can be undone, and is told once it rests.
 * DX_MISFIT: its file cannot hold that. */
DX_API dx_status dx_hermes_edit(dx_hermes *editor, dx_text text);
/* The same by patches (see dx_hl7_apply()): all or none. DX_MISFIT with a phrase in reterr. */
DX_API dx_status dx_hermes_patch(dx_hermes *editor, const dx_hl7_patch *patches, size_t count,
                                 dx_error *reterr);
/* Undoes the last edit; a list of patches is one. If there is none since the message was opened,
 * the last one that was discarded with unsaved changes comes back, with its path; extensions get
 * message/opened. DX_AGAIN: there is nothing to undo. DX_BUSY: that would discard unsaved changes.
 * DX_ERR_NOMEM: what is left of the edit can be undone again. */
DX_API dx_status dx_hermes_undo(dx_hermes *editor);
/* How many edits cannot be undone any more since the message was opened, because of undo_max or
 * undo_bytes. */
DX_API size_t dx_hermes_undo_dropped(const dx_hermes *editor);
/* It was written to that file, which is its file from now on; save_as: to another one than before.
 * Extensions are told (message/saved). */
DX_API dx_status dx_hermes_saved(dx_hermes *editor, const char *path, int save_as);
/* A number of yours that belongs to the message, for example what its file was when you read it: 0
 * until you set it and after dx_hermes_open(). A discarded message that an undo brings back has its
 * own again. */
DX_API void dx_hermes_set_tag(dx_hermes *editor, uint64_t tag);
DX_API uint64_t dx_hermes_tag(const dx_hermes *editor);
/* How many messages were opened so far; one that an undo brought back counts again. While it is the
 * same, so is the message. */
DX_API uint64_t dx_hermes_opened(const dx_hermes *editor);
/* Lent until the next change; at is NULL without memory. The first call after a patch writes the
 * whole text. */
DX_API dx_text dx_hermes_text(const dx_hermes *editor);
/* Appends it as its file has it, encoded and with all that stands around it: dx_hl7_file_write().
 * Without a file that is the text. */
DX_API dx_status dx_hermes_write(const dx_hermes *editor, dx_buf *out, dx_error *reterr);
DX_API const char *dx_hermes_path(const dx_hermes *editor); /* or NULL */
DX_API int dx_hermes_is_changed(const dx_hermes *editor);   /* since it was opened or saved */
/* Appends it in that format. DX_MISFIT with reterr: it is no HL7 message. */
DX_API dx_status dx_hermes_export(const dx_hermes *editor, dx_hl7_format format, dx_hl7_shape shape,
                                  dx_buf *out, dx_error *reterr);
/* Appends what stands at a path, as dx_hl7_get_text(). DX_GONE: the message has no such place;
 * DX_MISFIT with reterr: no message, or no path. */
DX_API dx_status dx_hermes_get(const dx_hermes *editor, dx_text path, dx_buf *out,
                               dx_error *reterr);

/* Extensions. */

/* Starts one. ret_guest may be NULL. DX_ERR_SYSTEM with reterr if it can't be started: then it is
 * there all the same, as failed. DX_ERR_INVALID: words that can't be split, or the editor is about
 * to stop; DX_ERR_NOMEM. */
DX_API dx_status dx_hermes_add(dx_hermes *editor, const dx_hermes_entry *entry,
                               dx_hermes_guest **ret_guest, dx_error *reterr);
/* In the order in which they were added; NULL behind the last. */
DX_API dx_hermes_guest *dx_hermes_guest_at(const dx_hermes *editor, size_t index);
/* Ends it (reason "disabled"), or ends it and starts it anew (reason "reload"); for one without a
 * process, that fails as dx_hermes_add() does. */
DX_API void dx_hermes_disable(dx_hermes_guest *guest);
DX_API dx_status dx_hermes_reload(dx_hermes_guest *guest, dx_error *reterr);
/* All of them: shutdown with that reason ("closing", "error"), their windows close. */
DX_API void dx_hermes_stop(dx_hermes *editor, const char *reason);

DX_API dx_hermes_state dx_hermes_guest_state(const dx_hermes_guest *guest);
/* One line about why it failed, or had to be ended; "" otherwise. */
DX_API const char *dx_hermes_guest_why(const dx_hermes_guest *guest);
/* Did it fail because it had not answered initialize in time? */
DX_API int dx_hermes_guest_is_late(const dx_hermes_guest *guest);
/* Its messages that could not be read, because they were none, or because its output ended inside
 * them, and changes without an id or with that of a pending request: what they asked for is lost.
 * Those of a process before a reload count, too. */
DX_API size_t dx_hermes_guest_lost(const dx_hermes_guest *guest);
/* What it calls itself; before it has said so, its program. Two may have one name. */
DX_API const char *dx_hermes_guest_name(const dx_hermes_guest *guest);
/* What it answered to initialize; NULL before that. */
DX_API yyjson_val *dx_hermes_guest_facts(const dx_hermes_guest *guest);
/* Its requests that are not answered yet; and when it was last seen at work, in ms of the loop's
 * clock: it said something, or bytes of a message moved in either direction since this was last
 * asked, or wait for it to read them. Together: is it busy? */
DX_API size_t dx_hermes_guest_open(const dx_hermes_guest *guest);
DX_API uint64_t dx_hermes_guest_heard(dx_hermes_guest *guest);
/* Did it ask for the open message, or read an event or a command since that was opened? If not,
 * what it changes was meant for another message, as far as it can know. */
DX_API int dx_hermes_guest_knows(const dx_hermes_guest *guest);
DX_API dx_link *dx_hermes_guest_link(const dx_hermes_guest *guest); /* NULL without a process … */
DX_API pid_t dx_hermes_guest_pid(const dx_hermes_guest *guest);     /* … 0 without one */

/* Tells the first running extension that has that command, or a button for it, to run it. No answer
 * comes: a command is a notification. (In the revision 2025-11-24 it is a request, and counts in
 * dx_hermes_guest_open() until it is answered.) ret_guest, which may be NULL: who was told.
 * DX_GONE: nobody has it. */
DX_API dx_status dx_hermes_run(dx_hermes *editor, dx_text command, dx_hermes_guest **ret_guest);

/* Appends, as JSON, what the running extensions want fields of messages to look like
 * (initialize.result.schema), laid over each other in the order of the extensions: a member that is
 * absent leaves what is there, null takes it away. What comes out is of the same form, and so has
 * nulls, too. */
DX_API dx_status dx_hermes_schema(const dx_hermes *editor, dx_buf *json);

/* Windows. */

/* In the order in which they were opened; NULL behind the last. */
DX_API const dx_hermes_window *dx_hermes_window_at(const dx_hermes *editor, size_t index);
/* The user closed it: its extension is told (window/closed, reason "user"). DX_GONE: there is no
 * such window. */
DX_API dx_status dx_hermes_window_closed(dx_hermes *editor, const char *id);

/* Dialogs. */

DX_API dx_hermes_dialog_kind dx_hermes_dialog_kind_of(const dx_hermes_dialog *dialog);
/* "ui/showConfirm", … */
DX_API const char *dx_hermes_dialog_method(const dx_hermes_dialog *dialog);
DX_API yyjson_val *dx_hermes_dialog_params(const dx_hermes_dialog *dialog);
DX_API dx_hermes_guest *dx_hermes_dialog_guest(const dx_hermes_dialog *dialog);
/* Answers it; it can't be used after this. A message is acknowledged whatever is said; a question
 * is confirmed or not; of the others, `paths` (NULL at the end) is what was chosen, NULL if
 * nothing was. */
DX_API void dx_hermes_dialog_answer(dx_hermes_dialog *dialog, int confirmed,
                                    const char *const *paths);
/* It can't be shown: the extension gets an error (-32012). */
DX_API void dx_hermes_dialog_fail(dx_hermes_dialog *dialog, const char *why);

#ifdef __cplusplus
}
#endif

#endif
