/* describe.h: what duplex describe prints, in its several forms. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include <duplex/protocol.h>

/* For people: exit codes. */
int cli_describe_protocol(const dx_protocol *protocol);
int cli_describe_method(dx_protocol *protocol, const dx_method *method);
/* The same as one JSON object. */
int cli_describe_protocol_json(const dx_protocol *protocol);
int cli_describe_method_json(dx_protocol *protocol, const dx_method *method);

#endif
