/*
 * pages [--write]: docs/protocols/NAME.md is what dx_protocol_page() writes for the built-in
 * protocol NAME. The page of a merged document, read again, is the same but for its file's name.
 */
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

static void write_page(const char *path, const dx_buf *page) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(page->data, 1, page->len, file) != page->len || fclose(file))
        failed("%s: cannot be written", path);
}

static void compare_page(const char *path, const dx_buf *page) {
    size_t len;
    char *bytes = read_whole(path, &len);
    if (!bytes)
        failed("%s: is missing; tests/protocol_pages --write makes it", path);
    else if (len != page->len || memcmp(bytes, page->data, len) != 0)
        failed("%s: is not what is made now; tests/protocol_pages --write makes it", path);
    free(bytes);
}

/* A document that was merged stands alone, and says the same. */
static void compare_again(dx_protocol *protocol, const char *name, const dx_buf *page) {
    char *text = yyjson_val_write(dx_protocol_document(protocol), 0, NULL);
    char file[256];
    snprintf(file, sizeof file, "%s.openrpc.json", name);
    dx_protocol *again = NULL;
    dx_misfit why;
    dx_buf other;
    dx_buf_init(&other, SIZE_MAX / 2, NULL);
    if (dx_protocol_read(dx_str(text), dx_str(file), NULL, &again, &why) != DX_OK)
        failed("%s: %s", name, why.phrase);
    else if (dx_protocol_page(again, &other) != DX_OK || other.len != page->len ||
             memcmp(other.data, page->data, page->len) != 0)
        failed("%s: its merged document has another page", name);
    dx_buf_done(&other);
    dx_protocol_free(again);
    free(text);
}

static void check(const char *name, bool write) {
    dx_protocol *protocol = NULL;
    dx_misfit why;
    dx_buf page;
    dx_buf_init(&page, SIZE_MAX / 2, NULL);
    if (dx_protocol_open(dx_str(name), NULL, &protocol, &why) != DX_OK) {
        failed("%s: %s", name, why.phrase);
    } else if (dx_protocol_page(protocol, &page) != DX_OK) {
        failed("%s: no page", name);
    } else {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.md", in_source("docs/protocols"), name);
        if (write)
            write_page(path, &page);
        else
            compare_page(path, &page);
        compare_again(protocol, name, &page);
    }
    dx_buf_done(&page);
    dx_protocol_free(protocol);
}

/* Nothing lies there that is not made. */
static void check_folder(void) {
    char **files = list_folder(in_source("docs/protocols"), ".md");
    for (char **it = files; *it; it++) {
        bool made = false;
        const char *name;
        for (size_t i = 0; (name = dx_protocol_builtin(i)); i++)
            made |= strlen(*it) == strlen(name) + 3 && !strncmp(*it, name, strlen(name));
        if (!made)
            failed("docs/protocols/%s: there is no such protocol", *it);
    }
    free_list(files);
}

int main(int argc, char **argv) {
    bool write = argc > 1 && !strcmp(argv[1], "--write");
    size_t count = 0;
    for (const char *name; (name = dx_protocol_builtin(count)); count++)
        check(name, write);
    check_folder();
    return verdict("pages", count);
}
