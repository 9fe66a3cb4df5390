/* walk.h: all that lies below a folder, in an order that does not depend on the file system:
 * by the bytes of the names, each folder followed by what is in it. A walk can begin behind any
 * path, whether that is still there or not, and holds only so many names at a time. Symbolic links
 * to folders are not followed, so that it ends. */
#ifndef MCP_SERVE_WALK_H
#define MCP_SERVE_WALK_H

#include "systems/mcp/command/serve/folder.h"

enum { WALK_DEPTH = 64, WALK_NAMES = 4096 };

struct walk_level {
    char **names; /* sorted; the first byte is the kind, the name follows */
    size_t count;
    size_t at;
    size_t path_len; /* of its folder, with the slash */
    bool more;       /* there are names behind the last */
};

struct walk {
    const struct folder *folder;
    struct walk_level levels[WALK_DEPTH];
    size_t depth;     /* how many levels are open */
    size_t depth_max; /* how deep it may go */
    char *path;       /* of what was found last */
    char *after;      /* where it has to begin; freed when it is there */
};

/* From the folder `path` on, behind the path `after` (NULL: at the beginning), so many folders deep
 * (1: only what is in it). 0 or a negative errno. */
int walk_begin(struct walk *walk, const struct folder *folder, const char *path, const char *after,
               size_t depth);
void walk_end(struct walk *walk);

/* The next one: 1, or 0 at the end, or a negative errno (ENOMEM). *ret_path is lent until the next
 * call. A folder that can't be read counts as empty. */
int walk_next(struct walk *walk, const char **ret_path, bool *ret_is_folder);

#endif
