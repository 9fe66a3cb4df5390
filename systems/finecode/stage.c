/* Files that are edited together: each is read, written beside itself, and put in place when all
 * others are ready, too.
 *
 * Paths are resolved once, and their folders are then opened name by name without following links,
 * and held: whatever is done to the names above a file meanwhile, it is the file that was found.
 * What is put in place is exchanged with the old file in one step, and taken back if that was not
 * the file that was read. */
#include "systems/finecode/edit_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

dx_status dx__finecode_stage_fail(dx_error *reterr, const char *path, const char *reason,
                                  int error) {
    if (reterr) {
        *reterr = (dx_error){.fault = error ? DX_FAULT_SYSTEM : DX_FAULT_NONE, .system = error};
        dx__say_str(reterr->phrase, 130, path);
        dx__say_str(reterr->phrase, sizeof reterr->phrase, ": ");
        dx__say_str(reterr->phrase, sizeof reterr->phrase, error ? strerror(error) : reason);
    }
    return DX_MISFIT;
}

/* Opens the folder of a path in which no link is left, name by name. */
static int open_folder(const char *path) {
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && *(path += strspn(path, "/"))) {
        char name[NAME_MAX + 1];
        size_t len = strcspn(path, "/");
        if (len > NAME_MAX) {
            (void)close(fd);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, path, len);
        name[len] = '\0';
        path += len;
        int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        (void)close(fd);
        errno = error;
        fd = next;
    }
    return fd;
}

static dx_status hold_folder(dx__finecode_stage *stage, const char *path, const char *name,
                             dx__finecode_folder **ret_folder) {
    size_t len = (size_t)(name - path);
    for (dx__finecode_folder *held = stage->folders; held; held = held->next)
        if (strlen(held->path) == len && memcmp(held->path, path, len) == 0) {
            *ret_folder = held;
            return DX_OK;
        }
    dx__finecode_folder *folder = calloc(1, sizeof *folder);
    char *copy = folder ? strndup(path, len) : NULL;
    if (!copy) {
        free(folder);
        return DX_ERR_NOMEM;
    }
    *folder = (dx__finecode_folder){.path = copy, .fd = open_folder(copy)};
    if (folder->fd < 0) {
        free(copy);
        free(folder);
        return DX_ERR_SYSTEM;
    }
    folder->next = stage->folders;
    stage->folders = folder;
    *ret_folder = folder;
    return DX_OK;
}

/* Is the file, links resolved, where edits may go? */
static bool is_allowed(const dx__finecode_stage *stage, const char *path) {
    bool allowed = !stage->below;
    for (size_t i = 0; !allowed && i < stage->below_count; i++) {
        char *folder = realpath(stage->below[i], NULL);
        allowed = folder && dx__finecode_is_below(path, folder);
        free(folder);
    }
    return allowed;
}

static dx_status read_all(int fd, dx_buf *text) {
    for (;;) {
        dx_status status = dx_buf_reserve(text, 1);
        if (status == DX_OK && text->cap - text->len < 65536 && text->max - text->len > 65536)
            status = dx_buf_reserve(text, 65536);
        /* At the limit one byte more shows whether there is more. */
        char one;
        bool full = status == DX_ERR_LIMIT;
        if (status != DX_OK && !full)
            return status;
        ssize_t got =
            full ? read(fd, &one, 1) : read(fd, text->data + text->len, text->cap - text->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return DX_ERR_SYSTEM;
        if (!got)
            return DX_OK;
        if (full)
            return DX_ERR_LIMIT;
        text->len += (size_t)got;
    }
}

/* Opened for writing, too: who may not write to a file may not replace it. */
static dx_status read_file(dx__finecode_staged *file, dx_error *reterr) {
    int fd = openat(file->folder->fd, file->name,
                    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return dx__finecode_stage_fail(reterr, file->path, "", errno);
    dx_status status = DX_OK;
    if (fstat(fd, &file->facts) < 0)
        status = dx__finecode_stage_fail(reterr, file->path, "", errno);
    else if (!S_ISREG(file->facts.st_mode))
        status = dx__finecode_stage_fail(reterr, file->path, "not a regular file", 0);
    else
        status = read_all(fd, &file->text);
    if (status == DX_ERR_SYSTEM)
        status = dx__finecode_stage_fail(reterr, file->path, "", errno);
    else if (status == DX_ERR_LIMIT)
        status = dx__finecode_stage_fail(reterr, file->path, "too long", 0);
    (void)close(fd);
    return status;
}

static void staged_free(dx__finecode_staged *file) {
    dx_buf_done(&file->text);
    free(file->path);
    free(file);
}

/* Takes the path. */
static dx_status stage_new(dx__finecode_stage *stage, char *path, dx__finecode_staged **ret_file,
                           dx_error *reterr) {
    dx__finecode_staged *file = calloc(1, sizeof *file);
    if (!file) {
        free(path);
        return DX_ERR_NOMEM;
    }
    file->path = path;
    file->name = strrchr(path, '/') + 1;
    dx_buf_init(&file->text, DX__FINECODE_SOURCE_MAX, NULL);
    dx_status status = hold_folder(stage, path, file->name, &file->folder);
    if (status == DX_ERR_SYSTEM)
        status = dx__finecode_stage_fail(reterr, path, "", errno);
    if (status == DX_OK)
        status = read_file(file, reterr);
    if (status == DX_OK && stage->on_read)
        status = stage->on_read(file, stage->user);
    if (status == DX_MISFIT && stage->on_read && !reterr->phrase[0])
        status = dx__finecode_stage_fail(reterr, path, "cannot show another change", 0);
    if (status != DX_OK) {
        staged_free(file);
        return status;
    }
    file->next = stage->files;
    stage->files = file;
    *ret_file = file;
    return DX_OK;
}

dx_status dx__finecode_stage_file(dx__finecode_stage *stage, const char *path,
                                  dx__finecode_staged **ret_file, dx_error *reterr) {
    char *real = realpath(path, NULL);
    if (!real)
        return errno == ENOMEM ? DX_ERR_NOMEM : dx__finecode_stage_fail(reterr, path, "", errno);
    for (dx__finecode_staged *file = stage->files; file; file = file->next)
        if (strcmp(file->path, real) == 0) {
            free(real);
            *ret_file = file;
            return DX_OK;
        }
    if (!is_allowed(stage, real)) {
        free(real);
        return dx__finecode_stage_fail(reterr, path, "outside the workspace", 0);
    }
    return stage_new(stage, real, ret_file, reterr);
}

static dx_status write_all(int fd, const dx_buf *text) {
    size_t done = 0;
    while (done < text->len) {
        ssize_t more = write(fd, text->data + done, text->len - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return DX_ERR_SYSTEM;
        done += (size_t)more;
    }
    return DX_OK;
}

/* The owner can be kept only by who may give files away; then bits that lend an owner's rights
 * stay, too. */
static dx_status keep_mode(int fd, const struct stat *facts) {
    struct stat own;
    if (fstat(fd, &own) < 0)
        return DX_ERR_SYSTEM;
    bool same = own.st_uid == facts->st_uid && own.st_gid == facts->st_gid;
    if (!same)
        same = fchown(fd, facts->st_uid, facts->st_gid) == 0;
    return fchmod(fd, facts->st_mode & (same ? 07777U : 0777U)) == 0 ? DX_OK : DX_ERR_SYSTEM;
}

static dx_status write_beside(dx__finecode_staged *file) {
    char uuid[37];
    dx__finecode_uuid(uuid);
    (void)snprintf(file->beside, sizeof file->beside, ".%s.tmp", uuid);
    int fd = openat(file->folder->fd, file->beside,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        file->beside[0] = '\0';
        return DX_ERR_SYSTEM;
    }
    dx_status status = write_all(fd, &file->text);
    if (status == DX_OK)
        status = keep_mode(fd, &file->facts);
    /* After a loss of power there shall be the old text or the new one. */
    if (status == DX_OK && fsync(fd) < 0)
        status = DX_ERR_SYSTEM;
    int error = errno;
    if (close(fd) < 0 && status == DX_OK) {
        error = errno;
        status = DX_ERR_SYSTEM;
    }
    errno = error;
    return status;
}

/* Is what has that name the file that was read, unchanged? */
static bool is_as_read(const dx__finecode_staged *file, const char *name) {
    struct stat now;
    const struct stat *then = &file->facts;
    return fstatat(file->folder->fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

static int exchange(const dx__finecode_staged *file) {
    int fd = file->folder->fd;
    return renameat2(fd, file->beside, fd, file->name, RENAME_EXCHANGE);
}

static dx_status put_in_place(dx__finecode_staged *file, dx_error *reterr) {
    int fd = file->folder->fd;
    if (!is_as_read(file, file->name))
        return dx__finecode_stage_fail(reterr, file->path, "changed in the meantime", 0);
    file->exchanged = exchange(file) == 0;
    /* Not every file system can exchange. */
    if (!file->exchanged && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return dx__finecode_stage_fail(reterr, file->path, "", errno);
    if (!file->exchanged && renameat(fd, file->beside, fd, file->name) < 0)
        return dx__finecode_stage_fail(reterr, file->path, "", errno);
    file->in_place = true;
    if (file->exchanged && !is_as_read(file, file->beside))
        return dx__finecode_stage_fail(reterr, file->path, "changed in the meantime", 0);
    return DX_OK;
}

static void take_back(dx__finecode_staged *file) {
    if (!file->in_place || !file->exchanged)
        return;
    if (exchange(file) == 0)
        file->in_place = false;
    else
        file->beside[0] = '\0'; /* the old text is there, so it stays there */
}

dx_status dx__finecode_stage_commit(dx__finecode_stage *stage, dx_error *reterr) {
    dx_status status = DX_OK;
    for (dx__finecode_staged *file = stage->files; status == DX_OK && file; file = file->next) {
        status = file->changed ? write_beside(file) : DX_OK;
        if (status == DX_ERR_SYSTEM)
            status = dx__finecode_stage_fail(reterr, file->path, "", errno);
        dx_buf_done(&file->text);
    }
    for (dx__finecode_staged *file = stage->files; status == DX_OK && file; file = file->next)
        status = file->changed ? put_in_place(file, reterr) : DX_OK;
    for (dx__finecode_staged *file = stage->files; status != DX_OK && file; file = file->next)
        take_back(file);
    return status;
}

void dx__finecode_stage_done(dx__finecode_stage *stage) {
    while (stage->files) {
        dx__finecode_staged *file = stage->files;
        stage->files = file->next;
        /* It is the new text that was not taken, or the old one that was replaced. */
        if (*file->beside && (!file->in_place || file->exchanged))
            (void)unlinkat(file->folder->fd, file->beside, 0);
        staged_free(file);
    }
    while (stage->folders) {
        dx__finecode_folder *folder = stage->folders;
        stage->folders = folder->next;
        (void)close(folder->fd);
        free(folder->path);
        free(folder);
    }
}
