/*
 * duplex/reginald-plugin.h: a plugin of Reginald.
 *
 *     static void nap(dx_reginald_work *work, void *user) {
 *         dx_reginald_log(work, DX_REGINALD_INFO, "sleeping", dx_json_none());
 *         sleep((unsigned)dx_reginald_int(work, "time"));
 *         dx_reginald_done(work);
 *     }
 *
 *     int main(void) {
 *         static const dx_reginald_entry settings[] = {
 *             {.value = {"time", DX_REGINALD_INT, 5, NULL}, .has_flag = 1, .shorthand = 't'},
 *             {.value = {.key = NULL}},
 *         };
 *         dx_reginald_plugin *plugin;
 *         dx_reginald_plugin_new("example", "0.1.0", NULL, &plugin);
 *         dx_reginald_add_command(plugin, &(dx_reginald_command){.name = "sleep",
 *             .usage = "sleep [options]", .settings = settings, .run = nap}, NULL);
 *         return dx_reginald_serve(plugin);
 *     }
 *
 * What holds:
 *   - The handshake, initialize, shutdown and exit are answered for the plugin; it checks that
 *     "rpp" in version 0 is asked for.
 *   - Settings that come are checked against what was declared: an unknown key or another type is
 *     refused with -32602. Each setupCommand starts anew from the defaults.
 *   - Every request is answered exactly once. A handler that returns without an end and without
 *     dx_reginald_keep() is answered with -32603. Kept work is finished from any callback of the
 *     loop, or from another thread by dx_loop_post(); other requests are served meanwhile.
 *   - What is printed to the standard output goes to the standard error.
 *   - It leaves with 0 after exit, with or without shutdown before it, and with 1 when its input
 *     ends without it.
 */
#ifndef DUPLEX_REGINALD_PLUGIN_H
#define DUPLEX_REGINALD_PLUGIN_H

#include <duplex/link.h>
#include <duplex/reginald.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_reginald_plugin dx_reginald_plugin;
/* A command or a task that runs, or a task that is looked at. */
typedef struct dx_reginald_work dx_reginald_work;

typedef struct dx_reginald_command {
    const char *name;
    const char *usage;                 /* one line */
    const dx_reginald_entry *settings; /* ends with one whose key is NULL; may be NULL */
    /* setupCommand; NULL: nothing to do. It may refuse. */
    void (*setup)(dx_reginald_work *work, void *user);
    void (*run)(dx_reginald_work *work, void *user); /* needed */
    void *user;
} dx_reginald_command;

typedef struct dx_reginald_task {
    const char *type;
    const dx_reginald_entry *settings; /* what the task knows; others are refused unless `open` */
    int open;                          /* any key is taken: see dx_reginald_settings() */
    void (*validate)(dx_reginald_work *work, void *user); /* NULL: it is good */
    void (*run)(dx_reginald_work *work, void *user);      /* needed */
    void *user;
} dx_reginald_task;

/* settings of the plugin as a whole; may be NULL. DX_ERR_INVALID, with reterr where there is one
 * (it may be NULL): an empty name, one that is there already or is the host's own (attend, apply,
 * tend; the task link), text that is not UTF-8, a key twice, or the plugin is open; DX_ERR_NOMEM.
 * What is declared is copied. */
DX_API dx_status dx_reginald_plugin_new(const char *name, const char *version,
                                        const dx_reginald_entry *settings,
                                        dx_reginald_plugin **ret_plugin);
DX_API dx_reginald_plugin *dx_reginald_plugin_free(dx_reginald_plugin *plugin);
DX_API dx_status dx_reginald_add_command(dx_reginald_plugin *plugin,
                                         const dx_reginald_command *command, dx_error *reterr);
DX_API dx_status dx_reginald_add_task(dx_reginald_plugin *plugin, const dx_reginald_task *task,
                                      dx_error *reterr);
/* When `initialize` came: the settings of the plugin are known. May be NULL. */
DX_API void dx_reginald_on_initialize(dx_reginald_plugin *plugin,
                                      void (*on_initialize)(dx_reginald_work *work, void *user),
                                      void *user);
/* The framing of the document to the letter, both ways; without it what real hosts send is taken.
 */
DX_API void dx_reginald_plugin_strict(dx_reginald_plugin *plugin, int strict);

/* On a pair of descriptors, which become its own; on_left (may be NULL) comes when it is over: the
 * plugin may be freed there, or opened again. It must be freed before its loop is. */
DX_API dx_status dx_reginald_plugin_open(dx_reginald_plugin *plugin, dx_loop *loop, int in, int out,
                                         void (*on_left)(dx_reginald_plugin *plugin, int code,
                                                         void *user),
                                         void *user, dx_error *reterr);
/* The whole of a plugin on its standard input and output; the plugin is freed. An exit code. */
DX_API int dx_reginald_serve(dx_reginald_plugin *plugin);

/* Work */

DX_API dx_loop *dx_reginald_loop(const dx_reginald_work *work);
/* The name of the command, the type of the task; NULL for initialize. */
DX_API const char *dx_reginald_name(const dx_reginald_work *work);
/* runTask: the folder to work in; else NULL. */
DX_API const char *dx_reginald_folder(const dx_reginald_work *work);
/* Values of settings: as they came, else the defaults; those of the plugin for a key that is not
 * the command's or task's own; 0 and "" for a key that is none, or of another type. */
DX_API int dx_reginald_bool(const dx_reginald_work *work, const char *key);
DX_API int64_t dx_reginald_int(const dx_reginald_work *work, const char *key);
DX_API const char *dx_reginald_text(const dx_reginald_work *work, const char *key);
/* All that came, in order; NULL after the last. */
DX_API const dx_reginald_value *dx_reginald_settings(const dx_reginald_work *work, size_t index);
/* setupCommand, runCommand: the words behind the options; NULL after the last. */
DX_API const char *dx_reginald_word(const dx_reginald_work *work, size_t index);

/* To the host's log. Not below the level that it wants, and not if it wants none; before initialize
 * has said that, from INFO on, and nothing before the handshake. fields: an object or none. */
DX_API void dx_reginald_log(dx_reginald_work *work, int level, const char *text, dx_json fields);
DX_API void dx_reginald_plugin_log(dx_reginald_plugin *plugin, int level, const char *text,
                                   dx_json fields);
/* Asks the host something, as the document allows (real hosts of generation A count it as an error
 * of the protocol: a plugin should not depend on it). The answer as in DX_EVENT_DONE. */
DX_API dx_status dx_reginald_ask(dx_reginald_plugin *plugin, const char *method, dx_json params,
                                 void (*on_answer)(dx_reginald_plugin *plugin,
                                                   const dx_event *event, void *user),
                                 void *user);

DX_API void dx_reginald_keep(dx_reginald_work *work);
/* The host is gone: nothing more will be sent. The work is still to be ended. */
DX_API int dx_reginald_is_over(const dx_reginald_work *work);
/* Called when that happens to work that was kept, once, in the loop's thread; also when the plugin
 * is freed. The work may be ended there. on_over may be NULL. */
DX_API void dx_reginald_on_over(dx_reginald_work *work,
                                void (*on_over)(dx_reginald_work *work, void *user), void *user);
/* The end; `work` is gone after each of these. */
DX_API void dx_reginald_done(dx_reginald_work *work);
/* The same for a command that has a result, which `duplex reginald` prints: a text as it is,
 * anything else as JSON. The real host only logs it. If it fails, nothing was sent, and the work is
 * still there: DX_ERR_INVALID: it is not a command's run, or not JSON; DX_GONE: the host is gone;
 * DX_ERR_LIMIT, DX_ERR_NOMEM. */
DX_API dx_status dx_reginald_done_with(dx_reginald_work *work, dx_json result);
/* A command: -32000 with this text; a task: -32603; validate: -32050; initialize, setup: -32602. */
DX_API void dx_reginald_fail(dx_reginald_work *work, const char *text);

#ifdef __cplusplus
}
#endif

#endif
