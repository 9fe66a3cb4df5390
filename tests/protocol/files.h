/* What the programs that test protocols share: files, folders and what they say when they fail. */
#ifndef PROTOCOL_FILES_H
#define PROTOCOL_FILES_H

#include <duplex/protocol.h>

#include <stdbool.h>
#include <stdio.h>

/* Prints a line, and counts it as a failure. */
#define failed(...) (printf(__VA_ARGS__), count_failure())
void count_failure(void);
/* What main() returns: 0 if nothing failed. Says how many of what were looked at. */
int verdict(const char *what, size_t count);

/* SOURCE/path, or path itself where the environment has no SOURCE. In static memory: two at a
 * time. */
const char *in_source(const char *path);

/* A whole file with a NUL behind it, to be given to free(); NULL if there is none. */
char *read_whole(const char *path, size_t *ret_len);
/* The names in a folder that end so, in order; NULL after the last. Exits if there is no folder. */
char **list_folder(const char *path, const char *ending);
void free_list(char **list);

/* The protocol that a document is, with what it extends found beside it, in the folder base
 * beside it, or built in. */
dx_status read_protocol(const char *folder, const char *file, dx_protocol **ret_protocol,
                        dx_misfit *reterr);

#endif
