#include "systems/hermes/hermes_text.h"

dx_status hermes_fail(dx_error *reterr, dx_fault fault, const char *before, const char *after) {
    if (reterr) {
        *reterr = (dx_error){.fault = fault};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, before);
        dx__say_str(reterr->phrase, sizeof reterr->phrase, after);
    }
    return DX_ERR_INVALID;
}
