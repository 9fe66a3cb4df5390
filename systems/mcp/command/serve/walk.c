#include "systems/mcp/command/serve/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };
/* The kinds of names. */
enum { A_FILE = 'f', A_FOLDER = 'd', UNKNOWN = '?' };

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a + 1, *(char *const *)b + 1);
}

static void drop(struct walk_level *level, size_t from) {
    for (size_t i = from; i < level->count; i++)
        free(level->names[i]);
    level->count = from;
}

/* Only the first of them are wanted. */
static void shorten(struct walk_level *level) {
    qsort(level->names, level->count, sizeof *level->names, compare);
    if (level->count > WALK_NAMES) {
        drop(level, WALK_NAMES);
        level->more = true;
    }
}

static char kind_of(const struct dirent *entry) {
    switch (entry->d_type) {
    case DT_REG:
        return A_FILE;
    case DT_DIR:
        return A_FOLDER;
    case DT_LNK:
    case DT_UNKNOWN:
        return UNKNOWN;
    default:
        return 0;
    }
}

static bool keep(struct walk_level *level, const struct dirent *entry) {
    size_t len = strlen(entry->d_name);
    char *name = malloc(len + 2);
    if (!name)
        return false;
    name[0] = kind_of(entry);
    memcpy(name + 1, entry->d_name, len + 1);
    level->names[level->count++] = name;
    if (level->count == (size_t)2 * WALK_NAMES)
        shorten(level);
    return true;
}

static bool is_wanted(const struct walk *walk, const struct walk_level *level, const char *name,
                      const char *from, bool also) {
    int order = from ? strcmp(name, from) : 1;
    if (name[0] == '.' && (!walk->folder->hidden || !name[1] || (name[1] == '.' && !name[2])))
        return false;
    if (order < 0 || (order == 0 && !also))
        return false;
    return !level->more || strcmp(name, level->names[WALK_NAMES - 1] + 1) < 0;
}

/* The names behind `from` (NULL: all), and that one, too, if `also`. */
static int fill(struct walk *walk, struct walk_level *level, const char *from, bool also) {
    int fd = folder_at(walk->folder, walk->path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    bool good = true;
    level->at = 0;
    level->more = false;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return fd < 0 ? fd : -ENOMEM;
    }
    if (!level->names)
        level->names = malloc((size_t)2 * WALK_NAMES * sizeof *level->names);
    good = level->names != NULL;
    for (struct dirent *entry; good && (entry = readdir(dir));)
        if (kind_of(entry) && is_wanted(walk, level, entry->d_name, from, also))
            good = keep(level, entry);
    closedir(dir);
    if (!good)
        return -ENOMEM;
    shorten(level);
    return 0;
}

static void close_level(struct walk *walk) {
    struct walk_level *level = &walk->levels[--walk->depth];
    drop(level, 0);
    free(level->names);
    *level = (struct walk_level){.names = NULL};
}

/* walk->path is that of the folder. */
static int open_level(struct walk *walk) {
    struct walk_level *level = &walk->levels[walk->depth];
    char *from = NULL;
    size_t len = strlen(walk->path);
    if (walk->after) {
        size_t first = strcspn(walk->after, "/");
        from = strndup(walk->after, first);
        if (!from)
            return -ENOMEM;
    }
    walk->depth++;
    int number = fill(walk, level, from, true);
    free(from);
    level->path_len = len ? len + 1 : 0;
    return number;
}

int walk_begin(struct walk *walk, const struct folder *folder, const char *path, const char *after,
               size_t depth) {
    *walk = (struct walk){.folder = folder, .depth_max = depth < WALK_DEPTH ? depth : WALK_DEPTH};
    walk->path = malloc(PATH_ROOM);
    walk->after = after ? strdup(after) : NULL;
    if (!walk->path || (after && !walk->after) || strlen(path) >= PATH_ROOM)
        return -ENOMEM;
    memcpy(walk->path, path, strlen(path) + 1);
    return open_level(walk);
}

void walk_end(struct walk *walk) {
    while (walk->depth)
        close_level(walk);
    free(walk->path);
    free(walk->after);
    *walk = (struct walk){.folder = NULL};
}

/* A link or a name without a kind: what does it lead to? */
static char look(struct walk *walk, bool *ret_is_link) {
    struct stat status;
    struct stat link;
    *ret_is_link = false;
    if (folder_stat(walk->folder, walk->path, &status) != 0)
        return 0;
    if (S_ISREG(status.st_mode))
        return A_FILE;
    if (!S_ISDIR(status.st_mode))
        return 0;
    *ret_is_link = fstatat(walk->folder->fd, walk->path, &link, AT_SYMLINK_NOFOLLOW) < 0 ||
                   S_ISLNK(link.st_mode);
    return A_FOLDER;
}

/* The name at hand was given before, or its folder was: what is still to come of it? Returns
 * whether it is to be passed over itself. */
static bool pass(struct walk *walk, const char *name) {
    if (!walk->after)
        return false;
    size_t first = strcspn(walk->after, "/");
    bool same = strlen(name) == first && strncmp(name, walk->after, first) == 0;
    if (same && walk->after[first]) {
        memmove(walk->after, walk->after + first + 1, strlen(walk->after + first + 1) + 1);
        return true;
    }
    free(walk->after);
    walk->after = NULL;
    return same;
}

/* The next names of a folder that has more of them than are held. */
static int refill(struct walk *walk, struct walk_level *level) {
    char *last = strdup(level->names[level->count - 1] + 1);
    if (!last)
        return -ENOMEM;
    walk->path[level->path_len ? level->path_len - 1 : 0] = '\0';
    drop(level, 0);
    int number = fill(walk, level, last, false);
    free(last);
    return number;
}

static int step(struct walk *walk, struct walk_level *level, bool *ret_is_folder, bool *ret_shown) {
    const char *entry = level->names[level->at++];
    size_t len = strlen(entry + 1);
    char kind = entry[0];
    bool is_link = false;
    *ret_shown = false;
    if (level->path_len + len + 1 > PATH_ROOM)
        return 0;
    if (level->path_len)
        walk->path[level->path_len - 1] = '/';
    memcpy(walk->path + level->path_len, entry + 1, len + 1);
    bool passed = pass(walk, entry + 1);
    if (kind == UNKNOWN)
        kind = look(walk, &is_link);
    *ret_is_folder = kind == A_FOLDER;
    *ret_shown = kind && !passed;
    if (kind == A_FOLDER && !is_link && walk->depth < walk->depth_max)
        return open_level(walk);
    /* What was to come of a folder that is none any more. */
    if (passed) {
        free(walk->after);
        walk->after = NULL;
    }
    return 0;
}

/* What had to be passed over in it does not lie in the one above. */
static void leave(struct walk *walk) {
    close_level(walk);
    free(walk->after);
    walk->after = NULL;
}

int walk_next(struct walk *walk, const char **ret_path, bool *ret_is_folder) {
    while (walk->depth) {
        struct walk_level *level = &walk->levels[walk->depth - 1];
        bool shown = false;
        int number = 0;
        if (level->at < level->count)
            number = step(walk, level, ret_is_folder, &shown);
        else if (level->more && level->count)
            number = refill(walk, level);
        else
            leave(walk);
        if (number == -ENOMEM)
            return number;
        if (shown) {
            *ret_path = walk->path;
            return 1;
        }
    }
    return 0;
}
