#include "base/alloc.h"
#include "toml/error.h"
#include "toml/reader.h"

dx_toml_config dx_toml_defaults(void) {
    return (dx_toml_config){.text_max = (size_t)16 << 20, .values_max = 1000000, .depth_max = 128};
}

bool dx__toml_newline(dx__toml_reader *reader) {
    if (dx__toml_take(reader, '\n'))
        return true;
    if (dx__toml_left(reader) < 2 || reader->at[0] != '\r' || reader->at[1] != '\n')
        return false;
    reader->at += 2;
    return true;
}

bool dx__toml_comment(dx__toml_reader *reader) {
    if (!dx__toml_take(reader, '#'))
        return true;
    const char *at = reader->at;
    while (at < reader->end && (((unsigned char)*at >= 0x20 && *at != 0x7f) || *at == '\t'))
        at++;
    reader->at = at;
    if (at == reader->end || *at == '\n' || (*at == '\r' && reader->end - at > 1 && at[1] == '\n'))
        return true;
    return dx__toml_refuse(reader, at, "a control character in a comment");
}

static bool end_line(dx__toml_reader *reader) {
    dx__toml_space(reader);
    if (!dx__toml_comment(reader))
        return false;
    return dx__toml_newline(reader) || reader->at == reader->end ||
           dx__toml_expected(reader, "the end of the line");
}

static bool statement(dx__toml_reader *reader) {
    dx__toml_place place;
    int c = dx__toml_peek(reader);
    if (c == '[')
        return dx__toml_header(reader);
    if (c < 0 || c == '#' || c == '\n' || c == '\r')
        return true;
    return dx__toml_assign(reader, reader->section, &place) && dx__toml_value(reader, place);
}

static bool all(dx__toml_reader *reader) {
    static const char mark[] = "\xef\xbb\xbf";
    const char *bad = dx__toml_utf8(reader->start, reader->end);
    if (bad < reader->end)
        return dx__toml_refuse(reader, bad, "the text is not UTF-8");
    if (dx__toml_left(reader) >= 3 && memcmp(reader->at, mark, 3) == 0)
        reader->at += 3;
    while (reader->at < reader->end) {
        dx__toml_space(reader);
        if (!statement(reader) || !end_line(reader))
            return false;
    }
    return true;
}

static bool begin(dx__toml_reader *reader, const yyjson_alc *alc) {
    dx__map_init(&reader->members, &reader->alloc);
    reader->doc = yyjson_mut_doc_new(alc);
    if (!reader->doc)
        return dx__toml_no_memory(reader);
    yyjson_mut_val *root = dx__toml_new(reader);
    if (!root)
        return false;
    yyjson_mut_doc_set_root(reader->doc, root);
    /* Where memory lies is not known to who wrote the text, as a rule. */
    uintptr_t place = (uintptr_t)root;
    reader->seed = dx__hash(reader->config.seed, (dx_text){(const char *)&place, sizeof place});
    dx__toml_table_init(reader, &reader->root, root, 0, DX__TOML_HEADER);
    reader->section = &reader->root;
    return true;
}

static dx_status read(dx__toml_reader *reader, yyjson_doc **ret_doc) {
    yyjson_alc alc = {reader->alloc.malloc, reader->alloc.realloc, reader->alloc.free,
                      reader->alloc.ctx};
    yyjson_doc *doc = NULL;
    if (begin(reader, &alc) && all(reader)) {
        doc = yyjson_mut_doc_imut_copy(reader->doc, &alc);
        if (!doc)
            dx__toml_no_memory(reader);
    }
    dx__free(&reader->alloc, reader->frames);
    dx__map_done(&reader->members);
    dx__toml_forget(reader);
    yyjson_mut_doc_free(reader->doc);
    if (doc)
        *ret_doc = doc;
    return reader->status;
}

dx_status dx_toml_read(dx_text text, const dx_toml_config *config, yyjson_doc **ret_doc,
                       dx_toml_error *reterr) {
    if (!text.at)
        text = (dx_text){"", 0};
    dx__toml_reader reader = {
        .start = text.at,
        .end = text.at + text.len,
        .at = text.at,
        .config = config ? *config : dx_toml_defaults(),
        .error = reterr,
    };
    if (text.len > reader.config.text_max) {
        dx__toml_error_plain(reterr, "the text is longer than is allowed");
        return DX_ERR_LIMIT;
    }
    if (reader.config.depth_max > DX_TOML_DEPTH_MAX)
        reader.config.depth_max = DX_TOML_DEPTH_MAX;
    reader.values = reader.config.values_max;
    reader.alloc = dx__allocator(reader.config.allocator);
    return read(&reader, ret_doc);
}
