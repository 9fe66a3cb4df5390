/* YAML through libyaml's events. What it may hold is what a message needs: nested a few levels
 * deep, and no aliases, with which a short text can mean a huge one. */
#include "systems/hermes/hl7_parts.h"

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

static dx_status scalar(struct reader *reader, const yaml_event_t *event) {
    dx_text text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
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

dx_status hl7_yaml_read(dx_text text, yyjson_mut_doc *doc, dx_error *reterr) {
    struct reader reader = {.doc = doc, .reterr = reterr};
    if (!yaml_parser_initialize(&reader.parser))
        return DX_ERR_NOMEM;
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)(text.at ? text.at : ""),
                                 text.len);
    dx_status status = DX_OK;
    while (status == DX_OK && !reader.done) {
        yaml_event_t event;
        if (yaml_parser_parse(&reader.parser, &event)) {
            status = take(&reader, &event);
            yaml_event_delete(&event);
        } else if (reader.parser.error == YAML_MEMORY_ERROR) {
            status = DX_ERR_NOMEM;
        } else {
            const char *problem = reader.parser.problem;
            status =
                misfit(&reader, "Failed to parse YAML: ", problem ? problem : "unknown reason");
        }
    }
    if (status == DX_OK && !yyjson_mut_doc_get_root(doc))
        status = misfit(&reader, "Failed to parse YAML: ", "the document is empty");
    yaml_parser_delete(&reader.parser);
    return status;
}
