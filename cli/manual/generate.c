/* What the build makes with the command: man pages and completions. */
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/manual/manual.h"
#include "cli/say.h"

#include <duplex/duplex.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int protocol_page(const char *name, FILE *out) {
    dx_protocol *protocol = cli_protocol(name);
    dx_buf page;
    if (!protocol)
        return CLI_USAGE;
    dx_buf_init(&page, SIZE_MAX / 2, NULL);
    dx_status status = dx_protocol_page(protocol, &page);
    if (status == DX_OK)
        cli_manual_document(name, "7", (dx_text){page.data, page.len}, name, out);
    dx_buf_done(&page);
    dx_protocol_free(protocol);
    return status == DX_OK ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
}

static int document_page(const char *file, const char *name, const char *section, FILE *out) {
    size_t len;
    char *text = cli_read_file(file, &len);
    if (!text)
        return CLI_USAGE;
    cli_manual_document(name, section, (dx_text){text, len}, NULL, out);
    free(text);
    return CLI_OK;
}

/* FOLDER/PATH/FILE, with the folders that are missing; NULL if that was told. */
static FILE *create(const char *folder, const char *path, const char *file) {
    char *whole = NULL;
    if (asprintf(&whole, "%s/%s/%s", folder, path, file) < 0) {
        cli_fail(CLI_NO_START, "out of memory");
        return NULL;
    }
    for (char *slash = whole + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(whole, 0777); /* if that fails, so does fopen() */
        *slash = '/';
    }
    FILE *out = fopen(whole, "we");
    if (!out)
        cli_fail(CLI_USAGE, "%s cannot be written: %s", whole, strerror(errno));
    free(whole);
    return out;
}

static int finish(FILE *out, int code) {
    bool bad = ferror(out);
    if ((fclose(out) != 0 || bad) && code == CLI_OK)
        return cli_fail(CLI_USAGE, "a file cannot be written: %s", strerror(errno));
    return code;
}

static int write_verb(const char *folder, const cli_verb *verb) {
    char file[100];
    snprintf(file, sizeof file, "duplex%s%s.1", verb ? "-" : "", verb ? verb->name : "");
    FILE *out = create(folder, "man/man1", file);
    if (!out)
        return CLI_USAGE;
    cli_manual(verb, out);
    return finish(out, CLI_OK);
}

static int write_protocol(const char *folder, const char *name) {
    char file[200];
    snprintf(file, sizeof file, "duplex-%s.7", name);
    FILE *out = create(folder, "man/man7", file);
    return out ? finish(out, protocol_page(name, out)) : CLI_USAGE;
}

/* A document that is not there has no page; one that can't be read is an error. */
static int write_document(const char *folder, const char *docs, const char *name) {
    char file[100];
    char *path = NULL;
    int code = CLI_OK;
    if (asprintf(&path, "%s/%s.md", docs, name) < 0)
        return cli_fail(CLI_NO_START, "out of memory");
    if (access(path, F_OK) == 0) {
        snprintf(file, sizeof file, "duplex-%s.5", name);
        FILE *out = create(folder, "man/man5", file);
        code = out ? finish(out, document_page(path, name, "5", out)) : CLI_USAGE;
    }
    free(path);
    return code;
}

/* Headers, and a page for each of their functions. */

struct functions {
    const char *folder;
    const char *header;
    int code;
};

static void write_function(const cli_function *function, void *user) {
    struct functions *functions = user;
    char file[200];
    snprintf(file, sizeof file, "%.*s.3", (int)function->name.len, function->name.at);
    FILE *out = create(functions->folder, "man/man3", file);
    if (!out) {
        functions->code = CLI_USAGE;
        return;
    }
    cli_manual_function(function, functions->header, out);
    functions->code = finish(out, functions->code);
}

static int write_header(const char *folder, const char *path) {
    char name[100];
    char file[120];
    size_t len;
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    name[strcspn(name, ".")] = '\0';
    char *text = cli_read_file(path, &len);
    if (!text)
        return CLI_USAGE;
    snprintf(file, sizeof file, "duplex-%s.3", name);
    struct functions functions = {.folder = folder, .header = name, .code = CLI_OK};
    FILE *out = create(folder, "man/man3", file);
    if (!out)
        functions.code = CLI_USAGE;
    else if (!cli_manual_header(name, (dx_text){text, len}, out, write_function, &functions))
        functions.code = finish(out, cli_fail(CLI_USAGE, "%s begins without a comment", path));
    else
        functions.code = finish(out, functions.code);
    free(text);
    return functions.code;
}

static int write_completions(const char *folder) {
    static const char *const places[][3] = {
        {"bash", "bash-completion/completions", "duplex"},
        {"zsh", "zsh/site-functions", "_duplex"},
        {"fish", "fish/vendor_completions.d", "duplex.fish"},
    };
    int code = CLI_OK;
    for (size_t i = 0; i < 3 && code == CLI_OK; i++) {
        FILE *out = create(folder, places[i][1], places[i][2]);
        if (!out)
            return CLI_USAGE;
        cli_completion(places[i][0], out);
        code = finish(out, CLI_OK);
    }
    return code;
}

static int write_all(const char *folder, const char *docs) {
    int code = write_verb(folder, NULL);
    const char *name;
    for (const cli_verb *const *verb = cli_verbs; *verb && code == CLI_OK; verb++)
        code = write_verb(folder, *verb);
    for (size_t i = 0; code == CLI_OK && (name = dx_protocol_builtin(i)); i++)
        code = write_protocol(folder, name);
    for (const char *const *it = cli_documents; docs && *it && code == CLI_OK; it++)
        code = write_document(folder, docs, *it);
    return code == CLI_OK ? write_completions(folder) : code;
}

static int make_man(char **words) {
    const cli_verb *verb = words[0] ? cli_find_verb(words[0]) : NULL;
    if (words[0] && !verb)
        return cli_unknown_command(words[0]);
    cli_manual(verb, stdout);
    return CLI_OK;
}

static int make_protocol(char **words) {
    return protocol_page(words[0], stdout);
}

static int make_page(char **words) {
    return document_page(words[0], words[1], words[2], stdout);
}

static int make_completion(char **words) {
    return cli_completion(words[0], stdout)
               ? CLI_OK
               : cli_fail(CLI_USAGE, "expected bash, zsh or fish, got '%s'", words[0]);
}

static int make_share(char **words) {
    int code = write_all(words[0], words[1]);
    for (char **header = words + 2; words[1] && *header && code == CLI_OK; header++)
        code = write_header(words[0], *header);
    return code;
}

/* How many words must and may follow, and what is made of them. */
static const struct generator {
    const char *option;
    size_t least;
    size_t most;
    int (*make)(char **words);
} generators[] = {
    {"--man", 0, 1, make_man},
    {"--man-protocol", 1, 1, make_protocol},
    {"--man-page", 3, 3, make_page},
    {"--completion", 1, 1, make_completion},
    {"--share", 1, SIZE_MAX, make_share},
    {"--names", 1, 2, cli_names},
};

static const struct generator *find(const char *option, size_t len) {
    for (size_t i = 0; i < sizeof generators / sizeof generators[0]; i++)
        if (strlen(generators[i].option) == len && memcmp(generators[i].option, option, len) == 0)
            return &generators[i];
    return NULL;
}

int cli_generate(char **words) {
    size_t count = 0;
    size_t len = strcspn(words[0], "=");
    const struct generator *generator = find(words[0], len);
    if (!generator)
        return -1;
    /* "--completion=bash" is the same as "--completion bash". */
    if (words[0][len])
        words[0] += len + 1;
    else
        words++;
    while (words[count])
        count++;
    if (count < generator->least || count > generator->most)
        return cli_fail(CLI_USAGE, "%s: too %s arguments; see man duplex", generator->option,
                        count > generator->most ? "many" : "few");
    int code = generator->make(words);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK)
        code = cli_fail(CLI_USAGE, "the output cannot be written: %s", strerror(errno));
    return code;
}
