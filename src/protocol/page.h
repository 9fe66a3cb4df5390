/* The reference page of a protocol while it is written: the first failure sticks. */
#ifndef DX_PROTOCOL_PAGE_H
#define DX_PROTOCOL_PAGE_H

#include "protocol/load.h"

typedef struct dx__page {
    const dx_protocol *protocol;
    yyjson_val *root;
    yyjson_val *duplex;
    dx_buf *out;
    dx_status status;
} dx__page;

void dx__page_put(dx__page *page, const char *text);
void dx__page_num(dx__page *page, uint64_t number);
/* Text that came from the document: line breaks become spaces, and nothing in it ends a cell of a
 * table. NULL is nothing. */
void dx__page_text(dx__page *page, const char *text);
/* The same as the last part of a row: with a space on either side and the bar behind it. */
void dx__page_cell(dx__page *page, const char *text);
/* As code. */
void dx__page_code(dx__page *page, const char *text);
/* "5 s", "300 ms", "5 min" */
void dx__page_time(dx__page *page, uint64_t ms);
/* A JSON value as it is, and as code. */
void dx__page_json(dx__page *page, yyjson_val *value);
void dx__page_value(dx__page *page, yyjson_val *value);

/* What fits a schema, in words. */
void dx__page_schema(dx__page *page, yyjson_val *schema);
/* The members of an object as a table; nothing if the schema lists none. */
void dx__page_members(dx__page *page, yyjson_val *schema);

void dx__page_lifecycle(dx__page *page);
void dx__page_method(dx__page *page, const dx__message *message);

#endif
