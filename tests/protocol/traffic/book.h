/* book.h: a document that is being tested, the smallest values of its messages, and what is counted
 * of it. */
#ifndef TRAFFIC_BOOK_H
#define TRAFFIC_BOOK_H

#include "protocol/files.h"
#include "protocol/protocol.h"
#include "protocol/sample.h"

#include <stdlib.h>
#include <string.h>

struct way; /* see ways.h */

/* The kinds of faults. */
enum trial { TRIAL_PARAMS, TRIAL_RESULT, TRIAL_SIDE, TRIAL_KIND, TRIAL_TIME, TRIAL_NAME, TRIALS };

struct book {
    const char *name;
    dx_protocol *protocol;
    const dx_protocol_facts *facts;
    size_t methods;
    size_t directions; /* pairs of a message and a side that may send it */
    unsigned states;
    char **smallest; /* by message, side and part; NULL where the document says nothing */
    struct way *ways;
    size_t conversations;
    size_t sent;          /* messages that went over the wire as they should */
    size_t styles;        /* requests that were cancelled, or told progress of */
    size_t tried[TRIALS]; /* faults */
};

static inline void must(bool good) {
    if (!good)
        abort(); /* there is no memory for the test itself */
}

static inline const char *side_name(dx_side side) {
    return side == DX_SIDE_HOST ? "host" : "plugin";
}

static inline dx_side other_side(dx_side side) {
    return side == DX_SIDE_HOST ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
}

static inline bool is_from(const dx_method *method, dx_side side) {
    return side == DX_SIDE_HOST ? method->from_host : method->from_plugin;
}

static inline bool is_same(const char *one, const char *other) {
    return one && other && strcmp(one, other) == 0;
}

static inline dx_json json_of(const char *text) {
    return text ? dx_json_text(text, strlen(text)) : dx_json_none();
}

static inline yyjson_val *schema_of(const struct book *book, const dx_method *method, dx_side from,
                                    dx_part part) {
    const dx__message *message = &book->protocol->messages[method->index];
    unsigned column = dx__column(from);
    return part == DX_PART_PARAMS ? message->params[column] : message->results[column];
}

static inline char **smallest_at(const struct book *book, const dx_method *method, dx_side from,
                                 dx_part part) {
    size_t row = method->index * DX__SIDES + dx__column(from);
    return &book->smallest[row * 2 + (part == DX_PART_RESULT)];
}

/* The smallest params, or NULL: none. */
static inline const char *smallest_params(const struct book *book, const dx_method *method,
                                          dx_side from) {
    return *smallest_at(book, method, from, DX_PART_PARAMS);
}

/* The smallest answer to what `from` sent. */
static inline const char *smallest_result(const struct book *book, const dx_method *method,
                                          dx_side from) {
    const char *text = *smallest_at(book, method, from, DX_PART_RESULT);
    return text ? text : "null";
}

static inline char *make_smallest(const struct book *book, const dx_method *method, dx_side from,
                                  dx_part part) {
    yyjson_val *schema = schema_of(book, method, from, part);
    if (!schema)
        return NULL;
    dx_buf text;
    dx_buf_init(&text, 1 << 20, NULL);
    must(dx__sample_write(dx_protocol_document(book->protocol), schema, part == DX_PART_PARAMS,
                          &text) == DX_OK);
    must(dx_buf_append(&text, "", 1) == DX_OK);
    char *copy = strdup(text.data);
    must(copy != NULL);
    dx_buf_done(&text);
    return copy;
}

static inline bool book_open(struct book *book, const char *name) {
    dx_misfit why = {.phrase = ""};
    *book = (struct book){.name = name};
    if (dx_protocol_open(dx_str(name), NULL, &book->protocol, &why) != DX_OK) {
        failed("%s: %s", name, why.phrase);
        return false;
    }
    book->facts = dx_protocol_facts_of(book->protocol);
    book->states = dx_protocol_states(book->protocol);
    while (dx_protocol_method(book->protocol, book->methods))
        book->methods++;
    book->smallest = calloc(book->methods * DX__SIDES * 2 + 1, sizeof *book->smallest);
    must(book->smallest != NULL);
    for (size_t i = 0; i < book->methods; i++)
        for (dx_side side = DX_SIDE_HOST; side <= DX_SIDE_PLUGIN; side++) {
            const dx_method *method = dx_protocol_method(book->protocol, i);
            book->directions += is_from(method, side);
            for (dx_part part = DX_PART_PARAMS; part <= DX_PART_RESULT; part++)
                *smallest_at(book, method, side, part) = make_smallest(book, method, side, part);
        }
    return true;
}

static inline void book_close(struct book *book) {
    for (size_t i = 0; book->smallest && i < book->methods * DX__SIDES * 2; i++)
        free(book->smallest[i]);
    free(book->smallest);
    book->protocol = dx_protocol_free(book->protocol);
}

/* Is it one that belongs to a request or a call? One that fits and belongs to none is not told. */
static inline bool is_swallowed(const struct book *book, const char *method) {
    return is_same(method, book->facts->cancel_method) ||
           (is_same(method, book->facts->progress_method) && !book->facts->progress_pass_unknown);
}

#endif
