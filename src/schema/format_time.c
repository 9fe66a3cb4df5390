/* RFC 3339: dates, times and durations. */
#include "schema/format.h"

#include <string.h>

/* Exactly `count` digits, which are few. */
static bool take_number(dx__cursor *cursor, int count, unsigned *ret_number) {
    unsigned number = 0;
    for (int i = 0; i < count; i++, cursor->at++) {
        int c = dx__cursor_peek(cursor);
        if (!dx__is_digit(c))
            return false;
        number = number * 10 + (unsigned)(c - '0');
    }
    *ret_number = number;
    return true;
}

static unsigned days_in(unsigned year, unsigned month) {
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_date(dx__cursor *cursor) {
    unsigned year;
    unsigned month;
    unsigned day;
    return take_number(cursor, 4, &year) && dx__cursor_take(cursor, '-') &&
           take_number(cursor, 2, &month) && dx__cursor_take(cursor, '-') &&
           take_number(cursor, 2, &day) && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_in(year, month);
}

enum { DAY = 24 * 60 };

/* Z or +HH:MM: how many minutes the time is ahead. */
static bool take_offset(dx__cursor *cursor, int *ret_minutes) {
    unsigned hour;
    unsigned minute;
    *ret_minutes = 0;
    if (dx__cursor_take(cursor, 'Z') || dx__cursor_take(cursor, 'z'))
        return true;
    bool behind = dx__cursor_take(cursor, '-');
    if (!behind && !dx__cursor_take(cursor, '+'))
        return false;
    if (!take_number(cursor, 2, &hour) || !dx__cursor_take(cursor, ':') ||
        !take_number(cursor, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *ret_minutes = (int)(hour * 60 + minute) * (behind ? -1 : 1);
    return true;
}

static bool take_time(dx__cursor *cursor) {
    unsigned hour;
    unsigned minute;
    unsigned second;
    int ahead;
    if (!take_number(cursor, 2, &hour) || !dx__cursor_take(cursor, ':') ||
        !take_number(cursor, 2, &minute) || !dx__cursor_take(cursor, ':') ||
        !take_number(cursor, 2, &second) || hour > 23 || minute > 59 || second > 60)
        return false;
    if (dx__cursor_take(cursor, '.') && !dx__cursor_digits(cursor))
        return false;
    if (!take_offset(cursor, &ahead))
        return false;
    /* A leap second is the last one of a day of UTC. */
    int utc = ((int)(hour * 60 + minute) - ahead + DAY) % DAY;
    return second < 60 || utc == DAY - 1;
}

bool dx__format_date(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    return take_date(&cursor) && cursor.at == cursor.end;
}

bool dx__format_time(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    return take_time(&cursor) && cursor.at == cursor.end;
}

bool dx__format_date_time(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    return take_date(&cursor) && (dx__cursor_take(&cursor, 'T') || dx__cursor_take(&cursor, 't')) &&
           take_time(&cursor) && cursor.at == cursor.end;
}

/* Numbers with units, each unit the one that follows the one before; false also if there are none,
 * unless that is fine. */
static bool take_units(dx__cursor *cursor, const char *units, bool none_is_fine) {
    const char *next = NULL;
    while (dx__cursor_digits(cursor)) {
        int c = dx__cursor_peek(cursor);
        const char *unit = c > 0 ? memchr(units, c, strlen(units)) : NULL;
        if (!unit || (next && unit != next))
            return false;
        next = unit + 1;
        cursor->at++;
    }
    return next || none_is_fine;
}

bool dx__format_duration(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    if (!dx__cursor_take(&cursor, 'P'))
        return false;
    if (text.at[text.len - 1] == 'W')
        return take_units(&cursor, "W", false) && cursor.at == cursor.end;
    bool only_time = dx__cursor_peek(&cursor) == 'T';
    if (!take_units(&cursor, "YMD", only_time))
        return false;
    if (dx__cursor_take(&cursor, 'T') && !take_units(&cursor, "HMS", false))
        return false;
    return cursor.at == cursor.end;
}
