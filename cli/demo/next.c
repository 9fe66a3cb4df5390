#include "cli/demo/next.h"

#include "cli/demo/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 100, QUOTED_PATH = 4 * DEMO_PATH };

static const struct demo_need server = {"mcp-adder", true};

/* As a shell takes it. */
static void quote(char *room, size_t size, const char *word) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_-+./:=@%,";
    size_t len = 0;
    if (word[strspn(word, plain)] == '\0') {
        snprintf(room, size, "%s", word);
        return;
    }
    room[len++] = '\'';
    for (; *word && len + 6 < size; word++)
        len += (size_t)snprintf(room + len, size - len, *word == '\'' ? "'\\''" : "%c", *word);
    snprintf(room + len, size - len, "'");
}

/* Of the server: beside the command as that was started, or the whole path. */
static bool find_server(char path[DEMO_PATH]) {
    const char *self = program_invocation_name;
    const char *slash = strrchr(self, '/');
    char *whole;
    if (slash && (size_t)(slash - self) < DEMO_PATH - 64) {
        snprintf(path, DEMO_PATH, "%.*s/examples/%s", (int)(slash - self), self, server.name);
        if (access(path, X_OK) == 0)
            return true;
    }
    if (!demo_find(&server, path) || !(whole = realpath(path, NULL)))
        return false;
    snprintf(path, DEMO_PATH, "%s", whole);
    free(whole);
    return true;
}

/* A long line continues in the next one, as a shell reads it. A narrow terminal wraps it by itself.
 */
static void put_command(const char *self, const char *words, const char *plugin) {
    bool is_long = strlen(self) + strlen(words) + strlen(plugin) + 3 > COLUMNS_MAX;
    printf("  %s %s%s%s\n", self, words, is_long && *plugin ? "\\\n    " : "", plugin);
}

void demo_put_next(void) {
    static const struct demo_need mcp = {"duplex-mcp", true};
    char path[DEMO_PATH];
    char self[QUOTED_PATH];
    char plugin[QUOTED_PATH] = "-- ";
    quote(self, sizeof self, program_invocation_name);
    if (demo_find(&mcp, path) && find_server(path)) {
        quote(plugin + strlen(plugin), sizeof plugin - strlen(plugin), path);
        put_command(self, "mcp tools call add a:=2 b:=40 ", plugin);
        put_command(self, "check -p mcp ", plugin);
    }
    put_command(self, "demo --traffic", "");
}
