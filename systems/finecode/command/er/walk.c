/* All files below a folder, where git does not know them; and globs. */
#include "systems/finecode/command/er/tools.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_skipped(const char *name) {
    static const char *const names[] = {"build", "node_modules", "dist", "__pycache__", NULL};
    for (const char *const *one = names; *one; one++)
        if (strcmp(*one, name) == 0)
            return true;
    return false;
}

/* Links are not followed, so that it ends. */
static bool take_entry(struct files *files, struct words *folders, const char *folder,
                       const struct dirent *entry) {
    struct stat status;
    char *path;
    bool taken = true;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return true;
    if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
        return false;
    if (lstat(path, &status) < 0) {
        free(path);
    } else if (S_ISREG(status.st_mode)) {
        taken = files_add(files, path);
    } else {
        bool is_folder =
            S_ISDIR(status.st_mode) && entry->d_name[0] != '.' && !is_skipped(entry->d_name);
        taken = !is_folder || words_add(folders, path);
        free(path);
    }
    return taken;
}

bool files_walk(struct files *files, const char *project) {
    struct words folders = {0};
    bool taken = words_add(&folders, project);
    for (size_t at = 0; taken && at < folders.count; at++) {
        char *folder = strdup(folders.at[at]);
        DIR *dir = folder ? opendir(folder) : NULL;
        taken = folder != NULL;
        for (struct dirent *entry; taken && dir && (entry = readdir(dir));)
            taken = take_entry(files, &folders, folder, entry);
        if (dir)
            closedir(dir);
        free(folder);
    }
    words_done(&folders);
    return taken;
}

/* What lies between two slashes; false: there is nothing more. */
static bool next_segment(const char **at, char room[256]) {
    size_t len = strcspn(*at, "/");
    if (!**at || len > 255)
        return false;
    memcpy(room, *at, len);
    room[len] = '\0';
    *at += len + ((*at)[len] == '/');
    return true;
}

/* Never goes back further than to the last "**", so the time is that of the path times the glob. */
static bool match_segments(const char *glob, const char *path) {
    const char *wide = NULL;
    const char *wide_path = NULL;
    while (*path || *glob) {
        char pattern[256];
        char name[256];
        const char *glob_next = glob;
        const char *path_next = path;
        bool has_pattern = next_segment(&glob_next, pattern);
        bool has_name = next_segment(&path_next, name);
        if (has_pattern && strcmp(pattern, "**") == 0) {
            if (!*glob_next)
                return true;
            wide = glob = glob_next;
            wide_path = path;
        } else if (has_pattern && has_name && fnmatch(pattern, name, 0) == 0) {
            glob = glob_next;
            path = path_next;
        } else if (wide && *wide_path && next_segment(&wide_path, name)) {
            glob = wide;
            path = wide_path;
        } else {
            return false;
        }
    }
    return true;
}

bool glob_matches(const char *glob, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!strchr(glob, '/'))
        return fnmatch(glob, slash ? slash + 1 : path, 0) == 0;
    return match_segments(*glob == '/' ? glob + 1 : glob, path);
}
