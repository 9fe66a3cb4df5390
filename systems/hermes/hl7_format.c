#include "systems/hermes/hl7_parts.h"

size_t hl7_document_max(size_t text_max) {
    if (text_max > SIZE_MAX / DX_HL7_DOCUMENT_FACTOR)
        return SIZE_MAX;
    size_t max = text_max * DX_HL7_DOCUMENT_FACTOR;
    return max > DX_HL7_DOCUMENT_LEAST ? max : DX_HL7_DOCUMENT_LEAST;
}

static dx_status write_tree(dx_hl7_format format, bool exact, yyjson_mut_doc *doc, dx_buf *out,
                            dx_error *reterr) {
    switch (format) {
    case DX_HL7_JSON:
        return hl7_json_write(doc, out, reterr);
    case DX_HL7_YAML:
        return hl7_yaml_write(doc, exact, out, reterr);
    case DX_HL7_TOML:
        return hl7_toml_write(doc, out, reterr);
    case DX_HL7_TEXT:
        break;
    }
    return DX_ERR_INVALID;
}

static dx_status export_tree(const dx_hl7 *hl7, dx_hl7_format format, dx_hl7_shape shape,
                             dx_buf *out, dx_error *reterr) {
    yyjson_alc alc = hl7_yyjson_alc(&hl7->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    if (!doc)
        return DX_ERR_NOMEM;
    size_t start = out->len;
    size_t max = out->max;
    size_t most = hl7_document_max(hl7->text_max);
    if (most < max - start)
        out->max = start + most;
    /* No value is written with less than two bytes, so that a tree which can't fit need not be
     * built to its end. */
    dx_status status = hl7_tree(hl7, shape, format, (out->max - start) / 2, doc);
    if (status == DX_OK)
        status = write_tree(format, hl7->exact, doc, out, reterr);
    if (status != DX_OK)
        out->len = start;
    out->max = max;
    yyjson_mut_doc_free(doc);
    return status;
}

dx_status dx_hl7_export(const dx_hl7 *hl7, dx_hl7_format format, dx_hl7_shape shape, dx_buf *out,
                        dx_error *reterr) {
    if (format == DX_HL7_TEXT)
        return dx_hl7_write(hl7, out);
    if (!hl7->exact)
        return export_tree(hl7, format, shape, out, reterr);
    dx_hl7 *copy;
    dx_status status = hl7_exact_copy(hl7, false, &copy);
    if (status == DX_OK) {
        status = export_tree(copy, format, shape, out, reterr);
        dx_hl7_free(copy);
    }
    return status;
}

static dx_status read_tree(dx_hl7_format format, dx_text text, yyjson_mut_doc *doc,
                           dx_error *reterr) {
    switch (format) {
    case DX_HL7_JSON:
        return hl7_json_read(text, doc, reterr);
    case DX_HL7_YAML:
        return hl7_yaml_read(text, doc, reterr);
    case DX_HL7_TOML:
        return hl7_toml_read(text, doc, reterr);
    case DX_HL7_TEXT:
        break;
    }
    return DX_ERR_INVALID;
}

/* The text of a document; *ret_keyed if it has lost the order of its segments. */
static dx_status read_document(const dx_hl7_config *config, dx_text text, dx_hl7_format format,
                               bool *ret_keyed, dx_buf *out, dx_error *reterr) {
    yyjson_alc alc = hl7_yyjson_alc(&out->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    if (!doc)
        return DX_ERR_NOMEM;
    dx_status status = read_tree(format, text, doc, reterr);
    if (status == DX_OK) {
        *ret_keyed = hl7_tree_has_keys(doc);
        status = hl7_tree_text(doc, config->exact != 0, dx_hl7_format_name(format), out, reterr);
    }
    yyjson_mut_doc_free(doc);
    return status;
}

/* The text in *out takes the place of the message. */
static dx_status read_again(const dx_hl7_config *config, const dx_buf *out, dx_hl7 **hl7,
                            dx_error *reterr) {
    *hl7 = dx_hl7_free(*hl7);
    return dx_hl7_new(config, (dx_text){out->data ? out->data : "", out->len}, hl7, reterr);
}

/* What the document does not say comes from the message that it was made from. */
static dx_status import_like(const dx_hl7_config *config, const char *place, bool keyed,
                             const dx_hl7 *like, dx_buf *out, dx_hl7 **hl7, dx_error *reterr) {
    dx_status status = read_again(config, out, hl7, reterr);
    if (status == DX_OK && keyed) {
        out->len = 0;
        status = hl7_order(*hl7, like, place, out, reterr);
        if (status == DX_OK)
            status = read_again(config, out, hl7, reterr);
    }
    if (status == DX_OK && like) {
        out->len = 0;
        status = hl7_write_like(*hl7, like, out);
    }
    return status;
}

static dx_status import(const dx_hl7_config *config, dx_text text, dx_hl7_format format,
                        bool in_order, const dx_hl7 *like, dx_hl7 **ret_hl7, dx_error *reterr) {
    if (format == DX_HL7_TEXT)
        return dx_hl7_new(config, text, ret_hl7, reterr);
    if (text.len > hl7_document_max(config->text_max))
        return DX_ERR_LIMIT;
    dx_buf out;
    dx_buf_init(&out, config->text_max, config->allocator);
    bool keyed = false;
    dx_hl7 *hl7 = NULL;
    dx_status status = read_document(config, text, format, &keyed, &out, reterr);
    if (status == DX_OK && in_order)
        status = import_like(config, dx_hl7_format_name(format), keyed, like, &out, &hl7, reterr);
    /* Each segment ends with CR, also the last one, if there is room for it. */
    if (status == DX_OK && !like && !config->exact && out.len && out.len < out.max)
        status = dx_buf_append(&out, "\r", 1);
    if (status == DX_OK)
        status = read_again(config, &out, &hl7, reterr);
    if (status == DX_OK)
        *ret_hl7 = hl7;
    else
        dx_hl7_free(hl7);
    dx_buf_done(&out);
    return status;
}

dx_status dx_hl7_import(const dx_hl7_config *config, dx_text text, dx_hl7_format format,
                        dx_hl7 **ret_hl7, dx_error *reterr) {
    return import(config, text, format, false, NULL, ret_hl7, reterr);
}

dx_status dx_hl7_import_like(const dx_hl7_config *config, dx_text text, dx_hl7_format format,
                             const dx_hl7 *like, dx_hl7 **ret_hl7, dx_error *reterr) {
    return import(config, text, format, true, like, ret_hl7, reterr);
}
