/* paths.h: paths and file: URIs. */
#ifndef FINECODE_ER_PATHS_H
#define FINECODE_ER_PATHS_H

#include <duplex/base.h>

#include <stdbool.h>

/* Absolute, of a path that may be relative to the folder, or a file: URI; NULL: it is none, or
 * there is no memory. */
char *path_of(dx_text given, const char *folder);
/* The same without links and "..", of what is there; but a link to a file keeps its name. NULL with
 * errno. */
char *path_within(dx_text given, const char *folder);
bool path_is_below(const char *path, const char *folder);
/* The program that a name stands for in a project: in node_modules/.bin of its folder, or of one
 * above it, else the name itself. To be freed; NULL without memory. */
char *find_program(const char *name, const char *project);
/* To be freed; NULL without memory. */
char *uri_of(const char *path);

#endif
