/* What the two Duplex programs share: their leading words, and a side that asks. */
#ifndef DUPLEX_BENCH_H
#define DUPLEX_BENCH_H

#include "../c/bench.h"

#include <duplex/duplex.h>

struct form {
    dx_framing framing;
    bool text;     /* params as text instead of as a tree */
    bool check;    /* all messages against a protocol */
    uint64_t busy; /* µs */
};

/* Takes the words `line`, `text`, `check` and `busy=US` from *argv. */
struct form take_form(char ***argv);
dx_link_config link_config(const struct form *form, dx_side side);

/* Requests on one link, `inflight` at a time. */
struct asker {
    const struct form *form;
    dx_link *link;
    dx_json params;
    size_t len; /* of the result's text, or of its field "text" */
    size_t count;
    size_t inflight;
    size_t sent;
    size_t answered;
    void (*on_all)(struct asker *asker);
    void *user;
};
/* The params of requests of this size; the tree lives as long as the program. */
void ask_for_size(struct asker *asker, size_t size);
/* Asks until `inflight` are under way or all are sent. */
void ask_more(struct asker *asker);

/* Answers "echo". */
void on_echo(dx_link *link, const dx_event *event, void *user);

#endif
