/* Opening what lies below a folder. */
#include "systems/mcp/command/serve/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRIES = 16, READ_TRIES = 3 };

const char *folder_open(struct folder *folder, const char *path) {
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder->path = folder->fd < 0 ? NULL : realpath(path, NULL);
    if (!folder->path) {
        const char *why = strerror(errno);
        folder_close(folder);
        return why;
    }
    if (strcmp(folder->path, "/") == 0)
        folder->path[0] = '\0';
    return NULL;
}

void folder_close(struct folder *folder) {
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->path);
    folder->fd = -1;
    folder->path = NULL;
}

static int confined(const struct folder *folder, const char *path, int flags, uint64_t resolve) {
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                           .resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    for (int i = 0; i < TRIES; i++) {
        fd = syscall(SYS_openat2, folder->fd, *path ? path : ".", &how, sizeof how);
        /* Somebody has moved a folder while the kernel looked: whether the path leads out can't be
         * said then. */
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd >= 0 ? (int)fd : -errno;
}

/* One component after the other, and none that is a symbolic link. */
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

/* A link that can be seen may lead to what is hidden: where did it lead? */
static bool is_seen(const struct folder *folder, int fd) {
    char name[40];
    char base[4096];
    char real[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", folder->fd);
    ssize_t base_len = readlink(name, base, sizeof base - 1);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(name, real, sizeof real - 1);
    if (base_len <= 0 || len < base_len || (size_t)len == sizeof real - 1)
        return false;
    real[len] = '\0';
    if (base_len == 1) /* "/" */
        base_len = 0;
    return memcmp(real, base, (size_t)base_len) == 0 &&
           (!real[base_len] || real[base_len] == '/') && !strstr(real + base_len, "/.");
}

int folder_at(const struct folder *folder, const char *path, int flags) {
    if (folder->plain)
        return stepwise(folder, path, flags);
    int fd = confined(folder, path, flags, RESOLVE_NO_SYMLINKS);
    if (fd == -ENOSYS || fd == -EPERM)
        return stepwise(folder, path, flags);
    if (fd != -ELOOP)
        return fd;
    fd = confined(folder, path, flags, 0);
    if (fd >= 0 && !folder->hidden && !is_seen(folder, fd)) {
        close(fd);
        return -ENOENT;
    }
    return fd;
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
            snprintf(room, room_len, "the file has %llu bytes, the limit is %llu (--max-size)",
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
