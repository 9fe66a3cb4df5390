/* Where the projects of a folder are. */
#include "systems/finecode/config_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEVELS = 16, FOLDERS_MAX = 10000, FIRST = 32 };

/* A path that is yet to be looked at, or that of a project. */
struct place {
    char *path;
    unsigned level;
};

struct places {
    struct place *at;
    size_t count;
    size_t cap;
};

struct search {
    dx_allocator alloc;
    const char *folder;
    struct places left;  /* to be looked at; the last one is next */
    struct places found; /* projects */
    size_t looked;
    dx_error *reterr;
};

static void free_places(const dx_allocator *alloc, struct places *places) {
    for (size_t i = 0; i < places->count; i++)
        dx__free(alloc, places->at[i].path);
    dx__free(alloc, places->at);
}

/* The path becomes the list's, or is freed. */
static dx_status push(const dx_allocator *alloc, struct places *places, char *path,
                      unsigned level) {
    if (path && places->count == places->cap) {
        size_t cap = places->cap ? places->cap * 2 : FIRST;
        struct place *at =
            dx__realloc(alloc, places->at, places->cap * sizeof *at, cap * sizeof *at);
        if (!at) {
            dx__free(alloc, path);
            return DX_ERR_NOMEM;
        }
        places->at = at;
        places->cap = cap;
    }
    if (!path)
        return DX_ERR_NOMEM;
    places->at[places->count++] = (struct place){path, level};
    return DX_OK;
}

static dx_status fail(dx_error *reterr, dx_status status, int error, const char *what,
                      const char *why) {
    char room[96] = "";
    if (!reterr)
        return status;
    *reterr = (dx_error){.fault = DX_FAULT_SYSTEM, .system = error};
    dx__say_str(reterr->phrase, sizeof reterr->phrase - 80, what);
    dx__say_str(reterr->phrase, sizeof reterr->phrase, ": ");
    dx__say_str(reterr->phrase, sizeof reterr->phrase,
                why ? why : strerror_r(error, room, sizeof room));
    return status;
}

static bool is_skipped(const char *name) {
    static const char *const names[] = {"node_modules", "dist",        "build",
                                        "venv",         "__pycache__", "site-packages"};
    if (name[0] == '.')
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_folder(DIR *folder, const struct dirent *entry) {
    struct stat about;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(about.st_mode);
}

static bool has_file(DIR *folder, const char *name) {
    return faccessat(dirfd(folder), name, F_OK, 0) == 0;
}

/* All of them are counted before they are looked at: a folder may have millions. */
static dx_status need_look(struct search *search, char *path, unsigned level) {
    if (search->looked + search->left.count < FOLDERS_MAX)
        return push(&search->alloc, &search->left, path, level);
    dx__free(&search->alloc, path);
    return fail(search->reterr, DX_ERR_LIMIT, 0, search->folder,
                "more than 10,000 folders; list the projects in finecode-workspace.toml");
}

static dx_status look_inside(struct search *search, DIR *folder, const struct place *place) {
    dx_status status = DX_OK;
    const struct dirent *entry;
    if (has_file(folder, "finecode.toml") || has_file(folder, "pyproject.toml"))
        status = push(&search->alloc, &search->found,
                      dx__text_copy(&search->alloc, dx_str(place->path)), 0);
    while (status == DX_OK && place->level < LEVELS && (entry = readdir(folder))) {
        if (is_skipped(entry->d_name) || !is_folder(folder, entry))
            continue;
        status = need_look(search, dx__finecode_join(&search->alloc, place->path, entry->d_name),
                           place->level + 1);
    }
    return status;
}

/* A folder that can't be read is passed by, unless it is the first. */
static dx_status look(struct search *search, const struct place *place) {
    /* The first one may be a link: whoever named it meant what is there. */
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (place->level ? O_NOFOLLOW : 0);
    int fd = open(place->path, flags);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    int error = errno;
    if (!folder) {
        if (fd >= 0)
            close(fd);
        if (place->level && (error == EACCES || error == ENOENT || error == ENOTDIR ||
                             error == ELOOP || error == EPERM))
            return DX_OK;
        return fail(search->reterr, DX_ERR_SYSTEM, error, place->path, NULL);
    }
    /* An environment of Python's holds packages, no projects. */
    dx_status status =
        has_file(folder, "pyvenv.cfg") && place->level ? DX_OK : look_inside(search, folder, place);
    closedir(folder);
    return status;
}

static dx_status walk(struct search *search, const char *folder) {
    search->folder = folder;
    dx_status status = need_look(search, dx__text_copy(&search->alloc, dx_str(folder)), 0);
    while (status == DX_OK && search->left.count) {
        struct place place = search->left.at[--search->left.count];
        search->looked++;
        status = look(search, &place);
        dx__free(&search->alloc, place.path);
    }
    return status;
}

/* Inside of the workspace, and neither "a//b" nor "./a" nor "../a". */
static bool is_plain(const char *path) {
    if (strcmp(path, ".") == 0)
        return true;
    for (;;) {
        size_t len = strcspn(path, "/");
        if (!len || (len <= 2 && strspn(path, ".") >= len))
            return false;
        if (!path[len] || (path[len] == '/' && !path[len + 1]))
            return true;
        path += len + 1;
    }
}

static dx_status take_named(struct search *search, const char *folder, yyjson_val *names) {
    dx_status status = DX_OK;
    yyjson_val *name;
    size_t index;
    size_t count;
    yyjson_arr_foreach(names, index, count, name) {
        const char *path = yyjson_get_str(name);
        if (!is_plain(path))
            return fail(search->reterr, DX_ERR_INVALID, 0, "finecode-workspace.toml: projects",
                        "expected paths of folders below the workspace, such as \"libs/core\"");
        char *whole = strcmp(path, ".") == 0 ? dx__text_copy(&search->alloc, dx_str(folder))
                                             : dx__finecode_join(&search->alloc, folder, path);
        size_t len = whole ? strlen(whole) : 0;
        if (len > 1 && whole[len - 1] == '/')
            whole[len - 1] = '\0';
        status = push(&search->alloc, &search->found, whole, 0);
        if (status != DX_OK)
            break;
    }
    return status;
}

static dx_status gather(struct search *search, const char *folder) {
    char why[DX__FINECODE_WHY] = "";
    yyjson_doc *doc = NULL;
    yyjson_val *table = NULL;
    dx_status status =
        dx__finecode_workspace_read(&search->alloc, folder, false, &doc, &table, why);
    if (status == DX_MISFIT)
        return fail(search->reterr, DX_ERR_INVALID, 0, folder, why);
    if (status != DX_OK)
        return status;
    yyjson_val *names = yyjson_obj_get(table, "projects");
    status = names ? take_named(search, folder, names) : walk(search, folder);
    yyjson_doc_free(doc);
    return status;
}

static int by_path(const void *one, const void *other) {
    return strcmp(((const struct place *)one)->path, ((const struct place *)other)->path);
}

static dx_status tell(struct search *search, dx_status (*on_folder)(const char *path, void *user),
                      void *user) {
    dx_status status = DX_OK;
    const struct places *found = &search->found;
    if (found->count)
        qsort(found->at, found->count, sizeof *found->at, by_path);
    for (size_t i = 0; status == DX_OK && i < found->count; i++)
        if (!i || strcmp(found->at[i].path, found->at[i - 1].path) != 0)
            status = on_folder(found->at[i].path, user);
    return status;
}

dx_status dx__finecode_find_projects(const dx_allocator *alloc, const char *folder,
                                     dx_status (*on_folder)(const char *path, void *user),
                                     void *user, dx_error *reterr) {
    struct search search = {.alloc = dx__finecode_allocator(alloc), .reterr = reterr};
    char *path = dx__finecode_absolute(&search.alloc, folder);
    dx_status status = path ? gather(&search, path) : DX_ERR_NOMEM;
    if (status == DX_OK)
        status = tell(&search, on_folder, user);
    free_places(&search.alloc, &search.left);
    free_places(&search.alloc, &search.found);
    dx__free(&search.alloc, path);
    return status;
}
