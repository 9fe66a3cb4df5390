/* The smallest value that fits a schema, for examples and tests. */
#ifndef DX_PROTOCOL_SAMPLE_H
#define DX_PROTOCOL_SAMPLE_H

#include <duplex/base.h>
#include <yyjson.h>

/* Writes it as JSON. References are those of the document `root`. `container` asks for an object
 * where the schema allows anything. Of what a schema says, what documents use is understood; where
 * that is not enough, the value does not fit. DX_ERR_NOMEM, DX_ERR_LIMIT. */
dx_status dx__sample_write(yyjson_val *root, yyjson_val *schema, int container, dx_buf *json);

#endif
