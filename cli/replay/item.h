/* item.h: something that the other side said, in the recording or now, and lists of such. */
#ifndef CLI_REPLAY_ITEM_H
#define CLI_REPLAY_ITEM_H

#include <duplex/rpc.h>
#include <duplex/trace.h>

#include <stdbool.h>

typedef enum replay_kind {
    REPLAY_REQUEST = 1,
    REPLAY_NOTICE,
    REPLAY_ANSWER,
    REPLAY_BATCH,
    REPLAY_OTHER,  /* JSON, but no message */
    REPLAY_BROKEN, /* framed, but no JSON; without the end of its line */
    REPLAY_STRAY   /* the same */
} replay_kind;

/* Where something stands in the recording. */
typedef struct replay_place {
    size_t file;
    uint64_t line;
    uint64_t time_us;
    uint64_t index; /* among all records of the conversation */
} replay_place;

/* How much of a method is kept for the answer to it. */
enum { REPLAY_METHOD_MAX = 80 };

typedef struct replay_item {
    replay_kind kind;
    char *text;
    size_t len;
    dx_message parts;
    uint64_t name;  /* hash of its kind and its method, or of an answer's id */
    uint64_t whole; /* hash of all of it but the id */
    replay_place place;
    uint64_t came_ms; /* one that came: when, and how much we had sent by then */
    uint64_t sent;
    uint64_t newest; /* … and the highest place of what had come */
    bool asked;      /* an answer: the request was sent … */
    bool any;        /* … and whatever comes is fine */
    bool done;
    char method[REPLAY_METHOD_MAX]; /* an answer: of what was asked; "" if that is not known */
} replay_item;

/* A message that came, or bytes that belong to none. A copy is made. False: no memory. */
bool replay_item_make(replay_item *item, uint64_t seed, dx_trace_kind kind, dx_text text);
void replay_item_free(replay_item *item);
dx_text replay_item_text(const replay_item *item);
/* Absent if the slice is. */
dx_text replay_part(dx_text text, dx_slice slice);
/* The characters of a method, in `room` if they do not stand there; as it stands, if it is too long
 * or no text. */
dx_text replay_method(dx_text text, const dx_message *parts, char room[REPLAY_METHOD_MAX]);
/* The hash that `name` is for an answer with that id. */
uint64_t replay_answer_name(uint64_t seed, dx_text id);
/* The hash of a text but for a part of it. */
uint64_t replay_hash_without(uint64_t seed, dx_text text, dx_slice slice);

/* In the order in which they came. Those that are done go once all before them are. */
enum { REPLAY_ITEMS_MAX = 4096 };

typedef struct replay_items {
    replay_item *at;
    size_t head;
    size_t count;
    size_t bytes;
} replay_items;

/* False: no memory. */
bool replay_items_init(replay_items *items);
void replay_items_done(replay_items *items);
replay_item *replay_items_at(const replay_items *items, size_t index);
/* It is theirs from then on; there must be room. */
replay_item *replay_items_add(replay_items *items, const replay_item *item);
/* Its text is not needed any more. */
void replay_items_close(replay_items *items, replay_item *item);

#endif
