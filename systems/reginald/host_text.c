/* Small things about text. */
#include "systems/reginald/host_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void dx__reginald_host_say_error(char *to, size_t room, const dx_event *event) {
    char code[32];
    yyjson_val *message = yyjson_obj_get(event->value, "message");
    if (yyjson_is_str(event->value))
        message = event->value;
    snprintf(code, sizeof code, "[%" PRId64 "] ", event->code);
    dx__say_str(to, room, code);
    dx__say(to, room, dx_json_string(message));
}

char *dx__reginald_host_copy(const dx_allocator *alloc, const char *first, const char *second) {
    size_t one = strlen(first);
    size_t two = strlen(second);
    char *copy = dx__malloc(alloc, one + two + 1);
    if (!copy)
        return NULL;
    memcpy(copy, first, one);
    memcpy(copy + one, second, two + 1);
    return copy;
}

dx_status dx__reginald_host_fail(dx_error *reterr, const char *before, const char *after) {
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_START};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, before);
        dx__say_str(reterr->phrase, sizeof reterr->phrase, after);
    }
    return DX_ERR_INVALID;
}
