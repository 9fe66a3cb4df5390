#include "cli/seen_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_MAX_LEN = 128, /* bytes of a name */
    FILE_MAX = 32 << 10 /* bytes of the file; the oldest names are dropped */
};

/* The folder, made if `make`; to be freed. NULL: there is none. */
static char *seen_folder(bool make) {
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    bool has_cache = cache && cache[0] == '/';
    char *folder = NULL;
    if (!has_cache && (!home || home[0] != '/'))
        return NULL;
    if (asprintf(&folder, "%s%s", has_cache ? cache : home, has_cache ? "" : "/.cache") < 0)
        return NULL;
    bool there = !make || mkdir(folder, 0700) == 0 || errno == EEXIST;
    char *own = NULL;
    if (!there || asprintf(&own, "%s/duplex", folder) < 0)
        own = NULL;
    free(folder);
    if (own && make && mkdir(own, 0700) != 0 && errno != EEXIST) {
        free(own);
        return NULL;
    }
    return own;
}

static char *seen_path(const char *folder, const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* What the file holds; only a plain file of this user. To be freed; NULL: nothing. */
static char *seen_read(const char *folder) {
    char *path = seen_path(folder, "tools");
    int fd = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    struct stat found;
    char *text = NULL;
    free(path);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid())
        text = calloc(1, FILE_MAX + 1);
    if (text && read(fd, text, FILE_MAX) < 0) {
        free(text);
        text = NULL;
    }
    close(fd);
    return text;
}

/* A name that no shell takes for anything but a word. */
static bool is_plain(const char *name, size_t len) {
    if (!len || len > NAME_MAX_LEN || name[0] == '-' || name[0] == '.')
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !strchr("_./:-", c))
            return false;
    }
    return true;
}

struct seen_list {
    char text[FILE_MAX + 1]; /* a newline before and after each name */
    size_t len;
};

static void seen_add(struct seen_list *list, const char *name, size_t len) {
    char line[NAME_MAX_LEN + 3];
    if (!is_plain(name, len))
        return;
    int size = snprintf(line, sizeof line, "\n%.*s\n", (int)len, name);
    if (strstr(list->text, line) || list->len + (size_t)size > FILE_MAX)
        return;
    /* The newline after the name before it serves both. */
    memcpy(list->text + list->len, line + 1, (size_t)size);
    list->len += (size_t)size - 1;
}

static void seen_add_lines(struct seen_list *list, const char *text) {
    for (size_t len; text && *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        seen_add(list, text, len);
    }
}

/* Whole or not at all: another process may read or write it now. */
static void seen_write(const char *folder, const struct seen_list *list) {
    char *path = seen_path(folder, "tools");
    char *fresh = seen_path(folder, "tools.XXXXXX");
    int fd = path && fresh ? mkostemp(fresh, O_CLOEXEC) : -1;
    if (fd >= 0) {
        bool good = write(fd, list->text + 1, list->len - 1) == (ssize_t)(list->len - 1);
        if (close(fd) != 0 || !good || rename(fresh, path) != 0)
            (void)unlink(fresh);
    }
    free(path);
    free(fresh);
}

void cli_seen_tools_keep(yyjson_val *tools) {
    struct seen_list *list = calloc(1, sizeof *list);
    char *folder = list && yyjson_arr_size(tools) ? seen_folder(true) : NULL;
    char *before = folder ? seen_read(folder) : NULL;
    size_t i;
    size_t max;
    yyjson_val *tool;
    if (folder) {
        list->text[list->len++] = '\n';
        yyjson_arr_foreach(tools, i, max, tool) {
            yyjson_val *name = yyjson_obj_get(tool, "name");
            if (yyjson_is_str(name))
                seen_add(list, yyjson_get_str(name), yyjson_get_len(name));
        }
        seen_add_lines(list, before);
        if (!before || strcmp(before, list->text + 1) != 0)
            seen_write(folder, list);
    }
    free(before);
    free(folder);
    free(list);
}

void cli_seen_tools_print(FILE *out) {
    char *folder = seen_folder(false);
    char *text = folder ? seen_read(folder) : NULL;
    struct seen_list *list = calloc(1, sizeof *list);
    if (list && text) {
        list->text[list->len++] = '\n';
        seen_add_lines(list, text);
        fputs(list->text + 1, out);
    }
    free(list);
    free(text);
    free(folder);
}
