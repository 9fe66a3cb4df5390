#include "systems/hermes/hermes_text.h"

dx_status hermes_fail(dx_error *reterr, dx_fault fault, const char *before, const char *after) {
    if (reterr) {
        *reterr = (dx_error){.fault = fault};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, before);
        dx__say_str(reterr->phrase, sizeof reterr->phrase, after);
    }
    return DX_ERR_INVALID;
}

dx_text hermes_string(yyjson_val *value) {
    return (dx_text){yyjson_get_str(value), yyjson_get_len(value)};
}
