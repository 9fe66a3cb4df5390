#include "base/line.h"

#include <string.h>

dx__line dx__line_on(char *at, size_t room) {
    at[0] = '\0';
    return (dx__line){at, 0, room};
}

static void put(dx__line *line, const char *bytes, size_t len) {
    size_t left = line->room - 1 - line->len;
    if (len > left)
        len = left;
    memcpy(line->at + line->len, bytes, len);
    line->len += len;
    line->at[line->len] = '\0';
}

void dx__line_str(dx__line *line, const char *string) {
    put(line, string, strlen(string));
}

const char dx__two_digits[200] = "00010203040506070809"
                                 "10111213141516171819"
                                 "20212223242526272829"
                                 "30313233343536373839"
                                 "40414243444546474849"
                                 "50515253545556575859"
                                 "60616263646566676869"
                                 "70717273747576777879"
                                 "80818283848586878889"
                                 "90919293949596979899";

size_t dx__digits(uint64_t number, char digits[20]) {
    size_t count = dx__digits_count(number);
    dx__digits_put(number, digits, count);
    return count;
}

void dx__line_num(dx__line *line, uint64_t number) {
    char digits[20];
    put(line, digits, dx__digits(number, digits));
}
