/*
 * Any bytes as a pattern and as a text: reading a pattern with and without writing it agree, PCRE2
 * takes what we write or says why not, and a pattern in a group finds what it finds alone, which
 * sets the short way for literals against PCRE2. The formats see the text, too.
 */
#include "schema/format.h"
#include "schema/pattern.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#define CHECK(condition) check(condition, #condition)

enum { PATTERN_MAX = 4096, MATCH_MAX = 2000 };

/* Exactly that size, so that a byte too far is seen. */
static dx_text copy_of(const char *before, const uint8_t *bytes, size_t len, const char *behind) {
    size_t head = strlen(before);
    size_t tail = strlen(behind);
    char *copy = malloc(head + len + tail + !(head + len + tail));
    CHECK(copy != NULL);
    memcpy(copy, before, head);
    memcpy(copy + head, bytes, len);
    memcpy(copy + head + len, behind, tail);
    return (dx_text){copy, head + len + tail};
}

static void forget(dx_text text) {
    free((char *)(uintptr_t)text.at);
}

static dx__pattern *compile(dx_text source, dx_status *ret_status) {
    dx__pattern *pattern = NULL;
    char why[80] = "";
    *ret_status = dx__pattern_new(NULL, source, &pattern, why, sizeof why);
    CHECK((*ret_status == DX_OK) == (pattern != NULL));
    CHECK(*ret_status == DX_OK || *ret_status == DX_ERR_INVALID);
    CHECK((*ret_status == DX_ERR_INVALID) == (why[0] != '\0'));
    bool is = dx__pattern_is(source);
    CHECK(is || !pattern);
    return pattern;
}

static dx_status find(const dx__pattern *pattern, dx__pattern_room *room, dx_text text) {
    dx_status status = dx__pattern_find(pattern, room, text);
    CHECK(status == DX_OK || status == DX_AGAIN || status == DX_ERR_LIMIT);
    CHECK(dx__pattern_find(pattern, room, text) == status);
    return status;
}

static void check_formats(dx_text text) {
    static const char *const names[] = {"date-time",
                                        "date",
                                        "time",
                                        "duration",
                                        "email",
                                        "hostname",
                                        "ipv4",
                                        "ipv6",
                                        "uri",
                                        "iri",
                                        "uri-reference",
                                        "iri-reference",
                                        "uuid",
                                        "regex",
                                        "uri-template",
                                        "json-pointer",
                                        "relative-json-pointer"};
    bool fits[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fits[i] = dx__format_named(dx_str(names[i]))->fits(text);
    CHECK(!fits[8] || (fits[9] && fits[10]));
    CHECK(!fits[9] || fits[11]);
    CHECK(!fits[6] || fits[5]);
    CHECK(!(fits[0] && (fits[1] || fits[2])));
}

/* Who only looks for bytes finds them in any text; PCRE2 wants UTF-8. */
static bool is_utf8(dx_text text, dx__pattern_room *room) {
    dx_status status;
    dx__pattern *all = compile(dx_str("^[^]*$"), &status);
    CHECK(all != NULL);
    dx_status found = find(all, room, text);
    dx__pattern_free(all);
    return found == DX_OK;
}

/* How long the pattern is stands in the first two bytes; the text is the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    size_t len = (data[0] | (size_t)data[1] << 8) % (PATTERN_MAX + 1);
    data += 2;
    size -= 2;
    if (len > size)
        len = size;
    dx_text source = copy_of("", data, len, "");
    dx_text grouped = copy_of("(?:", data, len, ")");
    dx_text text = copy_of("", data + len, size - len, "");
    dx__pattern_room *room = NULL;
    CHECK(dx__pattern_room_new(NULL, MATCH_MAX, &room) == DX_OK);
    dx_status status;
    dx_status other_status;
    dx__pattern *pattern = compile(source, &status);
    dx__pattern *other = compile(grouped, &other_status);
    if (pattern) {
        dx_status found = find(pattern, room, text);
        dx_status other_found = other ? find(other, room, text) : DX_ERR_LIMIT;
        if (found != DX_ERR_LIMIT && other_found != DX_ERR_LIMIT && is_utf8(text, room))
            CHECK(found == other_found);
    }
    check_formats(text);
    dx__pattern_free(pattern);
    dx__pattern_free(other);
    dx__pattern_room_free(room);
    forget(source);
    forget(grouped);
    forget(text);
    return 0;
}
