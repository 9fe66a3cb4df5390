#include "cli/start_hint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_program(const char *word, size_t len) {
    char path[4096];
    struct stat what;
    const char *folder = memchr(word, '/', len) ? "" : getenv("PATH");
    while (folder && len) {
        size_t end = strcspn(folder, ":");
        int used = snprintf(path, sizeof path, "%.*s%s%.*s", (int)end, folder, end ? "/" : "",
                            (int)len, word);
        if (used > 0 && (size_t)used < sizeof path && stat(path, &what) == 0 &&
            S_ISREG(what.st_mode) && (!end || access(path, X_OK) == 0))
            return true;
        folder = folder[end] ? folder + end + 1 : NULL;
    }
    return false;
}

static bool ends_with(const char *text, const char *end) {
    size_t len = strlen(text);
    size_t part = strlen(end);
    return len >= part && strcmp(text + len - part, end) == 0;
}

/* The name between "cannot start " and the reason of the system, to be freed. */
static char *name_of(const char *message, int *ret_number) {
    static const char begin[] = "cannot start ";
    static const int numbers[] = {ENOENT, EACCES, EISDIR};
    const char *end = message + strlen(message);
    if (strncmp(message, begin, sizeof begin - 1) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *reason = strerror(numbers[i]);
        *ret_number = numbers[i];
        if (ends_with(message, reason) && end - strlen(reason) > message + sizeof begin + 1)
            return strndup(message + sizeof begin - 1,
                           strlen(message) - strlen(reason) - sizeof begin - 1);
    }
    return NULL;
}

/* Does the file begin as a script or a program does? */
static bool looks_like_program(const char *path) {
    char begin[4] = "";
    FILE *file = fopen(path, "rbe");
    size_t len = file ? fread(begin, 1, sizeof begin, file) : 0;
    if (file)
        fclose(file);
    return (len >= 2 && memcmp(begin, "#!", 2) == 0) ||
           (len == 4 && memcmp(begin, "\177ELF", 4) == 0);
}

char *cli_start_hint(const char *message, bool configured) {
    int number;
    struct stat what;
    char *hint = NULL;
    char *name = name_of(message, &number);
    if (!name)
        return NULL;
    size_t first = strcspn(name, " ");
    bool there = stat(name, &what) == 0;
    int len = 0;
    if (strstr(name, "://"))
        len = asprintf(&hint, configured
                                  ? "a URL is not a command; for a remote MCP server: "
                                    "\"command\": \"npx\", \"args\": [\"-y\", \"mcp-remote\", URL]"
                                  : "a URL is not a command");
    else if (name[first] && number == ENOENT && cli_is_program(name, first))
        len = asprintf(&hint,
                       configured ? "put the arguments in \"args\", not in \"command\""
                                  : "the program and its arguments are separate words: -- %s",
                       name);
    else if (there && S_ISDIR(what.st_mode))
        len = asprintf(&hint, "'%s' is a folder", name);
    else if (there && S_ISREG(what.st_mode) && number == EACCES && strchr(name, '/') &&
             access(name, X_OK) < 0)
        len = asprintf(&hint, looks_like_program(name) ? "chmod +x %s" : "'%s' is not executable",
                       name);
    else if (!strchr(name, '/') && number == ENOENT)
        len = asprintf(&hint,
                       there ? "'%s' is not in PATH; for the file in this folder, write ./%s"
                             : "'%s' is not in PATH",
                       name, name);
    free(name);
    return len < 0 ? NULL : hint;
}
