/* duplex docs: prints the guides that are installed with the command. */
#include "cli/cli.h"

#include "cli/describe/nearest.h"
#include "cli/input.h"
#include "cli/say.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of the guides: in the build folder, and where `cmake --install` puts them. */
static bool find_folder(char *room, size_t size) {
    static const char *const places[] = {"share/doc/duplex", "../share/doc/duplex"};
    char self[3072];
    if (!cli_own_path(self, sizeof self))
        return false;
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct stat found;
        snprintf(room, size, "%s/%s", self, places[i]);
        if (stat(room, &found) == 0 && S_ISDIR(found.st_mode))
            return true;
    }
    return false;
}

struct guides {
    glob_t files;
    char **names; /* "mcp", "tutorial/mcp"; NULL at the end */
};

static int find_guides(const char *folder, struct guides *guides) {
    static const char *const patterns[] = {"*.md", "tutorial/*.md", "decisions/*.md",
                                           "protocols/*.md"};
    char pattern[4200];
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        snprintf(pattern, sizeof pattern, "%s/%s", folder, patterns[i]);
        if (glob(pattern, i ? GLOB_APPEND : 0, NULL, &guides->files) == GLOB_NOSPACE)
            return cli_fail(CLI_NO_START, "out of memory");
    }
    guides->names = calloc(guides->files.gl_pathc + 1, sizeof *guides->names);
    if (!guides->names)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; i < guides->files.gl_pathc; i++) {
        const char *name = guides->files.gl_pathv[i] + strlen(folder) + 1;
        guides->names[i] = strndup(name, strlen(name) - strlen(".md"));
        if (!guides->names[i])
            return cli_fail(CLI_NO_START, "out of memory");
    }
    return CLI_OK;
}

static void free_guides(struct guides *guides) {
    for (char **name = guides->names; name && *name; name++)
        free(*name);
    free(guides->names);
    globfree(&guides->files);
}

/* The title of a guide: its first line without the "# ". */
static int list_guides(const struct guides *guides) {
    char line[200];
    for (size_t i = 0; guides->names[i]; i++) {
        FILE *file = fopen(guides->files.gl_pathv[i], "re");
        char *title = file ? fgets(line, sizeof line, file) : NULL;
        if (title)
            title[strcspn(title, "\n")] = '\0';
        printf("%-28s %s\n", guides->names[i], title ? title + strspn(title, "# ") : "");
        if (file)
            fclose(file);
    }
    return CLI_OK;
}

static int print_guide(const char *path) {
    size_t len;
    char *text = cli_read_file(path, &len);
    if (!text)
        return CLI_USAGE;
    fwrite(text, 1, len, stdout);
    free(text);
    return CLI_OK;
}

static const char *name_at(const void *names, size_t index) {
    return ((char *const *)names)[index];
}

static int unknown_guide(const struct guides *guides, const char *word) {
    char *hint = cli_near_hint(name_at, guides->names, word, "'duplex docs' lists the guides");
    int code = cli_fail_hint(CLI_USAGE, hint, "unknown guide '%s'", word);
    free(hint);
    return code;
}

/* "mcp", "mcp.md" and "docs/mcp.md" name the same guide. */
static int run_guide(const struct guides *guides, const char *word) {
    const char *name = strncmp(word, "docs/", 5) == 0 ? word + 5 : word;
    size_t len = strlen(name);
    if (len > 3 && strcmp(name + len - 3, ".md") == 0)
        len -= 3;
    for (size_t i = 0; guides->names[i]; i++)
        if (strlen(guides->names[i]) == len && strncasecmp(guides->names[i], name, len) == 0)
            return print_guide(guides->files.gl_pathv[i]);
    return unknown_guide(guides, word);
}

int cli_docs_names(void) {
    struct guides guides = {.names = NULL};
    char folder[4096];
    if (!find_folder(folder, sizeof folder))
        return CLI_USAGE;
    int code = find_guides(folder, &guides);
    for (char **name = guides.names; code == CLI_OK && *name; name++)
        puts(*name);
    free_guides(&guides);
    return code;
}

static int run(const cli_words *words, void *user) {
    struct guides guides = {.names = NULL};
    char folder[4096];
    (void)user;
    if (words->count > 1 || words->command)
        return cli_fail(CLI_USAGE, "expected one NAME, but also got '%s'",
                        words->count > 1 ? words->at[1] : "--");
    if (!find_folder(folder, sizeof folder))
        return cli_fail(CLI_USAGE, "the guides are not installed with this command");
    int code = find_guides(folder, &guides);
    if (code == CLI_OK)
        code = words->count ? run_guide(&guides, words->at[0]) : list_guides(&guides);
    free_guides(&guides);
    return code;
}

static const char *const examples[] = {
    "List the guides:",
    "duplex docs",
    "Read the one on MCP:",
    "duplex docs mcp | less",
    "Follow a tutorial:",
    "duplex docs tutorial/embedding | less",
    NULL,
};

const cli_verb cli_docs = {
    .name = "docs",
    .words = "[NAME]",
    .summary = "Print a guide, or list the guides",
    .text = "The guides are the pages of docs/ in Markdown, for the installed version. Man"
            " pages have the reference of each command, format and C function.",
    .examples = examples,
    .word = CLI_A_GUIDE,
    .run = run,
};
