/* What a runner answered to actions/run or actions/runHandlers, in either spelling. */
#include "systems/finecode/wm_parts.h"

static yyjson_val *either(yyjson_val *object, const char *one, const char *other) {
    yyjson_val *value = yyjson_obj_get(object, one);
    return value ? value : yyjson_obj_get(object, other);
}

static dx_status misfit(dx__finecode_answer *answer, const char *why) {
    answer->why[0] = '\0';
    dx__say_str(answer->why, sizeof answer->why, why);
    return DX_MISFIT;
}

/* In the document's form another status is an error; the program takes it for success. */
static bool read_status(yyjson_val *value, bool real, dx_finecode_status *ret_status) {
    static const dx_finecode_status all[] = {DX_FINECODE_SUCCESS, DX_FINECODE_STREAMED,
                                             DX_FINECODE_STOPPED};
    yyjson_val *name = yyjson_obj_get(value, "status");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (yyjson_equals_str(name, dx_finecode_status_name(all[i]))) {
            *ret_status = all[i];
            return true;
        }
    *ret_status = DX_FINECODE_SUCCESS;
    return real;
}

static dx_status parse(const dx_allocator *alloc, yyjson_val *text, yyjson_doc **ret_doc) {
    dx_status status = dx__finecode_doc_of_text(alloc, dx_json_string(text), ret_doc);
    return status == DX_OK || status == DX_ERR_NOMEM ? status : DX_MISFIT;
}

/* NULL for an empty object. */
static dx_status read_formats(const dx_allocator *alloc, yyjson_val *value,
                              dx__finecode_answer *answer) {
    yyjson_val *formats = either(value, "resultByFormat", "result_by_format");
    yyjson_doc *doc = NULL;
    dx_status status = DX_OK;
    if (!formats || yyjson_is_null(formats))
        return DX_OK;
    if (yyjson_is_str(formats))
        status = parse(alloc, formats, &doc);
    else if (yyjson_is_obj(formats) && yyjson_obj_size(formats))
        status = dx__finecode_doc_of(alloc, formats, &doc);
    else if (!yyjson_is_obj(formats))
        status = DX_MISFIT;
    if (status == DX_OK && doc && !yyjson_is_obj(yyjson_doc_get_root(doc)))
        status = DX_MISFIT;
    if (status == DX_OK && doc && yyjson_obj_size(yyjson_doc_get_root(doc))) {
        answer->by_format = doc;
        return DX_OK;
    }
    yyjson_doc_free(doc);
    return status == DX_MISFIT ? misfit(answer, "the result by format is not an object") : status;
}

static dx_status read_code(yyjson_val *value, bool real, dx__finecode_answer *answer) {
    yyjson_val *code = either(value, "returnCode", "return_code");
    if (yyjson_is_int(code) && (!yyjson_is_uint(code) || yyjson_get_uint(code) <= INT64_MAX))
        answer->return_code = yyjson_get_sint(code);
    else if (code || !real)
        return misfit(answer, "the return code is not an integer");
    return DX_OK;
}

static dx_status read_result(yyjson_val *value, dx__finecode_answer *answer) {
    yyjson_val *result = yyjson_obj_get(value, "result");
    yyjson_val *context = yyjson_obj_get(value, "context");
    if (result && !yyjson_is_obj(result) && !yyjson_is_null(result))
        return misfit(answer, "the result is not an object");
    answer->result = yyjson_is_obj(result) ? result : NULL;
    answer->context = yyjson_is_obj(context) ? context : NULL;
    return DX_OK;
}

static dx_status read_failure(yyjson_val *error, dx__finecode_answer *answer) {
    answer->status = DX_FINECODE_FAILED;
    answer->why[0] = '\0';
    if (yyjson_is_str(error) && yyjson_get_len(error))
        dx__say(answer->why, sizeof answer->why, dx_json_string(error));
    else
        dx__say_str(answer->why, sizeof answer->why, "the runner gave no reason");
    return DX_OK;
}

static dx_status read_members(const dx_allocator *alloc, yyjson_val *value, bool handlers,
                              bool real, bool wanted, dx__finecode_answer *answer) {
    if (!read_status(value, real, &answer->status))
        return misfit(answer, "the status must be success, streamed or stopped");
    dx_status status = read_code(value, real, answer);
    if (status == DX_OK && handlers)
        status = read_result(value, answer);
    if (status == DX_OK)
        status = read_formats(alloc, value, answer);
    if (status == DX_OK && !real && !handlers && wanted && !answer->by_format &&
        answer->status != DX_FINECODE_STREAMED)
        return misfit(answer, "the result by format is empty, but the status is not streamed");
    return status;
}

dx_status dx__finecode_answer_read(const dx_allocator *alloc, yyjson_val *value, bool handlers,
                                   bool real, bool wanted, dx__finecode_answer *ret_answer) {
    *ret_answer = (dx__finecode_answer){.status = DX_FINECODE_SUCCESS};
    if (!yyjson_is_obj(value))
        return misfit(ret_answer, "the response is not an object");
    yyjson_val *error = yyjson_obj_get(value, "error");
    if (error)
        return read_failure(error, ret_answer);
    dx_status status = read_members(alloc, value, handlers, real, wanted, ret_answer);
    if (status != DX_OK) {
        yyjson_doc_free(ret_answer->by_format);
        ret_answer->by_format = NULL;
    }
    return status;
}
