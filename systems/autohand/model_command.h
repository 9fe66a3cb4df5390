/* What the files of the model that is a program share. */
#ifndef AUTOHAND_MODEL_COMMAND_H
#define AUTOHAND_MODEL_COMMAND_H

#include "systems/autohand/model_parts.h"

#include <duplex/program.h>

struct dx__autohand_asked {
    dx_autohand_model base; /* first */
    dx_autohand_command_config config;
    dx_allocator alloc;
    dx_loop *loop;
    char *words;
    const char **argv;
    const char **env;
    struct dx__autohand_ear ear;
    dx_program *program; /* NULL: it does not run */
    dx_timer *silence;
    dx_timer *soon; /* tells what went wrong while it was asked */
    struct dx__autohand_model_trouble trouble;
    dx_buf question;  /* kept in case that the program leaves instead of reading it */
    bool fresh;       /* the program was started for this question */
    dx_buf in;        /* a line that is not whole yet */
    size_t received;  /* of this answer */
    char errors[200]; /* the last line of its standard error */
};

/* model_command.c: kills the program and forgets what it said. */
void dx__autohand_asked_end(struct dx__autohand_asked *asked);

/* model_command_said.c: bytes of its output. The question may be another one afterwards. */
void dx__autohand_asked_take(struct dx__autohand_asked *asked, dx_text bytes);
void dx__autohand_asked_fail(struct dx__autohand_asked *asked,
                             const struct dx__autohand_model_trouble *trouble);

#endif
