/* parts.h: parts of protocol documents, for the verbs that show them. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include <duplex/protocol.h>

#include <stdbool.h>
#include <yyjson.h>

/* "client → server", "server → client", "client ↔ server"; to be freed. NULL: no memory. */
char *cli_direction(const dx_protocol_facts *facts, bool by_host, bool by_plugin);
bool cli_sends(const dx_method *method, dx_side side);
/* "host", "plugin" or "both", as documents say it. */
const char *cli_sender(const dx_method *method);
/* "fail", "cancel", "kill" */
const char *cli_late_name(dx_late late);
/* The names of leniencies, one after the other; NULL behind the last. */
const char *cli_lenient_name(const dx_protocol_facts *facts, size_t index);
const char *cli_ids_name(dx_ids ids);

/* The method's own object, and what it says if that side sends it; NULL if it says nothing. */
yyjson_val *cli_method_object(const dx_protocol *protocol, const dx_method *method);
yyjson_val *cli_variant(const dx_protocol *protocol, const dx_method *method, dx_side from);
const char *cli_summary(const dx_protocol *protocol, const dx_method *method, dx_side from);
/* The schema of a part of a message that `from` sends, or of the answer to it; NULL: none. */
yyjson_val *cli_schema_of(const dx_protocol *protocol, const dx_method *method, dx_side from,
                          dx_part part);
/* Both send it, and it is not the same. */
bool cli_sides_differ(const dx_protocol *protocol, const dx_method *method);

/* What "#/components/schemas/Pet" leads to in a document; NULL: nothing in it. */
yyjson_val *cli_resolve(yyjson_val *root, const char *reference);
/* The last part of a reference, as it stands there: "Pet". */
const char *cli_reference_name(const char *reference);

/* The error that an item of a method's list stands for. */
yyjson_val *cli_error_of(yyjson_val *root, yyjson_val *item);

#endif
