/* One line of text in a fixed room, for phrases; what does not fit is cut off. */
#ifndef DX_BASE_LINE_H
#define DX_BASE_LINE_H

#include <duplex/base.h>

#include <string.h>

typedef struct dx__line {
    char *at;
    size_t len;
    size_t room; /* the terminating NUL included */
} dx__line;

dx__line dx__line_on(char *at, size_t room);
void dx__line_str(dx__line *line, const char *string);
void dx__line_num(dx__line *line, uint64_t number);

static inline size_t dx__digits_count(uint64_t number) {
    size_t count = 1;
    for (; number >= 1000; number /= 1000)
        count += 3;
    return number < 10 ? count : number < 100 ? count + 1 : count + 2;
}

extern const char dx__two_digits[200];

/* Exactly `count` of them, with zeros in front. */
static inline void dx__digits_put(uint64_t number, char *to, size_t count) {
    for (; count >= 2; number /= 100, count -= 2)
        memcpy(to + count - 2, &dx__two_digits[number % 100 * 2], 2);
    if (count)
        to[0] = (char)('0' + number % 10);
}

/* The decimal digits of a number; returns how many (at most 20). */
size_t dx__digits(uint64_t number, char digits[20]);

/* Fills an error: place and phrase are built from what the fault means and the two numbers. */
void dx__error_set(dx_error *error, dx_fault fault, uint64_t offset, uint64_t found,
                   uint64_t expected);

#endif
