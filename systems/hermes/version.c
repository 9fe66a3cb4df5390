/* One version of the message: its text, what was read of it, or both. */
#include "systems/hermes/hermes_parts.h"

void hermes_version_done(hermes_version *version, const dx_allocator *alloc) {
    dx_hl7_free(version->hl7);
    dx__free(alloc, version->at);
    version->hl7 = NULL;
    version->at = NULL;
}

void hermes_version_attach(hermes_version *version, dx_hl7_file *file) {
    if (version->hl7)
        version->hl7->file = file;
}

size_t hermes_version_size(const hermes_version *version) {
    return version->hl7 ? dx_hl7_size(version->hl7) : version->len;
}

dx_status hermes_version_text(hermes_version *version, const dx_allocator *alloc,
                              dx_text *ret_text) {
    if (!version->at && version->hl7) {
        dx_buf out;
        dx_buf_init(&out, SIZE_MAX / 2, alloc);
        dx_status status = dx_hl7_write(version->hl7, &out);
        if (status != DX_OK) {
            dx_buf_done(&out);
            return status;
        }
        version->at = out.data;
        version->len = out.len;
    }
    *ret_text = (dx_text){version->at ? version->at : "", version->len};
    return DX_OK;
}

dx_status hermes_version_read(hermes_version *version, const dx_hl7_config *config,
                              dx_error *reterr) {
    if (version->hl7)
        return DX_OK;
    dx_text text = {version->at ? version->at : "", version->len};
    dx_status status = dx_hl7_new(config, text, &version->hl7, reterr);
    if (status != DX_ERR_LIMIT)
        return status;
    hermes_fail(reterr, DX_FAULT_MESSAGE_LIMIT, "the message has too many segments", "");
    return DX_MISFIT;
}
