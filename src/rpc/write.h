/* Writing for those who have checked the id already (it came from a scan, or is a counter). */
#ifndef DX_RPC_WRITE_H
#define DX_RPC_WRITE_H

#include <duplex/rpc.h>

dx_status dx__rpc_put_request(dx_buf *buf, dx_text id, dx_text method, dx_json params);
dx_status dx__rpc_put_result(dx_buf *buf, dx_text id, dx_json result);
/* An empty id leaves the member out. */
dx_status dx__rpc_put_error(dx_buf *buf, dx_text id, int64_t code, dx_text message, dx_json data);

/* Writes a tree that has no number with a point and no string that needs escapes, and is not deep.
 * DX_AGAIN: it is not like that, and nothing was done. */
dx_status dx__json_put_plain(dx_buf *buf, yyjson_val *value);

enum dx__form { DX__NONE, DX__VALUE, DX__BUILT, DX__TEXT, DX__CHECKED, DX__NULL };

/* How long the value will be if it is text, which is sent as it is; else 0. */
static inline size_t dx__json_size(dx_json value) {
    return value.form >= DX__TEXT ? value.len : 0;
}
/* The text that a tree was read from, if `value` is that tree; else `value`. */
dx_json dx__json_as_it_came(dx_json value, const yyjson_val *tree, dx_text text);
/* The null that some protocols send as the params of a message that has none. */
static inline dx_json dx__json_null(void) {
    return (dx_json){DX__NULL, NULL, 0};
}
/* Is it something that can stand as params? */
int dx__json_is_params_other(dx_json value);
static inline int dx__json_is_params(dx_json value) {
    if (value.form == DX__VALUE)
        return yyjson_is_ctn((yyjson_val *)(uintptr_t)value.at);
    return dx__json_is_params_other(value);
}

#endif
