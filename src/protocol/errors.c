/* Error codes and their names. */
#include "base/alloc.h"
#include "protocol/load.h"

#include <duplex/rpc.h>

/* What JSON-RPC itself names. */
static const dx__failure common[] = {
    {DX_CODE_PARSE, "ParseError", "Parse error", NULL},
    {DX_CODE_REQUEST, "InvalidRequest", "Invalid Request", NULL},
    {DX_CODE_METHOD, "MethodNotFound", "Method not found", NULL},
    {DX_CODE_PARAMS, "InvalidParams", "Invalid params", NULL},
    {DX_CODE_INTERNAL, "InternalError", "Internal error", NULL},
};

static const dx__failure *failure_of(const dx_protocol *protocol, int64_t code) {
    for (size_t i = 0; i < protocol->failure_count; i++)
        if (protocol->failures[i].code == code)
            return &protocol->failures[i];
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (common[i].code == code)
            return &common[i];
    return NULL;
}

const char *dx_protocol_error_name(const dx_protocol *protocol, int64_t code,
                                   const char **ret_message) {
    const dx__failure *failure = failure_of(protocol, code);
    if (failure && ret_message)
        *ret_message = failure->message;
    return failure ? failure->name : NULL;
}

/* There are no more codes than errors, and those that are common: few, or it is no protocol. */
enum { ERRORS_MAX = 1024 };

static dx_status read_error(dx__load *load, yyjson_val *key, yyjson_val *error) {
    dx_protocol *protocol = load->protocol;
    int64_t code = dx__integer(dx__get(error, "code"));
    for (size_t i = 0; i < protocol->failure_count; i++)
        if (protocol->failures[i].code == code)
            return dx__flaw_named(load, dx__get(error, "code"), "that is the code of ",
                                  dx_str(protocol->failures[i].name), ", too");
    protocol->failures[protocol->failure_count++] = (dx__failure){
        code, unsafe_yyjson_get_str(key), yyjson_get_str(dx__get(error, "message")), error};
    return DX_OK;
}

dx_status dx__read_errors(dx__load *load) {
    dx_protocol *protocol = load->protocol;
    yyjson_val *errors = dx__get(dx__get(protocol->root, "components"), "errors");
    size_t count = yyjson_obj_size(errors);
    if (!count)
        return DX_OK;
    if (count > ERRORS_MAX) {
        dx__flaw(load, errors, "more than 1024 errors");
        return DX_ERR_LIMIT;
    }
    protocol->failures = dx__malloc(&load->alloc, count * sizeof *protocol->failures);
    if (!protocol->failures)
        return DX_ERR_NOMEM;
    yyjson_obj_iter iter = yyjson_obj_iter_with(errors);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        dx_status status = read_error(load, key, yyjson_obj_iter_get_val(key));
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

/* The code of an item of a method's list; the item may be a reference. */
static dx_status code_of(dx__load *load, yyjson_val *item, int64_t *ret_code) {
    yyjson_val *reference = dx__get(item, "$ref");
    yyjson_val *error = item;
    if (reference)
        error = dx__resolve(load->protocol->root, dx__text_of(reference));
    if (!error || !dx__get(error, "code"))
        return dx__flaw_named(load, reference ? reference : item, "the reference ",
                              dx__text(reference), " leads to no error");
    *ret_code = dx__integer(dx__get(error, "code"));
    if (!failure_of(load->protocol, *ret_code))
        return dx__flaw(load, dx__get(error, "code"), "no error in components has that code");
    return DX_OK;
}

/* Codes that are known are few: so is what has to be compared before one stands there twice. */
dx_status dx__check_errors(dx__load *load, yyjson_val *method) {
    int64_t codes[ERRORS_MAX + sizeof common / sizeof *common + 1];
    size_t count = 0;
    yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(method, "errors"));
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter)); count++) {
        dx_status status = code_of(load, item, &codes[count]);
        if (status != DX_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            if (codes[i] == codes[count])
                return dx__flaw(load, item, "that error is listed twice");
    }
    return DX_OK;
}
