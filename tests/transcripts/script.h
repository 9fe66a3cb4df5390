/* script.h: a Markdown file of cases, read into steps. README.md describes the language. */
#ifndef TRANSCRIPTS_SCRIPT_H
#define TRANSCRIPTS_SCRIPT_H

#include "bytes.h"

enum step_kind {
    STEP_BYTES,  /* < and <<: bytes that come, neighbouring lines in one */
    STEP_RAW,    /* >: these bytes are written */
    STEP_FRAMED, /* >>: this message is written (bytes holds it with its framing) */
    STEP_MAYBE,  /* >>?: the same, unless memory ran out */
    STEP_LIKE,   /* >>~: a message is written that has at least these members */
    STEP_ANY,    /* >*: whatever is written */
    STEP_EVENT,  /* =: an event */
    STEP_ACT,    /* !: something is done */
    STEP_ASK     /* ?: something is so */
};

/* A word of a line: `key=text`, `key~text`, or text alone. */
struct word {
    const char *key; /* NULL for a word alone */
    char op;         /* '=' or '~' behind the key */
    bool quoted;     /* text begins and ends with a quote */
    dx_text text;    /* escapes resolved; quotes still there */
};

struct step {
    enum step_kind kind;
    unsigned line;
    dx_text source; /* the line as it stands */
    dx_text bytes;
    struct word *words;
    size_t count;
};

struct scene {
    const char *name;
    unsigned line;
    struct step peer; /* the `peer` line */
    bool header;      /* what << and >> mean */
    dx_text content_type;
    struct step *steps;
    size_t count;
};

struct script {
    const char *path;
    struct scene *scenes;
    size_t count;
    void **owned;
    size_t owned_count;
};

/* Reads a file; what is wrong with it goes to stderr and ends the program. */
void script_read(struct script *script, const char *path);
void script_done(struct script *script);

/* The word without its quotes. */
dx_text word_plain(const struct word *word);
/* The word with that key, or NULL. */
const struct word *step_find(const struct step *step, const char *key);
/* A whole decimal number; false if it is none. */
bool text_number(dx_text text, uint64_t *ret_number);

#endif
