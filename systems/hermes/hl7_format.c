#include "systems/hermes/hl7_parts.h"

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
    /* No value is written with less than two bytes, so that a tree which can't fit need not be
     * built to its end. */
    dx_status status = hl7_tree(hl7, shape, format, (out->max - out->len) / 2, doc);
    if (status == DX_OK)
        status = write_tree(format, hl7->exact, doc, out, reterr);
    if (status != DX_OK)
        out->len = start;
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

static dx_status import(const dx_hl7_config *config, dx_text text, dx_hl7_format format,
                        bool in_order, const dx_hl7 *like, dx_hl7 **ret_hl7, dx_error *reterr) {
    if (format == DX_HL7_TEXT)
        return dx_hl7_new(config, text, ret_hl7, reterr);
    dx_buf out;
    dx_buf_init(&out, config->text_max, config->allocator);
    bool keyed = false;
    dx_hl7 *hl7 = NULL;
    dx_status status = read_document(config, text, format, &keyed, &out, reterr);
    if (status == DX_OK)
        status = dx_hl7_new(config, (dx_text){out.data ? out.data : "", out.len}, &hl7, reterr);
    if (status == DX_OK && keyed && in_order) {
        out.len = 0;
        status = hl7_order(hl7, like, dx_hl7_format_name(format), &out, reterr);
        hl7 = dx_hl7_free(hl7);
        if (status == DX_OK)
            status = dx_hl7_new(config, (dx_text){out.data, out.len}, &hl7, reterr);
    }
    if (status == DX_OK)
        *ret_hl7 = hl7;
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
