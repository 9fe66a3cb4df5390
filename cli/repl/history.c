#include "cli/repl/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *history_path(void) {
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    bool has_state = state && state[0] == '/';
    if (!has_state && (!home || home[0] != '/'))
        return NULL;
    int len = asprintf(&path, "%s%s/duplex/repl-history", has_state ? state : home,
                       has_state ? "" : "/.local/state");
    return len < 0 ? NULL : path;
}

/* Only a plain file of this user, which others may not read. -1: it is none, errno says why. */
static int open_own(const char *path, int flags) {
    struct stat stat;
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_uid == geteuid()) {
        if (!(stat.st_mode & 077) || fchmod(fd, 0600) == 0)
            return fd;
    } else {
        errno = EPERM;
    }
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

/* The end of the file, from the beginning of a line on; to be freed. NULL: there is nothing. */
static char *read_end(int fd, bool *ret_long) {
    struct stat stat;
    char *text = malloc(HISTORY_FILE_MAX + 1);
    size_t len = 0;
    ssize_t got = 1;
    if (!text || fstat(fd, &stat) != 0) {
        free(text);
        return NULL;
    }
    *ret_long = stat.st_size > HISTORY_FILE_MAX;
    off_t from = *ret_long ? stat.st_size - HISTORY_FILE_MAX : 0;
    while (got > 0 && len < HISTORY_FILE_MAX) {
        got = pread(fd, text + len, HISTORY_FILE_MAX - len, from + (off_t)len);
        len += got > 0 ? (size_t)got : 0;
    }
    /* A NUL would end it all. */
    for (char *at = text; (at = memchr(at, '\0', len - (size_t)(at - text)));)
        *at = ' ';
    text[len] = '\0';
    char *begin = *ret_long ? strchr(text, '\n') : NULL;
    if (begin)
        memmove(text, begin + 1, strlen(begin + 1) + 1);
    return text;
}

/* The last of the lines, and how many there are in all. */
static const char *last_lines(const char *text, size_t *ret_count) {
    size_t count = 0;
    size_t skipped = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        count++;
    *ret_count = count;
    for (; count - skipped > HISTORY_LINES; skipped++)
        text = strchr(text, '\n') + 1;
    return text;
}

/* Who else writes to it meanwhile may lose a line; nobody loses the file. */
static void cut_file(const char *path, const char *text) {
    char *other = NULL;
    if (asprintf(&other, "%s.XXXXXX", path) < 0)
        return;
    int fd = mkostemp(other, O_CLOEXEC);
    size_t len = strlen(text);
    bool whole = fd >= 0 && write(fd, text, len) == (ssize_t)len;
    if (fd >= 0 && close(fd) != 0)
        whole = false;
    if (fd >= 0 && (!whole || rename(other, path) != 0))
        unlink(other);
    free(other);
}

void history_load(const char *path, void (*each)(const char *line, void *user), void *user) {
    bool is_long = false;
    size_t count = 0;
    int fd = open_own(path, O_RDONLY);
    char *text = fd >= 0 ? read_end(fd, &is_long) : NULL;
    if (fd >= 0)
        close(fd);
    if (!text)
        return;
    char *line = text + (last_lines(text, &count) - text);
    if (is_long || count > HISTORY_LINES_MAX)
        cut_file(path, line);
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        each(line, user);
    }
    free(text);
}

/* The folders that a file lies in. */
static void make_folders(const char *path) {
    char *copy = strdup(path);
    for (char *at = copy; at && (at = strchr(at + 1, '/')); *at = '/') {
        *at = '\0';
        (void)mkdir(copy, 0700); /* if that fails, so does open() */
    }
    free(copy);
}

int history_add(const char *path, const char *line) {
    char *text = NULL;
    int len = asprintf(&text, "%s\n", line);
    if (len < 0)
        return ENOMEM;
    int fd = open_own(path, O_WRONLY | O_APPEND | O_CREAT);
    if (fd < 0 && errno == ENOENT) {
        make_folders(path);
        fd = open_own(path, O_WRONLY | O_APPEND | O_CREAT);
    }
    ssize_t written = fd < 0 ? -1 : write(fd, text, (size_t)len);
    int number = written == len ? 0 : written < 0 ? errno : ENOSPC;
    if (fd >= 0)
        close(fd);
    free(text);
    return number;
}
