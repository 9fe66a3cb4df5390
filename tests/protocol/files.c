#include "protocol/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static size_t failures;

void count_failure(void) {
    putchar('\n');
    failures++;
}

int verdict(const char *what, size_t count) {
    printf("%zu %s, %zu failures\n", count, what, failures);
    return failures || !count ? 1 : 0;
}

const char *in_source(const char *path) {
    static char rooms[2][4096];
    static int turn;
    const char *source = getenv("SOURCE");
    char *room = rooms[turn = !turn];
    snprintf(room, sizeof rooms[0], "%s%s%s", source ? source : "", source ? "/" : "", path);
    return room;
}

char *read_whole(const char *path, size_t *ret_len) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t len = 0;
    size_t cap = 1 << 16;
    char *bytes = malloc(cap);
    while (bytes) {
        size_t got = fread(bytes + len, 1, cap - len - 1, file);
        if (!got)
            break;
        len += got;
        if (len + 1 == cap) {
            char *more = realloc(bytes, cap *= 2);
            if (!more)
                abort();
            bytes = more;
        }
    }
    fclose(file);
    if (!bytes)
        abort();
    bytes[len] = '\0';
    if (ret_len)
        *ret_len = len;
    return bytes;
}

static int compare(const void *one, const void *other) {
    return strcmp(*(char *const *)one, *(char *const *)other);
}

char **list_folder(const char *path, const char *ending) {
    DIR *folder = opendir(path);
    if (!folder) {
        printf("%s: no such folder\n", path);
        exit(1);
    }
    size_t count = 0;
    char **list = NULL;
    for (struct dirent *entry;;) {
        entry = readdir(folder);
        list = realloc(list, (count + 1) * sizeof *list);
        if (!list)
            abort();
        list[count] = NULL;
        if (!entry)
            break;
        size_t len = strlen(entry->d_name);
        size_t end = strlen(ending);
        if (len > end && !strcmp(entry->d_name + len - end, ending))
            list[count++] = strdup(entry->d_name);
    }
    closedir(folder);
    qsort(list, count, sizeof *list, compare);
    return list;
}

void free_list(char **list) {
    for (char **it = list; *it; it++)
        free(*it);
    free(list);
}

/* Documents that were found while one is read; they must stay until it is. */
struct beside {
    const char *folder;
    char *found[64];
    size_t count;
};

static dx_status find(void *user, dx_text name, dx_text *ret_bytes, dx_text *ret_file) {
    struct beside *beside = user;
    char path[4096];
    snprintf(path, sizeof path, "%s/%.*s.openrpc.json", beside->folder, (int)name.len, name.at);
    size_t len;
    char *bytes = read_whole(path, &len);
    if (!bytes) {
        snprintf(path, sizeof path, "%s/base/%.*s.openrpc.json", beside->folder, (int)name.len,
                 name.at);
        bytes = read_whole(path, &len);
    }
    char *file = strdup(strrchr(path, '/') + 1);
    if (!bytes || beside->count + 2 > 64) {
        free(bytes);
        free(file);
        return DX_AGAIN;
    }
    beside->found[beside->count++] = bytes;
    beside->found[beside->count++] = file;
    *ret_bytes = (dx_text){bytes, len};
    *ret_file = dx_str(file);
    return DX_OK;
}

dx_status read_protocol(const char *folder, const char *file, dx_protocol **ret_protocol,
                        dx_misfit *reterr) {
    struct beside beside = {.folder = folder};
    dx_protocol_config config = dx_protocol_defaults();
    config.find = find;
    config.find_user = &beside;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    size_t len;
    char *bytes = read_whole(path, &len);
    dx_status status = DX_ERR_SYSTEM;
    if (bytes)
        status =
            dx_protocol_read((dx_text){bytes, len}, dx_str(file), &config, ret_protocol, reterr);
    free(bytes);
    for (size_t i = 0; i < beside.count; i++)
        free(beside.found[i]);
    return status;
}
