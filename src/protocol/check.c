/* Does a part of a message fit? Its schema is compiled when that is first asked. */
#include "base/alloc.h"
#include "protocol/load.h"

static dx_status ready_set(dx_protocol *protocol, dx_misfit *why) {
    if (!protocol->check) {
        dx_check_config config = dx_check_defaults();
        config.allocator = &protocol->alloc;
        dx_status status = dx_check_new(&config, &protocol->check);
        if (status != DX_OK)
            return status;
    }
    if (protocol->schemas)
        return DX_OK;
    dx_schemas_config config = dx_schemas_defaults();
    config.allocator = &protocol->alloc;
    dx_schemas *schemas;
    dx_status status = dx_schemas_new(&config, &schemas);
    if (status != DX_OK)
        return status;
    status = dx_schemas_add(schemas, (dx_text){"", 0}, protocol->root, why);
    if (status != DX_OK) {
        dx_schemas_free(schemas);
        return status;
    }
    protocol->schemas = schemas;
    return DX_OK;
}

/* Where in the document the schema of a part stands. */
static void write_uri(dx__line *line, const dx__message *message, dx_side from, dx_part part) {
    const char *side = from == DX_SIDE_PLUGIN ? "plugin" : "host";
    const char *member = part == DX_PART_PARAMS ? "params" : "result";
    yyjson_val *variants = dx__get(dx__get(message->value, "x-duplex"), "variants");
    bool varies = dx__get(dx__get(variants, side), member);
    dx__line_str(line, "#");
    dx__line_str(line, "/methods");
    dx__line_index(line, message->method.index);
    if (varies) {
        dx__line_str(line, "/x-duplex/variants/");
        dx__line_str(line, side);
        dx__line_str(line, "/");
        dx__line_str(line, member);
    } else {
        dx__line_str(line, part == DX_PART_PARAMS ? "/x-duplex/params" : "/result/schema");
    }
}

dx_status dx__schema_ready(dx_protocol *protocol, dx__message *message, dx_side from, dx_part part,
                           dx_schema **ret_schema, dx_misfit *why) {
    unsigned column = dx__column(from);
    dx_schema **kept = &message->schemas[column][part == DX_PART_RESULT];
    yyjson_val *value = part == DX_PART_RESULT ? message->results[column] : message->params[column];
    if (!*kept && value) {
        dx_status status = ready_set(protocol, why);
        if (status != DX_OK)
            return status;
        char uri[80];
        dx__line line = dx__line_on(uri, sizeof uri);
        write_uri(&line, message, from, part);
        status = dx_schemas_compile(protocol->schemas, (dx_text){uri, line.len}, kept, why);
        if (status != DX_OK)
            return status;
    }
    *ret_schema = *kept;
    return DX_OK;
}

static dx_status misfit(dx_misfit *why, const char *keyword, const char *phrase) {
    if (!why)
        return DX_MISFIT;
    *why = (dx_misfit){.instance = ""};
    dx__line line = dx__line_on(why->keyword, sizeof why->keyword);
    dx__line_str(&line, keyword);
    line = dx__line_on(why->phrase, sizeof why->phrase);
    dx__line_str(&line, phrase);
    return DX_MISFIT;
}

dx_status dx_protocol_check(dx_protocol *protocol, const dx_method *method, dx_side from,
                            dx_part part, yyjson_val *value, unsigned flags, dx_misfit *reterr) {
    /* What was handed out as const is ours to change. */
    dx__message *message = &protocol->messages[method->index];
    bool params = part == DX_PART_PARAMS;
    if (params && yyjson_is_null(value) && (protocol->facts.lenient & DX_LENIENT_NULL_PARAMS) &&
        (!method->has_params[from] || method->optional[from]))
        return DX_OK;
    if (params && !value)
        return !method->has_params[from] || method->optional[from]
                   ? DX_OK
                   : misfit(reterr, "required", "the params are missing");
    if (params && !method->has_params[from])
        return yyjson_is_ctn(value) && !yyjson_get_len(value)
                   ? DX_OK
                   : misfit(reterr, "params", "expected no params, or empty ones");
    if (!value)
        return misfit(reterr, "required", "the result is missing");
    dx_schema *schema;
    dx_status status = dx__schema_ready(protocol, message, from, part, &schema, reterr);
    if (status != DX_OK || !schema)
        return status;
    return dx_schema_check(schema, value, flags, protocol->check, reterr);
}

/* A flaw in a schema is told like any other flaw of the document; its place is one in the whole. */
static dx_status tell(const dx_protocol *protocol, const dx_misfit *misfit, dx_status status,
                      dx_misfit *reterr) {
    if (!reterr || (status != DX_ERR_INVALID && status != DX_ERR_LIMIT))
        return status;
    enum { FILE_ROOM = 128 };
    char file[FILE_ROOM];
    dx__path_cut(protocol->file, strlen(protocol->file), file, sizeof file);
    const char *phrase = misfit->phrase;
    phrase += phrase[0] == '#';
    dx__line line = dx__line_on(reterr->phrase, sizeof reterr->phrase);
    dx__line_str(&line, file);
    dx__line_str(&line, ": ");
    dx__line_str(&line, phrase);
    line = dx__line_on(reterr->instance, sizeof reterr->instance);
    dx__line_str(&line, misfit->schema + (misfit->schema[0] == '#'));
    reterr->schema[0] = '\0';
    memcpy(reterr->keyword, misfit->keyword, sizeof misfit->keyword);
    return status;
}

static dx_status ready_message(dx_protocol *protocol, dx__message *message, dx_misfit *why) {
    static const dx_side sides[] = {DX_SIDE_HOST, DX_SIDE_PLUGIN};
    static const dx_part parts[] = {DX_PART_PARAMS, DX_PART_RESULT};
    for (unsigned i = 0; i < DX__SIDES; i++)
        for (unsigned part = 0; part < 2; part++) {
            dx_schema *schema;
            dx_status status =
                dx__schema_ready(protocol, message, sides[i], parts[part], &schema, why);
            if (status != DX_OK)
                return status;
        }
    return DX_OK;
}

/* Do the params at `place` fit? */
static dx_status check_own(dx_protocol *protocol, const char *name, yyjson_val *params,
                           const char *place, dx_misfit *reterr) {
    const dx_method *method = name ? dx_protocol_find(protocol, dx_str(name)) : NULL;
    if (!method || !params)
        return DX_OK;
    dx_misfit why;
    dx_status status =
        dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_PARAMS, params, 0, &why);
    if (status != DX_MISFIT)
        return status;
    dx_misfit whole = {.schema = ""};
    dx__line schema = dx__line_on(whole.schema, sizeof whole.schema);
    dx__line_str(&schema, place);
    dx__line line = dx__line_on(whole.phrase, sizeof whole.phrase);
    dx__line_str(&line, whole.schema);
    dx__line_str(&line, why.instance[0] ? "" : ": ");
    dx__line_str(&line, why.phrase);
    return tell(protocol, &whole, DX_ERR_INVALID, reterr);
}

/* What the host sends by itself, at the start and at the end. */
static dx_status check_steps(dx_protocol *protocol, dx_misfit *reterr) {
    yyjson_val *duplex = dx__get(protocol->root, "x-duplex");
    const dx_protocol_facts *facts = &protocol->facts;
    yyjson_val *start = dx__get(duplex, "start");
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && facts->start && facts->start[i].method; i++) {
        char place[40];
        dx__line line = dx__line_on(place, sizeof place);
        dx__line_str(&line, "#/x-duplex/start/");
        dx__line_num(&line, i);
        dx__line_str(&line, "/params");
        status = check_own(protocol, facts->start[i].method,
                           dx__get(yyjson_arr_get(start, i), "params"), place, reterr);
    }
    if (status != DX_OK)
        return status;
    return check_own(protocol, facts->stop_call, dx__get(dx__get(duplex, "stop"), "params"),
                     "#/x-duplex/stop/params", reterr);
}

/* Schemas that no message uses are checked, too. */
static dx_status ready_components(dx_protocol *protocol, dx_misfit *why) {
    yyjson_val *schemas = dx__get(dx__get(protocol->root, "components"), "schemas");
    dx_status status = ready_set(protocol, why);
    yyjson_obj_iter iter = yyjson_obj_iter_with(schemas);
    for (yyjson_val *key; status == DX_OK && (key = yyjson_obj_iter_next(&iter));) {
        char uri[1024];
        dx__line line = dx__line_on(uri, sizeof uri);
        dx__line_str(&line, "#/components/schemas");
        dx__line_token(&line, dx__text_of(key));
        bool plain = !memchr(uri, '%', line.len) && line.len + 1 < sizeof uri;
        dx_schema *schema;
        if (plain)
            status = dx_schemas_compile(protocol->schemas, (dx_text){uri, line.len}, &schema, why);
    }
    return status;
}

dx_status dx_protocol_check_all(dx_protocol *protocol, dx_misfit *reterr) {
    dx_misfit why = {.instance = ""};
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < protocol->message_count; i++)
        status = ready_message(protocol, &protocol->messages[i], &why);
    if (status == DX_OK)
        status = ready_components(protocol, &why);
    if (status != DX_OK)
        return tell(protocol, &why, status, reterr);
    return check_steps(protocol, reterr);
}
