/* Trees of texts that yyjson refuses although they are JSON. */
#ifndef DX_RPC_MEND_H
#define DX_RPC_MEND_H

#include <duplex/rpc.h>

#include <stdbool.h>

/* The tree of a text that was checked: dx_json_mend() first, and a number that no double holds is
 * YYJSON_TYPE_RAW. *ret_mended is DX_MENDED_…. NULL: what ret_error says. */
yyjson_doc *dx__json_read_mended(dx_text text, const yyjson_alc *alc, yyjson_read_err *ret_error,
                                 unsigned *ret_mended);

#endif
