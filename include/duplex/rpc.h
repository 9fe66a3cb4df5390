/*
 * duplex/rpc.h: what a JSON text is in JSON-RPC 2.0 terms, and writing such texts. No I/O.
 *
 * dx_rpc_scan() is our own scan of the envelope: it checks that the text is JSON from end to end
 * and finds the members, but builds no tree. An id is the bytes that came, so that it can be sent
 * back unchanged (18446744073709551615, 1.0, "\u0041"); params, result and error are slices that
 * somebody may parse with yyjson, or pass on as text.
 */
#ifndef DUPLEX_RPC_H
#define DUPLEX_RPC_H

#include <duplex/base.h>
#include <yyjson.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes of the JSON-RPC 2.0 specification, and one of ours in the range left to implementations. */
enum {
    DX_CODE_PARSE = -32700,
    DX_CODE_REQUEST = -32600, /* Invalid Request */
    DX_CODE_METHOD = -32601,  /* Method not found */
    DX_CODE_PARAMS = -32602,  /* Invalid params */
    DX_CODE_INTERNAL = -32603,
    DX_CODE_BUSY = -32000 /* too many unanswered requests */
};

/* Reading */

/* The deepest nesting that can be asked for (each level costs one bit of the scan's stack). */
#define DX_DEPTH_MAX 4096

/* Is `text` one JSON text (RFC 8259, UTF-8, white space around it allowed), nested at most `depth`
 * deep? DX_FAULT_NONE if so, else one of DX_FAULT_JSON_…, and where. Constant stack, linear time.
 * ret_at may be NULL. Escapes must be well formed; a lone surrogate escape is let through, a
 * number may have any size: whether the JSON library can hold them is a question for its reader. */
DX_API dx_fault dx_json_check(dx_text text, unsigned depth, size_t *ret_at);

/* A part of a scanned text: from byte `at`, `len` bytes. An absent part has len 0. */
typedef struct dx_slice {
    uint32_t at;
    uint32_t len;
} dx_slice;

typedef enum dx_kind {
    DX_KIND_NONE = 0,     /* nothing of JSON-RPC; `fault` says why */
    DX_KIND_REQUEST,      /* method and id */
    DX_KIND_NOTIFICATION, /* method without id */
    DX_KIND_RESPONSE,     /* result or error */
    DX_KIND_BATCH         /* an array; see dx_rpc_element() */
} dx_kind;

/*
 * The envelope of one message. With a `fault`, `kind` still says what the message looks like, and
 * the slices that were found are set, so that it can be answered as the specification asks.
 */
typedef struct dx_message {
    dx_kind kind;
    dx_fault fault;
    uint32_t fault_at; /* byte offset into the text */
    dx_slice body;     /* the JSON text without white space around it */
    dx_slice id;       /* as it stands; a string with its quotes */
    uint64_t number;   /* the id, if the scan saw that it is a plain positive integer; else 0 */
    dx_slice method;   /* as it stands, with its quotes; see dx_rpc_string() */
    int escaped;       /* … which is needed only if this is not 0 */
    dx_slice params;
    dx_slice result;
    dx_slice error;
} dx_message;

/* Scans one text. `lenient` takes DX_LENIENT_NO_VERSION, DX_LENIENT_NULL_PARAMS,
 * DX_LENIENT_ID_ANY, DX_LENIENT_LAST_MEMBER and DX_LENIENT_NULL_ID. A text of 2^32-1 bytes or more
 * is DX_FAULT_MESSAGE_LIMIT. */
DX_API void dx_rpc_scan(dx_text text, unsigned depth, unsigned lenient, dx_message *ret_message);

/* The elements of a batch that was scanned without a fault, one after the other: start with
 * *cursor = 0. DX_AGAIN after the last. Slices of the element are relative to `text`. */
DX_API dx_status dx_rpc_element(dx_text text, const dx_message *batch, unsigned depth,
                                unsigned lenient, uint32_t *cursor, dx_message *ret_message);

/* The characters of a JSON string that was scanned (quotes included). Without escapes it is a part
 * of `string` itself; else the characters go to `room`, which needs at most string.len bytes.
 * DX_ERR_INVALID for a lone surrogate, which has no UTF-8 form. */
DX_API dx_status dx_rpc_string(dx_text string, char *room, dx_text *ret_text);

/* What a tree does not have as the text has it. */
enum {
    DX_MENDED_STRING = 1 << 0, /* U+FFFD stands for "\ud800" without its other half */
    DX_MENDED_NUMBER = 1 << 1  /* a number that no double holds is YYJSON_TYPE_RAW: its text */
};
/* Writes \ufffd, which is as long, over each escaped half of a surrogate pair that stands alone in
 * a JSON text that was checked, so that every reader takes it. Returns how many there were. */
DX_API size_t dx_json_mend(char *text, size_t len);
/* The tree of a JSON text that was checked, as events have it under DX_LENIENT_VALUE; to be freed
 * with yyjson_doc_free(). *ret_mended is DX_MENDED_…, 0 for most texts. DX_ERR_NOMEM,
 * DX_ERR_INVALID (not JSON). The allocator must outlive the tree; NULL: malloc. */
DX_API dx_status dx_json_read(dx_text text, const dx_allocator *allocator, yyjson_doc **ret_doc,
                              unsigned *ret_mended);

/* The value of a member of an object text that was checked; absent when it is not there or
 * `object` is no object. The first of several wins. */
DX_API dx_text dx_rpc_member(dx_text object, dx_text name);

/* The characters of a string; absent for any other value, and for NULL. (What yyjson calls the
 * length of an array is how many values it has.) */
DX_API dx_text dx_json_string(yyjson_val *value);

/* Writing */

/* How the ids of calls look. */
typedef enum dx_ids {
    DX_IDS_COUNTER = 0, /* 1, 2, 3, … */
    DX_IDS_RANDOM,      /* "req_" and random letters */
    DX_IDS_UUID
} dx_ids;

/*
 * A JSON value to be sent, in the form you have it in. Made by one of the functions below and
 * valid as long as what it was made of.
 */
typedef struct dx_json {
    int form;
    const void *at;
    size_t len;
} dx_json;

/* No value: a call without params. (As a result it is sent as null.) */
DX_API dx_json dx_json_none(void);
/* A value of a parsed document. */
DX_API dx_json dx_json_value(const yyjson_val *value);
/* A value that was built. */
DX_API dx_json dx_json_built(const yyjson_mut_val *value);
/* JSON text from anywhere; it is checked when it is sent. */
DX_API dx_json dx_json_text(const char *text, size_t len);
/* JSON text that Duplex handed out (the body of an event): sent as it is, not checked again. */
DX_API dx_json dx_json_checked(dx_text text);

/*
 * Each appends one message to `buf`, without framing, or leaves it as it was: DX_ERR_NOMEM,
 * DX_ERR_LIMIT (the buffer's maximum), DX_ERR_INVALID (a method that is not UTF-8, a value that
 * has no JSON form, an id that is no JSON string or number). `id` is JSON text. While it writes a
 * tree, yyjson wants room for the worst case: a buffer's maximum should be several times what a
 * message may need.
 */
DX_API dx_status dx_rpc_write_request(dx_buf *buf, dx_text id, dx_text method, dx_json params);
DX_API dx_status dx_rpc_write_notification(dx_buf *buf, dx_text method, dx_json params);
/* id may be absent, which is written as null. */
DX_API dx_status dx_rpc_write_result(dx_buf *buf, dx_text id, dx_json result);
/* message may be absent: then it is the specification's own ("Method not found", …), or "Error". */
DX_API dx_status dx_rpc_write_error(dx_buf *buf, dx_text id, int64_t code, dx_text message,
                                    dx_json data);
/* A batch is an array of such messages: "[", messages with "," between them, "]". Call it before
 * the first, between two, and after the last. */
typedef enum dx_batch_mark { DX_BATCH_OPEN, DX_BATCH_NEXT, DX_BATCH_CLOSE } dx_batch_mark;
DX_API dx_status dx_rpc_write_batch(dx_buf *buf, dx_batch_mark mark);

/* Any value, compact. A dx_json_none() writes nothing. */
DX_API dx_status dx_json_write(dx_buf *buf, dx_json value);
/* A string with its quotes. DX_ERR_INVALID if it is not UTF-8. */
DX_API dx_status dx_json_write_string(dx_buf *buf, dx_text string);

#ifdef __cplusplus
}
#endif

#endif
