#include "systems/hermes/command/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *read_all(int fd, dx_buf *out) {
    for (;;) {
        char room[65536];
        ssize_t len = read(fd, room, sizeof room);
        if (len < 0 && errno == EINTR)
            continue;
        if (len <= 0)
            return len < 0 ? strerror(errno) : NULL;
        dx_status status = dx_buf_append(out, room, (size_t)len);
        if (status != DX_OK)
            return status == DX_ERR_LIMIT ? "it is too large" : "out of memory";
    }
}

const char *store_read(const char *path, bool plain, dx_buf *out) {
    struct stat stat;
    if (!plain && strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, out);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (plain ? O_NONBLOCK : 0));
    if (fd < 0)
        return strerror(errno);
    const char *why = fstat(fd, &stat) != 0             ? strerror(errno)
                      : S_ISDIR(stat.st_mode)           ? strerror(EISDIR)
                      : plain && !S_ISREG(stat.st_mode) ? "not a regular file"
                                                        : read_all(fd, out);
    close(fd);
    return why;
}

static int write_all(int fd, dx_text text) {
    while (text.len) {
        ssize_t len = write(fd, text.at, text.len);
        if (len < 0 && errno != EINTR)
            return errno;
        if (len > 0) {
            text.at += len;
            text.len -= (size_t)len;
        }
    }
    return 0;
}

/* A device or a pipe; one that nobody reads would let us wait. */
static int write_into(const char *path, dx_text text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return errno;
    int flags = fcntl(fd, F_GETFL);
    int number = flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ? errno : 0;
    if (!number)
        number = write_all(fd, text);
    return close(fd) != 0 && !number ? errno : number;
}

/* A new file beside `path`. What replaces a file that is there is nobody else's before it has that
 * one's mode. */
static int make_beside(const char *path, bool is_new, char **ret_name) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    for (int tries = 0; tries < 100; tries++) {
        uint64_t random = 0;
        char *name = NULL;
        if (getrandom(&random, sizeof random, 0) < 0 ||
            asprintf(&name, "%.*s.duplex-%016llx", folder, path, (unsigned long long)random) < 0)
            return -1;
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_new ? 0666 : 0600);
        if (fd >= 0) {
            *ret_name = name;
            return fd;
        }
        int number = errno;
        free(name);
        errno = number;
        if (number != EEXIST)
            return -1;
    }
    return -1;
}

/* The owner can't always be kept; who may read it must not grow by that. */
static int keep_mode(int fd, const struct stat *old) {
    struct stat now;
    mode_t mode = old->st_mode & 07777;
    if (fstat(fd, &now) != 0)
        return errno;
    if ((now.st_uid != old->st_uid || now.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0)
        mode &= now.st_gid == old->st_gid ? 0777 : 0707;
    return fchmod(fd, mode) != 0 ? errno : 0;
}

/* The new name is in the folder before we say so. Not every file system has that. */
static void sync_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* `old` is what is there, NULL for nothing. */
static int replace(const char *path, const struct stat *old, dx_text text) {
    char *name = NULL;
    int fd = make_beside(path, !old, &name);
    if (fd < 0)
        return errno;
    int number = old ? keep_mode(fd, old) : 0;
    if (!number)
        number = write_all(fd, text);
    if (!number && fsync(fd) != 0)
        number = errno;
    if (close(fd) != 0 && !number)
        number = errno;
    if (!number && rename(name, path) != 0)
        number = errno;
    if (number)
        (void)unlink(name);
    else
        sync_folder(path);
    free(name);
    return number;
}

const char *store_write(const char *path, dx_text text) {
    struct stat stat;
    struct stat link;
    int number;
    bool is_there = lstat(path, &link) == 0;
    char *target = is_there && S_ISLNK(link.st_mode) ? realpath(path, NULL) : strdup(path);
    if (!target)
        return is_there && errno == ENOENT ? "it is a broken symbolic link" : strerror(errno);
    if (lstat(target, &stat) != 0)
        number = errno == ENOENT ? replace(target, NULL, text) : errno;
    else if (!S_ISREG(stat.st_mode))
        number = write_into(target, text);
    else /* a file that must not be written must not be replaced either */
        number = faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) == 0 ? replace(target, &stat, text)
                                                                    : errno;
    free(target);
    return number ? strerror(number) : NULL;
}

uint64_t store_hash(dx_text text) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = text.len * odd;
    for (size_t i = 0; i < text.len; i += sizeof hash) {
        size_t left = text.len - i;
        uint64_t word = 0;
        memcpy(&word, text.at + i, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
    }
    return hash ? hash : 1;
}

bool store_is_same(const char *one, const char *two) {
    struct stat first;
    struct stat second;
    return strcmp(one, two) == 0 ||
           (stat(one, &first) == 0 && stat(two, &second) == 0 && first.st_dev == second.st_dev &&
            first.st_ino == second.st_ino);
}

const char *store_look(const char *path, uint64_t hash, bool *ret_changed) {
    struct stat stat_of;
    dx_buf bytes;
    *ret_changed = false;
    if (stat(path, &stat_of) != 0)
        return errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
    if (!S_ISREG(stat_of.st_mode))
        return NULL;
    dx_buf_init(&bytes, SIZE_MAX / 2, NULL);
    const char *why = store_read(path, true, &bytes);
    *ret_changed = !why && store_hash((dx_text){bytes.data, bytes.len}) != hash;
    dx_buf_done(&bytes);
    return why;
}

char *store_whole_path(const char *path, size_t len) {
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
    char *whole = NULL;
    if (path[0] == '/')
        whole = strndup(path, len);
    else if (folder && asprintf(&whole, "%s/%.*s", folder, (int)len, path) < 0)
        whole = NULL;
    free(folder);
    return whole;
}

const char *store_make_folder(const char *path) {
    char *copy = strdup(path);
    struct stat stat_of;
    int number = copy ? 0 : ENOMEM;
    for (char *at = copy; copy && !number && *at; at++) {
        bool is_end = at[1] == '\0';
        if ((at[0] != '/' || at == copy) && !is_end)
            continue;
        char kept = at[is_end];
        at[is_end] = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            number = errno;
        at[is_end] = kept;
    }
    if (!number && (stat(path, &stat_of) != 0 || !S_ISDIR(stat_of.st_mode)))
        number = ENOTDIR;
    free(copy);
    return number ? strerror(number) : NULL;
}
