/* The document's own x-duplex: what holds for all messages. */
#include "base/alloc.h"
#include "base/words.h"
#include "protocol/load.h"
#include "protocol/table.h"

enum { DEADLINE_MS = 30000, MESSAGE_MAX = 64 << 20 };

static const char *string_of(yyjson_val *object, const char *name, const char *otherwise) {
    const char *string = yyjson_get_str(dx__get(object, name));
    return string ? string : otherwise;
}

static unsigned lenient_of(yyjson_val *list) {
    if (!list)
        return DX_LENIENT_DEFAULT;
    unsigned flags = 0;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        flags |= dx__lenient_named(dx__text_of(it));
    return flags;
}

static dx_status read_plain(dx__load *load, yyjson_val *duplex) {
    dx_protocol_facts *facts = &load->protocol->facts;
    yyjson_val *info = dx__get(load->protocol->root, "info");
    facts->name = string_of(duplex, "name", NULL);
    facts->revision = string_of(duplex, "revision", NULL);
    facts->title = string_of(info, "title", NULL);
    facts->version = string_of(info, "version", NULL);
    facts->host = string_of(duplex, "host", "host");
    facts->plugin = string_of(duplex, "plugin", "plugin");
    facts->framing = dx_framing_named(string_of(duplex, "framing", NULL));
    facts->content_type = string_of(duplex, "contentType", NULL);
    facts->lenient = lenient_of(dx__get(duplex, "lenient"));
    facts->fields = yyjson_equals_str(dx__get(duplex, "fields"), "letters") ? DX_FIELDS_LETTERS
                                                                            : DX_FIELDS_HTTP;
    facts->params_null = yyjson_equals_str(dx__get(duplex, "noParams"), "null");
    yyjson_val *most = dx__get(duplex, "messageMax");
    facts->message_max = most ? (size_t)dx__integer(most) : MESSAGE_MAX;
    yyjson_val *ids = dx__get(duplex, "ids");
    facts->ids = yyjson_equals_str(ids, "random") ? DX_IDS_RANDOM
                 : yyjson_equals_str(ids, "uuid") ? DX_IDS_UUID
                                                  : DX_IDS_COUNTER;
    facts->batch = yyjson_get_bool(dx__get(duplex, "batch"));
    facts->id_absent = yyjson_equals_str(dx__get(duplex, "unknownId"), "absent");
    facts->host_silent = yyjson_equals_str(dx__get(duplex, "unknownId"), "silent-host");
    facts->id_silent =
        facts->host_silent || yyjson_equals_str(dx__get(duplex, "unknownId"), "none");
    facts->open = yyjson_get_bool(dx__get(duplex, "open"));
    facts->deadline_ms = dx__ms(dx__get(duplex, "deadline"), DEADLINE_MS);
    if (!facts->framing)
        return dx__flaw(load, duplex, "missing member \"framing\"");
    return DX_OK;
}

static dx_status check_kind(dx__load *load, yyjson_val *name, const dx__message *message,
                            bool notification) {
    if (message && message->method.notification != notification)
        return dx__flaw_named(load, name, "", message->name,
                              notification ? " is not a notification" : " is a notification");
    return DX_OK;
}

static dx_status check_from_host(dx__load *load, yyjson_val *name, const dx__message *message) {
    if (message && !message->method.from_host)
        return dx__flaw_named(load, name, "the host does not send ", message->name, "");
    return DX_OK;
}

/* Has the schema of its params that member? If it does not list its members, it may. */
static bool has_member(const dx__load *load, const dx__message *message, dx_text member) {
    yyjson_val *params = message->params[0] ? message->params[0] : message->params[1];
    yyjson_val *schema = params ? dx__schema_of(load->protocol->root, params) : NULL;
    yyjson_val *properties = dx__get(schema, "properties");
    if (!params)
        return false;
    return !properties || yyjson_obj_getn(properties, member.at, member.len);
}

static dx_status check_member(dx__load *load, const dx__message *message, yyjson_val *member) {
    if (!message || !member || has_member(load, message, dx__text_of(member)))
        return DX_OK;
    dx__line line = dx__flaw_at(load, member);
    dx__line_str(&line, "the params of ");
    dx__line_quote(&line, message->name, 80);
    dx__line_str(&line, " have no member ");
    dx__line_quote(&line, dx__text_of(member), 80);
    return DX_ERR_INVALID;
}

static dx_status read_cancel(dx__load *load, yyjson_val *cancel) {
    if (!cancel)
        return DX_OK;
    dx_protocol_facts *facts = &load->protocol->facts;
    yyjson_val *name = dx__get(cancel, "method");
    facts->cancel_method = yyjson_get_str(name);
    facts->cancel_id = string_of(cancel, "id", NULL);
    facts->cancel_reason = string_of(cancel, "reason", NULL);
    facts->cancel_answered = yyjson_get_bool(dx__get(cancel, "answered"));
    facts->cancel_mutual = yyjson_get_bool(dx__get(cancel, "mutual"));
    facts->cancel_code = dx__integer(dx__get(cancel, "code"));
    facts->cancel_grace_ms = dx__ms(dx__get(cancel, "grace"), DX_NEVER);
    dx__message *message = NULL;
    dx_status status = dx__message_named(load, name, &message);
    if (status == DX_OK)
        status = check_kind(load, name, message, true);
    if (status == DX_OK)
        status = check_member(load, message, dx__get(cancel, "id"));
    if (status == DX_OK)
        status = check_member(load, message, dx__get(cancel, "reason"));
    if (status != DX_OK || facts->cancel_answered)
        return status;
    yyjson_val *odd = dx__get(cancel, "code") ? dx__get(cancel, "code") : dx__get(cancel, "grace");
    return odd ? dx__flaw(load, odd, "a cancelled request gets no response here") : DX_OK;
}

static bool is_pointer(dx_text text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '~' &&
            (i + 1 == text.len || (text.at[i + 1] != '0' && text.at[i + 1] != '1')))
            return false;
    return true;
}

static dx_status read_places(dx__load *load, yyjson_val *list) {
    size_t count = yyjson_arr_size(list);
    const char **places = dx__malloc(&load->alloc, (count + 1) * sizeof *places);
    if (!places)
        return DX_ERR_NOMEM;
    load->protocol->places = places;
    load->protocol->facts.progress_places = places;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)); places++) {
        if (!is_pointer(dx__text_of(it)))
            return dx__flaw_named(load, it, "", dx__text_of(it), " is not a JSON Pointer");
        *places = unsafe_yyjson_get_str(it);
    }
    *places = NULL;
    return DX_OK;
}

static dx_status read_progress(dx__load *load, yyjson_val *progress) {
    if (!progress)
        return DX_OK;
    dx_protocol_facts *facts = &load->protocol->facts;
    yyjson_val *name = dx__get(progress, "method");
    facts->progress_method = yyjson_get_str(name);
    facts->progress_token = string_of(progress, "token", NULL);
    facts->progress_pass_unknown = yyjson_equals_str(dx__get(progress, "unknown"), "pass");
    dx__message *message = NULL;
    dx_status status = dx__message_named(load, name, &message);
    if (status == DX_OK)
        status = check_kind(load, name, message, true);
    if (status == DX_OK)
        status = check_member(load, message, dx__get(progress, "token"));
    if (status == DX_OK)
        status = read_places(load, dx__get(progress, "place"));
    return status;
}

static dx_status params_text(dx__load *load, yyjson_val *params, char **ret_text) {
    yyjson_alc alc = dx__alc(&load->alloc);
    *ret_text = params ? yyjson_val_write_opts(params, 0, &alc, NULL, NULL) : NULL;
    return params && !*ret_text ? DX_ERR_NOMEM : DX_OK;
}

/* A message that the host sends by itself: it is known, of that kind, and has params if it must. */
static dx_status check_step(dx__load *load, yyjson_val *name, bool notification,
                            yyjson_val *params) {
    dx__message *message = NULL;
    dx_status status = dx__message_named(load, name, &message);
    if (status == DX_OK)
        status = check_kind(load, name, message, notification);
    if (status == DX_OK)
        status = check_from_host(load, name, message);
    if (status != DX_OK || !message)
        return status;
    bool has = message->params[0];
    if (!params && has && !message->method.optional[DX_SIDE_HOST])
        return dx__flaw_named(load, name, "", message->name, " needs params");
    if (params && !has && yyjson_get_len(params))
        return dx__flaw_named(load, params, "", message->name, " has no params");
    return DX_OK;
}

static dx_status read_start(dx__load *load, yyjson_val *start) {
    dx_protocol *protocol = load->protocol;
    size_t count = yyjson_arr_size(start);
    if (!count)
        return DX_OK;
    protocol->steps = dx__malloc(&load->alloc, (count + 1) * sizeof *protocol->steps);
    if (!protocol->steps)
        return DX_ERR_NOMEM;
    dx_step *step = protocol->steps;
    *step = (dx_step){.method = NULL};
    protocol->facts.start = protocol->steps;
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(start);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        yyjson_val *notify = dx__get(it, "notify");
        yyjson_val *name = notify ? notify : dx__get(it, "call");
        yyjson_val *params = dx__get(it, "params");
        char *text = NULL;
        status = check_step(load, name, notify, params);
        if (status == DX_OK)
            status = params_text(load, params, &text);
        if (status != DX_OK)
            break;
        *step++ = (dx_step){yyjson_get_str(name), text, notify != NULL};
        *step = (dx_step){.method = NULL};
    }
    return status;
}

static dx_status read_stop(dx__load *load, yyjson_val *stop) {
    dx_protocol_facts *facts = &load->protocol->facts;
    yyjson_val *call = dx__get(stop, "call");
    yyjson_val *notify = dx__get(stop, "notify");
    yyjson_val *params = dx__get(stop, "params");
    facts->stop_call = yyjson_get_str(call);
    facts->stop_notify = yyjson_get_str(notify);
    facts->stop_call_ms = dx__ms(dx__get(stop, "callMs"), DX_NEVER);
    facts->stop_close_ms = dx__ms(dx__get(stop, "closeMs"), DX_NEVER);
    facts->stop_term_ms = dx__ms(dx__get(stop, "termMs"), DX_NEVER);
    yyjson_val *odd = params ? params : dx__get(stop, "callMs");
    if (!call && odd)
        return dx__flaw(load, odd, "there is no call");
    dx_status status = call ? check_step(load, call, false, params) : DX_OK;
    if (status == DX_OK)
        status = params_text(load, params, &load->protocol->stop_params);
    facts->stop_params = load->protocol->stop_params;
    return status == DX_OK && notify ? check_step(load, notify, true, NULL) : status;
}

static dx_status check_errata(dx__load *load, yyjson_val *errata) {
    dx__table table;
    dx__table_init(&table, &load->alloc);
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(errata);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        yyjson_val *id = dx__get(it, "id");
        yyjson_val *old;
        status = dx__table_put(&table, dx__text_of(id), id, &old);
        if (status == DX_OK && old)
            status = dx__flaw_named(load, id, "there is another erratum ", dx__text_of(id), "");
    }
    dx__table_done(&table);
    return status;
}

dx_status dx__read_facts(dx__load *load) {
    yyjson_val *duplex = dx__get(load->protocol->root, "x-duplex");
    dx_status status = read_plain(load, duplex);
    if (status == DX_OK)
        status = read_cancel(load, dx__get(duplex, "cancel"));
    if (status == DX_OK)
        status = read_progress(load, dx__get(duplex, "progress"));
    if (status == DX_OK)
        status = read_start(load, dx__get(duplex, "start"));
    if (status == DX_OK)
        status = read_stop(load, dx__get(duplex, "stop"));
    if (status == DX_OK)
        status = check_errata(load, dx__get(duplex, "errata"));
    return status;
}
