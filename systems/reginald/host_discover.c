/* Where plugins come from: single programs, and folders of them. */
#include "systems/reginald/host_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char prefix[] = "reginald-";
enum { PREFIX = sizeof prefix - 1, FIRST = 8 };

static dx_status reserve(dx_reginald *host) {
    size_t cap = host->guest_cap ? host->guest_cap * 2 : FIRST;
    if (host->guest_count < host->guest_cap)
        return DX_OK;
    dx_reginald_guest **guests =
        dx__realloc(&host->alloc, host->guests, host->guest_cap * sizeof(dx_reginald_guest *),
                    cap * sizeof(dx_reginald_guest *));
    if (!guests)
        return DX_ERR_NOMEM;
    host->guests = guests;
    host->guest_cap = cap;
    return DX_OK;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strncmp(name, prefix, PREFIX) == 0 && name[PREFIX] ? name + PREFIX : name;
}

static void on_limit(dx_timer *timer, void *user) {
    (void)timer;
    dx__reginald_host_guest_kill(user, "it did not exit in time");
}

dx_status dx_reginald_add(dx_reginald *host, const char *path, const char *name,
                          dx_reginald_guest **ret_guest, dx_error *reterr) {
    if (!path || !path[0])
        return dx__reginald_host_fail(reterr, "a plugin needs a program to run", "");
    dx_status status = reserve(host);
    if (status != DX_OK)
        return status;
    dx_reginald_guest *guest = dx__malloc(&host->alloc, sizeof *guest);
    if (!guest)
        return DX_ERR_NOMEM;
    *guest = (dx_reginald_guest){.host = host, .state = DX_REGINALD_NEW, .version = ""};
    dx_buf_init(&guest->values, REGINALD_PARAMS_MAX, &host->alloc);
    guest->path = dx__reginald_host_copy(&host->alloc, path, "");
    if (!guest->path || dx_timer_new(host->loop, on_limit, guest, &guest->limit) != DX_OK) {
        dx__reginald_host_guest_free(guest);
        return DX_ERR_NOMEM;
    }
    dx__say_str(guest->name, sizeof guest->name, name ? name : name_of(path));
    dx__say_str(guest->label, sizeof guest->label, guest->name);
    host->guests[host->guest_count++] = guest;
    if (ret_guest)
        *ret_guest = guest;
    return DX_OK;
}

/* The names of a folder that are those of plugins. */
struct names {
    char **at;
    size_t count;
    size_t cap;
};

static void free_names(const dx_allocator *alloc, struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        dx__free(alloc, names->at[i]);
    dx__free(alloc, names->at);
}

static dx_status take_name(const dx_allocator *alloc, struct names *names, const char *name) {
    if (names->count == names->cap) {
        size_t cap = names->cap ? names->cap * 2 : FIRST;
        char **at =
            dx__realloc(alloc, names->at, names->cap * sizeof(char *), cap * sizeof(char *));
        if (!at)
            return DX_ERR_NOMEM;
        names->at = at;
        names->cap = cap;
    }
    char *copy = dx__reginald_host_copy(alloc, name, "");
    if (!copy)
        return DX_ERR_NOMEM;
    names->at[names->count++] = copy;
    return DX_OK;
}

static bool is_plugin(DIR *folder, const char *name) {
    struct stat about;
    return strncmp(name, prefix, PREFIX) == 0 && fstatat(dirfd(folder), name, &about, 0) == 0 &&
           S_ISREG(about.st_mode) && about.st_mode & 0111;
}

static int by_name(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static dx_status read_names(const dx_allocator *alloc, DIR *folder, struct names *names,
                            int *ret_error) {
    dx_status status = DX_OK;
    const struct dirent *entry;
    errno = 0;
    while (status == DX_OK && (entry = readdir(folder))) {
        if (is_plugin(folder, entry->d_name))
            status = take_name(alloc, names, entry->d_name);
        errno = 0;
    }
    if (status == DX_OK && errno) {
        *ret_error = errno;
        status = DX_ERR_SYSTEM;
    }
    if (names->count)
        qsort(names->at, names->count, sizeof *names->at, by_name);
    return status;
}

static dx_status add_all(dx_reginald *host, const char *folder, const struct names *names,
                         dx_error *reterr) {
    dx_status status = DX_OK;
    size_t len = strlen(folder);
    char *start =
        dx__reginald_host_copy(&host->alloc, folder, len && folder[len - 1] == '/' ? "" : "/");
    if (!start)
        return DX_ERR_NOMEM;
    for (size_t i = 0; i < names->count && status == DX_OK; i++) {
        char *path = dx__reginald_host_copy(&host->alloc, start, names->at[i]);
        status = path ? dx_reginald_add(host, path, NULL, NULL, reterr) : DX_ERR_NOMEM;
        dx__free(&host->alloc, path);
    }
    dx__free(&host->alloc, start);
    return status;
}

static dx_status cannot_read(const char *folder, int error, dx_error *reterr) {
    char reason[96] = "";
    if (!reterr)
        return DX_ERR_SYSTEM;
    *reterr = (dx_error){.fault = DX_FAULT_SYSTEM, .system = error};
    dx__say_str(reterr->phrase, sizeof reterr->phrase - 64, "cannot read ");
    dx__say_str(reterr->phrase, sizeof reterr->phrase - 64, folder);
    dx__say_str(reterr->phrase, sizeof reterr->phrase, ": ");
    dx__say_str(reterr->phrase, sizeof reterr->phrase, strerror_r(error, reason, sizeof reason));
    return DX_ERR_SYSTEM;
}

dx_status dx_reginald_discover(dx_reginald *host, const char *folder, size_t *ret_count,
                               dx_error *reterr) {
    struct names names = {NULL, 0, 0};
    int error = 0;
    DIR *open = opendir(folder);
    if (!open)
        return cannot_read(folder, errno, reterr);
    dx_status status = read_names(&host->alloc, open, &names, &error);
    if (status == DX_ERR_SYSTEM)
        (void)cannot_read(folder, error, reterr);
    closedir(open);
    if (status == DX_OK)
        status = add_all(host, folder, &names, reterr);
    if (status == DX_OK && ret_count)
        *ret_count = names.count;
    free_names(&host->alloc, &names);
    return status;
}
