/*
 * duplex/mcp-client.h: a client of an MCP server.
 *
 *     dx_mcp_client_config config = dx_mcp_client_defaults("my-editor", "1.0");
 *     const char *argv[] = {"duplex", "mcp", "serve", "files", ".", NULL};
 *     config.argv = argv;
 *     config.on_ready = on_ready;                     // initialized: begin to ask
 *     config.on_closed = on_closed;                   // comes once, whatever happens
 *     dx_mcp_client_open(loop, &config, &client, &error);
 *     …
 *     dx_mcp_client_tool(client, dx_str("search"), arguments, NULL, on_answer, NULL, NULL);
 *     …
 *     dx_mcp_client_close(client);
 *
 * What holds:
 *   - Every call that was accepted ends exactly once, by one on_answer: with the answer, with a
 *     timeout, cancelled, or lost when the conversation ends. (Not after dx_mcp_client_free().)
 *   - A call that runs out of time is taken from the books, the server is told so by
 *     notifications/cancelled with a reason, and an answer that still comes is dropped. The same
 *     holds for one that is cancelled: the notification goes out first. `initialize` is never
 *     cancelled.
 *   - Everything that comes and goes is checked against the schema of the revision that was agreed
 *     upon.
 *   - What the server does not offer can't be asked for: DX_MISFIT before anything is sent.
 *   - In the modern era, rounds of input are played by the client: it asks the same callbacks as in
 *     the legacy era and repeats the request, under the handle of the first one.
 *   - A request of the server that nobody here answers gets an error, never silence.
 *
 * A client belongs to the loop's thread. It may be freed in its own callbacks.
 */
#ifndef DUPLEX_MCP_CLIENT_H
#define DUPLEX_MCP_CLIENT_H

#include <duplex/child.h>
#include <duplex/mcp.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_mcp_client dx_mcp_client;

/* A question of the server that waits for an answer: sampling or elicitation. Answered by one of
 * the three functions below, at once or later; it is gone with on_question_gone. */
typedef struct dx_mcp_question dx_mcp_question;

/* Why a conversation is over. */
typedef struct dx_mcp_end {
    int by_us;           /* dx_mcp_client_close() was called before */
    int was_ready;       /* on_ready had come */
    int no_revision;     /* the server wants one that is not spoken here */
    const dx_gone *gone; /* of a process that was started; else NULL */
    dx_error error;      /* one line; fault DX_FAULT_NONE for a plain end */
    int64_t refused;     /* the code of the error that initialize or server/discover was answered
                            with; else 0 */
} dx_mcp_end;

typedef struct dx_mcp_client_config {
    const char *name; /* what the server is told of the client … */
    const char *version;
    const char *title; /* … may be NULL */

    /* Where the server is: one of these. */
    const char *const *argv; /* a program to start */
    const char *address;     /* "unix:PATH", "tcp:PORT" */
    int in, out;             /* descriptors, which become the client's (-1: none) */
    /* Of a program: as in dx_child_config. */
    const char *cwd;
    const char *const *env;
    int inherit_env;
    dx_ladder ladder;
    size_t errors_max;

    dx_mcp_mode mode;
    const char *revision;  /* the one that is asked for (NULL: the newest of its era) */
    dx_ids ids;            /* DX_IDS_RANDOM: "req_…", as Hermes MCP has them; or counters */
    uint64_t start_ms;     /* for the answer to initialize or server/discover (30 s) */
    uint64_t probe_ms;     /* DX_MCP_AUTO: for the answer of the copy (10 s) */
    uint64_t timeout_ms;   /* for an answer (30 s) */
    uint64_t total_ms;     /* and with progress in all (never) */
    unsigned rounds_max;   /* of input for one request (16) */
    size_t pages_max;      /* of a list (10,000) */
    size_t message_max;    /* (64 MiB) */
    int roots;             /* folders are offered: dx_mcp_client_add_root() */
    int strict;            /* an answer with half a surrogate pair or with 1e400 is
                              DX_OUTCOME_INVALID; else see `mended` in dx_event */
    int no_tasks;          /* don't offer tasks for sampling and elicitation */
    dx_recorder *recorder; /* gets all traffic; may be NULL; must outlive the client */
    const dx_allocator *allocator;

    /* Each may be NULL. */
    void (*on_ready)(dx_mcp_client *client, void *user);
    void (*on_closed)(dx_mcp_client *client, const dx_mcp_end *end, void *user);
    /* The list of that kind is another one now (resources: also their templates). */
    void (*on_changed)(dx_mcp_client *client, dx_mcp_kind kind, void *user);
    /* A resource that was subscribed to has changed. */
    void (*on_updated)(dx_mcp_client *client, dx_text uri, void *user);
    void (*on_log)(dx_mcp_client *client, dx_mcp_level level, dx_text logger, yyjson_val *data,
                   void *user);
    /* A task has another state: notifications/tasks/status and its params. */
    void (*on_task)(dx_mcp_client *client, yyjson_val *task, void *user);
    /* The page of an elicitation by URL was dealt with. */
    void (*on_elicited)(dx_mcp_client *client, dx_text id, void *user);
    /* The server wants an answer of a model. With it, sampling is offered. */
    void (*on_sampling)(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                        void *user);
    int sampling_tools; /* it may use tools (2025-11-25) */
    /* It wants the user to fill in a form or to visit a page (params.mode "url"). With it,
     * elicitation is offered, by URL if elicitation_url. An accepted form is checked against the
     * schema that was asked for, and its defaults are filled in. */
    void (*on_elicitation)(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                           void *user);
    int elicitation_url;
    /* It was cancelled by the server, or the conversation ended. */
    void (*on_question_gone)(dx_mcp_client *client, dx_mcp_question *question, void *user);
    /* Any other notification of the protocol. */
    void (*on_notification)(dx_mcp_client *client, dx_text method, yyjson_val *params, void *user);
    void (*on_violation)(dx_mcp_client *client, const dx_event *event, void *user);
    void (*on_errors)(dx_mcp_client *client, dx_text line, void *user); /* its standard error */
    /* Sees all traffic, `out` being 1 for what is sent; see dx_peer_config. */
    void (*on_traffic)(dx_mcp_client *client, int out, dx_text text, void *user);
    void *user;
} dx_mcp_client_config;

DX_API dx_mcp_client_config dx_mcp_client_defaults(const char *name, const char *version);

/* Starts or connects; on_ready or on_closed comes from the loop. The configuration is copied, its
 * texts are not needed any more afterwards. DX_ERR_SYSTEM, DX_ERR_INVALID (with reterr),
 * DX_ERR_NOMEM. reterr may be NULL. */
DX_API dx_status dx_mcp_client_open(dx_loop *loop, const dx_mcp_client_config *config,
                                    dx_mcp_client **ret_client, dx_error *reterr);
/* Every call that is pending is cancelled ("client closed"), then the server is asked to leave;
 * on_closed comes in bounded time. Harmless when it is closing already. */
DX_API void dx_mcp_client_close(dx_mcp_client *client);
/* At once and without a word; no callback comes any more. */
DX_API dx_mcp_client *dx_mcp_client_free(dx_mcp_client *client);

DX_API void *dx_mcp_client_user(const dx_mcp_client *client);
/* What was agreed upon; NULL, 0 before on_ready. */
DX_API const char *dx_mcp_client_revision(const dx_mcp_client *client);
DX_API int dx_mcp_client_is_modern(const dx_mcp_client *client);
/* What the server said of itself: serverInfo, capabilities, instructions (absent if none). */
DX_API yyjson_val *dx_mcp_client_server(const dx_mcp_client *client);
DX_API yyjson_val *dx_mcp_client_capabilities(const dx_mcp_client *client);
DX_API dx_text dx_mcp_client_instructions(const dx_mcp_client *client);
/* The result that this is from, of initialize or server/discover: `body` is as it came. */
DX_API const dx_event *dx_mcp_client_hello(const dx_mcp_client *client);
/* May that method be asked? 0 also before on_ready. */
DX_API int dx_mcp_client_offers(const dx_mcp_client *client, dx_text method);
DX_API dx_peer_stats dx_mcp_client_statistics(const dx_mcp_client *client);

/* Calls */

/* A call that was made. Never 0, never used twice. */
typedef uint64_t dx_mcp_call;

/* The end of a call: see DX_EVENT_DONE in duplex/peer.h. `value` is the result or the error object.
 * A cancellation by the server is DX_OUTCOME_CANCELLED with DX_FAULT_GIVEN_UP. */
typedef void (*dx_mcp_on_answer)(dx_mcp_client *client, dx_mcp_call call, const dx_event *event,
                                 void *user);

typedef struct dx_mcp_progress {
    double progress;
    int has_total;
    double total;
    dx_text message; /* may be absent */
} dx_mcp_progress;

typedef struct dx_mcp_call_options {
    uint64_t timeout_ms; /* 0: the client's */
    uint64_t total_ms;   /* 0: the client's */
    int reset;           /* progress starts timeout_ms anew; a token is always sent then */
    /* With it a progress token is sent. */
    void (*on_progress)(dx_mcp_client *client, dx_mcp_call call, const dx_mcp_progress *progress,
                        void *user);
    dx_mcp_level log_level; /* modern: what the server may log about it (nothing) */
} dx_mcp_call_options;

/* Any request. params is an object or none; `_meta` is added to it. options and ret_call may be
 * NULL. DX_MISFIT: the server does not offer it, or the params do not fit, dx_mcp_client_why();
 * DX_AGAIN: not ready yet; DX_BUSY, DX_CLOSED, DX_ERR_LIMIT, DX_ERR_INVALID, DX_ERR_NOMEM as
 * dx_peer_call(). All calls below are this one with a method and params. */
DX_API dx_status dx_mcp_client_call(dx_mcp_client *client, dx_text method, dx_json params,
                                    const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                    void *user, dx_mcp_call *ret_call);
DX_API const char *dx_mcp_client_why(const dx_mcp_client *client);

DX_API dx_status dx_mcp_client_ping(dx_mcp_client *client, const dx_mcp_call_options *options,
                                    dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call);
/* One page of a list; cursor may be absent. */
DX_API dx_status dx_mcp_client_page(dx_mcp_client *client, dx_mcp_kind kind, dx_text cursor,
                                    const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                    void *user, dx_mcp_call *ret_call);
/* All pages: the answer is one result that has all items, and what else the last page has. A server
 * that hands out the same cursor twice, or too many pages, ends it as DX_OUTCOME_INVALID. */
DX_API dx_status dx_mcp_client_list(dx_mcp_client *client, dx_mcp_kind kind,
                                    const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                    void *user, dx_mcp_call *ret_call);
/* arguments: an object or none. */
DX_API dx_status dx_mcp_client_tool(dx_mcp_client *client, dx_text name, dx_json arguments,
                                    const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                    void *user, dx_mcp_call *ret_call);
/* The same as a task (2025-11-25): on_answer comes with the result of tasks/result when the task
 * has ended; until then its state is asked for as often as the server wants, and told by on_task.
 * Cancelling the call cancels the task. ttl_ms 0: the server's. */
DX_API dx_status dx_mcp_client_task(dx_mcp_client *client, dx_text name, dx_json arguments,
                                    uint64_t ttl_ms, const dx_mcp_call_options *options,
                                    dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call);
DX_API dx_status dx_mcp_client_read(dx_mcp_client *client, dx_text uri,
                                    const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                    void *user, dx_mcp_call *ret_call);
DX_API dx_status dx_mcp_client_prompt(dx_mcp_client *client, dx_text name, dx_json arguments,
                                      const dx_mcp_call_options *options,
                                      dx_mcp_on_answer on_answer, void *user,
                                      dx_mcp_call *ret_call);
/* What could stand there: an argument of a prompt (kind DX_MCP_PROMPTS, its name) or of a template
 * (DX_MCP_TEMPLATES, its uriTemplate). context: what the other arguments are, an object or none. */
DX_API dx_status dx_mcp_client_complete(dx_mcp_client *client, dx_mcp_kind kind, dx_text name,
                                        dx_text argument, dx_text value, dx_json context,
                                        const dx_mcp_call_options *options,
                                        dx_mcp_on_answer on_answer, void *user,
                                        dx_mcp_call *ret_call);
/* Legacy: logging/setLevel. Modern: the level of all calls that say none; answered at once. */
DX_API dx_status dx_mcp_client_log(dx_mcp_client *client, dx_mcp_level level,
                                   dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call);
/* To hear on_updated of it. Legacy: resources/subscribe. Modern: a subscriptions/listen with all
 * that is subscribed to; the answer is its acknowledgement. on_changed needs no subscription in the
 * legacy era; in the modern one the client listens for it from the start if on_changed is there. */
DX_API dx_status dx_mcp_client_subscribe(dx_mcp_client *client, dx_text uri,
                                         dx_mcp_on_answer on_answer, void *user,
                                         dx_mcp_call *ret_call);
DX_API dx_status dx_mcp_client_unsubscribe(dx_mcp_client *client, dx_text uri,
                                           dx_mcp_on_answer on_answer, void *user,
                                           dx_mcp_call *ret_call);

/* No longer wanted: the server is told, then on_answer comes. reason may be absent ("client
 * cancelled"). DX_GONE: it has ended, or its answer is here. */
DX_API dx_status dx_mcp_client_cancel(dx_mcp_client *client, dx_mcp_call call, dx_text reason);
/* All that are pending: their handles, at most `max` of them, go to `calls`; *ret_count is how many
 * there were. */
DX_API dx_status dx_mcp_client_cancel_all(dx_mcp_client *client, dx_text reason, dx_mcp_call *calls,
                                          size_t max, size_t *ret_count);
/* Calls that have not ended. */
DX_API size_t dx_mcp_client_pending(const dx_mcp_client *client);

typedef struct dx_mcp_pending {
    dx_mcp_call call;
    const char *method;       /* valid until the call ends */
    uint64_t age_ms;          /* since it was made */
    char id[DX_CALL_ID_ROOM]; /* of the request that is on the wire for it now, as JSON text; "":
                                 there is none (a task between two looks at its state, …) */
} dx_mcp_pending;
/* Which ones, the oldest first: at most `max` of them go to `list`. Returns how many there are. */
DX_API size_t dx_mcp_client_calls(const dx_mcp_client *client, dx_mcp_pending *list, size_t max);
/* The call that has this id on the wire now (JSON text: "\"req_…\"", or 7), for
 * dx_mcp_client_cancel(); 0: there is none. */
DX_API dx_mcp_call dx_mcp_client_find(const dx_mcp_client *client, dx_text id);

/* Of the client's side */

/* Folders that the server may work in. Each change is told if the server was told of the list.
 * uri: file://…; name may be absent. DX_ERR_INVALID: not such a URI, or roots are not offered;
 * DX_GONE: there is no such root. */
DX_API dx_status dx_mcp_client_add_root(dx_mcp_client *client, dx_text uri, dx_text name);
DX_API dx_status dx_mcp_client_remove_root(dx_mcp_client *client, dx_text uri);
DX_API void dx_mcp_client_clear_roots(dx_mcp_client *client);

/* How far a request of the server is: sent if it gave a token. */
DX_API dx_status dx_mcp_question_progress(dx_mcp_question *question,
                                          const dx_mcp_progress *progress);
/* The result (for sampling {role, content, model, stopReason}, for elicitation {action, content}).
 * DX_MISFIT: it does not fit, dx_mcp_client_why(), and the question is still open. */
DX_API dx_status dx_mcp_question_answer(dx_mcp_question *question, dx_json result);
/* An error; message may be absent. */
DX_API dx_status dx_mcp_question_refuse(dx_mcp_question *question, int64_t code, dx_text message);

#ifdef __cplusplus
}
#endif

#endif
