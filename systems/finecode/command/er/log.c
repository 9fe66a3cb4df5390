/* What the runner and its handlers log: one line each, to a file or to the standard error. */
#include "systems/finecode/command/er/runner.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <string.h>
#include <time.h>

int log_level_of(const char *name) {
    static const char *const names[] = {"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static void log_put(struct runner *runner, const char *level, const char *group, dx_text text) {
    char stamp[40];
    struct tm broken;
    uint64_t now = cli_unix_ms();
    time_t seconds = (time_t)(now / 1000);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &broken));
    fprintf(runner->log, "%s.%03uZ %-7s %s: ", stamp, (unsigned)(now % 1000), level, group);
    cli_put_safe(runner->log, text);
    fputc('\n', runner->log);
    fflush(runner->log);
}

static void on_summary(const char *group, const char *text, void *user) {
    log_put(user, "WARNING", group, dx_str(text));
}

bool log_open(struct runner *runner, const char *path) {
    runner->log = path ? fopen(path, "ae") : stderr;
    runner->limiter = dx__log_limiter_new(runner->loop, on_summary, runner);
    if (runner->log)
        return true;
    cli_fail(CLI_USAGE, "cannot write %s: %s", path, strerror(errno));
    return false;
}

void log_write(struct runner *runner, const char *level, const char *group, dx_text text) {
    int number = log_level_of(level);
    if (number >= runner->log_level && runner->log &&
        dx__log_limiter_pass(runner->limiter, group, number, text))
        log_put(runner, level, group, text);
}

void log_close(struct runner *runner) {
    runner->limiter = dx__log_limiter_free(runner->limiter);
    if (runner->log && runner->log != stderr)
        fclose(runner->log);
    runner->log = NULL;
}
