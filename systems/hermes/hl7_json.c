#include "systems/hermes/hl7_parts.h"

#include <string.h>

dx_status hl7_json_read(dx_text text, yyjson_mut_doc *doc, dx_error *reterr) {
    yyjson_read_err error;
    /* yyjson does not write to what it reads unless it is told to. Numbers stay as they stand. */
    yyjson_doc *read = yyjson_read_opts((char *)(uintptr_t)(text.at ? text.at : ""), text.len,
                                        YYJSON_READ_NUMBER_AS_RAW, &doc->alc, &error);
    if (!read) {
        if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
            return DX_ERR_NOMEM;
        dx_status status = hl7_misfit(reterr, "json", "Failed to parse JSON: ", dx_str(error.msg));
        if (reterr)
            reterr->offset = error.pos;
        return status;
    }
    yyjson_mut_val *root = yyjson_val_mut_copy(doc, yyjson_doc_get_root(read));
    yyjson_doc_free(read);
    if (!root)
        return DX_ERR_NOMEM;
    yyjson_mut_doc_set_root(doc, root);
    return DX_OK;
}

dx_status hl7_json_write(yyjson_mut_doc *doc, dx_buf *out, dx_error *reterr) {
    size_t len;
    yyjson_write_err error;
    char *text =
        yyjson_mut_write_opts(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, &doc->alc, &len, &error);
    if (!text)
        return error.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION
                   ? DX_ERR_NOMEM
                   : hl7_misfit(reterr, "json", "Failed to serialise to JSON: ", dx_str(error.msg));
    dx_status status = dx_buf_append(out, text, len);
    doc->alc.free(doc->alc.ctx, text);
    return status;
}
