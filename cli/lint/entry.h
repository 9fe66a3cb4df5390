/* entry.h: a message that the books are told, while they look at it. Only they know this. */
#ifndef CLI_ENTRY_H
#define CLI_ENTRY_H

#include "cli/lint/books.h"

#include <duplex/rpc.h>

/* How much of a text of others is shown. */
enum { CLI_SHOWN = 80 };

struct cli_books {
    cli_books_config config;
    const dx_protocol_facts *facts;
    cli_asking asking;
    unsigned state;
    bool has_gap;
    bool told_limit;   /* that requests were forgotten */
    bool has_long_ids; /* ids that are not kept were seen */
};

typedef struct cli_entry {
    cli_books *books;
    cli_place place;
    dx_side from;
    dx_text text;
    dx_message message;
    dx_text method; /* its characters; absent if it has none */
} cli_entry;

dx_side cli_other_side(dx_side side);
/* The protocol's own word for a side. */
const char *cli_word_of(const cli_books *books, dx_side side);
/* Absent if the slice is. */
dx_text cli_entry_part(const cli_entry *entry, dx_slice slice);

cli_finding cli_entry_begin(const cli_entry *entry, cli_flaw flaw);
void cli_books_tell(const cli_books *books, const cli_finding *finding);
/* The key of an id; an id as it stands. */
void cli_say_key(cli_finding *finding, dx_text key);
void cli_say_id(cli_finding *finding, dx_text id);
/* What the message is: "METHOD: ", "answer to id 7: " or nothing. */
void cli_entry_say_what(cli_finding *finding, const cli_entry *entry);
/* A finding that says no more than what it is. */
void cli_entry_tell(const cli_entry *entry, cli_flaw flaw);
/* "METHOD" and the three. */
void cli_entry_tell_method(const cli_entry *entry, cli_flaw flaw, const char *one, const char *two,
                           const char *three);

/* Does a part fit? `asker` sent the message that it is of, or that it answers. */
void cli_entry_check(const cli_entry *entry, const dx_method *rule, dx_side asker, dx_part what,
                     dx_text text);

void cli_books_move(cli_books *books, const dx_method *rule, dx_side from, dx_move how);
/* Takes an answer. */
void cli_books_answer(const cli_entry *entry);

#endif
