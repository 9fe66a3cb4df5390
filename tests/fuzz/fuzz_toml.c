/*
 * A text. As TOML it is refused with a place in it and a whole phrase, or what was read is written
 * so that it reads the same, with any flags and from both kinds of documents. As JSON it is refused
 * with a reason, or written as TOML that is the same tree.
 */
#include "toml/equal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WRITTEN_MAX = 4 << 20, ALL_FLAGS = 4 };

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#define CHECK(condition) check(condition, #condition)

/* One line that ends in its room. */
static void check_phrase(const dx_toml_error *why) {
    CHECK(strnlen(why->phrase, sizeof why->phrase) < sizeof why->phrase);
    CHECK(strnlen(why->place, sizeof why->place) < sizeof why->place);
    CHECK(why->phrase[0] != '\0');
}

static void check_refused(dx_text text, dx_status status, const dx_toml_error *why) {
    CHECK(status == DX_ERR_INVALID || status == DX_ERR_LIMIT);
    check_phrase(why);
    CHECK(!strchr(why->phrase, '\n') && why->place[0] == '\0');
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    CHECK(why->line >= 1 && why->line <= lines);
    CHECK(why->column >= 1 && why->column <= text.len + 1);
}

static void check_reads_as(const dx_buf *buf, yyjson_val *root) {
    yyjson_doc *again = NULL;
    dx_toml_error why;
    dx_toml_config config = dx_toml_defaults();
    config.depth_max = DX_TOML_DEPTH_MAX;
    CHECK(dx_toml_read((dx_text){buf->data, buf->len}, &config, &again, &why) == DX_OK);
    CHECK(!root || values_equal(root, yyjson_doc_get_root(again)));
    yyjson_doc_free(again);
}

static void check_toml(dx_text text) {
    yyjson_doc *doc = NULL;
    dx_toml_error why = {.phrase = ""};
    dx_toml_config config = dx_toml_defaults();
    config.depth_max = 50;
    config.values_max = 1000;
    dx_status status = dx_toml_read(text, &config, &doc, &why);
    if (status != DX_OK) {
        check_refused(text, status, &why);
        CHECK(dx_toml_read(text, &config, &doc, NULL) == status && !doc);
        return;
    }
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    for (unsigned flags = 0; flags < ALL_FLAGS; flags++) {
        dx_buf one;
        dx_buf other;
        dx_buf_init(&one, WRITTEN_MAX, NULL);
        dx_buf_init(&other, WRITTEN_MAX, NULL);
        CHECK(dx_toml_write(yyjson_doc_get_root(doc), flags, &one, &why) == DX_OK);
        CHECK(dx_toml_write_mut(yyjson_mut_doc_get_root(copy), flags, &other, &why) == DX_OK);
        CHECK(one.len == other.len && (!one.len || memcmp(one.data, other.data, one.len) == 0));
        check_reads_as(&one, yyjson_doc_get_root(doc));
        dx_buf_done(&one);
        dx_buf_done(&other);
    }
    yyjson_mut_doc_free(copy);
    yyjson_doc_free(doc);
}

static void check_json(dx_text text) {
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_ALLOW_INF_AND_NAN);
    yyjson_val *root = yyjson_doc_get_root(doc);
    for (unsigned flags = 0; root && flags < ALL_FLAGS; flags++) {
        dx_buf buf;
        dx_toml_error why = {.phrase = ""};
        dx_buf_init(&buf, WRITTEN_MAX, NULL);
        dx_status status = dx_toml_write(root, flags, &buf, &why);
        if (status == DX_OK) {
            check_reads_as(&buf, flags & DX_TOML_SKIP_NULL ? NULL : root);
        } else {
            CHECK(status == DX_ERR_INVALID || status == DX_ERR_LIMIT);
            CHECK(buf.len == 0 && why.line == 0);
            check_phrase(&why);
        }
        dx_buf_done(&buf);
    }
    yyjson_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dx_text text = {(const char *)data, size};
    check_toml(text);
    if (size)
        check_json(text);
    return 0;
}
