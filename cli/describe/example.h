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
/* The message in the protocol's framing. */
bool cli_example_frame(const dx_protocol *protocol, const dx_buf *message, dx_buf *framed);

#endif
