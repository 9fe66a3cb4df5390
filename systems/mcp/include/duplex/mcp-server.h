/*
 * duplex/mcp-server.h: an MCP server.
 *
 *     static void add(dx_mcp_work *work, yyjson_val *arguments, void *user) {
 *         double a = yyjson_get_num(yyjson_obj_get(arguments, "a"));
 *         double b = yyjson_get_num(yyjson_obj_get(arguments, "b"));
 *         char text[64];
 *         snprintf(text, sizeof text, "%g", a + b);
 *         dx_mcp_work_text(work, dx_str(text));
 *         dx_mcp_work_done(work);
 *     }
 *
 *     int main(void) {
 *         static const dx_mcp_tool tool = {.name = "add", .description = "Adds two numbers.",
 *             .input = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},"
 *                      "\"b\":{\"type\":\"number\"}},\"required\":[\"a\",\"b\"]}",
 *             .call = add};
 *         dx_mcp_server_config config = dx_mcp_server_defaults("adder", "1.0");
 *         dx_mcp_server *server;
 *         if (dx_mcp_server_new(&config, &server, NULL) ||
 *             dx_mcp_server_add_tool(server, &tool, NULL))
 *             return 2;
 *         return dx_mcp_serve(server);                     // on the standard input and output
 *     }
 *
 * What holds:
 *   - Both eras are spoken; the first message decides. Capabilities are told by what is declared.
 *   - A handler gets arguments that fit its schema: what does not is answered for it, by an error
 *     result (2025-11-25 on) or by -32602 (before). A structured result is checked likewise.
 *   - Every request is answered exactly once. A handler that returns without dx_mcp_work_done() and
 *     without dx_mcp_work_keep() is answered with -32603. One that was cancelled is not answered,
 *     whatever its handler still does; it was told.
 *   - While a handler's work is kept, everything else is served: ping, cancellation, other calls.
 *   - Progress goes out only if it was asked for and grows, and never after the answer.
 *   - Handlers run in the loop's thread. Work that was kept may be finished from any callback; from
 *     another thread by dx_loop_post().
 *   - A server leaves when its input ends, also while work is under way (on_cancel comes first).
 *   - Work that was kept is its owner's until it is ended, also after its session and its server
 *     are gone; then nothing is sent any more, but it must still be ended.
 *   - A server is freed before the loops of its sessions.
 *
 * JSON texts that are given (schemas and the like) are checked when they are declared, and copied.
 */
#ifndef DUPLEX_MCP_SERVER_H
#define DUPLEX_MCP_SERVER_H

#include <duplex/link.h>
#include <duplex/mcp.h>
#include <duplex/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All that is offered, to any number of clients. */
typedef struct dx_mcp_server dx_mcp_server;
/* One client's conversation. */
typedef struct dx_mcp_session dx_mcp_session;
/* A request that is being worked on. */
typedef struct dx_mcp_work dx_mcp_work;

typedef struct dx_mcp_server_config {
    const char *name;
    const char *version;
    const char *title; /* this and the following may be NULL */
    const char *description;
    const char *website;
    const char *icons; /* JSON: an array of {src, mimeType, sizes, theme} */
    const char *instructions;
    /* 2026-07-28: JSON, {"NAME": {SETTINGS}}: what capabilities.extensions says. */
    const char *extensions;
    int legacy_only;       /* don't speak the modern era */
    int serve_early;       /* legacy: serve requests before initialize, instead of refusing them */
    int subscribe;         /* resources can be subscribed to, see dx_mcp_server_updated() */
    int list_changed;      /* lists may change while it runs: tell so (1) */
    size_t page;           /* items of a list in one answer (100) */
    uint64_t ask_ms;       /* for an answer of the client to a question (5 min) */
    uint64_t ttl_ms;       /* modern: how long lists and resources may be kept by the client (0) */
    uint64_t state_ms;     /* modern: how long a round of input may take (10 min) */
    uint64_t task_ms;      /* how long a task that has ended is kept, at the most (10 min) */
    size_t tasks_max;      /* of one session, ended ones included (1,000) */
    size_t work_max;       /* requests at once of one session; more are refused (10,000) */
    size_t message_max;    /* (64 MiB) */
    int any_user;          /* dx_mcp_server_listen(): other users may connect, too */
    dx_recorder *recorder; /* gets all traffic; may be NULL; must outlive the server */
    const dx_allocator *allocator;

    /* Each may be NULL. */
    /* Legacy: the client has initialized. Modern: its first request came. */
    void (*on_session)(dx_mcp_session *session, void *user);
    void (*on_session_end)(dx_mcp_session *session, const dx_error *why, void *user);
    /* Somebody begins (1) or ceases (0) to care for the changes of a resource. */
    void (*on_subscribe)(dx_mcp_server *server, dx_text uri, int on, void *user);
    /* The client's folders are others now: dx_mcp_session_roots(). */
    void (*on_roots_changed)(dx_mcp_session *session, void *user);
    void (*on_violation)(dx_mcp_session *session, const dx_event *event, void *user);
    void (*on_traffic)(dx_mcp_session *session, int out, dx_text text, void *user);
    /* A connection was refused: see dx_listener_config in duplex/link.h. */
    void (*on_refused)(dx_mcp_server *server, const char *why, void *user);
    void *user;
} dx_mcp_server_config;

DX_API dx_mcp_server_config dx_mcp_server_defaults(const char *name, const char *version);
/* DX_ERR_INVALID with reterr (may be NULL), DX_ERR_NOMEM. The configuration is copied. */
DX_API dx_status dx_mcp_server_new(const dx_mcp_server_config *config, dx_mcp_server **ret_server,
                                   dx_misfit *reterr);
/* With its sessions, without a word; and with work that waits for the answer to a question, unless
 * it was kept by dx_mcp_work_keep(). */
DX_API dx_mcp_server *dx_mcp_server_free(dx_mcp_server *server);
DX_API void *dx_mcp_server_user(const dx_mcp_server *server);

/* What is offered. Members that are not said to be needed may be NULL. */

typedef struct dx_mcp_tool {
    const char *name; /* needed: 1 to 128 of A-Z a-z 0-9 _ - . / */
    const char *title;
    const char *description;
    const char *input;       /* JSON Schema of the arguments (an object without members) */
    const char *output;      /* JSON Schema of the structured result */
    const char *annotations; /* JSON: {readOnlyHint, destructiveHint, …} */
    const char *icons;       /* JSON */
    const char *meta;        /* JSON: _meta */
    enum { DX_MCP_TASK_NEVER = 0, DX_MCP_TASK_MAY, DX_MCP_TASK_MUST } task; /* 2025-11-25 */
    void (*call)(dx_mcp_work *work, yyjson_val *arguments, void *user);     /* needed */
    void *user;
} dx_mcp_tool;

typedef struct dx_mcp_resource {
    const char *uri;  /* needed; or, for a template, the RFC 6570 template: {name} and {+name} */
    const char *name; /* needed */
    const char *title;
    const char *description;
    const char *mime;
    const char *annotations; /* JSON */
    const char *icons;       /* JSON */
    const char *meta;        /* JSON: _meta */
    uint64_t size;           /* 0: not told */
    /* variables: an object of what stood in a template's places, NULL for a resource. Needed. */
    void (*read)(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user);
    /* What could stand in the place `argument` that begins with `value`; context: the others. */
    void (*complete)(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                     void *user);
    void *user;
} dx_mcp_resource;

typedef struct dx_mcp_prompt {
    const char *name; /* needed */
    const char *title;
    const char *description;
    const char *arguments; /* JSON: [{name, title?, description?, required?}] */
    const char *icons;     /* JSON */
    void (*get)(dx_mcp_work *work, yyjson_val *arguments, void *user); /* needed */
    void (*complete)(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                     void *user);
    void *user;
} dx_mcp_prompt;

/* At any time; clients that are there are told that the list has changed (once, when the turn
 * ends). DX_ERR_INVALID with reterr (may be NULL): a name that is there, a schema that is none, …;
 * DX_ERR_NOMEM. */
DX_API dx_status dx_mcp_server_add_tool(dx_mcp_server *server, const dx_mcp_tool *tool,
                                        dx_misfit *reterr);
DX_API dx_status dx_mcp_server_add_resource(dx_mcp_server *server, const dx_mcp_resource *resource,
                                            dx_misfit *reterr);
DX_API dx_status dx_mcp_server_add_template(dx_mcp_server *server, const dx_mcp_resource *resource,
                                            dx_misfit *reterr);
DX_API dx_status dx_mcp_server_add_prompt(dx_mcp_server *server, const dx_mcp_prompt *prompt,
                                          dx_misfit *reterr);
/* By its name, its uri, its template. DX_GONE: it is not there. */
DX_API dx_status dx_mcp_server_remove(dx_mcp_server *server, dx_mcp_kind kind, dx_text name);
/* For resources that are too many to be declared: asked for a page of them, and for each that is
 * read and neither declared nor fits a template. list answers with dx_mcp_work_reply() of
 * {"resources": […], "nextCursor"?}; cursor may be absent. read answers as that of a resource, or
 * dx_mcp_work_no_resource(). */
DX_API void dx_mcp_server_on_resources(
    dx_mcp_server *server, void (*list)(dx_mcp_work *work, dx_text cursor, void *user),
    void (*read)(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user), void *user);

/* What is said unasked. */

/* A resource has changed: told to those who subscribed to it. */
DX_API void dx_mcp_server_updated(dx_mcp_server *server, dx_text uri);
/* A list has changed without add or remove (see dx_mcp_server_on_resources()). */
DX_API void dx_mcp_server_changed(dx_mcp_server *server, dx_mcp_kind kind);
/* A log message to every legacy client that wants that level. logger may be absent. */
DX_API void dx_mcp_server_log(dx_mcp_server *server, dx_mcp_level level, dx_text logger,
                              dx_json data);

/* Clients. */

/* One on a pair of descriptors (the same twice for a socket), which become its own. */
DX_API dx_status dx_mcp_server_open(dx_mcp_server *server, dx_loop *loop, int in, int out,
                                    dx_mcp_session **ret_session, dx_error *reterr);
/* One on the standard input and output; see dx_link_stdio(). */
DX_API dx_status dx_mcp_server_stdio(dx_mcp_server *server, dx_loop *loop,
                                     dx_mcp_session **ret_session, dx_error *reterr);
/* All that connect to "unix:PATH" or "tcp:PORT" and may (see any_user; what does not begin with a
 * message is refused); the listener is the caller's to free, before the server. */
DX_API dx_status dx_mcp_server_listen(dx_mcp_server *server, dx_loop *loop, const char *address,
                                      dx_listener **ret_listener, dx_error *reterr);
/* The whole of a server that does nothing else: a loop with one client on the standard input and
 * output, until it leaves; the server is freed. An exit code as of dx_plugin_run(). */
DX_API int dx_mcp_serve(dx_mcp_server *server);

DX_API dx_mcp_server *dx_mcp_session_server(const dx_mcp_session *session);
DX_API dx_loop *dx_mcp_session_loop(const dx_mcp_session *session);
/* What the client said of itself; NULL before it did. */
DX_API const char *dx_mcp_session_revision(const dx_mcp_session *session);
DX_API int dx_mcp_session_is_modern(const dx_mcp_session *session);
DX_API yyjson_val *dx_mcp_session_client(const dx_mcp_session *session);
DX_API yyjson_val *dx_mcp_session_capabilities(const dx_mcp_session *session);
/* Says no more, sends what is left, ends. */
DX_API void dx_mcp_session_close(dx_mcp_session *session);

/* Work */

DX_API dx_mcp_session *dx_mcp_work_session(const dx_mcp_work *work);
DX_API dx_loop *dx_mcp_work_loop(const dx_mcp_work *work);
/* The whole params of the request, `_meta` included. */
DX_API yyjson_val *dx_mcp_work_params(const dx_mcp_work *work);
/* It goes on after the handler has returned, until dx_mcp_work_done() or the like. Texts and values
 * that the handler got stay valid until then. */
DX_API void dx_mcp_work_keep(dx_mcp_work *work);
/* Is it no longer wanted? Then nothing more will be sent; it is still to be ended by
 * dx_mcp_work_done() or the like, which frees it. */
DX_API int dx_mcp_work_is_cancelled(const dx_mcp_work *work);
/* Called when that happens, also because the client is gone. The work may be ended in it. */
DX_API void dx_mcp_work_on_cancel(dx_mcp_work *work,
                                  void (*on_cancel)(dx_mcp_work *work, void *user), void *user);

/* total < 0: not known; message may be absent. */
DX_API void dx_mcp_work_progress(dx_mcp_work *work, double progress, double total, dx_text message);
/* To this client, if it wants that level (modern: if this request said so). */
DX_API void dx_mcp_work_log(dx_mcp_work *work, dx_mcp_level level, dx_text logger, dx_json data);

/* Pieces of the result: content of a tool, messages of a prompt, contents of a resource, values of
 * a completion. What does not go with the request at hand, or is no UTF-8, or for want of memory,
 * makes the answer an internal error; so nothing here needs to be checked. */
DX_API void dx_mcp_work_text(dx_mcp_work *work, dx_text text);
/* A content item as JSON: {"type": "image", …}; of a resource: {"uri", "text" or "blob", …}. */
DX_API void dx_mcp_work_content(dx_mcp_work *work, dx_json item);
/* Bytes: "image/…" and "audio/…" of a tool or prompt, or the blob of a resource. */
DX_API void dx_mcp_work_bytes(dx_mcp_work *work, dx_text bytes, const char *mime);
/* The structured result of a tool; a text with the same JSON is added if there is no content. */
DX_API void dx_mcp_work_structured(dx_mcp_work *work, dx_json value);
/* Does it fit the output schema that the tool declares? DX_OK (also without one), DX_MISFIT with
 * the reason in *why (may be NULL), or DX_ERR_NOMEM. */
DX_API dx_status dx_mcp_work_fits(dx_mcp_work *work, yyjson_val *value, dx_misfit *why);
/* A message of a prompt: role "user" or "assistant"; content as in dx_mcp_work_content(). */
DX_API void dx_mcp_work_message(dx_mcp_work *work, const char *role, dx_json content);
DX_API void dx_mcp_work_description(dx_mcp_work *work, dx_text text);
/* A value of a completion. More than 100 are counted, not sent. */
DX_API void dx_mcp_work_value(dx_mcp_work *work, dx_text value);

/* The end of it; `work` is gone after each of these. */
/* The answer is what was gathered. */
DX_API void dx_mcp_work_done(dx_mcp_work *work);
/* A tool: what was gathered and this text, as an error result. Anything else: -32603. */
DX_API void dx_mcp_work_fail(dx_mcp_work *work, dx_text text);
/* An error instead; message may be absent. */
DX_API void dx_mcp_work_refuse(dx_mcp_work *work, int64_t code, dx_text message, dx_json data);
/* There is no such resource: the error of the revision. */
DX_API void dx_mcp_work_no_resource(dx_mcp_work *work, dx_text uri);
/* This result, whole, in place of what was gathered. */
DX_API void dx_mcp_work_reply(dx_mcp_work *work, dx_json result);

/* Questions to the client. */

/* Its answer: value is the result, or NULL, and then error says why there is none (code 0: not an
 * error of the client: a timeout, a capability that it lacks). */
typedef void (*dx_mcp_on_reply)(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                                void *user);
/*
 * Asks for "sampling/createMessage", "elicitation/create" or "roots/list" and keeps the work. `key`
 * names the question within this request.
 *
 * Legacy: a request to the client. Modern: the answer to the request at hand says that input is
 * required; the client repeats it with the input, the handler runs again from its beginning, and
 * comes to the same question, which is then answered at once (from the loop). So a handler must ask
 * the same questions in the same order, and do before them only what may be done twice. The work of
 * the run that could not go on is over when the loop gets its turn: on_cancel comes if there is
 * one, on_reply does not, and it need not be ended.
 *
 * A client that lacks what the question needs: on_reply comes with code 0, in both eras. In the
 * modern one, dx_mcp_work_fail() there (or no on_reply at all) is answered with -32021 and the
 * capability that is required; any other end stands as it is. A question that is open when the
 * request is cancelled or the client leaves is answered in the same way, after on_cancel, unless
 * the work was ended there.
 */
DX_API void dx_mcp_work_ask(dx_mcp_work *work, const char *key, const char *method, dx_json params,
                            dx_mcp_on_reply on_reply, void *user);
/* May it be asked? (Elicitation: by a form; "elicitation/create url": by a URL.) */
DX_API int dx_mcp_work_may_ask(const dx_mcp_work *work, const char *method);
/* Modern: several questions at once, without a reply yet: put() each, then ask for the first of
 * them; all that were put go out together. Legacy: put() does nothing. */
DX_API void dx_mcp_work_put(dx_mcp_work *work, const char *key, const char *method, dx_json params);
/* Modern: a text that comes back with the repeated request, guarded against changes and against use
 * in another request (but not hidden from the client); absent the first time, and in the legacy era
 * (where nothing is repeated). */
DX_API dx_text dx_mcp_work_state(const dx_mcp_work *work);
DX_API void dx_mcp_work_set_state(dx_mcp_work *work, dx_text state);
/* Legacy, outside of any request: the client's folders, an array; NULL: it did not say. DX_MISFIT:
 * it has none. */
DX_API dx_status dx_mcp_session_roots(dx_mcp_session *session,
                                      void (*on_roots)(dx_mcp_session *session, yyjson_val *roots,
                                                       void *user),
                                      void *user);
/* 2025-11-25: the user has dealt with the page of an elicitation by URL. */
DX_API void dx_mcp_session_elicited(dx_mcp_session *session, dx_text id);

#ifdef __cplusplus
}
#endif

#endif
