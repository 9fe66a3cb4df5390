/*
 * duplex/reginald-host.h: a host of Reginald plugins.
 *
 *     dx_reginald_config config = dx_reginald_defaults();
 *     config.on_ready = on_ready;                // each plugin is ready or has failed
 *     config.on_log = on_log;
 *     dx_reginald_new(loop, &config, &host, &error);
 *     dx_reginald_discover(host, "/usr/lib/reginald", &count, &error);
 *     dx_reginald_start(host);
 *     …
 *     dx_reginald_run_command(host, command, values, NULL, on_done, NULL);
 *     …
 *     dx_reginald_stop(host);                    // on_stopped comes within stop_ms and a little
 *
 * What holds:
 *   - All plugins start and shake hands at once, side by side. One that does not answer in time,
 *     answers with an error or something else than its schema says, names a protocol or version
 *     that is not ours, has the name of another one, or a command or task that is there already,
 *     or offers more than the limits below, has failed: it is named with a reason, its process is
 *     ended, and the rest goes on.
 *   - What a plugin sends is checked. Violations are told and counted; errors_max of them end the
 *     plugin (its pending calls end).
 *   - Its standard error is read to the end, whatever its lines are like.
 *   - Requests of a plugin are answered: "config" with its own settings, everything else with
 *     -32601 (in the revision exact they count as violations, as in the real program).
 */
#ifndef DUPLEX_REGINALD_HOST_H
#define DUPLEX_REGINALD_HOST_H

#include <duplex/child.h>
#include <duplex/reginald.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_reginald dx_reginald;
/* A plugin as the host sees it; it stays until the host is freed. */
typedef struct dx_reginald_guest dx_reginald_guest;

typedef enum dx_reginald_state {
    DX_REGINALD_NEW = 1,
    DX_REGINALD_STARTING, /* handshake and initialize */
    DX_REGINALD_READY,
    DX_REGINALD_STOPPING,
    DX_REGINALD_STOPPED,
    DX_REGINALD_FAILED
} dx_reginald_state;

/* What one plugin may have: commands and tasks together; settings, those of all of them together.
 */
enum { DX_REGINALD_OFFERS_MAX = 1024, DX_REGINALD_SETTINGS_MAX = 4096 };

/* What a plugin offers. */
typedef struct dx_reginald_offer {
    dx_reginald_guest *guest;
    int is_task;
    const char *name;                  /* of the command; the type of the task */
    const char *usage;                 /* of a command */
    const dx_reginald_entry *settings; /* ends with one whose key is NULL */
} dx_reginald_offer;

typedef struct dx_reginald_config {
    const char *revision;   /* NULL: what both the document and real plugins understand; "seed": the
                               framing of the document to the letter; "gen-a": as the real host of
                               generation A; "exact": with its defects */
    int log_level;          /* what plugins are asked to log (DX_REGINALD_TRACE) */
    int log_off;            /* ask them not to log at all */
    uint64_t handshake_ms;  /* 5 s */
    uint64_t initialize_ms; /* 5 s */
    uint64_t stop_ms;       /* for the answer to shutdown and the end after exit (15 s) */
    unsigned errors_max;    /* violations that end a plugin (5) */
    int small_env;          /* a small environment instead of ours, which real plugins expect */
    const char *cwd;
    dx_recorder *recorder;
    const dx_allocator *allocator;

    /* Each may be NULL. */
    /* Values for the settings of a plugin as a whole, by file, environment and the like: appended
     * as a JSON array of {key, value, type} to `json`; nothing appended: the defaults. DX_MISFIT
     * with a reason fails the plugin. */
    dx_status (*on_settings)(dx_reginald *host, dx_reginald_guest *guest, dx_buf *json,
                             char reason[200], void *user);
    void (*on_state)(dx_reginald *host, dx_reginald_guest *guest, void *user);
    void (*on_ready)(dx_reginald *host, void *user);
    /* fields may be NULL. */
    void (*on_log)(dx_reginald *host, dx_reginald_guest *guest, int level, dx_text text,
                   yyjson_val *fields, void *user);
    void (*on_errors)(dx_reginald *host, dx_reginald_guest *guest, dx_text line, void *user);
    void (*on_violation)(dx_reginald *host, dx_reginald_guest *guest, const char *phrase,
                         void *user);
    void (*on_traffic)(dx_reginald *host, dx_reginald_guest *guest, int out, dx_text text,
                       void *user);
    void (*on_stopped)(dx_reginald *host, void *user); /* it may be freed there */
    void *user;
} dx_reginald_config;

DX_API dx_reginald_config dx_reginald_defaults(void);
DX_API dx_status dx_reginald_new(dx_loop *loop, const dx_reginald_config *config,
                                 dx_reginald **ret_host, dx_error *reterr);
DX_API dx_reginald *dx_reginald_free(dx_reginald *host);

/* A plugin by its program; name NULL: what its file is called, without "reginald-" before it. */
DX_API dx_status dx_reginald_add(dx_reginald *host, const char *path, const char *name,
                                 dx_reginald_guest **ret_guest, dx_error *reterr);
/* All of a folder: regular files (symbolic links to such, too) with any execute bit whose name
 * begins with "reginald-", in the order of their names. DX_ERR_SYSTEM: it can't be read. */
DX_API dx_status dx_reginald_discover(dx_reginald *host, const char *folder, size_t *ret_count,
                                      dx_error *reterr);
/* Starts all that are new; on_ready comes once none is starting any more. */
DX_API void dx_reginald_start(dx_reginald *host);
DX_API void dx_reginald_stop(dx_reginald *host);

DX_API dx_reginald_guest *dx_reginald_guest_at(const dx_reginald *host, size_t index); /* or NULL */
DX_API const char *dx_reginald_guest_name(const dx_reginald_guest *guest);
DX_API const char *
dx_reginald_guest_version(const dx_reginald_guest *guest); /* "" before it said */
DX_API const char *dx_reginald_guest_path(const dx_reginald_guest *guest);
DX_API dx_reginald_state dx_reginald_guest_state(const dx_reginald_guest *guest);
/* Why it has failed, or that it had to be killed at the end; else "". */
DX_API const char *dx_reginald_guest_why(const dx_reginald_guest *guest);
/* How many violations were counted; errors_max of them have ended it. */
DX_API unsigned dx_reginald_guest_errors(const dx_reginald_guest *guest);
DX_API const dx_reginald_entry *dx_reginald_guest_settings(const dx_reginald_guest *guest);

/* What the plugins that are ready offer, in their order; NULL after the last. */
DX_API const dx_reginald_offer *dx_reginald_offer_at(const dx_reginald *host, size_t index);
DX_API const dx_reginald_offer *dx_reginald_find(const dx_reginald *host, int is_task,
                                                 dx_text name);

/* How it ended: outcome, code and `why` (one line; "" for a result). */
typedef void (*dx_reginald_on_done)(dx_reginald *host, const dx_reginald_offer *offer,
                                    dx_outcome outcome, int64_t code, const char *why, void *user);

/* What a plugin answered, while on_done is called for DX_OUTCOME_RESULT: any JSON for runCommand.
 * NULL at any other time. */
DX_API yyjson_val *dx_reginald_result(const dx_reginald *host);
/* The same as it came: JSON text whose numbers are unchanged. `at` is NULL at any other time. */
DX_API dx_text dx_reginald_result_text(const dx_reginald *host);

/* setupCommand with these values (an array of {key, value, type}, or none) and words (NULL at the
 * end; may be NULL), then runCommand. DX_ERR_INVALID: not a command, or values that are no JSON;
 * DX_MISFIT: values that are no such array; DX_CLOSED: its plugin is not ready; DX_ERR_NOMEM. */
DX_API dx_status dx_reginald_run_command(dx_reginald *host, const dx_reginald_offer *command,
                                         dx_json values, const char *const *words,
                                         dx_reginald_on_done on_done, void *user);
DX_API dx_status dx_reginald_validate_task(dx_reginald *host, const dx_reginald_offer *task,
                                           dx_json values, dx_reginald_on_done on_done, void *user);
DX_API dx_status dx_reginald_run_task(dx_reginald *host, const dx_reginald_offer *task,
                                      const char *folder, dx_json values,
                                      dx_reginald_on_done on_done, void *user);

#ifdef __cplusplus
}
#endif

#endif
