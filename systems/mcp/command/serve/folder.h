/* folder.h: a folder that nothing leads out of. Paths are relative to it, without "." and
 * "..", with single slashes; "" is the folder itself. */
#ifndef MCP_SERVE_FOLDER_H
#define MCP_SERVE_FOLDER_H

#include "base/utf8.h"

#include <stdbool.h>
#include <sys/stat.h>

struct folder {
    int fd;
    char *path;        /* absolute and real, without a slash at its end (so "" for the root) */
    char *alias;       /* how it was given, if that is absolute and another one; or NULL */
    bool hidden;       /* names that begin with a dot count, too */
    uint64_t size_max; /* larger files are not read */
};

/* NULL, or why not. */
const char *folder_open(struct folder *folder, const char *path);
void folder_close(struct folder *folder);

/* Drops empty names, "." and ".." with the name before it, in place. False: it leads above its
 * beginning. */
bool folder_normalise(char *path);
/* What comes after the folder in an absolute path ("" or "/…"); NULL if that is not below it. */
const char *folder_below(const struct folder *folder, const char *path);
/* A path from outside: relative, absolute or a file: URI. NULL, or what is wrong with it. *ret_path
 * is to be freed. */
const char *folder_path(const struct folder *folder, dx_text given, char **ret_path);
/* The same for a URI only. */
const char *folder_from_uri(const struct folder *folder, dx_text uri, char **ret_path);
/* To be freed; NULL without memory. */
char *folder_uri(const struct folder *folder, const char *path);
/* Text with all bytes but the unreserved ones and slashes as %XX. To be freed; NULL without memory.
 */
char *folder_escape(const char *text);
/* And back; NULL if it is none, or has a NUL in it. To be freed. */
char *folder_unescape(dx_text text);

/* A descriptor (CLOEXEC), or a negative errno: EXDEV if it leads out. Never makes, never waits. */
int folder_at(const struct folder *folder, const char *path, int flags);
/* What is there, without opening it; 0 or a negative errno. */
int folder_stat(const struct folder *folder, const char *path, struct stat *ret_stat);
/* What a negative errno of these means to who asked. */
const char *folder_why(int number);

/* A regular file, and what it is; -1 with the reason why not. */
int folder_open_file(const struct folder *folder, const char *path, struct stat *ret_stat,
                     const char **ret_why);
/* A regular file, whole. NULL, or why not, in `room`. *ret_text is to be freed, and has a NUL
 * behind it. */
const char *folder_read(const struct folder *folder, const char *path, char *room, size_t room_len,
                        char **ret_text, size_t *ret_len);

/* "text/plain" and so on: by the end of the name, or by what it begins with. */
const char *folder_mime(const struct folder *folder, const char *path);
const char *folder_mime_of(const char *path, dx_text content);

#endif
