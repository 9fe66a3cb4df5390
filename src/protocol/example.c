/* Examples of messages, for people and for tests. */
#include "protocol/load.h"
#include "protocol/sample.h"

dx_status dx_protocol_example(const dx_protocol *protocol, const dx_method *method, dx_side from,
                              dx_part part, dx_buf *json) {
    const dx__message *message = &protocol->messages[method->index];
    bool sent = from == DX_SIDE_HOST ? method->from_host : method->from_plugin;
    bool params = part == DX_PART_PARAMS;
    unsigned column = dx__column(from);
    yyjson_val *schema = params ? message->params[column] : message->results[column];
    if (!sent || (params ? !schema : method->notification))
        return DX_AGAIN;
    return dx__sample_write(protocol->root, schema, params, json);
}
