/* er.h: `duplex finecode er`: an extension runner whose handlers are commands of this machine, and
 * a few that are ready-made. */
#ifndef FINECODE_ER_COMMAND_H
#define FINECODE_ER_COMMAND_H

#include <stdbool.h>

/* Takes the words of `duplex-finecode er …` from "er" on, or those of
 * `python -m finecode_extension_runner.cli …` from the program on, for which it can stand in a
 * venv. An exit code. */
int er_main(int argc, char **argv);

struct er_options {
    const char *project;
    const char *env;
    const char *handlers;
    const char *revision;
    const char *log_level;
    const char *log_file;
    bool tcp;
    bool stdio;
    bool wal;
    bool debug;
    bool any_user;
};

/* start.c: the whole of a runner. An exit code. */
int er_start(const struct er_options *options, bool stands_in);
/* tools.c: the ready-made handlers, and whether what they need is there. */
int er_list(void);
/* Is that the source of a ready-made action? All of them have the same payload: its schema. */
bool tools_have_action(const char *source);
extern const char tools_payload[];

/* debug.c: tells a port and waits until a debugger has connected to it. An exit code. */
int er_await_debugger(bool by_pipes, bool any_user);

#endif
