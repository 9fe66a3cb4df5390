/* What lies beneath a folder: names in order, folder by folder, together with what the turn has
 * changed and nobody has accepted yet. Nothing is held open between two steps. */
#include "systems/autohand/files_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of one folder, a kind before each, are no more than this. */
enum { NAMES_BYTES = 2 << 20 };

static dx_status add_name(dx_buf *names, size_t *count, dx__autohand_kind kind, dx_text name) {
    char head = (char)kind;
    dx_status status = dx_buf_reserve(names, name.len + 2);
    if (status != DX_OK)
        return status;
    (void)dx_buf_append(names, &head, 1);
    (void)dx_buf_append(names, name.at, name.len);
    (void)dx_buf_append(names, "", 1);
    ++*count;
    return DX_OK;
}

static dx__autohand_kind kind_of(int folder, const struct dirent *entry) {
    struct stat about;
    unsigned type = entry->d_type;
    if (type == DT_UNKNOWN && fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0)
        type = IFTODT(about.st_mode);
    return type == DT_REG   ? DX__KIND_FILE
           : type == DT_DIR ? DX__KIND_FOLDER
           : type == DT_LNK ? DX__KIND_LINK
                            : DX__KIND_OTHER;
}

/* Puts `name` behind the path of the folder. False: that would be too long. */
static bool join(struct dx__autohand_walk *walk, size_t folder_len, const char *name) {
    size_t len = strlen(name);
    size_t from = folder_len ? folder_len + 1 : 0;
    if (from + len >= sizeof walk->path)
        return false;
    if (folder_len)
        walk->path[folder_len] = '/';
    memcpy(walk->path + from, name, len + 1);
    walk->name = walk->path + from;
    return true;
}

static bool is_deleted(struct dx__autohand_walk *walk, size_t folder_len, const char *name) {
    if (!join(walk, folder_len, name))
        return true;
    const struct dx__autohand_change *change = dx__autohand_batch_find(walk->agent, walk->path);
    return change && !change->text;
}

static dx_status read_names(struct dx__autohand_walk *walk, DIR *list, size_t folder_len,
                            dx_buf *names, size_t *count) {
    dx_status status = DX_OK;
    for (const struct dirent *entry; status == DX_OK && (entry = readdir(list));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_deleted(walk, folder_len, name))
            continue;
        if (*count >= DX__WALK_NAMES)
            status = DX_ERR_LIMIT;
        else
            status = add_name(names, count, kind_of(dirfd(list), entry), dx_str(name));
    }
    if (status == DX_ERR_LIMIT) {
        walk->cut = true;
        status = DX_OK;
    }
    return status;
}

/* What only the turn knows of; what the folder has as well is told once, see fill(). All that is
 * beneath one folder stands together, and is one name here. */
static dx_status add_pending(struct dx__autohand_walk *walk, size_t folder_len, dx_buf *names,
                             size_t *count) {
    struct dx__autohand_pending pending;
    dx_text last = {"", 0};
    dx_status status = DX_OK;
    size_t from = folder_len ? folder_len + 1 : 0;
    if (from + 1 >= sizeof walk->path)
        return DX_OK;
    if (folder_len)
        walk->path[folder_len] = '/';
    walk->path[from] = '\0';
    for (size_t i = dx__autohand_batch_from(walk->agent, walk->path);
         status == DX_OK && dx__autohand_batch_pending(walk->agent, i, &pending); i++) {
        if (strncmp(pending.path, walk->path, from) != 0)
            break;
        const char *rest = pending.path + from;
        const char *slash = strchr(rest, '/');
        dx_text name = {rest, slash ? (size_t)(slash - rest) : strlen(rest)};
        if (pending.deleted || (name.len == last.len && memcmp(name.at, last.at, name.len) == 0))
            continue;
        status = add_name(names, count, slash ? DX__KIND_FOLDER : DX__KIND_FILE, name);
        last = name;
    }
    walk->cut |= status == DX_ERR_LIMIT;
    return status == DX_ERR_LIMIT ? DX_OK : status;
}

static int by_name(const void *one, const void *other) {
    return strcmp(*(char *const *)one + 1, *(char *const *)other + 1);
}

static dx_status fill(struct dx__autohand_level *level, const dx_buf *names, size_t count,
                      const dx_allocator *alloc) {
    level->names = dx__malloc(alloc, (count ? count : 1) * sizeof *level->names);
    if (!level->names)
        return DX_ERR_NOMEM;
    for (char *at = names->data; level->count < count; at += strlen(at) + 1)
        level->names[level->count++] = at;
    qsort(level->names, count, sizeof *level->names, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || by_name(&level->names[i], &level->names[kept - 1]) != 0)
            level->names[kept++] = level->names[i];
    level->count = kept;
    level->block = names->data;
    return DX_OK;
}

/* The folder is walk->path up to folder_len. */
static dx_status push(struct dx__autohand_walk *walk, DIR *list, size_t folder_len) {
    const dx_allocator *alloc = &walk->agent->alloc;
    struct dx__autohand_level *level = &walk->levels[walk->depth];
    size_t count = 0;
    dx_buf names;
    *level = (struct dx__autohand_level){.path_len = folder_len};
    dx_buf_init(&names, NAMES_BYTES, alloc);
    dx_status status = list ? read_names(walk, list, folder_len, &names, &count) : DX_OK;
    if (status == DX_OK)
        status = add_pending(walk, folder_len, &names, &count);
    if (status == DX_OK)
        status = fill(level, &names, count, alloc);
    if (status == DX_OK)
        walk->depth++;
    else
        dx_buf_done(&names);
    return status;
}

/* NULL with errno. */
static DIR *open_list(const struct dx__autohand_walk *walk, const char *path) {
    int fd =
        dx__autohand_open_beneath(walk->agent->workspace.folder, path, O_RDONLY | O_DIRECTORY, 0);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !list)
        close(fd);
    return list;
}

dx_status dx__autohand_walk_open(struct dx__autohand_walk *walk, dx_autohand_agent *agent,
                                 const char *path, dx_error *reterr) {
    size_t len = strcmp(path, ".") == 0 ? 0 : strlen(path);
    walk->agent = agent;
    walk->depth = 0;
    walk->cut = false;
    walk->name = walk->path;
    DIR *list = open_list(walk, path);
    if (!list && errno == ENOTDIR)
        return dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "not a folder");
    if (!list && errno != ENOENT)
        return dx__autohand_path_errno(reterr, path, errno);
    memcpy(walk->path, path, len);
    walk->path[len] = '\0';
    dx_status status = push(walk, list, len);
    if (list)
        closedir(list);
    else if (status == DX_OK && !walk->levels[0].count) {
        dx__autohand_walk_close(walk);
        return DX_GONE;
    }
    return status;
}

dx_status dx__autohand_walk_next(struct dx__autohand_walk *walk) {
    while (walk->depth) {
        struct dx__autohand_level *level = &walk->levels[walk->depth - 1];
        while (level->next < level->count) {
            const char *name = level->names[level->next++];
            walk->kind = (dx__autohand_kind)name[0];
            if (join(walk, level->path_len, name + 1))
                return DX_OK;
            walk->cut = true;
        }
        dx__free(&walk->agent->alloc, level->block);
        dx__free(&walk->agent->alloc, level->names);
        walk->depth--;
    }
    return DX_CLOSED;
}

dx_status dx__autohand_walk_enter(struct dx__autohand_walk *walk) {
    if (walk->depth >= DX__WALK_DEPTH) {
        walk->cut = true;
        return DX_OK;
    }
    size_t len = strlen(walk->path);
    DIR *list = open_list(walk, walk->path);
    walk->cut |= !list && errno != ENOENT;
    dx_status status = push(walk, list, len);
    if (list)
        closedir(list);
    return status;
}

void dx__autohand_walk_close(struct dx__autohand_walk *walk) {
    for (; walk->depth; walk->depth--) {
        dx__free(&walk->agent->alloc, walk->levels[walk->depth - 1].block);
        dx__free(&walk->agent->alloc, walk->levels[walk->depth - 1].names);
    }
}
