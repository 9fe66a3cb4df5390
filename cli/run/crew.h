/* crew.h: the peers of a run, each under its supervisor, with its handshake and its journal. */
#ifndef CLI_CREW_H
#define CLI_CREW_H

#include "cli/run/config.h"
#include "cli/run/journal.h"
#include "cli/run/masks.h"
#include "cli/subreaper.h"
#include "host/log_limiter.h"

struct crew;

struct crew_peer {
    struct crew *crew;
    const cli_config_peer *config;
    dx_supervisor *supervisor;
    dx_recorder *recorder;
    struct journal journal;
    struct masks masks;
    const dx_step *step; /* of the handshake, at hand */
    dx_text *hello;      /* the result of each step of the handshake; absent until it came */
    dx_state state;
    bool again;                              /* to be started as soon as it stops */
    bool halting;                            /* was told to stop, and not yet to start again */
    bool cut;                                /* lines of this incarnation were not written down */
    bool coming;                             /* was told to start, and has not begun to */
    uint64_t began_ms;                       /* when this incarnation began, by the loop's clock */
    uint64_t ready_ms;                       /* … and was ready; 0: it never was */
    uint64_t pause_ms;                       /* how long the last backoff is */
    uint64_t calls;                          /* that others made through us */
    pid_t pids[8];                           /* of the last incarnations */
    char why[sizeof((dx_error *)0)->phrase]; /* what led to the state; "" if nothing bad did */
    char failure[sizeof((dx_error *)0)->phrase]; /* why it last died or could not start, or "" … */
    uint64_t failed_ms;                          /* … and when, by the loop's clock */
    char noise[80]; /* the first text on its standard output that is not JSON-RPC, or "" */
};

struct crew {
    dx_loop *loop;
    dx__log_limiter *limiter;
    struct crew_peer *peers;
    size_t count;
    uint64_t seq;      /* of the next line */
    uint64_t start_ms; /* for those that have none of their own; 0: the library's */
    uint64_t
        log_max; /* bytes of a journal, for those that have no limit of their own; 0: no limit */
    bool leaving;
    void (*on_state)(struct crew_peer *peer, void *user); /* after it was shown */
    void (*on_notification)(struct crew_peer *peer, const dx_event *event, void *user);
    void *user;
};

/* Makes them all, stopped. What goes wrong is told: an exit code. */
int crew_open(struct crew *crew, const cli_config *config);
/* A process that a peer left behind: shows it, and keeps it in that peer's journal. */
void crew_escaped(const cli_escaped *escaped, void *user);
/* At once and without a word. */
void crew_done(struct crew *crew);

struct crew_peer *crew_find(struct crew *crew, const char *name, size_t len);
void crew_start(struct crew_peer *peer);
void crew_stop(struct crew_peer *peer);
void crew_restart(struct crew_peer *peer);
/* It runs, and shall. */
bool crew_is_well(const struct crew_peer *peer);
/* Stops all, for good. */
void crew_leave(struct crew *crew);
bool crew_is_gone(const struct crew *crew);
/* All have exited by themselves, none was stopped by hand; *ret_failed of them failed. */
bool crew_has_ended(const struct crew *crew, size_t *ret_failed);

/* It can be talked to. */
bool crew_is_ready(const struct crew_peer *peer);
/* It can't yet, but nothing more is needed for that. */
bool crew_is_coming(const struct crew_peer *peer);
/* The last of what this incarnation wrote to its standard error, lines with LF; to be freed. NULL
 * if there is nothing. */
char *crew_tail(const struct crew_peer *peer, size_t *ret_len);

#endif
