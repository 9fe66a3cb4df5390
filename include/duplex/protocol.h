/*
 * duplex/protocol.h: a protocol is a document; this reads it.
 *
 *     dx_protocol *protocol;
 *     dx_misfit why;
 *     if (dx_protocol_open(dx_str("mcp@2025-06-18"), NULL, &protocol, &why) != DX_OK)
 *         puts(why.phrase);
 *     const dx_method *method = dx_protocol_find(protocol, dx_str("tools/call"));
 *     puts(method->summary);
 *     dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_PARAMS, params, 0, &why);
 *
 * docs/protocol.md says what a document holds. Built-in ones are bytes in the library, read by the
 * same functions as any other; schemas are compiled when a message is first checked. A protocol can
 * be used by any number of peers of one thread, and must outlive them.
 */
#ifndef DUPLEX_PROTOCOL_H
#define DUPLEX_PROTOCOL_H

#include <duplex/base.h>
#include <duplex/frame.h>
#include <duplex/rpc.h>
#include <duplex/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_protocol dx_protocol;

/* What happens when an answer does not come in time. */
typedef enum dx_late {
    DX_LATE_FAIL = 0, /* the call ends */
    DX_LATE_CANCEL,   /* and the other side is told */
    DX_LATE_KILL      /* the call ends, and so should the other side */
} dx_late;

/* The part of a message that a schema describes. */
typedef enum dx_part { DX_PART_PARAMS = 1, DX_PART_RESULT } dx_part;

/* A message that the host sends by itself. */
typedef struct dx_step {
    const char *method; /* NULL: after the last one */
    const char *params; /* JSON text, or NULL */
    int notification;
} dx_step;

/* The document's own x-duplex, with the values that stand for what it leaves out. Absent strings
 * are NULL, absent times DX_NEVER. */
typedef struct dx_protocol_facts {
    const char *name;     /* "mcp" */
    const char *revision; /* "2025-06-18", or NULL */
    const char *title;    /* for people */
    const char *version;
    const char *host; /* what the protocol calls the two sides */
    const char *plugin;
    dx_framing framing;
    const char *content_type;
    unsigned lenient; /* DX_LENIENT_… */
    dx_fields fields;
    size_t message_max;
    dx_ids ids;
    int batch;
    int id_absent;   /* an error about no known request has no id, instead of null */
    int id_silent;   /* … or is not sent at all */
    int host_silent; /* … and the host sends no errors at all, whatever the id is */
    int params_null; /* a message without params is sent with "params": null */
    int open;
    uint64_t deadline_ms;

    const char *cancel_method; /* NULL: requests can't be cancelled */
    const char *cancel_id;
    const char *cancel_reason;
    int cancel_answered;
    int cancel_mutual;
    int64_t cancel_code;
    uint64_t cancel_grace_ms;

    const char *progress_method; /* NULL: there is no progress */
    const char *progress_token;
    const char *const *progress_places; /* JSON Pointers into params; NULL at the end */
    int progress_pass_unknown;

    const dx_step *start; /* the handshake: each when the one before was answered; NULL: none */

    const char *stop_call;   /* each may be NULL */
    const char *stop_params; /* JSON text */
    const char *stop_notify;
    uint64_t stop_call_ms;
    uint64_t stop_close_ms;
    uint64_t stop_term_ms;
} dx_protocol_facts;

/* A message. */
typedef struct dx_method {
    const char *name;
    const char *summary;
    const char *description; /* or NULL */
    int from_host;
    int from_plugin;
    int notification;
    int has_params[3]; /* by who sends it: there is a schema … */
    int optional[3];   /* … but params may be absent */
    uint64_t deadline_ms[3];
    dx_late late[3];
    size_t index; /* its place in the document */
} dx_method;

typedef struct dx_protocol_config {
    const dx_allocator *allocator; /* NULL: malloc */
    size_t document_max;           /* bytes of one document (4 MiB) */
    size_t methods_max;            /* (4,096) */
    unsigned extends_max;          /* how many documents may extend each other (16) */
    /* Finds the document that another one extends: its bytes, which must stay until the function
     * that asked has returned, and what it is called in errors. DX_AGAIN: there is none. NULL: only
     * what is built in. */
    dx_status (*find)(void *user, dx_text name, dx_text *ret_bytes, dx_text *ret_file);
    void *find_user;
} dx_protocol_config;

DX_API dx_protocol_config dx_protocol_defaults(void);

/* The built-in protocol NAME or NAME@REVISION; without a revision the one that has none, or the
 * newest (the last by name). config NULL: the defaults. DX_ERR_INVALID with reterr: there is none
 * of that name; DX_ERR_NOMEM. reterr may be NULL. */
DX_API dx_status dx_protocol_open(dx_text name, const dx_protocol_config *config,
                                  dx_protocol **ret_protocol, dx_misfit *reterr);
/* One from its document; `file` is what it is called in errors. DX_ERR_INVALID with reterr, whose
 * phrase is "FILE: PLACE: what is wrong" (without the place if it is no JSON: then
 * "FILE:LINE:COLUMN: …"), and whose instance is the place; DX_ERR_LIMIT with reterr, DX_ERR_NOMEM.
 */
DX_API dx_status dx_protocol_read(dx_text document, dx_text file, const dx_protocol_config *config,
                                  dx_protocol **ret_protocol, dx_misfit *reterr);
DX_API dx_protocol *dx_protocol_free(dx_protocol *protocol);

/* The names of what is built in ("hermes", "mcp@2025-06-18", …), in order; NULL after the last. */
DX_API const char *dx_protocol_builtin(size_t index);
/* The document of that one, as it stands in its file: what it extends is not in it. Absent behind
 * the last. */
DX_API dx_text dx_protocol_builtin_document(size_t index);

DX_API const dx_protocol_facts *dx_protocol_facts_of(const dx_protocol *protocol);
/* The whole document, what it extends included: OpenRPC. It belongs to the protocol. */
DX_API yyjson_val *dx_protocol_document(const dx_protocol *protocol);

/* A message by its name; NULL if the protocol does not list it. */
DX_API const dx_method *dx_protocol_find(const dx_protocol *protocol, dx_text method);
/* All of them, in the document's order; NULL after the last. */
DX_API const dx_method *dx_protocol_method(const dx_protocol *protocol, size_t index);

/* Does a part of a message that `from` sent (for a result: of the answer to a message that `from`
 * sent) fit? value NULL: the params are absent. flags: DX_CHECK_OPEN for what was received. DX_OK,
 * also where the document says nothing; DX_MISFIT with reterr, whose instance is a pointer into
 * that part; DX_ERR_INVALID with reterr: the document's schema is bad; DX_ERR_LIMIT with reterr,
 * DX_ERR_NOMEM. */
DX_API dx_status dx_protocol_check(dx_protocol *protocol, const dx_method *method, dx_side from,
                                   dx_part part, yyjson_val *value, unsigned flags,
                                   dx_misfit *reterr);
/* Compiles everything now, and so finds every flaw. */
DX_API dx_status dx_protocol_check_all(dx_protocol *protocol, dx_misfit *reterr);

/* The name of an error code: its key in components.errors ("AgentBusy"), or of JSON-RPC's own
 * ("InvalidParams"); NULL if it has none. *ret_message (which may be NULL) is its text. */
DX_API const char *dx_protocol_error_name(const dx_protocol *protocol, int64_t code,
                                          const char **ret_message);

/* Lifecycle: states are numbers, 0 is where a conversation starts. */
typedef enum dx_move { DX_MOVE_SENT = 1, DX_MOVE_RESULT, DX_MOVE_ERROR } dx_move;
/* "ready", …; never NULL. A protocol without a lifecycle has one state, "any". */
DX_API const char *dx_protocol_state_name(const dx_protocol *protocol, unsigned state);
DX_API unsigned dx_protocol_states(const dx_protocol *protocol);

typedef enum dx_leave {
    DX_LEAVE_YES = 0,
    DX_LEAVE_NO,   /* refuse it, or report it */
    DX_LEAVE_EARLY /* let it through, and count it */
} dx_leave;
/* May `from` send that message in that state? For DX_LEAVE_NO, *ret_code and *ret_message (either
 * may be NULL) are what a request is answered with: the state's own, or -32601 if that side never
 * sends it. */
DX_API dx_leave dx_protocol_may(const dx_protocol *protocol, unsigned state, dx_text method,
                                dx_side from, int64_t *ret_code, const char **ret_message);
/* The state that follows when a message of `from`, or its answer, has gone over the wire. */
DX_API unsigned dx_protocol_next(const dx_protocol *protocol, unsigned state, dx_text method,
                                 dx_side from, dx_move move);
/* The same two for a message that was found before: no name is looked up. */
DX_API dx_leave dx_protocol_may_send(const dx_protocol *protocol, unsigned state,
                                     const dx_method *method, dx_side from, int64_t *ret_code,
                                     const char **ret_message);
DX_API unsigned dx_protocol_after(const dx_protocol *protocol, unsigned state,
                                  const dx_method *method, dx_side from, dx_move move);

/* Appends an example as JSON: the smallest params of that message when `from` sends it, or the
 * smallest result of the answer to that. It fits wherever the schema says in plain words what does;
 * dx_protocol_check() tells. DX_AGAIN: there is none (no params, no answer, or that side does not
 * send it), and nothing is appended; DX_ERR_NOMEM, DX_ERR_LIMIT. */
DX_API dx_status dx_protocol_example(const dx_protocol *protocol, const dx_method *method,
                                     dx_side from, dx_part part, dx_buf *json);

/* The reference page: Markdown. DX_ERR_NOMEM, DX_ERR_LIMIT. */
DX_API dx_status dx_protocol_page(dx_protocol *protocol, dx_buf *page);

#ifdef __cplusplus
}
#endif

#endif
