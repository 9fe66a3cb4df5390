#include <duplex/autohand.h>

#include <string.h>

dx_status dx_autohand_compat_of(const char *name, dx_autohand_compat *ret_compat) {
    static const char *const names[] = {"doc", "0.6", "0.8"};
    for (int i = 0; name && i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *ret_compat = (dx_autohand_compat)i;
            return DX_OK;
        }
    return DX_ERR_INVALID;
}

const char *dx_autohand_code_name(int64_t code) {
    switch (code) {
    case DX_AUTOHAND_EXECUTION:
        return "Execution Error";
    case DX_AUTOHAND_DENIED:
        return "Permission Denied";
    case DX_AUTOHAND_TIMEOUT:
        return "Timeout";
    case DX_AUTOHAND_BUSY:
        return "Agent Busy";
    case DX_AUTOHAND_ABORTED:
        return "Aborted";
    case -32700:
        return "Parse Error";
    case -32600:
        return "Invalid Request";
    case -32601:
        return "Method Not Found";
    case -32602:
        return "Invalid Params";
    case -32603:
        return "Internal Error";
    default:
        return NULL;
    }
}
