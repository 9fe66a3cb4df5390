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

size_t dx__digits(uint64_t number, char digits[20]) {
    char back[20];
    size_t n = 0;
    do
        back[n++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < n; i++)
        digits[i] = back[n - 1 - i];
    return n;
}

void dx__line_num(dx__line *line, uint64_t number) {
    char digits[20];
    put(line, digits, dx__digits(number, digits));
}
