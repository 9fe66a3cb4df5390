/*
 * embed OUTPUT GRAMMAR DOCUMENT...: writes a C file with the bytes of the grammar and of all
 * documents, without white space between their tokens. The build runs it; see CMakeLists.txt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *path, const char *what) {
    fprintf(stderr, "embed: %s: %s\n", path, what);
    exit(1);
}

static char *read_file(const char *path, size_t *ret_len) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path, "cannot be opened");
    char *bytes = NULL;
    size_t len = 0;
    size_t cap = 0;
    for (;;) {
        if (len == cap) {
            cap = cap ? cap * 2 : 1 << 16;
            char *more = realloc(bytes, cap);
            if (!more)
                fail(path, "out of memory");
            bytes = more;
        }
        size_t got = fread(bytes + len, 1, cap - len, file);
        if (!got)
            break;
        len += got;
    }
    if (ferror(file))
        fail(path, "cannot be read");
    fclose(file);
    *ret_len = len;
    return bytes;
}

/* Takes white space out, but not of strings; returns the new length. */
static size_t strip(char *bytes, size_t len) {
    size_t kept = 0;
    int in_string = 0;
    for (size_t i = 0; i < len; i++) {
        char c = bytes[i];
        if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
            continue;
        if (c == '"')
            in_string = !in_string;
        bytes[kept++] = c;
        if (in_string && c == '\\' && i + 1 < len)
            bytes[kept++] = bytes[++i];
    }
    return kept;
}

/* A string literal; three digits, so that what follows an escape does not become part of it. */
static void write_literal(FILE *out, const char *bytes, size_t len) {
    enum { COLUMNS = 96 };
    size_t column = COLUMNS;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (column >= COLUMNS) {
            fprintf(out, i ? "\"\n    \"" : "\n    \"");
            column = 0;
        }
        if (c == '"' || c == '\\')
            column += (size_t)fprintf(out, "\\%c", c);
        else if (c < ' ' || c > '~' || c == '?')
            column += (size_t)fprintf(out, "\\%03o", c);
        else
            column += (size_t)fprintf(out, "%c", c);
    }
    fprintf(out, "\"");
}

static void write_file(FILE *out, const char *declaration, const char *path, size_t *ret_len) {
    char *bytes = read_file(path, ret_len);
    *ret_len = strip(bytes, *ret_len);
    if (!*ret_len)
        fail(path, "is empty");
    fprintf(out, "%s =", declaration);
    write_literal(out, bytes, *ret_len);
    fprintf(out, ";\n\n");
    free(bytes);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The length of a document's name: its file's without the ending. */
static size_t name_len(const char *path) {
    const char *name = base_name(path);
    const char *end = strstr(name, ".openrpc.json");
    if (!end || end == name)
        fail(path, "is not called NAME.openrpc.json");
    return (size_t)(end - name);
}

static int compare(const void *one, const void *other) {
    const char *first = base_name(*(const char *const *)one);
    const char *second = base_name(*(const char *const *)other);
    size_t first_len = name_len(first);
    size_t second_len = name_len(second);
    size_t least = first_len < second_len ? first_len : second_len;
    int order = memcmp(first, second, least);
    return order ? order : (first_len > second_len) - (first_len < second_len);
}

static void write_documents(FILE *out, char **paths, size_t count) {
    size_t *lengths = calloc(count + 1, sizeof *lengths);
    if (!lengths)
        fail("documents", "out of memory");
    for (size_t i = 0; i < count; i++) {
        char declaration[64];
        snprintf(declaration, sizeof declaration, "static const char document_%zu[]", i);
        write_file(out, declaration, paths[i], &lengths[i]);
    }
    fprintf(out, "const dx__builtin dx__builtins[] = {\n");
    for (size_t i = 0; i < count; i++) {
        const char *name = base_name(paths[i]);
        fprintf(out, "    {\"%.*s\", \"%s\", document_%zu, %zu},\n", (int)name_len(name), name,
                name, i, lengths[i]);
    }
    fprintf(out, "    {NULL, NULL, NULL, 0},\n};\n");
    free(lengths);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: embed OUTPUT GRAMMAR DOCUMENT...\n");
        return 2;
    }
    FILE *out = fopen(argv[1], "wb");
    if (!out)
        fail(argv[1], "cannot be written");
    size_t count = (size_t)argc - 3;
    qsort(argv + 3, count, sizeof *argv, compare);
    for (size_t i = 1; i < count; i++)
        if (!compare(&argv[2 + i], &argv[3 + i]))
            fail(argv[3 + i], "there is another document of that name");
    fprintf(out, "#include \"protocol/builtin.h\"\n\n");
    size_t grammar_len;
    write_file(out, "const char dx__grammar[]", argv[2], &grammar_len);
    fprintf(out, "const size_t dx__grammar_len = %zu;\n\n", grammar_len);
    write_documents(out, argv + 3, count);
    if (ferror(out) || fclose(out))
        fail(argv[1], "cannot be written");
    return 0;
}
