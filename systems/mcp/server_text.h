/* JSON text in the making, a table by text, and the keyed hash behind it. */
#ifndef MCP_SERVER_TEXT_H
#define MCP_SERVER_TEXT_H

#include <duplex/rpc.h>

#include <stdbool.h>

/* The first failure sticks; commas are set where one is needed. */
typedef struct dx__mcp_out {
    dx_buf buf;
    dx_status status;
} dx__mcp_out;

void dx__mcp_out_init(dx__mcp_out *out, const dx_allocator *alloc);
void dx__mcp_out_done(dx__mcp_out *out);
dx_text dx__mcp_out_text(const dx__mcp_out *out);
/* As it is. */
void dx__mcp_out_raw(dx__mcp_out *out, dx_text text);
/* An opening bracket (with what has to stand before it), a closing one. */
void dx__mcp_out_open(dx__mcp_out *out, char bracket);
void dx__mcp_out_close(dx__mcp_out *out, char bracket);
/* The name of a member; its value follows. */
void dx__mcp_out_key(dx__mcp_out *out, dx_text name);
/* Values: elements, or of the member that was named. */
void dx__mcp_out_string(dx__mcp_out *out, dx_text text);
void dx__mcp_out_json(dx__mcp_out *out, dx_json value);
void dx__mcp_out_number(dx__mcp_out *out, double number);
void dx__mcp_out_integer(dx__mcp_out *out, int64_t number);
void dx__mcp_out_base64(dx__mcp_out *out, dx_text bytes);
/* Whole members; absent ones are left out. */
void dx__mcp_out_text_member(dx__mcp_out *out, const char *name, const char *text);
void dx__mcp_out_json_member(dx__mcp_out *out, const char *name, const char *json);

/* A text as a tree. DX_ERR_INVALID: it is no JSON, or one that the JSON library can't hold;
 * DX_ERR_NOMEM. */
dx_status dx__mcp_parse(const dx_allocator *alloc, dx_text text, yyjson_doc **ret_doc);
/* What was written, likewise; or what went wrong with it. */
dx_status dx__mcp_out_parse(const dx__mcp_out *out, yyjson_doc **ret_doc);

/* SipHash-2-4. */
uint64_t dx__mcp_sip64(const uint8_t key[16], const void *bytes, size_t len);
void dx__mcp_sip128(const uint8_t key[16], const void *bytes, size_t len, uint8_t ret_hash[16]);

/* Values by a text that is theirs. */
typedef struct dx__mcp_table {
    struct dx__mcp_slot {
        dx_text key;
        void *value; /* NULL: nothing here */
    } * slots;
    size_t cap;
    size_t count;
    dx_allocator alloc;
    uint8_t seed[16];
} dx__mcp_table;

void dx__mcp_table_init(dx__mcp_table *table, const dx_allocator *alloc, const uint8_t seed[16]);
void dx__mcp_table_done(dx__mcp_table *table);
void *dx__mcp_table_find(const dx__mcp_table *table, dx_text key);
/* The key must not be there. DX_ERR_NOMEM. */
dx_status dx__mcp_table_put(dx__mcp_table *table, dx_text key, void *value);
void dx__mcp_table_drop(dx__mcp_table *table, dx_text key);

#endif
