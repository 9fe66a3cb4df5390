/*
 * sixth [--write PAGE | PAGE]: a library into which one more document was built,
 * sixth.openrpc.json, knows that protocol as well as the others: it is listed, its messages are
 * checked, and it has a page. Nothing here or anywhere else was written for it but the document.
 */
#include <duplex/protocol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition) check(condition, #condition, __LINE__)

static void check(int condition, const char *what, int line) {
    if (condition)
        return;
    printf("line %d: %s\n", line, what);
    failures++;
}

static void listed(void) {
    int sixth = 0;
    int others = 0;
    const char *name;
    for (size_t i = 0; (name = dx_protocol_builtin(i)); i++) {
        dx_protocol *protocol = NULL;
        dx_misfit why = {.phrase = ""};
        CHECK(dx_protocol_open(dx_str(name), NULL, &protocol, &why) == DX_OK);
        sixth += !strcmp(name, "sixth");
        others += strcmp(name, "sixth") != 0;
        dx_protocol_free(protocol);
    }
    CHECK(sixth == 1 && others > 10);
}

static const struct row {
    const char *method;
    dx_side from;
    dx_part part;
    const char *json;
    const char *misfit; /* NULL: it fits */
} rows[] = {
    {"hello", DX_SIDE_HOST, DX_PART_PARAMS, "{\"name\":\"Ana\"}", NULL},
    {"hello", DX_SIDE_HOST, DX_PART_PARAMS, "{\"name\":7}", "/name: expected string, found number"},
    {"hello", DX_SIDE_HOST, DX_PART_PARAMS, NULL, "the params are missing"},
    {"hello", DX_SIDE_HOST, DX_PART_RESULT, "{\"litres\":1.5,\"kind\":\"iron\"}", NULL},
    {"hello", DX_SIDE_HOST, DX_PART_RESULT, "{\"litres\":1.5}", "missing member \"kind\""},
    {"heat", DX_SIDE_HOST, DX_PART_PARAMS, "{\"to\":101}", "/to: expected at most 100, found 101"},
    {"cups", DX_SIDE_PLUGIN, DX_PART_RESULT, "3", NULL},
    {"cups", DX_SIDE_HOST, DX_PART_RESULT, "3", "expected 8, found 3"},
    {"cups", DX_SIDE_HOST, DX_PART_PARAMS, NULL, NULL},
    {"bye", DX_SIDE_HOST, DX_PART_PARAMS, "[1]", "expected no params, or empty ones"},
};

static void checked(dx_protocol *protocol) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        yyjson_doc *doc = row->json ? yyjson_read(row->json, strlen(row->json), 0) : NULL;
        dx_misfit why = {.phrase = ""};
        dx_status status =
            dx_protocol_check(protocol, dx_protocol_find(protocol, dx_str(row->method)), row->from,
                              row->part, yyjson_doc_get_root(doc), 0, &why);
        CHECK(status == (row->misfit ? DX_MISFIT : DX_OK));
        if (row->misfit && strcmp(why.phrase, row->misfit) != 0) {
            printf("row %zu: %s\n", i, why.phrase);
            failures++;
        }
        yyjson_doc_free(doc);
    }
}

static void directed(const dx_protocol *protocol) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    CHECK(!strcmp(facts->cancel_method, "drop") && facts->cancel_code == 41);
    CHECK(!strcmp(facts->progress_method, "steam"));
    CHECK(!strcmp(facts->stop_params, "{\"to\":20}"));
    dx_text hello = dx_str("hello");
    dx_text heat = dx_str("heat");
    int64_t code = 0;
    const char *message = "";
    CHECK(dx_protocol_may(protocol, 0, hello, DX_SIDE_HOST, NULL, NULL) == DX_LEAVE_YES);
    CHECK(dx_protocol_may(protocol, 0, heat, DX_SIDE_HOST, &code, &message) == DX_LEAVE_NO);
    CHECK(code == 42 && !strcmp(message, "the kettle is cold"));
    CHECK(dx_protocol_may(protocol, 0, dx_str("drop"), DX_SIDE_HOST, NULL, NULL) == DX_LEAVE_YES);
    unsigned ready = dx_protocol_next(protocol, 0, hello, DX_SIDE_HOST, DX_MOVE_RESULT);
    CHECK(!strcmp(dx_protocol_state_name(protocol, ready), "ready"));
    CHECK(dx_protocol_may(protocol, ready, heat, DX_SIDE_HOST, NULL, NULL) == DX_LEAVE_YES);
    CHECK(dx_protocol_may(protocol, ready, heat, DX_SIDE_PLUGIN, NULL, NULL) == DX_LEAVE_NO);
    unsigned gone = dx_protocol_next(protocol, ready, dx_str("bye"), DX_SIDE_HOST, DX_MOVE_SENT);
    CHECK(dx_protocol_may(protocol, gone, heat, DX_SIDE_HOST, NULL, NULL) == DX_LEAVE_EARLY);
    CHECK(!strcmp(dx_protocol_error_name(protocol, 40, &message), "NoWater"));
}

static void shown(dx_protocol *protocol, const char *path, int write) {
    dx_buf page;
    dx_buf_init(&page, 1 << 20, NULL);
    CHECK(dx_protocol_page(protocol, &page) == DX_OK);
    FILE *file = fopen(path, write ? "wb" : "rb");
    CHECK(file != NULL);
    char *bytes = malloc(page.len + 1);
    if (file && write)
        CHECK(fwrite(page.data, 1, page.len, file) == page.len);
    else if (file && bytes)
        CHECK(fread(bytes, 1, page.len + 1, file) == page.len &&
              !memcmp(bytes, page.data, page.len));
    if (file)
        fclose(file);
    free(bytes);
    dx_buf_done(&page);
}

int main(int argc, char **argv) {
    dx_protocol *protocol = NULL;
    dx_misfit why = {.phrase = ""};
    listed();
    if (dx_protocol_open(dx_str("sixth"), NULL, &protocol, &why) != DX_OK ||
        dx_protocol_check_all(protocol, &why) != DX_OK) {
        printf("%s\n", why.phrase);
        return 1;
    }
    checked(protocol);
    directed(protocol);
    if (argc > 1)
        shown(protocol, argv[argc - 1], !strcmp(argv[1], "--write"));
    dx_protocol_free(protocol);
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
