/* Writing for those who have checked the id already (it came from a scan, or is a counter). */
#ifndef DX_RPC_WRITE_H
#define DX_RPC_WRITE_H

#include <duplex/rpc.h>

dx_status dx__rpc_put_request(dx_buf *buf, dx_text id, dx_text method, dx_json params);
dx_status dx__rpc_put_result(dx_buf *buf, dx_text id, dx_json result);
dx_status dx__rpc_put_error(dx_buf *buf, dx_text id, int64_t code, dx_text message, dx_json data);

/* How long the value will be if it is text, which is sent as it is; else 0. */
size_t dx__json_size(dx_json value);
/* The text that a tree was read from, if `value` is that tree; else `value`. */
dx_json dx__json_as_it_came(dx_json value, const yyjson_val *tree, dx_text text);
/* Is it something that can stand as params? */
int dx__json_is_params(dx_json value);

#endif
