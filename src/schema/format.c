#include "schema/format.h"

#include "schema/pattern.h"

/* RFC 4122: groups of 8, 4, 4, 4 and 12 digits. */
static bool uuid(dx_text text) {
    if (text.len != 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text.at[i] != '-' : !dx__is_hex((unsigned char)text.at[i]))
            return false;
    }
    return true;
}

/* RFC 6901 */
static bool json_pointer(dx_text text) {
    if (text.len && text.at[0] != '/')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '~') {
            i++;
            if (i == text.len || (text.at[i] != '0' && text.at[i] != '1'))
                return false;
        }
    return true;
}

/* draft-handrews-relative-json-pointer-01, which both drafts name */
static bool relative_json_pointer(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    bool zero = dx__cursor_peek(&cursor) == '0';
    size_t digits = dx__cursor_digits(&cursor);
    if (!digits || (zero && digits > 1))
        return false;
    if (dx__cursor_take(&cursor, '#'))
        return cursor.at == cursor.end;
    return json_pointer((dx_text){cursor.at, (size_t)(cursor.end - cursor.at)});
}

static const dx__format formats[] = {
    {"date-time", dx__format_date_time},
    {"date", dx__format_date},
    {"time", dx__format_time},
    {"duration", dx__format_duration},
    {"email", dx__format_email},
    {"hostname", dx__format_hostname},
    {"ipv4", dx__format_ipv4},
    {"ipv6", dx__format_ipv6},
    {"uri", dx__format_uri},
    {"uri-reference", dx__format_uri_reference},
    {"iri", dx__format_iri},
    {"iri-reference", dx__format_iri_reference},
    {"uri-template", dx__format_uri_template},
    {"uuid", uuid},
    {"regex", dx__pattern_is},
    {"json-pointer", json_pointer},
    {"relative-json-pointer", relative_json_pointer},
};

const dx__format *dx__format_named(dx_text name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (dx_text_is(name, formats[i].name))
            return &formats[i];
    return NULL;
}
