/* program.h: a scene of `duplex demo` that another program of ours plays, in a folder of its own;
 * what it says there is recorded and counted. */
#ifndef CLI_DEMO_PROGRAM_H
#define CLI_DEMO_PROGRAM_H

#include "cli/demo/scene.h"

struct demo_program {
    const char *name;
    char path[DEMO_PATH];
    char folder[DEMO_PATH]; /* for what the scene writes; "" if there is none */
    char *trace;
};

/* Finds it and makes the folder. An exit code; what goes wrong is told. */
int demo_program_open(struct demo_program *program, const char *name);
/* Runs it with these words, NULL at the end, and with the options that all our programs have for
 * showing and recording behind the first of them. An exit code: CLI_OK if that of the program is
 * the one that is expected. */
int demo_program_run(struct demo_program *program, const char *const *words, int expected);
/* Adds up what crossed. An exit code. */
int demo_program_count(const struct demo_program *program, struct demo_score *score);
/* What else was written into the folder is gone by then. */
void demo_program_close(struct demo_program *program);

void demo_show_heading(const char *text);
/* Its lines, below a heading, unless the results are JSON. A line may end with CR, as a segment of
 * HL7 does. An exit code. */
int demo_show_file(const char *path, const char *heading);

#endif
