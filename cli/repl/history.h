/* history.h: the lines of earlier times, in a file that only its owner reads. */
#ifndef CLI_REPL_HISTORY_H
#define CLI_REPL_HISTORY_H

enum {
    HISTORY_LINES = 1000,        /* that are kept */
    HISTORY_FILE_MAX = 1 << 20,  /* a longer file is cut to that many lines … */
    HISTORY_LINES_MAX = 2 * 1000 /* … and one with more */
};

/* $XDG_STATE_HOME/duplex/repl-history, or below ~/.local/state; to be freed. NULL: there is no such
 * place, or no memory. */
char *history_path(void);
/* Hands out the last lines, oldest first. What can't be read is passed over. */
void history_load(const char *path, void (*each)(const char *line, void *user), void *user);
/* One more line; makes the file, and the folders that it lies in. 0, or an errno. */
int history_add(const char *path, const char *line);

#endif
