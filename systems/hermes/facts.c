/* What an extension says about itself when it is greeted. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

dx_status hermes_facts_check(dx_hermes_guest *guest, yyjson_val *facts, dx_misfit *reterr) {
    dx_protocol *protocol = guest->editor->protocol;
    const dx_method *method = dx_protocol_find(protocol, dx_str("initialize"));
    return dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_RESULT, facts, DX_CHECK_OPEN,
                             reterr);
}

static bool is_string(yyjson_val *value, dx_text text) {
    return yyjson_is_str(value) && yyjson_equals_strn(value, text.at, text.len);
}

bool hermes_facts_has_command(const dx_hermes_guest *guest, dx_text command) {
    yyjson_val *facts = dx_hermes_guest_facts(guest);
    yyjson_val *commands = yyjson_obj_get(yyjson_obj_get(facts, "capabilities"), "commands");
    yyjson_val *buttons = yyjson_obj_get(facts, "toolbarButtons");
    yyjson_val *one;
    size_t i;
    size_t count;
    yyjson_arr_foreach(commands, i, count, one) {
        if (is_string(one, command))
            return true;
    }
    yyjson_arr_foreach(buttons, i, count, one) {
        if (is_string(yyjson_obj_get(one, "command"), command))
            return true;
    }
    return false;
}

bool hermes_facts_wants(const dx_hermes_guest *guest, const char *event, yyjson_val **ret_options) {
    yyjson_val *facts = dx_hermes_guest_facts(guest);
    yyjson_val *events = yyjson_obj_get(yyjson_obj_get(facts, "capabilities"), "events");
    yyjson_val *one;
    size_t i;
    size_t count;
    if (guest->state != DX_HERMES_RUNNING)
        return false;
    yyjson_arr_foreach(events, i, count, one) {
        if (!is_string(yyjson_obj_get(one, "name"), dx_str(event)))
            continue;
        if (ret_options)
            *ret_options = yyjson_obj_get(one, "options");
        return true;
    }
    return false;
}
