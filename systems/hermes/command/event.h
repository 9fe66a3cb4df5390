/* event.h: one JSON object a line on the standard output, which is what --json tells. */
#ifndef HERMES_EVENT_H
#define HERMES_EVENT_H

#include <duplex/base.h>

#include <yyjson.h>

/* {"event": name}. NULL if there is no memory, which everything here and in yyjson takes. */
yyjson_mut_doc *event_new(const char *name);
void event_add(yyjson_mut_doc *event, const char *key, const char *text);
/* Text that may be no UTF-8: then "lossy": true follows it. */
void event_add_text(yyjson_mut_doc *event, const char *key, dx_text text);
void event_add_bool(yyjson_mut_doc *event, const char *key, int value);
void event_add_number(yyjson_mut_doc *event, const char *key, uint64_t number);
/* JSON text, or null if it is none. */
void event_add_json(yyjson_mut_doc *event, const char *key, dx_text json);
void event_add_value(yyjson_mut_doc *event, const char *key, yyjson_mut_val *value);
/* Writes it at once, and frees it. */
void event_put(yyjson_mut_doc *event);

#endif
