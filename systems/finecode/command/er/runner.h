/* runner.h: what the parts of a runner share while it serves. */
#ifndef FINECODE_ER_RUNNER_H
#define FINECODE_ER_RUNNER_H

#include "cli/program.h"
#include "host/log_limiter.h"
#include "systems/finecode/command/er/spec.h"

#include <duplex/finecode-er.h>

#include <stdio.h>

struct external;
struct work;
struct tool;

/* What a ready-made handler gets. */
struct tool_binding {
    struct runner *runner;
    const struct tool *tool;
};
enum { TOOLS = 10 };

struct runner {
    dx_loop *loop;
    struct cli_programs programs;
    struct spec spec;
    dx_finecode_er *er;
    const char *project; /* absolute */
    const char *env;
    struct external *externals; /* that run */
    struct work *works;
    struct tool_binding bindings[TOOLS];
    FILE *log;
    FILE *kept; /* the same, below the user's state folder; may be NULL, as its path */
    char *kept_path;
    size_t kept_len;
    dx__log_limiter *limiter;
    int log_level;
    bool left;
    int code;
};

/* start.c: nothing is to be written: FINECODE_DRY_RUN is set. */
bool er_is_dry_run(void);

/* log.c: levels by their names, from 0; -1: there is no such level. */
int log_level_of(const char *name);
/* False: it can't be opened (reported). Without a path, the log also goes to a file of the
 * runner's own, if there is a place for that. */
bool log_open(struct runner *runner, const char *path);
void log_write(struct runner *runner, const char *level, const char *group, dx_text text);
void log_close(struct runner *runner);

/* external.c: adds the actions and handlers of the file. An exit code. */
int externals_add(struct runner *runner);
/* Ends what still runs. */
void externals_drop(struct runner *runner);

/* tools.c: adds the ready-made ones. An exit code. */
int tools_add(struct runner *runner);
void works_drop(struct runner *runner);

#endif
