/* The options of a run, in both revisions. */
#include "systems/finecode/er_parts.h"

static bool read_formats(yyjson_val *list, unsigned *ret_formats) {
    unsigned formats = 0;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    if (!yyjson_is_arr(list))
        return false;
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        if (yyjson_equals_str(it, "json"))
            formats |= DX_FINECODE_JSON;
        else if (yyjson_equals_str(it, "string"))
            formats |= DX_FINECODE_STRING;
        else
            return false;
    }
    *ret_formats = formats;
    return true;
}

static bool read_meta(yyjson_val *meta, bool is_needed, dx_finecode_origin *ret_origin) {
    dx_text trigger = dx__finecode_string(meta, "trigger");
    dx_text dev_env = dx__finecode_string(meta, "devEnv");
    yyjson_val *depth = yyjson_obj_get(meta, "orchestrationDepth");
    *ret_origin = (dx_finecode_origin){"unknown", "cli", 0};
    if (!yyjson_is_obj(meta))
        return !is_needed && (!meta || yyjson_is_null(meta));
    if (!dx_finecode_is_trigger(trigger) || !dx_finecode_is_dev_env(dev_env) ||
        (depth && (!yyjson_is_uint(depth) || yyjson_get_uint(depth) > UINT32_MAX)))
        return false;
    *ret_origin = (dx_finecode_origin){trigger.at, dev_env.at, (unsigned)yyjson_get_uint(depth)};
    return true;
}

/* A token that is null is none. */
static bool read_token(yyjson_val *options, const char *name, yyjson_val **ret_token) {
    yyjson_val *token = yyjson_obj_get(options, name);
    bool is_one = yyjson_is_str(token) || yyjson_is_int(token);
    *ret_token = is_one ? token : NULL;
    return is_one || !token || yyjson_is_null(token);
}

dx_status dx__finecode_er_options_read(const dx_finecode_er *er, yyjson_val *options,
                                       bool is_segment, dx__finecode_er_options *ret_options,
                                       const char **why, bool *ret_is_error) {
    dx__finecode_er_options read = {.formats = DX_FINECODE_JSON, .run_id = ""};
    yyjson_val *formats = yyjson_obj_get(options, "resultFormats");
    dx_text run_id = dx__finecode_string(options, "walRunId");
    /* By the document a segment says which formats it wants, and only the last one wants any. */
    if (is_segment && !er->is_real)
        read.formats = 0;
    *ret_is_error = false;
    if (er->is_real && !run_id.len) {
        *why = "Missing required wal_run_id in run options";
        return DX_MISFIT;
    }
    if (run_id.at)
        read.run_id = run_id.at;
    if (!read_meta(yyjson_obj_get(options, "meta"), er->is_real, &read.origin) ||
        (formats && !yyjson_is_null(formats) && !read_formats(formats, &read.formats)) ||
        !read_token(options, "partialResultToken", &read.token) ||
        !read_token(options, "progressToken", &read.progress)) {
        *why = "Invalid run options: meta, resultFormats or a token";
        *ret_is_error = true;
        return DX_MISFIT;
    }
    *ret_options = read;
    return DX_OK;
}
