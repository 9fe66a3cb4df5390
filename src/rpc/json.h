/* The scanner below the envelope: it walks over JSON and checks it, and builds nothing. */
#ifndef DX_RPC_JSON_H
#define DX_RPC_JSON_H

#include <duplex/rpc.h>

typedef struct dx__json {
    const char *start;
    const char *end;
    const char *at; /* where it stands; on a fault, where that is */
    unsigned depth; /* levels that are left */
    dx_fault fault; /* NONE as long as all is well */
    int escaped;    /* set by every escape in a string; never reset here */
} dx__json;

/* One that stands at the beginning of a text, which may be absent. */
static inline dx__json dx__json_reader(dx_text text, unsigned depth) {
    if (!text.at)
        text = (dx_text){"", 0};
    return (dx__json){.start = text.at,
                      .end = text.at + text.len,
                      .at = text.at,
                      .depth = depth < DX_DEPTH_MAX ? depth : DX_DEPTH_MAX};
}

static inline const char *dx__json_space(const char *at, const char *end) {
    /* Most often there is none: one comparison says so. */
    while (at < end && (unsigned char)*at <= ' ' &&
           (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* Skips white space and says which byte comes next: '\0' at the end (or for a NUL, which nothing
 * takes for good). */
static inline char dx__json_peek(dx__json *json) {
    json->at = dx__json_space(json->at, json->end);
    return json->at < json->end ? *json->at : '\0';
}

/* Takes that byte if it comes next. */
static inline int dx__json_take(dx__json *json, char byte) {
    if (dx__json_peek(json) != byte || json->at == json->end)
        return 0;
    json->at++;
    return 1;
}

/* Walks over a value; on a fault sets it and stops. */
void dx__json_skip(dx__json *json);
/* Walks over a member's name and colon, up to its value; hands out the name with its quotes. */
void dx__json_skip_name(dx__json *json, dx_text *ret_quoted);
void dx__json_fail(dx__json *json, dx_fault fault, const char *at);

#endif
