#include "systems/finecode/command/er/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind "file://", with or without "localhost". */
static char *from_uri(dx_text uri) {
    static const char host[] = "localhost";
    char *path = malloc(uri.len + 1);
    size_t len = 0;
    size_t i = uri.len > 9 && memcmp(uri.at, host, 9) == 0 ? 9 : 0;
    if (!path)
        return NULL;
    for (; i < uri.len; i++) {
        int high = uri.at[i] == '%' && uri.len - i > 2 ? digit_of(uri.at[i + 1]) : -1;
        int low = high >= 0 ? digit_of(uri.at[i + 2]) : -1;
        path[len++] = low >= 0 ? (char)(high * 16 + low) : uri.at[i];
        i += low >= 0 ? 2 : 0;
    }
    path[len] = '\0';
    if (path[0] == '/' && strlen(path) == len)
        return path;
    free(path);
    return NULL;
}

char *path_of(dx_text given, const char *folder) {
    size_t own = strlen(folder) + 1;
    if (!given.len || memchr(given.at, '\0', given.len))
        return NULL;
    if (given.len > 7 && memcmp(given.at, "file://", 7) == 0)
        return from_uri((dx_text){given.at + 7, given.len - 7});
    if (given.at[0] == '/')
        own = 0;
    while (given.len > 2 && given.at[0] == '.' && given.at[1] == '/')
        given = (dx_text){given.at + 2, given.len - 2};
    char *path = malloc(own + given.len + 1);
    if (!path)
        return NULL;
    if (own) {
        memcpy(path, folder, own - 1);
        path[own - 1] = '/';
    }
    memcpy(path + own, given.at, given.len);
    path[own + given.len] = '\0';
    return path;
}

bool path_is_below(const char *path, const char *folder) {
    size_t len = strlen(folder);
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || (len == 1 && path[1]));
}

/* "FOLDER/NAME" with the folder as it really is. */
static char *resolve_folder(char *path) {
    char *slash = strrchr(path, '/');
    char *whole = NULL;
    *slash = '\0';
    char *folder = realpath(*path ? path : "/", NULL);
    *slash = '/';
    if (folder && asprintf(&whole, "%s%s", strcmp(folder, "/") == 0 ? "" : folder, slash) < 0)
        whole = NULL;
    free(folder);
    return whole;
}

char *path_within(dx_text given, const char *folder) {
    struct stat status;
    char *path = path_of(given, folder);
    char *whole = NULL;
    errno = path ? 0 : EINVAL;
    bool is_there = path && stat(path, &status) == 0;
    if (is_there && !S_ISDIR(status.st_mode))
        whole = resolve_folder(path);
    else if (is_there && access(path, R_OK | X_OK) == 0)
        whole = realpath(path, NULL);
    int number = errno;
    free(path);
    errno = number;
    return whole;
}

char *uri_of(const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/";
    static const char digits[] = "0123456789ABCDEF";
    char *uri = malloc(8 + 3 * strlen(path));
    char *to = uri;
    if (!uri)
        return NULL;
    memcpy(to, "file://", 7);
    for (to += 7; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (strchr(plain, c)) {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 15];
        }
    }
    *to = '\0';
    return uri;
}

/* Whoever may write a folder above could otherwise say what is started here. */
static bool is_trusted(const char *folder, const struct stat *project) {
    struct stat facts;
    return stat(folder, &facts) == 0 && facts.st_uid == project->st_uid &&
           !(facts.st_mode & S_IWOTH);
}

/* The folder where a workspace begins is the last one. */
static bool is_workspace(const char *folder) {
    char *path;
    if (asprintf(&path, "%s/finecode-workspace.toml", folder) < 0)
        return true;
    bool is_there = access(path, F_OK) == 0;
    free(path);
    return is_there;
}

char *find_program(const char *name, const char *project) {
    struct stat facts;
    char *folder = strchr(name, '/') || stat(project, &facts) < 0 ? NULL : strdup(project);
    char *path = NULL;
    while (folder && !path) {
        if (asprintf(&path, "%s/node_modules/.bin/%s", folder, name) < 0)
            path = NULL;
        if (path && access(path, X_OK) < 0) {
            free(path);
            path = NULL;
        }
        char *slash = is_workspace(folder) ? folder : strrchr(folder, '/');
        *slash = '\0';
        if (!*folder || (!path && !is_trusted(folder, &facts)))
            break;
    }
    free(folder);
    return path ? path : strdup(name);
}
