/* The project that a folder belongs to. */
#include "systems/finecode/command/er/tools.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *work_project_above(const char *from);

/* Is it a project, and is it ours? What it says is started. */
static bool is_project(const char *folder) {
    static const char *const names[] = {"finecode.toml", "pyproject.toml"};
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        char *path = NULL;
        struct stat facts;
        size_t len = 0;
        if (asprintf(&path, "%s/%s", folder, names[i]) < 0)
            return false;
        bool is_own = stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
                      (facts.st_uid == geteuid() || facts.st_uid == 0);
        char *text = is_own && i ? file_read(path, &len) : NULL;
        found = is_own && (!i || (text && memmem(text, len, "[tool.finecode", 14)));
        free(text);
        free(path);
    }
    return found;
}

char *work_project_above(const char *from) {
    char *folder = strdup(from);
    char *home = getenv("HOME") ? realpath(getenv("HOME"), NULL) : NULL;
    struct stat here;
    struct stat facts;
    bool found = false;
    for (bool up = folder && stat(folder, &here) == 0; up && !found;) {
        char *slash = strrchr(folder, '/');
        up = slash && slash != folder && (!home || strcmp(folder, home) != 0);
        if (!up)
            break;
        *slash = '\0';
        up = stat(folder, &facts) == 0 && facts.st_dev == here.st_dev &&
             (!home || strcmp(folder, home) != 0);
        found = up && is_project(folder);
    }
    free(home);
    if (found)
        return folder;
    free(folder);
    return NULL;
}
