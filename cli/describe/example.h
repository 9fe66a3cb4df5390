/* example.h: a message and its answer as they cross the wire. */
#ifndef CLI_EXAMPLE_H
#define CLI_EXAMPLE_H

#include <duplex/protocol.h>

#include <stdbool.h>

typedef struct cli_example {
    dx_buf request; /* the message */
    dx_buf answer;  /* empty for a notification */
} cli_example;

/* The smallest ones. False, and nothing to be freed: none can be made that fits. */
bool cli_example_make(dx_protocol *protocol, const dx_method *method, dx_side from,
                      cli_example *ret_example);
void cli_example_done(cli_example *example);
/* Appends the smallest result of the answer to such a message of `from` that had these params (may
 * be absent): where it has an empty text and they a text of the same name, that is meant; the
 * version of the protocol, for one. DX_AGAIN: the document says nothing of it; DX_MISFIT: none can
 * be made that fits; DX_ERR_NOMEM, DX_ERR_LIMIT. */
dx_status cli_example_result(dx_protocol *protocol, const dx_method *method, dx_side from,
                             dx_text params, dx_buf *json);
/* The message in the protocol's framing. */
bool cli_example_frame(const dx_protocol *protocol, const dx_buf *message, dx_buf *framed);

#endif
