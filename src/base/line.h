/* One line of text in a fixed room, for phrases; what does not fit is cut off. */
#ifndef DX_BASE_LINE_H
#define DX_BASE_LINE_H

#include <duplex/base.h>

typedef struct dx__line {
    char *at;
    size_t len;
    size_t room; /* the terminating NUL included */
} dx__line;

dx__line dx__line_on(char *at, size_t room);
void dx__line_str(dx__line *line, const char *string);
void dx__line_num(dx__line *line, uint64_t number);

/* The decimal digits of a number; returns how many (at most 20). */
size_t dx__digits(uint64_t number, char digits[20]);

/* Fills an error: place and phrase are built from what the fault means and the two numbers. */
void dx__error_set(dx_error *error, dx_fault fault, uint64_t offset, uint64_t found,
                   uint64_t expected);

#endif
