#include "cli/bench/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool shows;

void cli_progress_begin(const cli_peer_options *options) {
    const char *term = getenv("TERM");
    shows = isatty(2) && term && strcmp(term, "dumb") != 0 && !options->show &&
            !(options->errors && strcmp(options->errors, "inherit") == 0);
}

/* The cursor goes back to where a message would begin. */
void cli_progress(const char *format, ...) {
    char line[100];
    va_list list;
    if (!shows)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    fprintf(stderr, "\033[K%s\r", line);
}

void cli_progress_end(void) {
    if (shows)
        fputs("\033[K", stderr);
}
