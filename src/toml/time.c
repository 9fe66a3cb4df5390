#include "toml/time.h"

#include "toml/reader.h"

enum { DAY = 24 * 60 };

struct scan {
    const char *at;
    const char *end;
    const char *why;
};

static bool fail(struct scan *scan, const char *why) {
    scan->why = why;
    return false;
}

static bool take(struct scan *scan, char byte) {
    if (scan->at == scan->end || *scan->at != byte)
        return false;
    scan->at++;
    return true;
}

/* Exactly `count` digits, which are few. */
static bool take_number(struct scan *scan, int count, unsigned *ret_number) {
    unsigned number = 0;
    for (int i = 0; i < count; i++, scan->at++) {
        if (scan->at == scan->end || !dx__toml_is_digit((unsigned char)*scan->at))
            return false;
        number = number * 10 + (unsigned)(*scan->at - '0');
    }
    *ret_number = number;
    return true;
}

static unsigned days_in(unsigned year, unsigned month) {
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_date(struct scan *scan) {
    unsigned year;
    unsigned month;
    unsigned day;
    if (!take_number(scan, 4, &year) || !take(scan, '-') || !take_number(scan, 2, &month) ||
        !take(scan, '-') || !take_number(scan, 2, &day))
        return fail(scan, "a date is written YYYY-MM-DD");
    if (month < 1 || month > 12 || day < 1 || day > days_in(year, month))
        return fail(scan, "there is no such day");
    return true;
}

/* A leap second, if it is one, is the last of a day in UTC; a local time may be anywhere. */
static bool take_time(struct scan *scan, unsigned *ret_minute, bool *ret_leap) {
    unsigned hour;
    unsigned minute;
    unsigned second;
    if (!take_number(scan, 2, &hour) || !take(scan, ':') || !take_number(scan, 2, &minute) ||
        !take(scan, ':') || !take_number(scan, 2, &second))
        return fail(scan, "a time is written HH:MM:SS");
    if (hour > 23 || minute > 59 || second > 60)
        return fail(scan, "there is no such time");
    if (take(scan, '.')) {
        unsigned digit;
        if (!take_number(scan, 1, &digit))
            return fail(scan, "expected a digit after the point of the seconds");
        while (scan->at < scan->end && dx__toml_is_digit((unsigned char)*scan->at))
            scan->at++;
    }
    *ret_minute = hour * 60 + minute;
    *ret_leap = second == 60;
    return true;
}

/* How many minutes the time is ahead of UTC. False, without a reason, if there is none. */
static bool take_offset(struct scan *scan, int *ret_minutes) {
    unsigned hour;
    unsigned minute;
    *ret_minutes = 0;
    if (take(scan, 'Z') || take(scan, 'z'))
        return true;
    bool behind = take(scan, '-');
    if (!behind && !take(scan, '+'))
        return false;
    if (!take_number(scan, 2, &hour) || !take(scan, ':') || !take_number(scan, 2, &minute))
        return fail(scan, "an offset is written +HH:MM, -HH:MM or Z");
    if (hour > 23 || minute > 59)
        return fail(scan, "there is no such offset");
    *ret_minutes = (int)(hour * 60 + minute) * (behind ? -1 : 1);
    return true;
}

/* A space parts a date from a time only if a time follows. */
static bool time_follows(struct scan *scan) {
    if (scan->end - scan->at >= 2 && *scan->at == ' ' &&
        dx__toml_is_digit((unsigned char)scan->at[1])) {
        scan->at++;
        return true;
    }
    return take(scan, 'T') || take(scan, 't');
}

static dx_toml_kind scan_all(struct scan *scan) {
    unsigned minute;
    bool leap;
    int ahead;
    if (scan->end - scan->at >= 3 && scan->at[2] == ':')
        return take_time(scan, &minute, &leap) ? DX_TOML_LOCAL_TIME : DX_TOML_OTHER;
    if (!take_date(scan))
        return DX_TOML_OTHER;
    if (!time_follows(scan))
        return DX_TOML_LOCAL_DATE;
    if (!take_time(scan, &minute, &leap))
        return DX_TOML_OTHER;
    if (!take_offset(scan, &ahead))
        return scan->why ? DX_TOML_OTHER : DX_TOML_LOCAL_DATETIME;
    if (leap && ((int)minute - ahead + DAY) % DAY != DAY - 1) {
        fail(scan, "a leap second is the last second of a day in UTC");
        return DX_TOML_OTHER;
    }
    return DX_TOML_OFFSET_DATETIME;
}

dx_toml_kind dx__toml_time_scan(dx_text text, size_t *ret_len, const char **ret_why) {
    struct scan scan = {.at = text.at, .end = text.at + text.len};
    dx_toml_kind kind = scan_all(&scan);
    *ret_len = (size_t)(scan.at - text.at);
    if (kind == DX_TOML_OTHER)
        *ret_why = scan.why;
    return kind;
}

bool dx__toml_is_time(const dx__toml_reader *reader) {
    size_t digits = 0;
    while (digits < 5 && digits < dx__toml_left(reader) &&
           dx__toml_is_digit((unsigned char)reader->at[digits]))
        digits++;
    if (digits == dx__toml_left(reader))
        return false;
    return (digits == 4 && reader->at[4] == '-') || (digits == 2 && reader->at[2] == ':');
}

/* As RFC 3339 has it: with capital letters, which are the only ones here. */
static void copy(char *to, const char *from, size_t len) {
    for (size_t i = 0; i < len; i++)
        to[i] = from[i] == ' ' || from[i] == 't' ? 'T' : from[i] == 'z' ? 'Z' : from[i];
}

static void mark(yyjson_mut_val *value, dx_toml_kind kind) {
    value->tag |= (uint64_t)kind << DX__TOML_KIND_SHIFT;
}

bool dx__toml_time(dx__toml_reader *reader, yyjson_mut_val *value) {
    size_t len;
    const char *why = NULL;
    dx_toml_kind kind =
        dx__toml_time_scan((dx_text){reader->at, dx__toml_left(reader)}, &len, &why);
    if (kind == DX_TOML_OTHER)
        return dx__toml_refuse(reader, reader->at, why);
    char *text = dx__toml_keep(reader, len);
    if (!text)
        return false;
    copy(text, reader->at, len);
    yyjson_mut_set_strn(value, text, len);
    mark(value, kind);
    reader->at += len;
    return true;
}

dx_toml_kind dx_toml_kind_of(const yyjson_val *value) {
    return value ? dx__toml_kind_in(value->tag) : DX_TOML_OTHER;
}

dx_toml_kind dx_toml_kind_of_mut(const yyjson_mut_val *value) {
    return value ? dx__toml_kind_in(value->tag) : DX_TOML_OTHER;
}

yyjson_mut_val *dx_toml_time_new(yyjson_mut_doc *doc, dx_text text) {
    size_t len;
    const char *why;
    if (!text.at)
        return NULL;
    dx_toml_kind kind = dx__toml_time_scan(text, &len, &why);
    if (kind == DX_TOML_OTHER || len != text.len)
        return NULL;
    yyjson_mut_val *value = yyjson_mut_strncpy(doc, text.at, len);
    if (!value)
        return NULL;
    /* The copy is the document's own, and nobody has seen it yet. */
    copy((char *)(uintptr_t)value->uni.str, text.at, len);
    mark(value, kind);
    return value;
}
