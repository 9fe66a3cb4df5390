/* What the runner and its handlers log: one line each, to a file or to the standard error. */
#include "systems/finecode/command/er/tools.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Then another file is begun. */
enum { KEPT_LEN = 1 << 20 };

int log_level_of(const char *name) {
    static const char *const names[] = {"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* Only this user may read it: handlers log anything. */
static bool make_folder(const char *path) {
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* $XDG_STATE_HOME/duplex/finecode/NAME-NUMBER/ENV.log: the number tells projects of one name apart.
 * NULL: there is no such place. */
static char *make_path(const struct runner *runner) {
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    const char *name = strrchr(runner->project, '/') + 1;
    unsigned long long number = text_hash(runner->project, strlen(runner->project));
    bool has_state = state && state[0] == '/';
    char *path = NULL;
    if ((!has_state && (!home || home[0] != '/')) ||
        asprintf(&path, "%s%s/duplex/finecode/%.100s-%016llx/%s.log", has_state ? state : home,
                 has_state ? "" : "/.local/state", name, number, runner->env) < 0)
        return NULL;
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        bool made = make_folder(path);
        *slash = '/';
        if (!made) {
            free(path);
            return NULL;
        }
    }
    return path;
}

/* Only a plain file of this user. */
static void keep_open(struct runner *runner) {
    struct stat facts;
    int fd = open(runner->kept_path,
                  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    bool good =
        fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid();
    runner->kept = good ? fdopen(fd, "a") : NULL;
    runner->kept_len = good ? (size_t)facts.st_size : 0;
    if (!runner->kept && fd >= 0)
        close(fd);
}

/* One older file is kept. */
static void keep_turn(struct runner *runner) {
    char *older = NULL;
    if (asprintf(&older, "%s.1", runner->kept_path) < 0)
        return;
    fclose(runner->kept);
    rename(runner->kept_path, older);
    free(older);
    keep_open(runner);
}

static void log_put_to(FILE *file, const char *stamp, const char *level, const char *group,
                       dx_text text) {
    fprintf(file, "%s %-7s %s: ", stamp, level, group);
    cli_put_safe(file, text);
    fputc('\n', file);
    fflush(file);
}

static void log_put(struct runner *runner, const char *level, const char *group, dx_text text) {
    char stamp[40];
    char whole[60];
    struct tm broken;
    uint64_t now = cli_unix_ms();
    time_t seconds = (time_t)(now / 1000);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &broken));
    snprintf(whole, sizeof whole, "%s.%03uZ", stamp, (unsigned)(now % 1000));
    log_put_to(runner->log, whole, level, group, text);
    if (runner->kept && runner->kept_len > KEPT_LEN)
        keep_turn(runner);
    if (!runner->kept)
        return;
    log_put_to(runner->kept, whole, level, group, text);
    off_t len = ftello(runner->kept);
    runner->kept_len = len > 0 ? (size_t)len : 0;
}

static void on_summary(const char *group, const char *text, void *user) {
    log_put(user, "WARNING", group, dx_str(text));
}

bool log_open(struct runner *runner, const char *path) {
    runner->log = path ? fopen(path, "ae") : stderr;
    runner->limiter = dx__log_limiter_new(runner->loop, on_summary, runner);
    runner->kept_path = path ? NULL : make_path(runner);
    if (runner->kept_path)
        keep_open(runner);
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
    if (runner->kept)
        fclose(runner->kept);
    free(runner->kept_path);
    runner->log = runner->kept = NULL;
    runner->kept_path = NULL;
}
