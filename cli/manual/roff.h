/* roff.h: writes man pages: roff with the man macros. Text goes through here, so that nothing in it
 * is taken for a request, an escape or the end of an argument, and so that what is not ASCII comes
 * out right whatever the encoding of the reader is. */
#ifndef CLI_ROFF_H
#define CLI_ROFF_H

#include <duplex/base.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_roff {
    FILE *out;     /* NULL: only counts */
    size_t column; /* of the line at hand in the page's source; 0: it is empty */
    bool space;    /* there was one, and it is not written yet */
    bool whole;    /* text is not broken into lines: a macro's argument, a cell */
    bool plain;    /* fonts are left out: a heading */
    bool upper;    /* in capitals: a section's heading */
    bool soft;     /* words may be broken behind commas, slashes and the like */
    bool fresh;    /* a heading was written last */
    char last;     /* what was written last */
    size_t width;  /* what a reader sees of the text so far, in columns, … */
    size_t word;   /* … of its last word, and of the longest one */
    size_t longest;
} cli_roff;

/* Text, to be filled: white space of any kind is one space. */
void cli_roff_put(cli_roff *roff, dx_text text);
void cli_roff_str(cli_roff *roff, const char *text);
/* Fonts: 'B', 'I' or 'R'. */
void cli_roff_font(cli_roff *roff, char font);
/* A string in bold, between what is not. */
void cli_roff_bold(cli_roff *roff, const char *text);
/* "name(section)" */
void cli_roff_page(cli_roff *roff, const char *name, const char *section);

/* A space at which a line is not broken. */
void cli_roff_tie(cli_roff *roff);

/* The end of the line at hand, if something stands there. */
void cli_roff_end(cli_roff *roff);
/* A line of its own that is roff already. Behind a heading ".PP" would do nothing, so it is left
 * out. */
void cli_roff_macro(cli_roff *roff, const char *macro);
/* A macro with text for its argument; .SH and the like. */
void cli_roff_heading(cli_roff *roff, const char *macro, const char *text);
/* A line that stands as it is, between .EX and .EE. */
void cli_roff_line(cli_roff *roff, dx_text line);

/* The head of a page, up to the title in its section NAME, which the caller writes. */
void cli_roff_begin(cli_roff *roff, const char *name, const char *section, const char *volume);

#endif
