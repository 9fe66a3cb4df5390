/* Opening what lies below a folder. */
#include "systems/mcp/command/serve/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRIES = 16, READ_TRIES = 3, LINKS = 40 };

/* The folder as it was given: links and clients may name it so. */
static char *find_alias(const struct folder *folder, const char *given) {
    char *alias = given[0] == '/' ? strdup(given) : NULL;
    struct stat one;
    struct stat other;
    if (alias && folder_normalise(alias) && strcmp(alias, folder->path) != 0 &&
        stat(alias, &one) == 0 && fstat(folder->fd, &other) == 0 && one.st_dev == other.st_dev &&
        one.st_ino == other.st_ino)
        return alias;
    free(alias);
    return NULL;
}

const char *folder_open(struct folder *folder, const char *path) {
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder->path = folder->fd < 0 ? NULL : realpath(path, NULL);
    if (!folder->path) {
        const char *why = strerror(errno);
        folder_close(folder);
        return why;
    }
    folder->alias = find_alias(folder, path);
    if (strcmp(folder->path, "/") == 0)
        folder->path[0] = '\0';
    return NULL;
}

void folder_close(struct folder *folder) {
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->path);
    free(folder->alias);
    folder->fd = -1;
    folder->path = folder->alias = NULL;
}

/* Without following any link: -ELOOP. */
static int confined(const struct folder *folder, const char *path, int flags) {
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    long fd = -1;
    for (int i = 0; i < TRIES; i++) {
        fd = syscall(SYS_openat2, folder->fd, *path ? path : ".", &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd >= 0 ? (int)fd : -errno;
}

/* The same where the kernel can't: one component after the other. */
static int stepwise(const struct folder *folder, const char *path, int flags) {
    int at = fcntl(folder->fd, F_DUPFD_CLOEXEC, 3);
    while (at >= 0) {
        char name[256];
        size_t len = strcspn(path, "/");
        bool last = !path[len];
        if (len >= sizeof name) {
            close(at);
            return -ENAMETOOLONG;
        }
        memcpy(name, path, len);
        name[len] = '\0';
        int step = last ? flags : O_PATH | O_DIRECTORY;
        int next = openat(at, len ? name : ".", step | O_NOFOLLOW | O_CLOEXEC);
        int number = errno;
        close(at);
        errno = number;
        at = next;
        if (last || at < 0)
            break;
        path += len + 1;
    }
    return at >= 0 ? at : -errno;
}

static bool is_missing(int fd) {
    return fd == -ENOSYS || fd == -EPERM;
}

static int open_plain(const struct folder *folder, const char *path, int flags) {
    int fd = confined(folder, path, flags);
    return is_missing(fd) ? stepwise(folder, path, flags) : fd;
}

/* A path on its way: what is left of it, and what it has led to, without links. */
struct route {
    const struct folder *folder;
    char rest[PATH_MAX];
    char done[PATH_MAX];
    int links;
};

/* `done` ends in a link: the place it leads to takes its place, if that is inside. */
static int take_link(struct route *route) {
    char link[2 * PATH_MAX];
    if (++route->links > LINKS)
        return -ELOOP;
    snprintf(link, sizeof link, "%s/%s", route->folder->path, route->done);
    char *place = realpath(link, NULL);
    int number = place ? 0 : -errno;
    const char *inner = place ? folder_below(route->folder, place) : NULL;
    if (inner && !route->folder->hidden && strstr(inner, "/."))
        number = -ENOENT;
    else if (inner)
        memcpy(route->done, inner + (*inner == '/'), strlen(inner + (*inner == '/')) + 1);
    else if (place)
        number = -EXDEV;
    free(place);
    return number;
}

/* Looks at what `done` leads to now. */
static int check_link(struct route *route) {
    struct stat status;
    int fd = open_plain(route->folder, route->done, O_PATH | O_NOFOLLOW);
    if (fd < 0)
        return fd;
    int number = fstat(fd, &status) < 0 ? -errno : 0;
    if (number == 0 && S_ISLNK(status.st_mode))
        number = take_link(route);
    close(fd);
    return number;
}

static int take_name(struct route *route) {
    size_t len = strcspn(route->rest, "/");
    size_t used = strlen(route->done);
    char name[NAME_MAX + 1];
    if (len >= sizeof name || used + len + 2 > sizeof route->done)
        return -ENAMETOOLONG;
    memcpy(name, route->rest, len);
    name[len] = '\0';
    len += route->rest[len] == '/';
    memmove(route->rest, route->rest + len, strlen(route->rest + len) + 1);
    if (!*name || strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0)
        return -EXDEV;
    if (name[0] == '.' && !route->folder->hidden)
        return -ENOENT;
    sprintf(route->done + used, "%s%s", used ? "/" : "", name);
    return check_link(route);
}

/* Links are followed by name, and what they lead to is opened without them: whatever changes
 * meanwhile, that can't lead out. */
static int open_linked(const struct folder *folder, const char *path, int flags) {
    struct route route = {.folder = folder};
    size_t len = strlen(path);
    int number = len < sizeof route.rest ? 0 : -ENAMETOOLONG;
    if (number == 0)
        memcpy(route.rest, path, len + 1);
    while (number == 0 && route.rest[0])
        number = take_name(&route);
    return number == 0 ? open_plain(folder, route.done, flags) : number;
}

int folder_at(const struct folder *folder, const char *path, int flags) {
    int fd = confined(folder, path, flags);
    return fd == -ELOOP || is_missing(fd) ? open_linked(folder, path, flags) : fd;
}

int folder_stat(const struct folder *folder, const char *path, struct stat *ret_stat) {
    int fd = folder_at(folder, path, O_PATH);
    if (fd < 0)
        return fd;
    int number = fstat(fd, ret_stat) < 0 ? -errno : 0;
    close(fd);
    return number;
}

const char *folder_why(int number) {
    switch (-number) {
    case ENOENT:
    case ENOTDIR:
        return "no such file";
    case EXDEV:
        return "it points outside the folder";
    case ELOOP:
        return "cannot follow this symbolic link";
    default:
        return strerror(-number);
    }
}

/* What is no regular file is not even opened: a device may do something then, and who writes into a
 * pipe takes it for a reader. In between it may become another one, so it is looked at again. */
int folder_open_file(const struct folder *folder, const char *path, struct stat *ret_stat,
                     const char **ret_why) {
    int fd = -1;
    int number = folder_stat(folder, path, ret_stat);
    if (number == 0 && S_ISREG(ret_stat->st_mode)) {
        fd = folder_at(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        number = fd < 0 ? fd : fstat(fd, ret_stat) < 0 ? -errno : 0;
    }
    if (number < 0)
        *ret_why = folder_why(number);
    else if (!S_ISREG(ret_stat->st_mode))
        *ret_why = S_ISDIR(ret_stat->st_mode) ? "it is a folder" : "it is not a regular file";
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* As many bytes as it said it has, if that is still so behind them: 1 if it was, 0 if not, -1 with
 * errno. */
static int read_as_it_was(int fd, const struct stat *before, char *text) {
    size_t size = (size_t)before->st_size;
    size_t len = 0;
    struct stat after;
    while (len < size) {
        ssize_t count = pread(fd, text + len, size - len, (off_t)len);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0)
            return 0;
        len += (size_t)count;
    }
    return fstat(fd, &after) == 0 && is_same(before, &after);
}

const char *folder_read(const struct folder *folder, const char *path, char *room, size_t room_len,
                        char **ret_text, size_t *ret_len) {
    for (int i = 0; i < READ_TRIES; i++) {
        struct stat status = {0};
        const char *why = NULL;
        int fd = folder_open_file(folder, path, &status, &why);
        if (fd < 0)
            return why;
        uint64_t size = (uint64_t)status.st_size;
        if (size > folder->size_max) {
            close(fd);
            snprintf(room, room_len,
                     "the file has %llu bytes, the limit is %llu: ask the person"
                     " who runs the server to raise --max-size",
                     (unsigned long long)size, (unsigned long long)folder->size_max);
            return room;
        }
        char *text = malloc((size_t)size + 1);
        int done = text ? read_as_it_was(fd, &status, text) : -1;
        int number = text ? errno : ENOMEM;
        close(fd);
        if (done == 1) {
            text[size] = '\0';
            *ret_text = text;
            *ret_len = (size_t)size;
            return NULL;
        }
        free(text);
        if (done < 0)
            return strerror(number);
    }
    return "the file changed while it was being read; try again";
}
