/* A tree as TOML. */
#include "systems/hermes/hl7_parts.h"

#include <duplex/toml.h>

dx_status hl7_toml_read(dx_text text, yyjson_mut_doc *doc, dx_error *reterr) {
    const dx_allocator alloc = {doc->alc.malloc, doc->alc.realloc, doc->alc.free, doc->alc.ctx};
    dx_toml_config config = dx_toml_defaults();
    dx_toml_error error = {.phrase = ""};
    yyjson_doc *read;
    config.allocator = &alloc;
    config.text_max = config.values_max = text.len; /* which has its limit already */
    config.raw_numbers = 1;
    dx_status status = dx_toml_read(text, &config, &read, &error);
    if (status == DX_ERR_INVALID || status == DX_ERR_LIMIT)
        return hl7_misfit(reterr, "toml", "Failed to parse TOML: ", dx_str(error.phrase));
    if (status != DX_OK)
        return status;
    yyjson_mut_val *root = yyjson_val_mut_copy(doc, yyjson_doc_get_root(read));
    yyjson_doc_free(read);
    yyjson_mut_doc_set_root(doc, root);
    return root ? DX_OK : DX_ERR_NOMEM;
}

dx_status hl7_toml_write(yyjson_mut_doc *doc, dx_buf *out, dx_error *reterr) {
    dx_toml_error error = {.phrase = ""};
    dx_status status =
        dx_toml_write_mut(yyjson_mut_doc_get_root(doc), DX_TOML_LITERAL, out, &error);
    if (status == DX_ERR_INVALID)
        status = hl7_misfit(reterr, "toml", "Failed to serialise to TOML: ", dx_str(error.phrase));
    return status;
}
