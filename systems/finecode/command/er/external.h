/* external.h: a handler that is a command, while it runs. */
#ifndef FINECODE_ER_EXTERNAL_H
#define FINECODE_ER_EXTERNAL_H

#include "systems/finecode/command/er/runner.h"

#include <time.h>

struct external {
    struct runner *runner;
    struct external *next;
    const struct spec_handler *handler;
    dx_finecode_job *job;        /* NULL: it has been ended */
    struct cli_program *program; /* NULL: it has ended */
    struct cli_program_plan plan;
    dx_timer *timer;
    bool cancelled;

    /* Its output: lines.c */
    size_t taken;    /* bytes that were read as lines */
    size_t looked;   /* bytes in which there is no other end of a line */
    size_t line;     /* the number of the last of them */
    size_t held_at;  /* a line that may be the last one */
    size_t held_len; /* 0: there is none */
    size_t parts;    /* how many partial results there were */
    bool is_whole;   /* all of it is one document */
    char why[400];   /* it has failed */
    yyjson_doc *result;
    bool stop;
    bool has_code;
    int code;
    yyjson_mut_doc *files;      /* {path: new text}, absolute; NULL: none */
    yyjson_mut_val *real_files; /* {real path: path}, in the same document */
    struct timespec began;

    dx_buf errors;  /* the part of a line of its standard error */
    char last[200]; /* the last of these lines */
};

/* More of its output is there; on failure `why` is set and it is told to end. */
void lines_take(struct external *external);
/* A line that was held back long enough. */
void lines_release(struct external *external);
/* The output is complete: the result is there if there is one, or `why`. */
void lines_end(struct external *external);

/* text.c: the text of a result, as its action has it (a struct spec_action). */
dx_status text_format(yyjson_val *result, dx_buf *text, int *ret_styled, void *user);
/* {"text": [the output]}; NULL without memory. */
yyjson_doc *text_result(dx_text output);

/* input.c: what it gets: to be freed; false without memory. */
bool input_text(const struct external *external, char **ret_text, size_t *ret_len);
/* Its environment, NULL at the end, for input_env_free(); NULL with the reason in `why`. */
char **input_env(struct external *external);
void input_env_free(char **env);

#endif
