/* OpenRPC lists the params of a method one by one, for readers; the schema alone rules. Here the
 * two are compared. */
#include "protocol/load.h"
#include "protocol/table.h"

/* A schema whose members can't be read from it without thinking. */
static bool is_composed(yyjson_val *schema) {
    static const char *const words[] = {"allOf", "anyOf",       "oneOf",
                                        "items", "prefixItems", "patternProperties"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dx__get(schema, words[i]))
            return true;
    return false;
}

static bool is_params_type(yyjson_val *type) {
    return yyjson_equals_str(type, "object") || yyjson_equals_str(type, "array");
}

/* Could an object or an array fit? What can't be seen at once is taken for a yes. */
static bool may_be_params(yyjson_val *schema) {
    if (yyjson_is_bool(schema))
        return yyjson_get_bool(schema);
    yyjson_val *type = dx__get(schema, "type");
    yyjson_val *constant = dx__get(schema, "const");
    yyjson_val *list = dx__get(schema, "enum");
    if ((yyjson_is_str(type) && !is_params_type(type)) || (constant && !yyjson_is_ctn(constant)))
        return false;
    bool some = !yyjson_is_arr(type);
    yyjson_arr_iter iter = yyjson_arr_iter_with(type);
    for (yyjson_val *it; !some && (it = yyjson_arr_iter_next(&iter));)
        some = is_params_type(it);
    bool listed = !yyjson_is_arr(list);
    iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; !listed && (it = yyjson_arr_iter_next(&iter));)
        listed = yyjson_is_ctn(it);
    return some && listed;
}

static dx_status check_type(dx__load *load, yyjson_val *schema) {
    if (!schema || may_be_params(dx__schema_of(load->protocol->root, schema)))
        return DX_OK;
    return dx__flaw(load, schema,
                    "params are an object or an array, but the schema allows neither");
}

struct both {
    dx__table properties;
    dx__table required;
};

static dx_status compare_one(dx__load *load, struct both *both, yyjson_val *item) {
    yyjson_val *name = dx__get(item, "name");
    dx__row *row = dx__table_find(&both->properties, dx__text_of(name));
    if (!row)
        return dx__flaw_named(load, name, "the schema of the params has no ", dx__text_of(name),
                              "");
    if (!row->value)
        return dx__flaw_named(load, name, "", dx__text_of(name), " is listed twice");
    row->value = NULL;
    bool listed = yyjson_get_bool(dx__get(item, "required"));
    bool needed = dx__table_find(&both->required, dx__text_of(name));
    if (listed != needed)
        return dx__flaw_named(load, item, "", dx__text_of(name),
                              needed ? " is required in the schema of the params, but not here"
                                     : " is required here, but not in the schema of the params");
    return DX_OK;
}

static dx_status fill(struct both *both, yyjson_val *schema) {
    if (dx__table_put_all(&both->properties, dx__get(schema, "properties")) != DX_OK)
        return DX_ERR_NOMEM;
    yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(schema, "required"));
    for (yyjson_val *name; (name = yyjson_arr_iter_next(&iter));)
        if (yyjson_is_str(name) &&
            dx__table_put(&both->required, dx__text_of(name), name, NULL) != DX_OK)
            return DX_ERR_NOMEM;
    return DX_OK;
}

static dx_status compare(dx__load *load, struct both *both, yyjson_val *list, yyjson_val *schema) {
    dx_status status = fill(both, schema);
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *item; status == DX_OK && (item = yyjson_arr_iter_next(&iter));)
        status = compare_one(load, both, item);
    for (size_t i = 0; status == DX_OK && i < both->properties.count; i++)
        if (both->properties.rows[i].value)
            status = dx__flaw_named(load, list, "the schema of the params has ",
                                    both->properties.rows[i].name, ", which is not listed");
    return status;
}

static dx_status check_list(dx__load *load, yyjson_val *list, yyjson_val *schema) {
    yyjson_val *real = schema ? dx__schema_of(load->protocol->root, schema) : NULL;
    if (!schema && yyjson_arr_size(list))
        return dx__flaw(load, list, "lists params, but x-duplex has no schema for them");
    if (!yyjson_is_obj(real) || is_composed(real))
        return DX_OK;
    struct both both;
    dx__table_init(&both.properties, &load->alloc);
    dx__table_init(&both.required, &load->alloc);
    dx_status status = compare(load, &both, list, real);
    dx__table_done(&both.properties);
    dx__table_done(&both.required);
    return status;
}

dx_status dx__check_params(dx__load *load, yyjson_val *method) {
    yyjson_val *duplex = dx__get(method, "x-duplex");
    yyjson_val *variants = dx__get(duplex, "variants");
    yyjson_val *schemas[] = {dx__get(duplex, "params"),
                             dx__get(dx__get(variants, "host"), "params"),
                             dx__get(dx__get(variants, "plugin"), "params")};
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        dx_status status = check_type(load, schemas[i]);
        if (status != DX_OK)
            return status;
    }
    yyjson_val *first = schemas[0] ? schemas[0] : schemas[1] ? schemas[1] : schemas[2];
    return check_list(load, dx__get(method, "params"), first);
}
