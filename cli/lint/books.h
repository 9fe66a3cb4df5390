/* books.h: the books of one conversation: what was asked and answered, and in which state of its
 * protocol it is. They are told what crosses, by whoever sees it from outside, and tell what is
 * wrong with it. */
#ifndef CLI_BOOKS_H
#define CLI_BOOKS_H

#include "cli/lint/asked.h"
#include "cli/lint/finding.h"

typedef struct cli_books cli_books;

typedef struct cli_books_config {
    dx_protocol *protocol;
    size_t open_max; /* requests without answer; then the oldest are forgotten */
    cli_room *room;
    uint64_t seed; /* see cli_seed() */
    void (*tell)(void *user, const cli_finding *finding);
    void *user;
} cli_books_config;

/* How a conversation came to its end. */
typedef enum cli_end {
    CLI_END_OVER,     /* nobody will answer any more */
    CLI_END_UNKNOWN,  /* nothing more is known of it */
    CLI_END_FORGOTTEN /* there is no room for its books */
} cli_end;

/* NULL: no memory. */
cli_books *cli_books_new(const cli_books_config *config);
/* Tells what was left open, and is gone. NULL is fine. Returns NULL. */
cli_books *cli_books_close(cli_books *books, cli_end end);

/* A message, or what should have been one, or stray text. Other records say nothing here. */
void cli_books_take(cli_books *books, const dx_trace_record *record, cli_place place);
/* Something that crossed was not seen. From here on nobody can say what is open, and in which state
 * the conversation is: what would follow from that is not told. */
void cli_books_gap(cli_books *books);

#endif
