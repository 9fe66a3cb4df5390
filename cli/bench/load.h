/* load.h: many calls of one method, so many under way at a time, and what came of them. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "cli/bench/histogram.h"
#include "cli/bench/toll.h"
#include "cli/contact.h"

#include <stdbool.h>

/* What stands in a text that others wrote is cut there. */
enum { CLI_LOAD_PHRASE = 300 };

typedef struct cli_load {
    /* What is wanted. */
    size_t concurrency;
    uint64_t count; /* calls at most */
    uint64_t ms;    /* no new call after that time */

    /* What came of it: of `calls`, each has ended in one of these ways, unless it was interrupted.
     */
    uint64_t calls;
    size_t most; /* of them that were under way at a time; fewer than `concurrency` if there were
                    not so many, or the link did not take them */
    uint64_t results;
    uint64_t errors;          /* answered with an error, or given up by the peer */
    uint64_t late;            /* no answer in time */
    uint64_t invalid;         /* an answer that is none, or does not fit the protocol */
    uint64_t lost;            /* the conversation ended first */
    uint64_t elapsed_ns;      /* from the first call to the last answer */
    cli_histogram latency_ns; /* of results only */
    bool has_toll;
    uint64_t cpu_ns; /* of the peer meanwhile */

    /* The first that failed, if one did: as exit code, in a phrase, and the code of an error. */
    int failed;
    int64_t error_code;
    char phrase[CLI_LOAD_PHRASE];
} cli_load;

/* The peer that is asked, how, and the calls that are under way. It is kept until the session is
 * closed: interrupted calls end then. */
typedef struct cli_loader cli_loader;

/* `most` calls at a time. NULL: no memory, or no descriptor. */
cli_loader *cli_loader_new(cli_session *session, const char *method, const char *params,
                           size_t most);
/* CLI_OK, also if calls failed; CLI_ENDED, CLI_VIOLATION if the conversation is over; CLI_MISFIT,
 * CLI_USAGE: it can't be sent, which the session's contact tells; CLI_INTERRUPTED. */
int cli_load_run(cli_loader *loader, cli_load *load);
/* The process of the peer; 0 if it is unknown. */
pid_t cli_load_pid(const cli_session *session);
/* NULL is fine. Returns NULL. */
cli_loader *cli_loader_free(cli_loader *loader);

#endif
