/*
 * duplex/finecode-er.h: an extension runner of FineCode: handlers of actions for one project and
 * one env.
 *
 *     static void count(dx_finecode_job *job, void *user) {
 *         yyjson_val *text = yyjson_obj_get(dx_finecode_job_payload(job), "text");
 *         char result[64];
 *         snprintf(result, sizeof result, "{\"bytes\":%zu}", yyjson_get_len(text));
 *         dx_finecode_job_done(job, dx_json_text(result, strlen(result)), 0);
 *     }
 *
 *     int main(int argc, char **argv) {
 *         static const dx_finecode_action action = {.source = "words.Count"};
 *         static const dx_finecode_handler handler = {.source = "words.count", .run = count};
 *         dx_finecode_er_config config = dx_finecode_er_defaults();
 *         dx_finecode_er *er;
 *         dx_error error;
 *         config.project_path = argv[1], config.env_name = argv[2];
 *         if (argc < 3 || dx_finecode_er_new(&config, &er, &error) ||
 *             dx_finecode_er_add_action(er, &action, &error) ||
 *             dx_finecode_er_add_handler(er, &handler, &error))
 *             return 2;
 *         return dx_finecode_er_serve(er);
 *     }
 *
 * What holds:
 *   - The manager's updateConfig says which actions there are and which handlers each has; it names
 *     them by `source`. What is added here defines what those sources mean. A source that was not
 *     added is left out of resolveActionMeta, and a run that needs it fails.
 *   - Every request is answered exactly once, before the conversation ends. A handler that returns
 *     without an end and without dx_finecode_job_keep() has failed.
 *   - Handlers of an action run one after the other, each seeing the result so far; those of an
 *     action that runs_concurrently run at once. Results are merged by the action's rules.
 *   - A payload is checked against the action's schema.
 *   - Partial results are merged and sent at most every partial_ms, in the formats of the run,
 *     after each handler, and never after the answer.
 *   - $/cancelRequest, and the end of the conversation, are reported to the job (on_cancel), which
 *     then has to end; its request is answered with -32800.
 *   - Texts of open documents win over the disk (dx_finecode_job_read()), and stay when the
 *     configuration changes.
 *   - Over pipes it speaks the document's revision ("seed"), over TCP the real program's ("real"),
 *     unless one is named.
 */
#ifndef DUPLEX_FINECODE_ER_H
#define DUPLEX_FINECODE_ER_H

#include <duplex/finecode.h>
#include <duplex/link.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_finecode_er dx_finecode_er;
/* A handler that runs for a request. */
typedef struct dx_finecode_job dx_finecode_job;

typedef struct dx_finecode_er_config {
    const char *project_path; /* absolute; needed */
    const char *env_name;     /* needed */
    const char *revision;     /* "seed", "real"; NULL: by the transport */
    const char *version;      /* of serverInfo ("v1") */
    const char *log_path;     /* what getInfo tells; may be NULL */
    const char *wal_folder;   /* events of runs are written there; NULL: none */
    uint64_t partial_ms;      /* between two $/progress of a run (300) */
    uint64_t connect_ms;      /* a listening one that nobody connects to ends after this (60 s) */
    uint64_t ask_ms;          /* for the manager's answers that have a limit (10 s) */
    uint64_t raw_config_ms;   /* how long updateConfig waits for the answer to its
                                 projects/getRawConfig, which belongs to the revision "seed" (2 s);
                                 0: it does not ask */
    int any_user;             /* a listening one: a manager of another user may connect, too */
    dx_recorder *recorder;
    const dx_allocator *allocator;
    /* Each may be NULL. */
    /* A configuration came and was taken; `config` is that member of its params. Actions and
     * handlers that are added here count for it already; then it is answered. */
    void (*on_config)(dx_finecode_er *er, yyjson_val *config, void *user);
    /* actions/reload. */
    void (*on_reload)(dx_finecode_er *er, dx_text action, void *user);
    /* Everything that is logged, whether it is forwarded or not. level: "DEBUG", "INFO", … */
    void (*on_log)(dx_finecode_er *er, const char *level, const char *group, dx_text text,
                   void *user);
    /* Also of connections that were refused: see dx_listener_config in duplex/link.h. */
    void (*on_violation)(dx_finecode_er *er, const char *phrase, void *user);
    /* The conversation is over: the exit code is 0 after exit or the end of the input. */
    void (*on_left)(dx_finecode_er *er, int code, void *user);
    void *user;
} dx_finecode_er_config;

DX_API dx_finecode_er_config dx_finecode_er_defaults(void);

typedef struct dx_finecode_action {
    const char *source;           /* as a configuration names it */
    const char *canonical_source; /* NULL: source */
    int runs_concurrently;
    int workspace;        /* its scope is the workspace, not the project */
    const char *parent;   /* the source of the action that it is a kind of; may be NULL */
    const char *language; /* may be NULL */
    const char *location; /* "path:line"; may be NULL */
    /* JSON Schema of the payload: {"properties", "required", "description"}; NULL: anything. With
     * "additionalProperties": false a payload with other members is refused. */
    const char *payload;
    /* How results are merged, a JSON object: {"member": RULE}, RULE being "last", "first",
     * "concat", "merge" (objects by their keys, the same rules inside), "or", "and", "sum", "max"
     * or "min". Members that are not named, and all if NULL: arrays concat, objects merge, booleans
     * or, else last; but "return_code" max. */
    const char *merge;
    /* The return code of a result is its member "return_code", else 1 if what this JSON pointer
     * names is true, not 0, or not empty; else 0. May be NULL. */
    const char *fails_if;
    /* The text of a result: appended to `text`. *ret_styled = 1: it is the JSON of styled text
     * ({"parts": […]}). NULL, or DX_AGAIN from it: results that have "messages" by file as linters
     * do, one a line; else JSON with indentation. */
    dx_status (*format)(yyjson_val *result, dx_buf *text, int *ret_styled, void *user);
    void *user;
} dx_finecode_action;

typedef struct dx_finecode_handler {
    const char *source;
    const char *location; /* may be NULL */
    void (*run)(dx_finecode_job *job, void *user);
    void *user;
} dx_finecode_handler;

/* DX_ERR_INVALID with reterr: what is missing, there already, no JSON. */
DX_API dx_status dx_finecode_er_new(const dx_finecode_er_config *config, dx_finecode_er **ret_er,
                                    dx_error *reterr);
DX_API dx_finecode_er *dx_finecode_er_free(dx_finecode_er *er);
DX_API dx_status dx_finecode_er_add_action(dx_finecode_er *er, const dx_finecode_action *action,
                                           dx_error *reterr);
DX_API dx_status dx_finecode_er_add_handler(dx_finecode_er *er, const dx_finecode_handler *handler,
                                            dx_error *reterr);
/* Another name by which actions/resolveSource finds an action. */
DX_API dx_status dx_finecode_er_add_alias(dx_finecode_er *er, const char *alias,
                                          const char *source);
/* What packages/resolvePath knows. */
DX_API dx_status dx_finecode_er_add_package(dx_finecode_er *er, const char *name, const char *path);

/* On a pair of descriptors, which become its own. */
DX_API dx_status dx_finecode_er_open(dx_finecode_er *er, dx_loop *loop, int in, int out,
                                     dx_error *reterr);
/* On a port of the loopback address; the first client that begins a message is served, and closes
 * the port to others. */
DX_API dx_status dx_finecode_er_listen(dx_finecode_er *er, dx_loop *loop, unsigned *ret_port,
                                       dx_error *reterr);
/* The whole of a runner on its standard input and output; it is freed. An exit code. */
DX_API int dx_finecode_er_serve(dx_finecode_er *er);
/* The same by TCP: prints "Serving on ('127.0.0.1', PORT)" first. */
DX_API int dx_finecode_er_serve_tcp(dx_finecode_er *er);

DX_API void dx_finecode_er_log(dx_finecode_er *er, const char *level, const char *group,
                               dx_text text);
/* kind: "INFO", "WARNING", "ERROR": shown to the user. */
DX_API void dx_finecode_er_tell(dx_finecode_er *er, const char *kind, dx_text text);

/* A job */

DX_API dx_finecode_er *dx_finecode_job_er(const dx_finecode_job *job);
DX_API dx_loop *dx_finecode_job_loop(const dx_finecode_job *job);
DX_API const char *dx_finecode_job_action(const dx_finecode_job *job);  /* the action's name */
DX_API const char *dx_finecode_job_handler(const dx_finecode_job *job); /* the handler's name */
DX_API dx_finecode_origin dx_finecode_job_origin(const dx_finecode_job *job);
DX_API const char *dx_finecode_job_run_id(const dx_finecode_job *job); /* walRunId; "" without */
/* Stay as long as the job. NULL: none. */
DX_API yyjson_val *dx_finecode_job_payload(const dx_finecode_job *job);
DX_API yyjson_val *dx_finecode_job_config(const dx_finecode_job *job); /* an object */
/* The result of what ran before it in this run; NULL if there is none. */
DX_API yyjson_val *dx_finecode_job_result(const dx_finecode_job *job);
/* State that goes from handler to handler, also into other envs. */
DX_API yyjson_val *dx_finecode_job_context(const dx_finecode_job *job);
DX_API dx_status dx_finecode_job_set_context(dx_finecode_job *job, dx_json context);
/* Does the caller want partial results? Giving some is fine in any case: they are part of the
 * result. */
DX_API int dx_finecode_job_is_streamed(const dx_finecode_job *job);
DX_API dx_status dx_finecode_job_partial(dx_finecode_job *job, dx_json result);
/* Nothing is sent if the caller gave no token for it. percent: 0 to 100, or -1. */
DX_API void dx_finecode_job_begin(dx_finecode_job *job, const char *title, const char *message,
                                  int64_t total);
DX_API void dx_finecode_job_report(dx_finecode_job *job, const char *message, int percent);
DX_API void dx_finecode_job_finish(dx_finecode_job *job, const char *message);
/* The text of a file: that of the open document, else of the disk. A path that is not absolute is
 * one of the project. *ret_text is to be freed with the allocator of the configuration (free()
 * without one) and has a NUL behind it; ret_len may be NULL. DX_ERR_SYSTEM with reterr, also for
 * more than 64 MiB. */
DX_API dx_status dx_finecode_job_read(dx_finecode_job *job, const char *path, char **ret_text,
                                      size_t *ret_len, dx_error *reterr);
/* Asks the manager; ends once, also if the job is cancelled (nested runs are cancelled with it),
 * but not after the job has ended. A job that waits for it has to be kept. The value of the event
 * for these: the result of finecode/runActionInProject, or its error. */
typedef void (*dx_finecode_on_answer)(dx_finecode_job *job, const dx_event *event, void *user);
DX_API dx_status dx_finecode_job_run_in_project(dx_finecode_job *job, const char *source,
                                                dx_json payload, dx_finecode_on_answer on_answer,
                                                void *user);
/* paths: NULL at the end; NULL for all projects that have it. */
DX_API dx_status dx_finecode_job_run_in_workspace(dx_finecode_job *job, const char *source,
                                                  dx_json payload, const char *const *paths,
                                                  int concurrently, dx_finecode_on_answer on_answer,
                                                  void *user);
/* What the manager said to the projects/getRawConfig of updateConfig; NULL: nothing (yet). */
DX_API yyjson_val *dx_finecode_er_raw_config(const dx_finecode_er *er);
/* workspace/applyEdit, projects/getRawConfig and all other questions. A raw configuration is an
 * object, in whichever form it came. A run that is asked for with a partialResultToken (revision
 * real) ends with the sum of what came by $/progress. DX_GONE: the job is cancelled. */
DX_API dx_status dx_finecode_job_ask(dx_finecode_job *job, const char *method, dx_json params,
                                     dx_finecode_on_answer on_answer, void *user);

DX_API void dx_finecode_job_keep(dx_finecode_job *job);
DX_API int dx_finecode_job_is_cancelled(const dx_finecode_job *job);
/* Comes once, also for one that is cancelled already (from the loop). The job is still to be ended,
 * however. */
DX_API void dx_finecode_job_on_cancel(dx_finecode_job *job,
                                      void (*on_cancel)(dx_finecode_job *job, void *user),
                                      void *user);
/* The end; the job is gone after each of these. */
/* result: an object or none. It stays as it is: the return code of a run is the largest of its
 * handlers and of its result (fails_if), and next to the result in the response. */
DX_API void dx_finecode_job_done(dx_finecode_job *job, dx_json result, int return_code);
/* No handler after it runs, and this is the result. */
DX_API void dx_finecode_job_stop(dx_finecode_job *job, dx_json result, int return_code);
DX_API void dx_finecode_job_fail(dx_finecode_job *job, const char *why);
DX_API void dx_finecode_job_cancel(dx_finecode_job *job);

#ifdef __cplusplus
}
#endif

#endif
