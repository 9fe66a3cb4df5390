/* params.h: gives the values of key=text arguments the types that a JSON Schema asks for. */
#ifndef CLI_PARAMS_H
#define CLI_PARAMS_H

#include <duplex/protocol.h>

#include <stdbool.h>

/* Is there a key=text argument among these, as cli_params() reads them? */
bool cli_params_have_text(char *const *words);
/* The text after "key=" of the argument with that key; NULL if there is none. */
const char *cli_params_text(char *const *words, dx_text key);

/* The member of the params that a misfit is in or about, in `room`, which is as long as
 * why->instance. */
dx_text cli_params_key(const dx_misfit *why, char *room);

/* What a status says of a message that can't be sent, unless it is DX_MISFIT. */
const char *cli_params_why_not(const char *method, dx_status status);

/* Checks an object against a schema, as dx_schema_check() does. */
typedef dx_status cli_params_check(void *user, yyjson_val *object, dx_misfit *reterr);

/* Where the schema rejects the string of a key=text argument, its text is read as JSON: a number,
 * true, false, null, an array or an object. `text` is what cli_params() made of `words`, and is
 * replaced. Numbers keep their digits; key:=json arguments stay as they are, and are not checked.
 * DX_OK; DX_MISFIT: an argument fits neither way, and *ret_why says which and why; DX_ERR_NOMEM. */
dx_status cli_params_convert(char *const *words, cli_params_check *check, void *user, char **text,
                             dx_misfit *ret_why);

/* The same by what a protocol says of the method's params. What fits neither way stays a string,
 * and is reported when it is sent. */
void cli_params_fit(dx_protocol *protocol, const char *method, char *const *words, char **text);

#endif
