#include "base/alloc.h"
#include "protocol/load.h"

enum { DEADLINE_MS = 30000 };

dx__message *dx__message_find(const dx_protocol *protocol, dx_text name) {
    size_t cursor = 0;
    uint64_t key = dx__hash(protocol->seed, name);
    for (dx__message *it; (it = dx__map_find(&protocol->names, key, &cursor));)
        if (it->name.len == name.len && (!name.len || !memcmp(it->name.at, name.at, name.len)))
            return it;
    return NULL;
}

const dx_method *dx_protocol_find(const dx_protocol *protocol, dx_text method) {
    const dx__message *message = dx__message_find(protocol, method);
    return message && message->value ? &message->method : NULL;
}

const dx_method *dx_protocol_method(const dx_protocol *protocol, size_t index) {
    return index < protocol->message_count ? &protocol->messages[index].method : NULL;
}

dx_status dx__message_named(dx__load *load, yyjson_val *name, dx__message **ret_message) {
    dx__message *message = dx__message_find(load->protocol, dx__text_of(name));
    if (message && !message->value)
        message = NULL;
    if (!message && !load->protocol->facts.open)
        return dx__flaw_named(load, name, "there is no method ", dx__text_of(name), "");
    *ret_message = message;
    return DX_OK;
}

dx_status dx__message_add(dx__load *load, dx_text name, yyjson_val *value) {
    dx_protocol *protocol = load->protocol;
    if (protocol->name_count == load->names_max)
        return DX_ERR_LIMIT;
    if (dx__map_reserve(&protocol->names) != DX_OK)
        return DX_ERR_NOMEM;
    dx__message *message = &protocol->messages[protocol->name_count];
    *message = (dx__message){.name = name, .value = value};
    message->method.name = name.at;
    message->method.index = protocol->name_count++;
    dx__map_put(&protocol->names, dx__hash(protocol->seed, name), message);
    return DX_OK;
}

static dx_status refuse(dx__load *load, yyjson_val *object, const char *const *names,
                        const char *why) {
    for (; *names; names++) {
        yyjson_val *value = dx__get(object, *names);
        if (value) {
            dx__line line = dx__flaw_at(load, value);
            dx__line_str(&line, why);
            return DX_ERR_INVALID;
        }
    }
    return DX_OK;
}

/* What only a request can have. */
static dx_status check_notification(dx__load *load, yyjson_val *method, yyjson_val *duplex) {
    static const char *const answer[] = {"result", "errors", NULL};
    static const char *const more[] = {"deadline", "late", "result", NULL};
    static const char why[] = "a notification has no response";
    yyjson_val *variants = dx__get(duplex, "variants");
    dx_status status = refuse(load, method, answer, why);
    if (status == DX_OK)
        status = refuse(load, duplex, more, why);
    if (status == DX_OK)
        status = refuse(load, dx__get(variants, "host"), more, why);
    if (status == DX_OK)
        status = refuse(load, dx__get(variants, "plugin"), more, why);
    return status;
}

/* Can that side cancel what it has asked? If the method is not listed, nobody knows better. */
static bool can_cancel(const dx_protocol *protocol, yyjson_val *document, dx_side side) {
    yyjson_val *name = dx__get(dx__get(document, "cancel"), "method");
    const dx__message *message = name ? dx__message_find(protocol, dx__text_of(name)) : NULL;
    if (!message)
        return name;
    return side == DX_SIDE_HOST ? message->method.from_host : message->method.from_plugin;
}

/* Who wants to cancel must be able to. */
static dx_status check_late(dx__load *load, yyjson_val *object, dx_side side) {
    yyjson_val *document = dx__get(load->protocol->root, "x-duplex");
    yyjson_val *late = dx__get(object, "late");
    if (!late || !yyjson_equals_str(late, "cancel") || can_cancel(load->protocol, document, side))
        return DX_OK;
    if (!dx__get(document, "cancel"))
        return dx__flaw(load, late, "the protocol does not say how to cancel a request");
    return dx__flaw(load, late,
                    side == DX_SIDE_HOST ? "the host cannot cancel its requests"
                                         : "the plugin cannot cancel its requests");
}

static dx_status check_optional(dx__load *load, yyjson_val *object, yyjson_val *params) {
    yyjson_val *optional = dx__get(object, "optional");
    if (optional && !params)
        return dx__flaw(load, optional, "there is no schema for what is optional");
    return DX_OK;
}

static dx_status check_variant(dx__load *load, const dx__message *message, yyjson_val *duplex,
                               dx_side side) {
    bool host = side == DX_SIDE_HOST;
    yyjson_val *variant = dx__get(dx__get(duplex, "variants"), host ? "host" : "plugin");
    if (!variant)
        return DX_OK;
    if (!(host ? message->method.from_host : message->method.from_plugin))
        return dx__flaw(load, variant,
                        host ? "'from' says that the host does not send it"
                             : "'from' says that the plugin does not send it");
    dx_status status = check_late(load, variant, side);
    if (status == DX_OK)
        status = check_optional(load, variant, message->params[dx__column(side)]);
    return status;
}

static dx_status check_method(dx__load *load, const dx__message *message) {
    yyjson_val *duplex = dx__get(message->value, "x-duplex");
    dx_status status = DX_OK;
    if (message->method.notification)
        status = check_notification(load, message->value, duplex);
    if (status == DX_OK && message->method.from_host)
        status = check_late(load, duplex, DX_SIDE_HOST);
    if (status == DX_OK && message->method.from_plugin)
        status = check_late(load, duplex, DX_SIDE_PLUGIN);
    if (status == DX_OK)
        status = check_variant(load, message, duplex, DX_SIDE_HOST);
    if (status == DX_OK)
        status = check_variant(load, message, duplex, DX_SIDE_PLUGIN);
    if (status == DX_OK)
        status = check_optional(load, duplex,
                                message->params[0] ? message->params[0] : message->params[1]);
    if (status == DX_OK)
        status = dx__check_params(load, message->value);
    if (status == DX_OK)
        status = dx__check_errors(load, message->value);
    return status;
}

static yyjson_val *either(yyjson_val *variant, yyjson_val *duplex, const char *name) {
    yyjson_val *value = dx__get(variant, name);
    return value ? value : dx__get(duplex, name);
}

static dx_late late_of(yyjson_val *late, bool can_cancel) {
    if (!late)
        return can_cancel ? DX_LATE_CANCEL : DX_LATE_FAIL;
    return yyjson_equals_str(late, "cancel") ? DX_LATE_CANCEL
           : yyjson_equals_str(late, "kill") ? DX_LATE_KILL
                                             : DX_LATE_FAIL;
}

static void read_side(dx__load *load, dx__message *message, dx_side side) {
    yyjson_val *document = dx__get(load->protocol->root, "x-duplex");
    yyjson_val *duplex = dx__get(message->value, "x-duplex");
    yyjson_val *variants = dx__get(duplex, "variants");
    yyjson_val *variant = dx__get(variants, side == DX_SIDE_HOST ? "host" : "plugin");
    dx_method *method = &message->method;
    unsigned column = dx__column(side);
    message->params[column] = either(variant, duplex, "params");
    yyjson_val *result = dx__get(variant, "result");
    message->results[column] =
        result ? result : dx__get(dx__get(message->value, "result"), "schema");
    method->has_params[side] = message->params[column] != NULL;
    method->optional[side] = yyjson_get_bool(either(variant, duplex, "optional"));
    if (method->notification) {
        method->deadline_ms[side] = DX_NEVER;
        return;
    }
    method->late[side] =
        late_of(either(variant, duplex, "late"), can_cancel(load->protocol, document, side));
    method->deadline_ms[side] = dx__ms(either(variant, duplex, "deadline"),
                                       dx__ms(dx__get(document, "deadline"), DEADLINE_MS));
}

static void read_method(dx__message *message) {
    yyjson_val *duplex = dx__get(message->value, "x-duplex");
    yyjson_val *from = dx__get(duplex, "from");
    dx_method *method = &message->method;
    method->summary = yyjson_get_str(dx__get(message->value, "summary"));
    method->description = yyjson_get_str(dx__get(message->value, "description"));
    method->from_host = !yyjson_equals_str(from, "plugin");
    method->from_plugin = !yyjson_equals_str(from, "host");
    method->notification = yyjson_get_bool(dx__get(duplex, "notification"));
}

/* Only an open protocol may know more names than it lists. */
static size_t names_at_most(const dx__load *load, size_t methods) {
    yyjson_val *duplex = dx__get(load->protocol->root, "x-duplex");
    if (!yyjson_get_bool(dx__get(duplex, "open")))
        return methods;
    yyjson_val *lifecycle = dx__get(duplex, "lifecycle");
    size_t count = methods + yyjson_arr_size(dx__get(lifecycle, "moves"));
    count += (dx__get(duplex, "cancel") != NULL) + (dx__get(duplex, "progress") != NULL);
    yyjson_obj_iter iter = yyjson_obj_iter_with(dx__get(lifecycle, "states"));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *state = yyjson_obj_iter_get_val(key);
        count += yyjson_arr_size(dx__get(state, "host")) +
                 yyjson_arr_size(dx__get(state, "plugin")) +
                 yyjson_arr_size(dx__get(state, "never"));
    }
    return count;
}

static dx_status make_room(dx__load *load, yyjson_val *methods) {
    size_t count = yyjson_arr_size(methods);
    if (count > load->config.methods_max) {
        dx__line line = dx__flaw_at(load, methods);
        dx__line_str(&line, "more than ");
        dx__line_num(&line, load->config.methods_max);
        dx__line_str(&line, " methods");
        return DX_ERR_LIMIT;
    }
    count = names_at_most(load, count);
    load->names_max = count < load->config.methods_max ? count : load->config.methods_max;
    load->protocol->messages =
        dx__malloc(&load->alloc, (load->names_max + 1) * sizeof *load->protocol->messages);
    return load->protocol->messages ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx__read_methods(dx__load *load) {
    dx_protocol *protocol = load->protocol;
    yyjson_val *methods = dx__get(protocol->root, "methods");
    dx_status status = make_room(load, methods);
    yyjson_arr_iter iter = yyjson_arr_iter_with(methods);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        status = dx__message_add(load, dx__text_of(dx__get(it, "name")), it);
        if (status == DX_OK)
            read_method(&protocol->messages[protocol->message_count++]);
    }
    for (size_t i = 0; status == DX_OK && i < protocol->message_count; i++) {
        read_side(load, &protocol->messages[i], DX_SIDE_HOST);
        read_side(load, &protocol->messages[i], DX_SIDE_PLUGIN);
    }
    for (size_t i = 0; status == DX_OK && i < protocol->message_count; i++)
        status = check_method(load, &protocol->messages[i]);
    return status;
}
