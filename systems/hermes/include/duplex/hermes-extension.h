/*
 * duplex/hermes-extension.h: an extension of the Hermes editor, or of any host that speaks its
 * Extension API.
 *
 *     static void clear_name(dx_hermes_extension *extension, const char *command, void *user) {
 *         dx_hl7_patch patch = {.path = dx_str("PID.5"), .value = dx_str("")};
 *         dx_hermes_patch_message(extension, &patch, 1, NULL);
 *     }
 *     static const dx_hermes_command commands[] = {{"names/clear", clear_name}, {NULL, NULL}};
 *
 *     int main(void) {
 *         dx_hermes_extension_config config = dx_hermes_extension_defaults("Names", "1.0.0");
 *         config.commands = commands;
 *         return dx_hermes_extension_run(&config);
 *     }
 *
 * What holds:
 *   - initialize and shutdown are answered here; the program ends after shutdown, or when its input
 *     ends, with 0.
 *   - A command may come as a notification, as the protocol has it, or as a request, as it was
 *     before 2025-11-26: then it is answered ({"success": true}) when its function has returned.
 *   - Questions to the editor are answered in any order, and events come while they are open. One
 *     that is not answered in 5 s (dialogs: never, since a user answers them) ends as timed out.
 *   - What printf() writes goes to the standard error, and can't break the protocol.
 */
#ifndef DUPLEX_HERMES_EXTENSION_H
#define DUPLEX_HERMES_EXTENSION_H

#include <duplex/hl7.h>
#include <duplex/link.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_hermes_extension dx_hermes_extension;

typedef struct dx_hermes_command {
    const char *name; /* "namespace/action" */
    void (*run)(dx_hermes_extension *extension, const char *command, void *user);
} dx_hermes_command;

typedef struct dx_hermes_button {
    const char *id;
    const char *label;
    const char *icon;    /* SVG */
    const char *command; /* of the commands, or one that on_command takes */
    const char *group;   /* or NULL */
} dx_hermes_button;

/* What initialize told: lent for the time of the call. */
typedef struct dx_hermes_told {
    const char *hermes_version;
    const char *api_version;
    const char *data_directory;
} dx_hermes_told;

/* message/changed, opened, saved. Absent texts have at NULL. */
typedef struct dx_hermes_news {
    dx_text message; /* changed, if changes_with_content */
    dx_text format;  /* that it is in */
    dx_text file;
    int has_file;
    int is_new;  /* opened */
    int save_as; /* saved */
} dx_hermes_news;

typedef void (*dx_hermes_on_news)(dx_hermes_extension *extension, const dx_hermes_news *news,
                                  void *user);

typedef struct dx_hermes_extension_config {
    const char *name;
    const char *version;
    const char *description; /* these may be NULL */
    const char *homepage;
    const char *const *authors;        /* NULL at the end */
    const dx_hermes_command *commands; /* end with rows of NULLs */
    const dx_hermes_button *buttons;
    const char *schema; /* overrides of fields: JSON text */
    /* A command that no row has; NULL: it is told on the standard error. */
    void (*on_command)(dx_hermes_extension *extension, const char *command, void *user);
    void (*on_start)(dx_hermes_extension *extension, const dx_hermes_told *told, void *user);
    /* Those that are not NULL are subscribed to. */
    dx_hermes_on_news on_changed;
    dx_hermes_on_news on_opened;
    dx_hermes_on_news on_saved;
    int changes_with_content;     /* on_changed gets the message … */
    dx_hl7_format changes_format; /* … in this format (hl7) */
    void (*on_window_closed)(dx_hermes_extension *extension, dx_text window, dx_text reason,
                             void *user);
    /* The last moment: shutdown is answered when it returns. */
    void (*on_shutdown)(dx_hermes_extension *extension, dx_text reason, void *user);
    uint64_t timeout_ms;  /* of questions that say nothing else (5 s) */
    const char *revision; /* of the protocol; NULL */
    void *user;
} dx_hermes_extension_config;

DX_API dx_hermes_extension_config dx_hermes_extension_defaults(const char *name,
                                                               const char *version);

/* The whole of an extension that does nothing else. An exit code, as dx_plugin_run(); what went
 * wrong is on the standard error. SIGPIPE is ignored from then on, since an editor may stop reading
 * that.
 */
DX_API int dx_hermes_extension_run(const dx_hermes_extension_config *config);
/* The same in a loop of your own, on the standard input and output; on_closed comes at the end and
 * may free it. The configuration and what it points to must outlive it. */
DX_API dx_status dx_hermes_extension_open(dx_loop *loop, const dx_hermes_extension_config *config,
                                          void (*on_closed)(dx_hermes_extension *extension,
                                                            const dx_error *why, void *user),
                                          dx_hermes_extension **ret_extension, dx_error *reterr);
DX_API dx_hermes_extension *dx_hermes_extension_free(dx_hermes_extension *extension);
DX_API void *dx_hermes_extension_user(const dx_hermes_extension *extension);
DX_API dx_link *dx_hermes_extension_link(const dx_hermes_extension *extension);

/* What came of a question; lent for the time of the call. */
typedef struct dx_hermes_answer {
    int ok;          /* the editor did it: what the method gives is set below */
    const char *why; /* one line if it did not; "" otherwise */
    dx_outcome outcome;
    int64_t code;      /* of the editor's error */
    yyjson_val *value; /* the whole result or error */

    dx_text message; /* get_message */
    dx_text file;    /* absent: it has none, or the editor does not say */
    int has_file;
    uint64_t applied;   /* patch_message: how many; ok says whether all were … */
    yyjson_val *errors; /* … and this what the others lack: [{index, path, message}] */
    dx_text window;     /* open_window */
    int confirmed;      /* show_confirm */
    dx_text path;       /* open_file, save_file, select_directory: absent if nothing was chosen */
    yyjson_val *paths;  /* open_files: an array, or NULL */
} dx_hermes_answer;

typedef struct dx_hermes_ask {
    void (*on_done)(dx_hermes_extension *extension, const dx_hermes_answer *answer, void *user);
    void *user;          /* for on_done */
    uint64_t timeout_ms; /* 0: the configuration's; DX_NEVER */
} dx_hermes_ask;

/*
 * Questions to the editor. `ask` may be NULL: then nobody hears the answer. on_done comes exactly
 * once for each that is DX_OK, unless the extension is freed. DX_MISFIT: not now (before initialize
 * was answered), or it does not fit the protocol; DX_BUSY, DX_CLOSED, DX_ERR_NOMEM, DX_ERR_INVALID
 * (text that is not UTF-8).
 */
DX_API dx_status dx_hermes_get_message(dx_hermes_extension *extension, dx_hl7_format format,
                                       const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_set_message(dx_hermes_extension *extension, dx_text message,
                                       dx_hl7_format format, const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_patch_message(dx_hermes_extension *extension,
                                         const dx_hl7_patch *patches, size_t count,
                                         const dx_hermes_ask *ask);

typedef struct dx_hermes_page {
    const char *url; /* http or https */
    const char *title;
    uint32_t width;  /* 0: 800 */
    uint32_t height; /* 0: 600 */
    int modal;
    int fixed; /* not resizable */
} dx_hermes_page;

DX_API dx_status dx_hermes_open_window(dx_hermes_extension *extension, const dx_hermes_page *page,
                                       const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_close_window(dx_hermes_extension *extension, dx_text window,
                                        const dx_hermes_ask *ask);

typedef struct dx_hermes_filter {
    const char *name;              /* "HL7 messages"; NULL ends a list */
    const char *const *extensions; /* "hl7", …; NULL at the end */
} dx_hermes_filter;

/* What the six dialogs take; each uses its own members, and all but message may be NULL. */
typedef struct dx_hermes_question {
    const char *message;
    const char *title;
    const char *kind;    /* show_message: info, warning, error */
    const char *buttons; /* show_confirm: yesNo, okCancel */
    const char *default_path;
    const char *default_name; /* save_file */
    const dx_hermes_filter *filters;
} dx_hermes_question;

DX_API dx_status dx_hermes_show_message(dx_hermes_extension *extension,
                                        const dx_hermes_question *question,
                                        const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_show_confirm(dx_hermes_extension *extension,
                                        const dx_hermes_question *question,
                                        const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_open_file(dx_hermes_extension *extension,
                                     const dx_hermes_question *question, const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_open_files(dx_hermes_extension *extension,
                                      const dx_hermes_question *question, const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_save_file(dx_hermes_extension *extension,
                                     const dx_hermes_question *question, const dx_hermes_ask *ask);
DX_API dx_status dx_hermes_select_directory(dx_hermes_extension *extension,
                                            const dx_hermes_question *question,
                                            const dx_hermes_ask *ask);

#ifdef __cplusplus
}
#endif

#endif
