/* event.h: one JSON object a line on the standard output, which is what --json tells. */
#ifndef CLI_EVENT_H
#define CLI_EVENT_H

#include <duplex/base.h>

#include <stdint.h>
#include <yyjson.h>

/* {"event": name}. NULL if there is no memory, which everything here and in yyjson takes. */
yyjson_mut_doc *cli_event_new(const char *name);
/* NULL is null. What is no UTF-8 in it becomes U+FFFD. */
void cli_event_add(yyjson_mut_doc *event, const char *key, const char *text);
/* Text that may be no UTF-8: then "lossy": true follows it. */
void cli_event_add_text(yyjson_mut_doc *event, const char *key, dx_text text);
void cli_event_add_bool(yyjson_mut_doc *event, const char *key, int value);
void cli_event_add_number(yyjson_mut_doc *event, const char *key, uint64_t number);
/* JSON text, or null if it is none. */
void cli_event_add_json(yyjson_mut_doc *event, const char *key, dx_text json);
void cli_event_add_value(yyjson_mut_doc *event, const char *key, yyjson_mut_val *value);
/* Writes it at once, and frees it. */
void cli_event_put(yyjson_mut_doc *event);
/* A summary of a dx__log_limiter, as an event "suppressed"; `key` says what `peer` is, or is NULL.
 */
void cli_event_put_summary(const char *key, const char *peer, const char *text);

#endif
