#include "base/buf.h"
#include "protocol/page.h"

#include <duplex/rpc.h>

static const char *sender(const dx__page *page, dx_side side) {
    const dx_protocol_facts *facts = &page->protocol->facts;
    return side == DX_SIDE_HOST ? facts->host : facts->plugin;
}

static void put_head(dx__page *page, const dx_method *method) {
    dx__page_put(page, "\n### ");
    dx__page_code(page, method->name);
    dx__page_put(page, "\n\n");
    dx__page_text(page, method->summary);
    dx__page_put(page, "\n\nA ");
    dx__page_put(page, method->notification ? "notification" : "request");
    dx__page_put(page, " from ");
    if (method->from_host)
        dx__page_text(page, sender(page, DX_SIDE_HOST));
    if (method->from_host && method->from_plugin)
        dx__page_put(page, " or ");
    if (method->from_plugin)
        dx__page_text(page, sender(page, DX_SIDE_PLUGIN));
    dx__page_put(page, ".\n");
    if (method->description) {
        dx__page_put(page, "\n");
        dx__page_text(page, method->description);
        dx__page_put(page, "\n");
    }
}

static void put_param(dx__page *page, yyjson_val *param) {
    yyjson_val *schema = dx__get(param, "schema");
    const char *text = yyjson_get_str(dx__get(param, "description"));
    if (!text)
        text = yyjson_get_str(dx__get(param, "summary"));
    if (!text)
        text = yyjson_get_str(dx__get(schema, "description"));
    dx__page_put(page, "| ");
    dx__page_code(page, yyjson_get_str(dx__get(param, "name")));
    dx__page_put(page, " | ");
    dx__page_schema(page, schema);
    dx__page_put(page, yyjson_get_bool(dx__get(param, "required")) ? " | yes |" : " | |");
    dx__page_cell(page, text);
    dx__page_put(page, "\n");
}

static void put_params(dx__page *page, const dx__message *message, dx_side side) {
    yyjson_val *schema = message->params[dx__column(side)];
    yyjson_val *list = dx__get(message->value, "params");
    if (!schema) {
        dx__page_put(page, "\nNo params.\n");
        return;
    }
    if (!yyjson_arr_size(list)) {
        dx__page_put(page, "\nParams: ");
        dx__page_schema(page, schema);
    } else {
        dx__page_put(page, "\n| param | type | required | |\n| --- | --- | --- | --- |\n");
        yyjson_arr_iter iter = yyjson_arr_iter_with(list);
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            put_param(page, it);
    }
    if (message->method.optional[side])
        dx__page_put(page,
                     yyjson_arr_size(list) ? "\nParams are optional.\n" : "; they are optional.\n");
    else if (!yyjson_arr_size(list))
        dx__page_put(page, ".\n");
}

static void put_deadline(dx__page *page, const dx_method *method, dx_side side) {
    static const char *const then[] = {
        [DX_LATE_FAIL] = "then the call fails",
        [DX_LATE_CANCEL] = "then it is cancelled",
        [DX_LATE_KILL] = "then the other side is stopped",
    };
    dx__page_put(page, "- Response within: ");
    dx__page_time(page, method->deadline_ms[side]);
    if (method->deadline_ms[side] != DX_NEVER) {
        dx__page_put(page, ", ");
        dx__page_put(page, then[method->late[side]]);
    }
    dx__page_put(page, ".\n");
}

static void put_answer(dx__page *page, const dx__message *message, dx_side side) {
    yyjson_val *result = message->results[dx__column(side)];
    dx__page_put(page, "\n- Result: ");
    if (result)
        dx__page_schema(page, result);
    else
        dx__page_put(page, "anything");
    dx__page_put(page, ".\n");
    put_deadline(page, &message->method, side);
}

static void put_errors(dx__page *page, yyjson_val *errors) {
    if (!yyjson_arr_size(errors))
        return;
    dx__page_put(page, "- Errors: ");
    bool some = false;
    yyjson_arr_iter iter = yyjson_arr_iter_with(errors);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)); some = true) {
        yyjson_val *reference = dx__get(it, "$ref");
        yyjson_val *error = reference ? dx__resolve(page->root, dx__text(reference)) : it;
        yyjson_val *code = dx__get(error, "code");
        const char *name = dx_protocol_error_name(page->protocol, dx__integer(code), NULL);
        dx__page_put(page, some ? ", " : "");
        dx__page_text(page, name ? name : "");
        dx__page_put(page, " (");
        dx__page_json(page, code);
        dx__page_put(page, ")");
    }
    dx__page_put(page, ".\n");
}

static void put_sample(dx__page *page, const dx_method *method, dx_side side, dx_part part) {
    if (page->status == DX_OK)
        page->status = dx_protocol_example(page->protocol, method, side, part, page->out);
}

static void put_example(dx__page *page, const dx__message *message, dx_side side) {
    const dx_method *method = &message->method;
    dx__page_put(page, "\n```json\n{\"jsonrpc\":\"2.0\",");
    dx__page_put(page, method->notification ? "" : "\"id\":1,");
    dx__page_put(page, "\"method\":");
    if (page->status == DX_OK)
        page->status = dx_json_write_string(page->out, message->name);
    if (method->has_params[side] && !method->optional[side]) {
        dx__page_put(page, ",\"params\":");
        put_sample(page, method, side, DX_PART_PARAMS);
    }
    dx__page_put(page, "}\n");
    if (!method->notification) {
        dx__page_put(page, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":");
        put_sample(page, method, side, DX_PART_RESULT);
        dx__page_put(page, "}\n");
    }
    dx__page_put(page, "```\n");
}

/* What differs when the other side sends it. */
static void put_variant(dx__page *page, const dx__message *message, dx_side side) {
    yyjson_val *variants = dx__get(dx__get(message->value, "x-duplex"), "variants");
    yyjson_val *variant = dx__get(variants, side == DX_SIDE_HOST ? "host" : "plugin");
    if (!variant)
        return;
    dx__page_put(page, "\nFrom ");
    dx__page_text(page, sender(page, side));
    dx__page_put(page, ": ");
    const char *summary = yyjson_get_str(dx__get(variant, "summary"));
    dx__page_text(page, summary ? summary : message->method.summary);
    dx__page_put(page, "\n");
    yyjson_val *params = message->params[dx__column(side)];
    if (dx__get(variant, "params")) {
        dx__page_put(page, "\nParams: ");
        dx__page_schema(page, params);
        dx__page_put(page, message->method.optional[side] ? "; they are optional.\n" : ".\n");
    }
    if (!message->method.notification)
        put_answer(page, message, side);
    put_example(page, message, side);
}

void dx__page_method(dx__page *page, const dx__message *message) {
    const dx_method *method = &message->method;
    yyjson_val *variants = dx__get(dx__get(message->value, "x-duplex"), "variants");
    dx_side side = method->from_host ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    /* The text is that of a side for which nothing differs, if there is one. */
    if (side == DX_SIDE_HOST && method->from_plugin && dx__get(variants, "host") &&
        !dx__get(variants, "plugin"))
        side = DX_SIDE_PLUGIN;
    put_head(page, method);
    put_params(page, message, side);
    if (!method->notification) {
        put_answer(page, message, side);
        put_errors(page, dx__get(message->value, "errors"));
    }
    put_example(page, message, side);
    if (side != DX_SIDE_HOST || !method->from_plugin)
        put_variant(page, message, DX_SIDE_HOST);
    if (side != DX_SIDE_PLUGIN)
        put_variant(page, message, DX_SIDE_PLUGIN);
}
