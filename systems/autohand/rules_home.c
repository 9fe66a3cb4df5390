/* permissions.json in the home folder: what a person allowed, so nobody else may have written it.
 * Several agents share it: who changes it holds a lock from reading to writing. */
#include "systems/autohand/rules_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, LOCK_TRIES = 20, LOCK_WAIT_MS = 5 };

static const char file_name[] = "permissions.json";
static const char lock_name[] = "permissions.lock";

static dx_status fail(dx_error *reterr, const char *what, int error) {
    *reterr = (dx_error){.fault = DX_FAULT_SYSTEM, .system = error, .place = "home"};
    dx__say_str(reterr->phrase, sizeof reterr->phrase, what);
    if (error) {
        dx__say_str(reterr->phrase, sizeof reterr->phrase, ": ");
        dx__say_str(reterr->phrase, sizeof reterr->phrase, strerror(error));
    }
    return DX_ERR_SYSTEM;
}

/* Nobody holds it for longer than it takes to write a small file. */
static dx_status take_lock(struct dx__autohand_home *home, dx_error *reterr) {
    const struct timespec wait = {.tv_nsec = LOCK_WAIT_MS * 1000000L};
    home->lock = openat(home->folder, lock_name,
                        O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (home->lock < 0)
        return fail(reterr, lock_name, errno);
    for (int i = 0; flock(home->lock, LOCK_EX | LOCK_NB) < 0; i++) {
        if (i == LOCK_TRIES || (errno != EWOULDBLOCK && errno != EINTR))
            return fail(reterr, lock_name, errno);
        (void)nanosleep(&wait, NULL);
    }
    return DX_OK;
}

dx_status dx__autohand_home_open(struct dx__autohand_home *home, const char *path, bool to_write,
                                 dx_error *reterr) {
    *home = (struct dx__autohand_home){.folder = -1, .lock = -1};
    if (!path || (to_write && mkdir(path, 0700) < 0 && errno != EEXIST)) {
        int error = path ? errno : 0;
        (void)fail(reterr, path ? path : "no home folder", error);
        return path ? DX_ERR_SYSTEM : DX_GONE;
    }
    home->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (home->folder < 0) {
        int error = errno;
        (void)fail(reterr, path, error);
        return error == ENOENT ? DX_GONE : DX_ERR_SYSTEM;
    }
    dx_status status = to_write ? take_lock(home, reterr) : DX_OK;
    if (status != DX_OK)
        dx__autohand_home_close(home);
    return status;
}

void dx__autohand_home_close(struct dx__autohand_home *home) {
    if (home->lock >= 0)
        (void)close(home->lock);
    if (home->folder >= 0)
        (void)close(home->folder);
    *home = (struct dx__autohand_home){.folder = -1, .lock = -1};
}

static dx_status check_file(int fd, size_t *ret_len, dx_error *reterr) {
    struct stat facts;
    if (fstat(fd, &facts) < 0)
        return fail(reterr, file_name, errno);
    if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid() || facts.st_mode & (S_IWGRP | S_IWOTH))
        return fail(reterr, "permissions.json: must be a regular file that only you can write", 0);
    if (facts.st_size > FILE_MAX)
        return fail(reterr, "permissions.json is larger than 1 MiB", 0);
    *ret_len = (size_t)facts.st_size;
    return DX_OK;
}

static dx_status read_all(int fd, const dx_allocator *alloc, size_t len, char **ret_bytes,
                          size_t *ret_len, dx_error *reterr) {
    char *bytes = dx__malloc(alloc, len + 1);
    if (!bytes)
        return DX_ERR_NOMEM;
    size_t used = 0;
    ssize_t got = 1;
    while (used < len && got > 0) {
        got = pread(fd, bytes + used, len - used, (off_t)used);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            used += (size_t)got;
    }
    if (got < 0) {
        int error = errno;
        dx__free(alloc, bytes);
        return fail(reterr, file_name, error);
    }
    bytes[used] = '\0';
    *ret_bytes = bytes;
    *ret_len = used;
    return DX_OK;
}

dx_status dx__autohand_home_read(const struct dx__autohand_home *home, const dx_allocator *alloc,
                                 char **ret_bytes, size_t *ret_len, dx_error *reterr) {
    int fd =
        openat(home->folder, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        (void)fail(reterr, file_name, error);
        return error == ENOENT ? DX_GONE : DX_ERR_SYSTEM;
    }
    size_t len = 0;
    dx_status status = check_file(fd, &len, reterr);
    if (status == DX_OK)
        status = read_all(fd, alloc, len, ret_bytes, ret_len, reterr);
    (void)close(fd);
    return status;
}

static bool write_all(int fd, dx_text bytes) {
    while (bytes.len) {
        ssize_t put = write(fd, bytes.at, bytes.len);
        if (put < 0 && errno != EINTR)
            return false;
        bytes.at += put > 0 ? put : 0;
        bytes.len -= put > 0 ? (size_t)put : 0;
    }
    return fsync(fd) == 0;
}

/* The lock makes the name of the new file ours alone. */
dx_status dx__autohand_home_write(const struct dx__autohand_home *home, dx_text bytes,
                                  dx_error *reterr) {
    static const char new_name[] = "permissions.json.new";
    if (bytes.len > FILE_MAX)
        return fail(reterr, "permissions.json would be larger than 1 MiB", 0);
    (void)unlinkat(home->folder, new_name, 0);
    int fd =
        openat(home->folder, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(reterr, new_name, errno);
    bool good = write_all(fd, bytes);
    int error = errno;
    (void)close(fd);
    if (good && renameat(home->folder, new_name, home->folder, file_name) == 0) {
        (void)fsync(home->folder);
        return DX_OK;
    }
    error = good ? errno : error;
    (void)unlinkat(home->folder, new_name, 0);
    return fail(reterr, new_name, error);
}
