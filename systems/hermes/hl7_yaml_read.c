/* YAML through libyaml's events. What it may hold is what a message needs: nested a few levels
 * deep, and no aliases, with which a short text can mean a huge one. */
#include "systems/hermes/hl7_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* The document, segments, one of them, its fields, repetitions, components, subcomponents; and one
 * more, so that what is too deep is told by who knows the shape. */
enum { DEPTH_MAX = 8 };

struct reader {
    yaml_parser_t parser;
    yyjson_mut_doc *doc;
    yyjson_mut_val *open[DEPTH_MAX];
    yyjson_mut_val *keys[DEPTH_MAX]; /* of an object, the key that waits for its value */
    size_t depth;
    bool done;
    bool bad_escape; /* it is about an escape that libyaml does not know */
    bool joined;     /* see join_pairs() */
    dx_error *reterr;
};

static dx_status misfit(struct reader *reader, const char *phrase, const char *detail) {
    dx_status status = hl7_misfit(reader->reterr, "yaml", phrase, dx_str(detail));
    if (reader->reterr)
        reader->reterr->offset = reader->parser.mark.index;
    return status;
}

static bool is_null(dx_text text) {
    return !text.len || dx_text_is(text, "~") || dx_text_is(text, "null") ||
           dx_text_is(text, "Null") || dx_text_is(text, "NULL");
}

/* Puts a value where one is due. */
static dx_status place(struct reader *reader, yyjson_mut_val *value) {
    if (!value)
        return DX_ERR_NOMEM;
    if (!reader->depth) {
        yyjson_mut_doc_set_root(reader->doc, value);
        return DX_OK;
    }
    size_t top = reader->depth - 1;
    if (yyjson_mut_is_arr(reader->open[top])) {
        yyjson_mut_arr_append(reader->open[top], value);
    } else if (reader->keys[top]) {
        yyjson_mut_obj_add(reader->open[top], reader->keys[top], value);
        reader->keys[top] = NULL;
    } else if (yyjson_mut_is_str(value)) {
        reader->keys[top] = value;
    } else {
        return misfit(reader, "Failed to parse YAML: ", "a key is not a scalar");
    }
    return DX_OK;
}

static bool is_key_due(const struct reader *reader) {
    return reader->depth && yyjson_mut_is_obj(reader->open[reader->depth - 1]) &&
           !reader->keys[reader->depth - 1];
}

static bool may_be_joined(dx_text text) {
    const char *end = text.at + text.len;
    for (const char *at = text.at; (at = memchr(at, '\\', (size_t)(end - at))); at++)
        if (end - at >= 10 && memcmp(at, "\\U00", 4) == 0)
            return true;
    return false;
}

static dx_status scalar(struct reader *reader, const yaml_event_t *event) {
    dx_text text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (reader->joined && event->data.scalar.style != YAML_DOUBLE_QUOTED_SCALAR_STYLE &&
        may_be_joined(text))
        return misfit(
            reader, "Failed to parse YAML: ",
            "an escaped surrogate pair, and text without double quotes that looks like one");
    /* Numbers and booleans become text anyway, so they need not be told apart. */
    if (plain && is_null(text) && !is_key_due(reader))
        return place(reader, yyjson_mut_null(reader->doc));
    return place(reader, yyjson_mut_strncpy(reader->doc, text.at, text.len));
}

static dx_status open_level(struct reader *reader, yyjson_mut_val *value) {
    if (reader->depth == DEPTH_MAX)
        return misfit(reader, "Failed to parse YAML: ", "it is nested too deeply");
    if (value && is_key_due(reader))
        return misfit(reader, "Failed to parse YAML: ", "a key is not a scalar");
    dx_status status = place(reader, value);
    if (status != DX_OK)
        return status;
    reader->keys[reader->depth] = NULL;
    reader->open[reader->depth++] = value;
    return DX_OK;
}

static bool has_anchor(const yaml_event_t *event) {
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return true;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor != NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor != NULL;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor != NULL;
    default:
        return false;
    }
}

static dx_status take(struct reader *reader, const yaml_event_t *event) {
    if (has_anchor(event))
        return misfit(reader, "Failed to parse YAML: ", "anchors and aliases are not supported");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (yyjson_mut_doc_get_root(reader->doc))
            return misfit(reader, "Failed to parse YAML: ", "more than one document");
        return DX_OK;
    case YAML_SCALAR_EVENT:
        return scalar(reader, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(reader, yyjson_mut_arr(reader->doc));
    case YAML_MAPPING_START_EVENT:
        return open_level(reader, yyjson_mut_obj(reader->doc));
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        return DX_OK;
    case YAML_STREAM_END_EVENT:
        reader->done = true;
        return DX_OK;
    default:
        return DX_OK;
    }
}

/* A \u and four digits; 0 if it is something else. */
static uint32_t unit_at(const char *at, const char *end) {
    uint32_t unit = 0;
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return 0;
    for (const char *digit = at + 2; digit < at + 6; digit++) {
        unsigned c = (unsigned char)*digit;
        unsigned value = c - '0' < 10 ? c - '0' : (c | 0x20) - 'a' + 10;
        if (value > 15 || (c > '9' && value < 10))
            return 0;
        unit = unit << 4 | value;
    }
    return unit;
}

/* JSON writers escape a character beyond the first 65,536 as two: \ud83d\ude00. libyaml knows only
 * \U0001F600, which this makes of it, in place; how long the text is then. Outside of double quotes
 * neither is an escape: scalar() refuses a text that may have been changed there. */
static size_t join_pairs(char *text, size_t len) {
    const char *end = text + len;
    char *to = text;
    for (const char *at = text; at < end;) {
        uint32_t high = unit_at(at, end);
        uint32_t low = high >> 10 == 0xd800 >> 10 ? unit_at(at + 6, end) : 0;
        if (low >> 10 == 0xdc00 >> 10) {
            char joined[11];
            uint32_t whole = 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
            snprintf(joined, sizeof joined, "\\U%08" PRIX32, whole);
            memcpy(to, joined, 10);
            to += 10;
            at += 12;
            continue;
        }
        bool is_escape = *at == '\\' && at + 1 < end;
        *to++ = *at++;
        if (is_escape) /* what follows it does not begin another one */
            *to++ = *at++;
    }
    return (size_t)(to - text);
}

static dx_status parse(struct reader *reader, dx_text text) {
    if (!yaml_parser_initialize(&reader->parser))
        return DX_ERR_NOMEM;
    yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)(text.at ? text.at : ""),
                                 text.len);
    dx_status status = DX_OK;
    while (status == DX_OK && !reader->done) {
        yaml_event_t event;
        if (yaml_parser_parse(&reader->parser, &event)) {
            status = take(reader, &event);
            yaml_event_delete(&event);
        } else if (reader->parser.error == YAML_MEMORY_ERROR) {
            status = DX_ERR_NOMEM;
        } else {
            const char *problem = reader->parser.problem;
            problem = problem ? problem : "unknown reason";
            reader->bad_escape = strstr(problem, "invalid Unicode character escape") != NULL;
            status = misfit(reader, "Failed to parse YAML: ", problem);
        }
    }
    if (status == DX_OK && !yyjson_mut_doc_get_root(reader->doc))
        status = misfit(reader, "Failed to parse YAML: ", "the document is empty");
    yaml_parser_delete(&reader->parser);
    return status;
}

static dx_status parse_joined(dx_text text, yyjson_mut_doc *doc, dx_error *reterr) {
    struct reader reader = {.doc = doc, .reterr = reterr, .joined = true};
    char *copy = doc->alc.malloc(doc->alc.ctx, text.len);
    if (!copy)
        return DX_ERR_NOMEM;
    memcpy(copy, text.at, text.len);
    yyjson_mut_doc_set_root(doc, NULL); /* what was read so far is freed with the document */
    dx_status status = parse(&reader, (dx_text){copy, join_pairs(copy, text.len)});
    doc->alc.free(doc->alc.ctx, copy);
    return status;
}

dx_status hl7_yaml_read(dx_text text, yyjson_mut_doc *doc, dx_error *reterr) {
    struct reader reader = {.doc = doc, .reterr = reterr};
    dx_status status = parse(&reader, text);
    return reader.bad_escape ? parse_joined(text, doc, reterr) : status;
}
