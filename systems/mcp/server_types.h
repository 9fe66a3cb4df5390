/* What a server, its sessions and its work are made of. */
#ifndef MCP_SERVER_TYPES_H
#define MCP_SERVER_TYPES_H

#include "base/alloc.h"
#include "systems/mcp/server_text.h"

#include <duplex/mcp-server.h>

#include <stdbool.h>

/* The revisions, the oldest first: what a later one brought is asked for by comparing. */
typedef enum dx__mcp_rev {
    DX__MCP_2024_11,
    DX__MCP_2025_03,
    DX__MCP_2025_06,
    DX__MCP_2025_11,
    DX__MCP_2026_07,
    DX__MCP_REVS
} dx__mcp_rev;

#define DX__MCP_META "io.modelcontextprotocol/"

/* How many subscriptions/listen a session may have open, and how many URIs it may watch in all. */
enum { DX__MCP_LISTENS_MAX = 1024, DX__MCP_WATCHES_MAX = 10000 };
/* How many tasks/result may wait; and how many requests, beyond those that are worked on, can be
 * open in all, so that there is always room for a ping. */
enum { DX__MCP_WAITS_MAX = 1024, DX__MCP_SPARE = DX__MCP_LISTENS_MAX + DX__MCP_WAITS_MAX + 64 };
/* When what could not be sent is tried again. */
enum { DX__MCP_RETRY_MS = 10 };

enum { DX__MCP_KINDS = DX_MCP_PROMPTS + 1 };

/* Something that was declared: a tool, a resource, a template, a prompt. Work holds on to it, so
 * that it may be taken back in the meantime. */
typedef struct dx__mcp_item {
    dx_allocator alloc;
    dx_mcp_kind kind;
    unsigned refs;
    uint64_t serial; /* grows in the order of declaration */
    dx_text key;     /* what it is found by */
    char *uri;       /* of resources and templates */
    char *name;
    char *title;
    char *description;
    char *mime;
    char *annotations; /* this and the following are compact JSON */
    char *icons;
    char *meta;
    char *input;
    char *output;
    char *arguments;
    yyjson_doc *input_doc;
    yyjson_doc *output_doc;
    yyjson_doc *arguments_doc;
    dx_schemas *schemas;
    dx_schema *input_schema;
    dx_schema *output_schema;
    bool output_is_object; /* before the modern era it has to be */
    int task;
    uint64_t size;
    void (*call)(dx_mcp_work *work, yyjson_val *arguments, void *user);
    void (*read)(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user);
    void (*complete)(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                     void *user);
    void *user;
    struct dx__mcp_item *prev;
    struct dx__mcp_item *next;
} dx__mcp_item;

typedef struct dx__mcp_items {
    dx__mcp_table by_key;
    dx__mcp_item *first;
    dx__mcp_item *last;
    uint64_t last_serial;
} dx__mcp_items;

/* A resource that somebody watches, and how many do. */
typedef struct dx__mcp_watched {
    size_t count;
    dx_text uri;
} dx__mcp_watched;

/* The documents. Whoever still has a request that came under one of them holds on to it: a link is
 * freed only when its loop's turn ends, which may be after the server. */
typedef struct dx__mcp_speech {
    dx_allocator alloc;
    size_t refs;
    dx_protocol *protocols[DX__MCP_REVS];
    dx_protocol *start; /* what is spoken before the first message tells */
} dx__mcp_speech;

/* Where clients connect. */
struct dx__mcp_place {
    dx_mcp_server *server;
    dx_loop *loop;
    struct dx__mcp_place *next;
};

struct dx_mcp_server {
    dx_mcp_server_config config; /* its texts are copies */
    dx_allocator alloc;
    dx__mcp_speech *speech;
    dx__mcp_items items[DX__MCP_KINDS];
    size_t completers; /* items that can complete */
    size_t taskers;    /* tools that can be tasks */
    void (*list_more)(dx_mcp_work *work, dx_text cursor, void *user);
    void (*read_more)(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user);
    void *more_user;
    dx__mcp_table watched;
    dx_mcp_session *sessions;
    dx_check *check;
    uint8_t key[16]; /* of what is handed out and comes back */
    struct dx__mcp_place *places;
    bool runs; /* the loop is dx_mcp_serve()'s own, and this its exit code */
    int code;
};

/* A request under way that is answered when something happens: a subscriptions/listen, or a
 * tasks/result that waits. */
typedef struct dx__mcp_listen {
    dx_event *event;
    unsigned kinds; /* 1 << dx_mcp_kind: the lists whose changes are told */
    size_t count;
    dx_text *uris; /* parts of the event */
    struct dx__mcp_listen *prev;
    struct dx__mcp_listen *next;
} dx__mcp_listen;

/* Modern: a question that goes out when input is required. */
typedef struct dx__mcp_put {
    struct dx__mcp_put *next;
    dx_text key;  /* both are behind it */
    dx_text body; /* {"method", "params"} */
} dx__mcp_put;

typedef struct dx__mcp_task dx__mcp_task;
typedef struct dx__mcp_question dx__mcp_question;

struct dx_mcp_session {
    dx_mcp_server *server; /* NULL when it is gone: then only work that others keep is left */
    dx__mcp_speech *speech;
    dx_allocator alloc;
    dx_loop *loop;
    dx_link *link; /* NULL when the conversation is over */
    dx_timer *timer;
    dx_mcp_session *prev;
    dx_mcp_session *next;
    size_t refs; /* one for the conversation, one for each work, and for who is in the middle */
    dx__mcp_rev rev;
    bool opened; /* the era is settled; legacy: initialize was answered */
    bool ready;  /* legacy: the client has initialized */
    bool told;   /* on_session was called */
    bool closing;
    bool due;           /* the timer is set */
    dx_mcp_level level; /* of what is logged */
    yyjson_doc *client; /* {"info", "capabilities"} */
    unsigned offered;   /* 1 << dx_mcp_kind: the lists that the client was told of */
    unsigned changed;   /* 1 << dx_mcp_kind: of what is still to be told */
    dx_mcp_work *works;
    dx_mcp_work *cursor;      /* in them, of who goes through them while they may end */
    size_t work_count;        /* those that were cancelled included, until their owner ends them */
    size_t wait_count;        /* of tasks/result */
    dx__mcp_table by_request; /* works */
    dx__mcp_question *questions;
    dx__mcp_table watches; /* legacy: URIs, each a char * of its own */
    size_t watch_count;
    dx__mcp_listen *listens;
    size_t listen_count;
    dx__mcp_task *tasks; /* the oldest first */
    dx__mcp_task *last_task;
    size_t task_count;
    uint64_t task_serial;
};

typedef enum dx__mcp_purpose {
    DX__MCP_TOOL = 1,
    DX__MCP_READ,
    DX__MCP_PROMPT,
    DX__MCP_COMPLETE,
    DX__MCP_PAGE /* of resources that are not declared */
} dx__mcp_purpose;

struct dx_mcp_work {
    dx_mcp_session *session;
    dx_event *event; /* the request, kept */
    dx_request request;
    dx__mcp_purpose purpose;
    dx__mcp_item *item;
    dx__mcp_task *task; /* NULL: the answer goes to the client */
    yyjson_doc *extra;  /* variables of a template, or the arguments that were left out */
    dx_mcp_work *prev;
    dx_mcp_work *next;
    unsigned busy;   /* callbacks that are running: it stays until they return */
    unsigned asking; /* questions that are open */
    bool kept;
    bool held;      /* by its handler, not only by a question */
    bool ended;     /* by its owner */
    bool cancelled; /* nothing is sent any more */
    bool over;      /* modern: input is required, the answer says so */
    void (*on_cancel)(dx_mcp_work *work, void *user);
    void *cancel_user;
    yyjson_val *token;
    double progress;
    bool has_progress;
    dx_status status; /* of what was gathered; the first failure sticks */
    dx__mcp_out pieces;
    dx__mcp_out structured;
    dx__mcp_out description;
    size_t values;
    bool waits;   /* the answer could not be sent yet */
    int64_t code; /* … and is an error if this is not 0 */
    dx__mcp_out answer;
    /* modern: rounds of input */
    dx__mcp_put *puts; /* what will be asked for, in this order */
    const char *lacks; /* the capability that a question needs and the client has not, as JSON */
    yyjson_doc *state_doc; /* what came back */
    dx__mcp_out state;     /* the handler's, for the next round */
    bool has_state;
    bool must_ask;
};

/* A question that was asked and not answered. */
struct dx__mcp_question {
    dx_mcp_session *session;
    dx_mcp_work *work; /* NULL: roots outside of any, or nobody waits any more */
    dx_call call;      /* 0: the answer comes from the loop … */
    yyjson_val *value; /* … and is this */
    const char *lacks; /* … or that the client has not got this capability */
    char why[512];     /* … or for this reason; "": modern, it will be asked for */
    bool marked;       /* its turn has come */
    bool posted;       /* asked when the client was gone: the loop has it */
    dx_mcp_on_reply on_reply;
    void (*on_roots)(dx_mcp_session *session, yyjson_val *roots, void *user);
    void *user;
    dx__mcp_question *prev;
    dx__mcp_question *next;
};

/* 2025-11-25: a call whose result is fetched later. */
struct dx__mcp_task {
    char id[33];
    uint64_t serial;
    enum {
        DX__MCP_WORKING,
        DX__MCP_INPUT_REQUIRED,
        DX__MCP_COMPLETED, /* from here on it is final */
        DX__MCP_FAILED,
        DX__MCP_CANCELLED
    } status;
    char created[32];
    char updated[32];
    uint64_t ttl;
    uint64_t ended_at;
    dx_mcp_work *work; /* NULL when it has ended */
    dx__mcp_out answer;
    int64_t code; /* the answer is an error, with this message */
    dx__mcp_out message;
    unsigned asking;         /* questions that are open */
    dx__mcp_listen *waiting; /* tasks/result */
    dx__mcp_task *prev;
    dx__mcp_task *next;
};

#endif
