/* item.h: one thing of a trace that is shown: a message, or what else a record tells. */
#ifndef CLI_ITEM_H
#define CLI_ITEM_H

#include <duplex/trace.h>

#include <stdbool.h>

/* The numbers are those in the page's data; cli/timeline/page/data.js has them, too. */
typedef enum cli_item_kind {
    CLI_ITEM_REQUEST = 1,
    CLI_ITEM_NOTIFICATION,
    CLI_ITEM_RESULT,
    CLI_ITEM_ERROR,
    CLI_ITEM_JUNK,   /* JSON, but nothing of JSON-RPC */
    CLI_ITEM_BROKEN, /* from here on as in a trace */
    CLI_ITEM_STRAY,
    CLI_ITEM_STDERR,
    CLI_ITEM_EVENT,
    CLI_ITEM_DROPPED,
    CLI_ITEM_UNREAD /* a line of the trace that is no record */
} cli_item_kind;

/* A conversation: who, and in which of several traces. */
typedef struct cli_lane {
    uint64_t number; /* in the order in which they were heard of, from 0 */
    uint64_t trace;
    dx_text peer; /* its beginning, if it is very long; absent if it is not told */
    uint64_t run; /* 0: not told */
    bool told;    /* the sink has written its name */
} cli_lane;

typedef struct cli_item {
    cli_item_kind kind;
    dx_trace_from from;
    uint64_t number; /* of those that are shown, from 0 */
    int64_t time_us; /* before 0, if another trace began before the first one */
    cli_lane *lane;  /* NULL: of no conversation */
    dx_text name;    /* the method, of an answer that of its question; or the event */
    dx_text id;      /* as it stands */
    dx_text text;    /* the message, facts, or bytes */
    uint64_t bytes;  /* on the wire */
    uint64_t count;  /* DROPPED */
    bool is_json;    /* the text is */
    /* The request that this one answers or cancels. */
    bool has_about;
    uint64_t about;
    int64_t about_us;
} cli_item;

/* Where they go. What can't be written is found out at the end. */
typedef struct cli_sink {
    void (*put)(void *user, const cli_item *item);
    void *user;
} cli_sink;

#endif
