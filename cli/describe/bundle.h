/* bundle.h: the schema of a part of a message as one that stands alone. */
#ifndef CLI_BUNDLE_H
#define CLI_BUNDLE_H

#include <duplex/protocol.h>

#include <yyjson.h>

/* JSON Schema 2020-12 that a value fits if and only if dx_protocol_check() says so, with all that
 * it refers to under $defs. NULL if that was told; *ret_code is then the exit code. */
yyjson_mut_val *cli_bundle(yyjson_mut_doc *doc, const dx_protocol *protocol,
                           const dx_method *method, dx_side from, dx_part part, int *ret_code);

#endif
