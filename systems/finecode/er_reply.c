/* Answers that are given on the spot. What can't be sent for lack of memory is answered by the
 * engine, as soon as there is some. */
#include "systems/finecode/er_parts.h"

void dx__finecode_er_reply(dx_link *link, const dx_event *event, const dx__finecode_er_out *out) {
    dx_status status = out->status;
    if (status == DX_OK)
        status =
            dx_link_reply(link, event->request, dx_json_checked(dx__finecode_er_out_text(out)));
    if (status == DX_MISFIT)
        (void)dx_link_refuse(link, event->request, DX_CODE_INTERNAL,
                             dx_str(dx_link_why(link)->phrase), dx_json_none());
}

void dx__finecode_er_reply_error(dx_finecode_er *er, const dx_event *event, dx_text why) {
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, &er->alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "error");
    dx__finecode_er_out_string(&out, why);
    dx__finecode_er_out_close(&out, '}');
    dx__finecode_er_reply(er->link, event, &out);
    dx__finecode_er_out_done(&out);
}

void dx__finecode_er_refuse(dx_finecode_er *er, const dx_event *event, int64_t code, dx_text why) {
    (void)dx_link_refuse(er->link, event->request, code, why, dx_json_none());
}

static void refuse_key(dx_finecode_er *er, const dx_event *event, const char *name,
                       const char *more) {
    char why[80] = "'";
    dx__say_str(why, sizeof why, name);
    dx__say_str(why, sizeof why, "'");
    dx__say_str(why, sizeof why, more);
    dx__finecode_er_refuse(er, event, DX_CODE_INTERNAL, dx_str(why));
}

yyjson_val *dx__finecode_er_need(dx_finecode_er *er, const dx_event *event, const char *name) {
    yyjson_val *value = yyjson_obj_get(event->value, name);
    if (!value)
        refuse_key(er, event, name, "");
    return value;
}

bool dx__finecode_er_need_text(dx_finecode_er *er, const dx_event *event, const char *name,
                               dx_text *ret_text) {
    yyjson_val *value = dx__finecode_er_need(er, event, name);
    if (!value)
        return false;
    *ret_text = dx_json_string(value);
    if (!yyjson_is_str(value))
        refuse_key(er, event, name, " is not a string");
    return yyjson_is_str(value);
}
