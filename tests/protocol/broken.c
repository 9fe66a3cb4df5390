/*
 * broken [--write]: documents with one flaw each, tests/protocol/broken/NAME.openrpc.json, and what
 * is said of each: a line of errors.txt, which begins with the file's name. Without the flaw each
 * would be read: those in the folder base are.
 */
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

static size_t documents;

/* What is wrong with a document; "" if nothing is. */
static void judge(const char *folder, const char *file, char *phrase, size_t room) {
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    dx_status status = read_protocol(folder, file, &protocol, &why);
    bool again = status == DX_OK;
    if (again)
        status = dx_protocol_check_all(protocol, &why);
    snprintf(phrase, room, "%s", status == DX_OK ? "" : why.phrase);
    if (status != DX_OK && status != DX_ERR_INVALID && status != DX_ERR_LIMIT)
        failed("%s: status %d", file, status);
    /* The place stands in the phrase, too. */
    if (status != DX_OK && why.instance[0] && !strstr(why.phrase, why.instance))
        failed("%s: the place is %s", file, why.instance);
    protocol = dx_protocol_free(protocol);
    /* Who does not ask is not told, and all else is the same. */
    if (!again && read_protocol(folder, file, &protocol, NULL) != status)
        failed("%s: another status without an error", file);
    dx_protocol_free(protocol);
}

static void check_broken(const char *folder, const char *file, const char *errors, FILE *out) {
    char phrase[600];
    char expected[900];
    judge(folder, file, phrase, sizeof phrase);
    documents++;
    if (!phrase[0])
        failed("%s: nothing is wrong with it", file);
    int name = (int)(strlen(file) - strlen(".openrpc.json"));
    snprintf(expected, sizeof expected, "%.*s: %s\n", name, file, phrase);
    if (out) {
        fputs(expected, out);
        return;
    }
    const char *line = errors;
    while (line && strncmp(line, expected, strlen(expected)) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line)
        failed("not in errors.txt: %s", expected);
}

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; (text = strchr(text, '\n')); text++)
        count++;
    return count;
}

static void check_sound(const char *folder) {
    char base[4096];
    snprintf(base, sizeof base, "%s/base", folder);
    char **files = list_folder(base, ".openrpc.json");
    for (char **it = files; *it; it++) {
        char phrase[600];
        judge(base, *it, phrase, sizeof phrase);
        if (phrase[0])
            failed("should be sound: %s", phrase);
    }
    free_list(files);
}

int main(int argc, char **argv) {
    const char *folder = in_source("tests/protocol/broken");
    char path[4096];
    snprintf(path, sizeof path, "%s/errors.txt", folder);
    FILE *out = argc > 1 && !strcmp(argv[1], "--write") ? fopen(path, "wb") : NULL;
    char *errors = out ? NULL : read_whole(path, NULL);
    if (!out && !errors)
        failed("%s: is missing", path);
    char **files = list_folder(folder, ".openrpc.json");
    for (char **it = files; *it; it++)
        check_broken(folder, *it, errors ? errors : "", out);
    free_list(files);
    check_sound(folder);
    if (errors && count_lines(errors) != documents)
        failed("errors.txt has %zu lines", count_lines(errors));
    if (out)
        fclose(out);
    free(errors);
    return verdict("broken documents", documents);
}
