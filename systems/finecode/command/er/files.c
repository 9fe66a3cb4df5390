/* Which files a tool looks at. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void file_done(struct work_file *file) {
    free(file->path);
    free(file->text);
    free(file->copy);
}

void files_done(struct files *files) {
    for (size_t i = 0; i < files->count; i++)
        file_done(&files->at[i]);
    free(files->at);
    *files = (struct files){0};
}

/* Takes the path, also if that fails. */
bool files_add(struct files *files, char *path) {
    if (path && files->count == files->room) {
        size_t room = files->room ? 2 * files->room : 64;
        struct work_file *at = realloc(files->at, room * sizeof *at);
        if (!at) {
            free(path);
            return false;
        }
        files->at = at;
        files->room = room;
    }
    if (path)
        files->at[files->count++] = (struct work_file){.path = path};
    return path != NULL;
}

/* Editing the link would edit a file of others. */
static bool leads_out(const char *path, const char *project) {
    char *real = realpath(path, NULL);
    bool is_out = real && !path_is_below(real, project);
    free(real);
    return is_out;
}

/* One that is not there may still be open in an editor: reading it will tell. */
static const char *take(struct files *files, struct words *folders, dx_text given,
                        const char *project) {
    struct stat status;
    char *path = path_within(given, project);
    bool is_folder = path && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (!path && errno == EACCES)
        return strerror(EACCES);
    if (!path)
        path = path_of(given, project);
    if (!path)
        return "expected paths or file: URIs";
    if (strcmp(path, project) != 0 && !path_is_below(path, project)) {
        free(path);
        return "outside the project";
    }
    if (!is_folder && leads_out(path, project)) {
        free(path);
        return "a link that leads out of the project";
    }
    bool taken = is_folder ? words_add(folders, path) : files_add(files, path);
    if (is_folder)
        free(path);
    else if (taken)
        files->at[files->count - 1].named = true;
    return taken ? NULL : "out of memory";
}

bool files_take(struct files *files, struct words *folders, yyjson_val *list, const char *project,
                char *room, size_t room_len) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    const char *why = yyjson_is_arr(list) ? NULL : "expected an array";
    dx_text given = {"", 0};
    for (yyjson_val *one; !why && (one = yyjson_arr_iter_next(&iter));) {
        given = dx_json_string(one);
        if (!yyjson_is_str(one))
            why = "expected paths or file: URIs";
        else if (files->count + folders->count >= NAMED_MAX)
            why = "more than 100,000 entries";
        else
            why = take(files, folders, given, project);
    }
    room[0] = '\0';
    if (why) {
        dx__say_str(room, room_len, "files: ");
        dx__say(room, room_len - 40, given);
        dx__say_str(room, room_len, given.len ? ": " : "");
        dx__say_str(room, room_len, why);
    }
    return !why;
}

static bool has_any(const struct files *files, const char *folder) {
    for (size_t i = 0; i < files->count; i++)
        if (!files->at[i].named && path_is_below(files->at[i].path, folder))
            return true;
    return false;
}

bool files_keep_below(struct files *files, const struct words *folders) {
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct work_file file = files->at[i];
        bool wanted = file.named;
        for (size_t at = 0; !wanted && at < folders->count; at++)
            wanted = path_is_below(file.path, folders->at[at]);
        if (wanted)
            files->at[kept++] = file;
        else
            file_done(&file);
    }
    files->count = kept;
    for (size_t at = 0; at < folders->count; at++)
        if (!has_any(files, folders->at[at]) && !files_walk(files, folders->at[at]))
            return false;
    return true;
}

bool files_split(struct files *files, dx_text list, const char *project) {
    while (list.len) {
        const char *end = memchr(list.at, '\0', list.len);
        size_t len = end ? (size_t)(end - list.at) : list.len;
        if (len && !files_add(files, path_of((dx_text){list.at, len}, project)))
            return false;
        list.at += len + (end != NULL);
        list.len -= len + (end != NULL);
    }
    return true;
}

char *file_read(const char *path, size_t *ret_len) {
    struct stat status;
    /* A pipe that lies there would make us wait. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    size_t len = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= FILE_MAX)
        text = malloc((size_t)status.st_size + 1);
    else
        errno = EINVAL;
    for (ssize_t more = 1; text && more > 0 && len < (size_t)status.st_size; len += (size_t)more) {
        do
            more = read(fd, text + len, (size_t)status.st_size - len);
        while (more < 0 && errno == EINTR);
        if (more < 0) {
            free(text);
            text = NULL;
        }
    }
    int number = errno;
    close(fd);
    errno = number;
    if (text)
        text[len] = '\0';
    *ret_len = len;
    return text;
}

/* "#!/bin/sh", "#!/usr/bin/env bash", … */
static bool is_script(const char *path) {
    char line[80];
    const char *slash = strrchr(path, '/');
    if (strchr(slash ? slash : path, '.'))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    line[len > 0 ? len : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    for (size_t end = strlen(line); end && strchr(" \r", line[end - 1]);)
        line[--end] = '\0';
    static const char *const shells[] = {"sh", "bash", "dash", "ksh"};
    const char *word = strrchr(line, ' ');
    slash = strrchr(line, '/');
    if (!word || (slash && slash > word))
        word = slash;
    for (size_t i = 0; line[0] == '#' && line[1] == '!' && word && i < 4; i++)
        if (strcmp(word + 1, shells[i]) == 0)
            return true;
    return false;
}

static const char *inside(const char *path, const char *project) {
    size_t len = strlen(project);
    return strncmp(path, project, len) == 0 && path[len] == '/' ? path + len + 1 : path + 1;
}

static bool matches_any(yyjson_val *globs, const char *path) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(globs);
    for (yyjson_val *glob; (glob = yyjson_arr_iter_next(&iter));)
        if (glob_matches(yyjson_get_str(glob), path))
            return true;
    return false;
}

static bool is_wanted(const struct work *work, const char *path) {
    const char *short_path = inside(path, work->runner->project);
    bool wanted = matches_any(work->settings.include, short_path);
    if (!work->settings.include)
        for (const char *const *glob = work->tool->include; *glob && !wanted; glob++)
            wanted = glob_matches(*glob, short_path);
    if (matches_any(work->settings.exclude, short_path))
        return false;
    return wanted || (!work->settings.include && work->tool->scripts && is_script(path));
}

static bool is_below(const char *path, const char *folder) {
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* Folders below this one that are projects of their own, with a slash at the end. The files are in
 * the order of their paths, and so are these: none lies in another. */
static bool find_projects(const struct files *files, const char *project, struct words *words) {
    static const char name[] = "/finecode.toml";
    size_t own = strlen(project);
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->at[i].path;
        size_t len = strlen(path);
        size_t end = len - (sizeof name - 1);
        if (len < sizeof name || strcmp(path + end, name) != 0 || end <= own)
            continue;
        if (!words_add(words, path))
            return false;
        char *folder = words->at[words->count - 1];
        folder[end + 1] = '\0';
        /* "a/b/finecode.toml" comes before "a/finecode.toml". */
        while (words->count > 1 && is_below(words->at[words->count - 2], folder)) {
            free(words->at[words->count - 2]);
            words->at[words->count - 2] = folder;
            words->at[--words->count] = NULL;
        }
    }
    return true;
}

/* The paths that it is asked for go up; *at is the first folder that may still be met. */
static bool is_below_next(const struct words *folders, size_t *at, const char *path) {
    while (*at < folders->count && strcmp(folders->at[*at], path) < 0 &&
           !is_below(path, folders->at[*at]))
        ++*at;
    return *at < folders->count && is_below(path, folders->at[*at]);
}

static int compare_paths(const void *first, const void *second) {
    const struct work_file *one = first;
    const struct work_file *other = second;
    return strcmp(one->path, other->path);
}

static int compare(const void *first, const void *second) {
    const struct work_file *one = first;
    const struct work_file *other = second;
    int order = compare_paths(one, other);
    return order ? order : other->named - one->named;
}

struct work_file *files_find(const struct files *files, const char *path) {
    const struct work_file wanted = {.path = (char *)(uintptr_t)path};
    return files->count ? bsearch(&wanted, files->at, files->count, sizeof wanted, compare_paths)
                        : NULL;
}

void files_filter(struct files *files, const struct work *work) {
    struct words folders = {0};
    struct stat status;
    size_t kept = 0;
    size_t folder = 0;
    if (files->count)
        qsort(files->at, files->count, sizeof *files->at, compare);
    /* Without memory, too much is looked at. */
    find_projects(files, work->runner->project, &folders);
    for (size_t i = 0; i < files->count; i++) {
        struct work_file *file = &files->at[i];
        bool is_other = is_below_next(&folders, &folder, file->path);
        bool is_there = file->named ||
                        (!is_other && lstat(file->path, &status) == 0 && S_ISREG(status.st_mode));
        bool wanted = is_there && is_wanted(work, file->path) &&
                      (!kept || strcmp(files->at[kept - 1].path, file->path) != 0);
        if (wanted)
            files->at[kept++] = *file;
        else
            file_done(file);
    }
    files->count = kept;
    words_done(&folders);
}
