/* The folder that an agent works in: paths beneath it, and none else. */
#include "systems/autohand/files_parts.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How often a path is tried again that somebody renames while the kernel follows it. */
enum { TRIES = 64 };

dx_status dx__autohand_path_fail(dx_error *reterr, dx_status status, const char *path,
                                 const char *why) {
    char short_path[120] = "";
    if (!reterr)
        return status;
    *reterr = (dx_error){.fault = status == DX_ERR_SYSTEM ? DX_FAULT_SYSTEM : DX_FAULT_NONE};
    dx__say_str(reterr->place, sizeof reterr->place, "path");
    /* The reason is worth more than the end of a long path. */
    dx__say_str(short_path, sizeof short_path, path);
    dx__say_str(reterr->phrase, sizeof reterr->phrase, short_path);
    if (strlen(short_path) + 4 > sizeof short_path)
        dx__say_str(reterr->phrase, sizeof reterr->phrase, "…");
    dx__say_str(reterr->phrase, sizeof reterr->phrase, ": ");
    dx__say_str(reterr->phrase, sizeof reterr->phrase, why);
    return status;
}

dx_status dx__autohand_path_errno(dx_error *reterr, const char *path, int number) {
    char room[96] = "";
    switch (number) {
    case ENOENT:
        return DX_GONE;
    case ENOMEM:
        return DX_ERR_NOMEM;
    case EXDEV:
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "leads outside the workspace");
    case ELOOP:
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path,
                                      "cannot follow a symbolic link in the path");
    case ENOTDIR:
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path,
                                      "a part of the path is not a folder");
    case EISDIR:
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "is a folder");
    case ENAMETOOLONG:
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "the path is too long");
    default:
        (void)dx__autohand_path_fail(reterr, DX_ERR_SYSTEM, path,
                                     strerror_r(number, room, sizeof room));
        if (reterr)
            reterr->system = number;
        return DX_ERR_SYSTEM;
    }
}

int dx__autohand_open_beneath(int folder, const char *path, uint64_t flags, uint64_t more) {
    struct open_how how = {.flags = flags | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | more};
    for (int tries = 0;; tries++) {
        long fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno != EINTR && (errno != EAGAIN || tries >= TRIES))
            return -1;
    }
}

static dx_status keep_git(struct dx__autohand_workspace *space);

dx_status dx__autohand_workspace_open(struct dx__autohand_workspace *space, const char *path,
                                      size_t file_max, const dx_allocator *alloc,
                                      dx_error *reterr) {
    char room[PATH_MAX];
    *space = (struct dx__autohand_workspace){.folder = -1, .file_max = file_max, .alloc = *alloc};
    if (!realpath(path, room) || (space->folder = open(room, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path,
                                      errno == ENOTDIR  ? "not a folder"
                                      : errno == ENOENT ? "no such folder"
                                                        : "cannot open it");
    int self = dx__autohand_open_beneath(space->folder, ".", O_PATH | O_DIRECTORY, 0);
    dx_status status = DX_OK;
    if (self < 0)
        status = dx__autohand_path_fail(
            reterr, DX_ERR_SYSTEM, path,
            errno == ENOSYS || errno == EPERM
                ? "openat2() is missing, which file access needs to be safe (Linux 5.6)"
                : "cannot open it");
    else
        close(self);
    if (status == DX_OK && !(space->path = dx__text_copy(alloc, dx_str(room))))
        status = DX_ERR_NOMEM;
    if (status == DX_OK)
        status = keep_git(space);
    if (status != DX_OK)
        dx__autohand_workspace_close(space);
    return status;
}

void dx__autohand_workspace_close(struct dx__autohand_workspace *space) {
    if (!space->alloc.malloc)
        return; /* it was never opened */
    if (space->folder >= 0)
        close(space->folder);
    space->folder = -1;
    dx__free(&space->alloc, space->path);
    dx__free(&space->alloc, space->own[0]);
    dx__free(&space->alloc, space->own[1]);
    dx__free(&space->alloc, space->git);
    space->path = space->own[0] = space->own[1] = space->git = NULL;
}

/* The rest of an absolute path behind the workspace's own; it is absent if that is another. */
static dx_text behind(const struct dx__autohand_workspace *space, dx_text path) {
    size_t len = strlen(space->path);
    if (len == 1) /* "/" */
        len = 0;
    if (path.len < len || memcmp(path.at, space->path, len) != 0 ||
        (path.len > len && path.at[len] != '/'))
        return (dx_text){NULL, 0};
    return (dx_text){path.at + len, path.len - len};
}

static dx_status keep_place(const struct dx__autohand_workspace *space, const char *path,
                            char **ret_place) {
    char real[PATH_MAX];
    dx_text rest = path && realpath(path, real) ? behind(space, dx_str(real)) : dx_str(NULL);
    if (rest.len < 2)
        return DX_OK; /* it lies elsewhere */
    *ret_place = dx__text_copy(&space->alloc, (dx_text){rest.at + 1, rest.len - 1});
    return *ret_place ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx__autohand_workspace_own(struct dx__autohand_workspace *space, const char *path) {
    return keep_place(space, path, &space->own[space->own[0] != NULL]);
}

/* "gitdir: FOLDER" in a file .git. */
static dx_status keep_git(struct dx__autohand_workspace *space) {
    static const char head[] = "gitdir: ";
    char path[2 * PATH_MAX];
    char *text = NULL;
    size_t len = 0;
    dx_status status = dx__autohand_file_read(space, ".git", &text, &len, NULL, NULL);
    if (status != DX_OK)
        return status == DX_ERR_NOMEM ? status : DX_OK;
    const char *folder = text + sizeof head - 1;
    if (len > sizeof head && len < PATH_MAX && memcmp(text, head, sizeof head - 1) == 0) {
        text[strcspn(text, "\r\n")] = '\0';
        (void)snprintf(path, sizeof path, "%s%s%s", folder[0] == '/' ? "" : space->path,
                       folder[0] == '/' ? "" : "/", folder);
        status = keep_place(space, path, &space->git);
    }
    dx__free(&space->alloc, text);
    return status;
}

/* Appends the parts of `path` to `to`, which has room for them; NULL, or why not. */
static const char *add_parts(char *to, dx_text path) {
    size_t used = 0;
    for (size_t i = 0; i < path.len;) {
        const char *slash = memchr(path.at + i, '/', path.len - i);
        size_t len = slash ? (size_t)(slash - (path.at + i)) : path.len - i;
        const char *part = path.at + i;
        i += len + 1;
        if (len == 0 || (len == 1 && part[0] == '.'))
            continue;
        if (len == 2 && part[0] == '.' && part[1] == '.')
            return "a path must not contain '..'";
        if (used)
            to[used++] = '/';
        memcpy(to + used, part, len);
        used += len;
    }
    if (!used)
        to[used++] = '.';
    to[used] = '\0';
    return NULL;
}

dx_status dx__autohand_path_clean(const struct dx__autohand_workspace *space, dx_text path,
                                  char **ret_path, dx_error *reterr) {
    const char *why = NULL;
    char room[120] = "";
    dx_text rest = path;
    if (!path.at || !path.len)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, "path", "is empty");
    dx__say(room, sizeof room, path);
    if (path.len >= PATH_MAX)
        why = "the path is too long";
    else if (memchr(path.at, '\0', path.len))
        why = "a path must not contain a NUL character";
    else if (path.at[0] == '/' && !(rest = behind(space, path)).at)
        why = "is outside the workspace";
    if (why)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, room, why);
    char *clean = dx__malloc(&space->alloc, rest.len + 2);
    if (!clean)
        return DX_ERR_NOMEM;
    why = add_parts(clean, rest);
    if (why) {
        dx__free(&space->alloc, clean);
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, room, why);
    }
    *ret_path = clean;
    return DX_OK;
}

/* 0, or an errno: EFBIG for one that is too large. */
static int read_all(int fd, dx_buf *text) {
    for (;;) {
        dx_status status = dx_buf_reserve(text, 1);
        if (status != DX_OK)
            return status == DX_ERR_LIMIT ? EFBIG : ENOMEM;
        ssize_t got = read(fd, text->data + text->len, text->cap - text->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0;
        text->len += (size_t)got;
    }
}

/* One byte more than may be there: the end is seen behind it, and the NUL stands in it. */
static int read_file(int fd, const struct stat *about, size_t max, dx_buf *text) {
    if (S_ISDIR(about->st_mode))
        return EISDIR;
    if (!S_ISREG(about->st_mode))
        return EINVAL;
    if (about->st_size > 0 && (uint64_t)about->st_size > max)
        return EFBIG;
    dx_status status = dx_buf_reserve(text, (size_t)about->st_size + 1);
    return status == DX_OK ? read_all(fd, text) : ENOMEM;
}

dx_status dx__autohand_file_read(const struct dx__autohand_workspace *space, const char *path,
                                 char **ret_bytes, size_t *ret_len, unsigned *ret_mode,
                                 dx_error *reterr) {
    struct stat about = {0};
    dx_buf text;
    /* What is no file, such as a pipe, must not keep us waiting. */
    int fd = dx__autohand_open_beneath(space->folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return dx__autohand_path_errno(reterr, path, errno);
    dx_buf_init(&text, space->file_max < SIZE_MAX ? space->file_max + 1 : SIZE_MAX, &space->alloc);
    int number = fstat(fd, &about) != 0 ? errno : read_file(fd, &about, space->file_max, &text);
    close(fd);
    if (!number) {
        text.data[text.len] = '\0';
        *ret_bytes = text.data;
        *ret_len = text.len;
        if (ret_mode)
            *ret_mode = about.st_mode & 07777;
        return DX_OK;
    }
    dx_buf_done(&text);
    if (number == EFBIG)
        return dx__autohand_path_fail(reterr, DX_ERR_LIMIT, path, "the file is too large");
    if (number == EINVAL)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "not a regular file");
    return dx__autohand_path_errno(reterr, path, number);
}
