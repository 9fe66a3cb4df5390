#include "mcp/equal/equal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void texts_add(struct texts *texts, char *text) {
    enum { STEP = 16 };
    if (texts->count % STEP == 0) {
        char **more = realloc(texts->of, (texts->count + STEP) * sizeof *more);
        if (!more)
            abort();
        texts->of = more;
    }
    texts->of[texts->count++] = text;
}

void texts_add_new(struct texts *texts, char *text) {
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->of[i], text) == 0) {
            free(text);
            return;
        }
    texts_add(texts, text);
}

void texts_done(struct texts *texts) {
    for (size_t i = 0; i < texts->count; i++)
        free(texts->of[i]);
    free(texts->of);
    *texts = (struct texts){NULL, 0};
}

char *print(const char *format, ...) {
    char *text;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        abort();
    return text;
}
