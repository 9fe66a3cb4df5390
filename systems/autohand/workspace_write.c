/* Files of the workspace are written as a whole or not at all, and deleted. */
#include "systems/autohand/files_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Where a name stands; the folder is held, whatever becomes of the path that led there. */
typedef struct dx__autohand_staged spot;

/* "a/b" of "a/b/c"; "." of "c". False: it does not fit. */
static bool parent_of(const char *path, char room[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    if (len >= PATH_MAX)
        return false;
    memcpy(room, path, len);
    memcpy(room + len, len ? "" : ".", len ? 1 : 2);
    return true;
}

/* Makes the last folder of a path whose others are there. 0, or an errno. */
static int make_folder(const struct dx__autohand_workspace *space, const char *path) {
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!parent_of(path, above))
        return ENAMETOOLONG;
    int folder = dx__autohand_open_beneath(space->folder, above, O_PATH | O_DIRECTORY, 0);
    if (folder < 0)
        return errno;
    int number = mkdirat(folder, slash ? slash + 1 : path, 0777) != 0 ? errno : 0;
    close(folder);
    return number == EEXIST ? 0 : number;
}

static int make_folders(const struct dx__autohand_workspace *space, char *path) {
    int number = 0;
    for (char *at = path; !number && at;) {
        at = strchr(at, '/');
        if (at)
            *at = '\0';
        int fd = dx__autohand_open_beneath(space->folder, path, O_PATH | O_DIRECTORY, 0);
        if (fd >= 0)
            close(fd);
        else
            number = errno == ENOENT ? make_folder(space, path) : errno;
        if (at)
            *at++ = '/';
    }
    return number;
}

/* The path of what is open, relative to the workspace, without any link in it. False: nobody can
 * say. */
static bool real_path(const struct dx__autohand_workspace *space, int fd, char room[PATH_MAX]) {
    char link[64];
    char top[PATH_MAX];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", space->folder);
    ssize_t top_len = readlink(link, top, sizeof top);
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, room, PATH_MAX);
    if (top_len <= 0 || len <= 0 || top_len >= PATH_MAX || len >= PATH_MAX)
        return false;
    if (top_len == 1)
        top_len = 0; /* "/" */
    if (len == top_len && memcmp(room, top, (size_t)len) == 0) {
        memcpy(room, ".", 2);
        return true;
    }
    if (len <= top_len + 1 || memcmp(room, top, (size_t)top_len) != 0 || room[top_len] != '/')
        return false;
    memmove(room, room + top_len + 1, (size_t)(len - top_len - 1));
    room[len - top_len - 1] = '\0';
    return true;
}

/* Where a link in the workspace leads to, which must be there, and in it. 0, or an errno. */
static int follow(const struct dx__autohand_workspace *space, const char *path,
                  char room[PATH_MAX]) {
    struct stat about;
    int fd = dx__autohand_open_beneath(space->folder, path, O_PATH, 0);
    if (fd < 0)
        return errno == ENOENT ? ELOOP : errno;
    bool known = fstat(fd, &about) == 0 && about.st_nlink > 0 && real_path(space, fd, room);
    close(fd);
    return known ? 0 : ELOOP;
}

static int look(const struct dx__autohand_workspace *space, const char *path, bool make,
                spot *place) {
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (!parent_of(path, above) || strlen(name) >= sizeof place->name)
        return ENAMETOOLONG;
    if (strcmp(name, ".") == 0)
        return EISDIR;
    int number = make && slash ? make_folders(space, above) : 0;
    if (number)
        return number;
    place->folder = dx__autohand_open_beneath(space->folder, above, O_PATH | O_DIRECTORY, 0);
    if (place->folder < 0)
        return errno;
    memcpy(place->name, name, strlen(name) + 1);
    place->there = fstatat(place->folder, name, &place->about, AT_SYMLINK_NOFOLLOW) == 0;
    return place->there || errno == ENOENT ? 0 : errno;
}

static void leave(spot *place) {
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}

/* The place that is written for `path`: behind a link, what that leads to. */
static int find(const struct dx__autohand_workspace *space, const char *path, spot *place) {
    char real[PATH_MAX];
    int number = look(space, path, true, place);
    if (number || !place->there || !S_ISLNK(place->about.st_mode))
        return number;
    leave(place);
    number = follow(space, path, real);
    return number ? number : look(space, real, false, place);
}

static int write_all(int fd, dx_text bytes) {
    while (bytes.len) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        bytes.at += n;
        bytes.len -= (size_t)n;
    }
    return 0;
}

static const char acl[] = "system.posix_acl_access";

/* Those of the user are kept if they can be; without the list of rights, or with one that came from
 * the folder, others might read the file than before. */
static int copy_attributes(const char *old, int file, const char *names, size_t len, char *value) {
    bool listed = false;
    for (const char *name = names; name < names + len; name += strlen(name) + 1) {
        bool rights = strcmp(name, acl) == 0;
        if (!rights && strncmp(name, "user.", 5) != 0)
            continue;
        ssize_t size = getxattr(old, name, value, XATTR_SIZE_MAX);
        if ((size < 0 || fsetxattr(file, name, value, (size_t)size, 0) != 0) && rights)
            return errno == EINVAL ? EPERM : errno; /* it names users that we can't name */
        listed |= rights;
    }
    if (!listed && fremovexattr(file, acl) != 0 && errno != ENODATA && errno != EOPNOTSUPP)
        return errno;
    return 0;
}

/* 0, or an errno. */
static int keep_attributes(const struct dx__autohand_workspace *space, const spot *place) {
    char link[64];
    int old = openat(place->folder, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (old < 0)
        return errno;
    char *room = dx__malloc(&space->alloc, XATTR_LIST_MAX + XATTR_SIZE_MAX);
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", old);
    ssize_t len = room ? listxattr(link, room, XATTR_LIST_MAX) : 0;
    int number = !room ? ENOMEM
                 : len < 0
                     ? errno
                     : copy_attributes(link, place->file, room, (size_t)len, room + XATTR_LIST_MAX);
    dx__free(&space->alloc, room);
    close(old);
    return number == EOPNOTSUPP ? 0 : number;
}

/* Only few may give a file away, but most may give it to another group of theirs. Rights to read
 * are never wider than they were before, also in between: who is of our own group is one of all
 * others, unless it is the file's. */
static int keep_rights(const struct dx__autohand_workspace *space, const spot *place) {
    mode_t mode = place->about.st_mode & 0777;
    if (fchown(place->file, (uid_t)-1, place->about.st_gid) != 0) {
        if (errno != EPERM)
            return errno;
        mode &= 0707 | (mode & 07) << 3;
    }
    if (fchown(place->file, place->about.st_uid, (gid_t)-1) != 0 && errno != EPERM)
        return errno;
    int number = keep_attributes(space, place);
    return number ? number : fchmod(place->file, mode) != 0 ? errno : 0;
}

static int fill(const struct dx__autohand_workspace *space, spot *place, dx_text bytes) {
    int number = write_all(place->file, bytes);
    if (!number && place->there)
        number = keep_rights(space, place);
    struct stat about;
    if (!number && fstat(place->file, &about) != 0)
        number = errno;
    place->device = number ? 0 : about.st_dev;
    return number;
}

/* Without a name, it is gone when we are, however that comes. Not every file system can do that. */
static int open_fresh(spot *place, mode_t mode) {
    uint64_t random[2] = {0};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return errno;
    (void)snprintf(place->fresh, sizeof place->fresh, ".new-%016llx%016llx",
                   (unsigned long long)random[0], (unsigned long long)random[1]);
    place->file = openat(place->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    place->unnamed = place->file >= 0;
    if (!place->unnamed)
        place->file = openat(place->folder, place->fresh,
                             O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode);
    return place->file < 0 ? errno : 0;
}

static int stage(const struct dx__autohand_workspace *space, const char *path, dx_text bytes,
                 spot *place) {
    int number = find(space, path, place);
    if (!number && place->there && !S_ISREG(place->about.st_mode))
        number = S_ISDIR(place->about.st_mode) ? EISDIR : EINVAL;
    /* A file that may not be written is not to be replaced by one that may. */
    if (!number && place->there && faccessat(place->folder, place->name, W_OK, AT_EACCESS) != 0)
        number = errno;
    if (!number)
        number = open_fresh(place, place->there ? 0600 : 0666);
    return number ? number : fill(space, place, bytes);
}

static dx_status fail(dx_error *reterr, const char *path, int number) {
    if (number == EINVAL)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "not a regular file");
    /* Somebody took a folder away that was just there. */
    return dx__autohand_path_errno(reterr, path, number == ENOENT ? ESTALE : number);
}

dx_status dx__autohand_file_stage(const struct dx__autohand_workspace *space, const char *path,
                                  dx_text bytes, struct dx__autohand_staged *ret_staged,
                                  dx_error *reterr) {
    *ret_staged = (spot){.folder = -1, .file = -1};
    if (bytes.len > space->file_max)
        return dx__autohand_path_fail(reterr, DX_ERR_LIMIT, path, "the text is too large");
    int number = stage(space, path, bytes, ret_staged);
    if (!number)
        return DX_OK;
    dx__autohand_file_unstage(ret_staged);
    return fail(reterr, path, number);
}

void dx__autohand_file_unstage(struct dx__autohand_staged *staged) {
    if (staged->file >= 0 && !staged->unnamed)
        (void)unlinkat(staged->folder, staged->fresh, 0);
    if (staged->file >= 0)
        close(staged->file);
    leave(staged);
    staged->file = -1;
}

bool dx__autohand_file_sync_all(const struct dx__autohand_staged *staged) {
    return syncfs(staged->file) == 0;
}

dx_status dx__autohand_file_sync(struct dx__autohand_staged *staged,
                                 const struct dx__autohand_staged *with, const char *path,
                                 dx_error *reterr) {
    bool done = with && with->device == staged->device;
    return !done && fsync(staged->file) != 0 ? fail(reterr, path, errno) : DX_OK;
}

/* Gives the file its first name. */
static int give_name(const spot *place, const char *name) {
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", place->file);
    return linkat(AT_FDCWD, link, place->folder, name, AT_SYMLINK_FOLLOW) != 0 ? errno : 0;
}

static int put_in_place(spot *place, bool create) {
    if (place->unnamed && create)
        return give_name(place, place->name);
    int number = place->unnamed ? give_name(place, place->fresh) : 0;
    if (number)
        return number;
    place->unnamed = false;
    number = EINVAL; /* not every file system can do what follows, either */
    if (create)
        number = renameat2(place->folder, place->fresh, place->folder, place->name,
                           RENAME_NOREPLACE) != 0
                     ? errno
                     : 0;
    if (number == EINVAL)
        number = renameat(place->folder, place->fresh, place->folder, place->name) != 0 ? errno : 0;
    if (!number)
        place->unnamed = true; /* the name beside it is gone */
    return number;
}

dx_status dx__autohand_file_commit(struct dx__autohand_staged *staged, const char *path,
                                   bool create, dx_error *reterr) {
    int number = put_in_place(staged, create);
    dx__autohand_file_unstage(staged);
    if (number == EEXIST && create)
        return DX_BUSY;
    return number ? fail(reterr, path, number) : DX_OK;
}

dx_status dx__autohand_file_write(const struct dx__autohand_workspace *space, const char *path,
                                  dx_text bytes, dx_error *reterr) {
    struct dx__autohand_staged staged;
    dx_status status = dx__autohand_file_stage(space, path, bytes, &staged, reterr);
    if (status != DX_OK)
        return status;
    status = dx__autohand_file_sync(&staged, NULL, path, reterr);
    if (status == DX_OK)
        return dx__autohand_file_commit(&staged, path, false, reterr);
    dx__autohand_file_unstage(&staged);
    return status;
}

dx_status dx__autohand_file_delete(const struct dx__autohand_workspace *space, const char *path,
                                   dx_error *reterr) {
    spot place = {.folder = -1, .file = -1};
    int number = look(space, path, false, &place);
    if (!number && !place.there)
        number = ENOENT;
    if (!number && S_ISDIR(place.about.st_mode))
        number = EISDIR;
    if (!number && unlinkat(place.folder, place.name, 0) != 0)
        number = errno;
    leave(&place);
    return number ? dx__autohand_path_errno(reterr, path, number) : DX_OK;
}

bool dx__autohand_path_real(const struct dx__autohand_workspace *space, const char *path,
                            char room[PATH_MAX]) {
    char above[PATH_MAX];
    size_t len = strlen(path);
    if (len >= sizeof above)
        return false;
    memcpy(above, path, len + 1);
    for (;;) {
        int fd = dx__autohand_open_beneath(space->folder, len ? above : ".", O_PATH, 0);
        if (fd < 0 && (errno != ENOENT || !len))
            return false;
        if (fd >= 0) {
            bool known = real_path(space, fd, room);
            close(fd);
            if (!known)
                return false;
            break;
        }
        while (len && above[len - 1] != '/')
            len--;
        len -= len > 0;
        above[len] = '\0';
    }
    if (!path[len])
        return true;
    /* What is not there yet keeps its name. */
    const char *rest = path[len] == '/' ? path + len + 1 : path + len;
    size_t used = strcmp(room, ".") == 0 ? 0 : strlen(room);
    if (used + strlen(rest) + 2 > PATH_MAX)
        return false;
    (void)snprintf(room + used, PATH_MAX - used, "%s%s", used ? "/" : "", rest);
    return true;
}

static bool begins_with(const char *path, const char *folder) {
    size_t len = folder ? strlen(folder) : 0;
    return len && strncasecmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Lower and upper case are the same on some file systems. */
static const char *why_kept(const struct dx__autohand_workspace *space, const char *path) {
    if (begins_with(path, ".autohand"))
        return "belongs to the agent and must not be changed by a tool";
    for (size_t i = 0; i < sizeof space->own / sizeof *space->own; i++)
        if (begins_with(path, space->own[i]))
            return "belongs to the agent and must not be changed by a tool";
    for (const char *part = path; part; part = strchr(part, '/'), part = part ? part + 1 : NULL)
        if (begins_with(part, ".git") || begins_with(part, ".gitconfig") ||
            begins_with(part, ".config/git"))
            return "git runs what it finds there, so it must not be changed by a tool";
    return begins_with(path, space->git)
               ? "git runs what it finds there, so it must not be changed by a tool"
               : NULL;
}

const char *dx__autohand_path_kept(const struct dx__autohand_workspace *space, const char *path) {
    char real[PATH_MAX];
    const char *why = why_kept(space, path);
    if (!why && dx__autohand_path_real(space, path, real))
        why = why_kept(space, real);
    /* The file itself may be a link, which can be deleted, and a folder may be one that leads out.
     */
    char above[PATH_MAX];
    if (!why && parent_of(path, above) && dx__autohand_path_real(space, above, real))
        why = why_kept(space, real);
    return why;
}
