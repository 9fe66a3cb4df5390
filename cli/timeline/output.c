#include "cli/timeline/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
static const char *volatile unfinished;

static void on_end(int number) {
    if (unfinished)
        unlink(unfinished);
    /* It does what it does to anybody, once this is over. */
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_ends(void) {
    struct sigaction ours = {.sa_handler = on_end};
    struct sigaction before;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ends[i], &ours, NULL);
}

static bool is_to_be_made(const char *name) {
    struct stat status;
    return stat(name, &status) < 0 ? errno == ENOENT : S_ISREG(status.st_mode);
}

/* A file beside the one that it will be, so that it can be put in its place in one go. A link stays
 * one. */
static int open_part(cli_output *output, const char *name) {
    static const char end[] = ".XXXXXX";
    output->target = realpath(name, NULL);
    if (!output->target)
        output->target = strdup(name);
    size_t len = output->target ? strlen(output->target) : 0;
    output->part = len ? malloc(len + sizeof end) : NULL;
    if (!output->part) {
        errno = output->target && !len ? ENOENT : ENOMEM;
        return -1;
    }
    memcpy(output->part, output->target, len);
    memcpy(output->part + len, end, sizeof end);
    /* No signal comes between the two, or it would stay. */
    sigset_t before;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int fd = mkostemp(output->part, O_CLOEXEC);
    int number = errno;
    if (fd >= 0)
        unfinished = output->part;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return fd;
}

static void forget(cli_output *output) {
    unfinished = NULL;
    free(output->part);
    free(output->target);
    *output = (cli_output){.file = NULL};
}

bool cli_output_open(cli_output *output, const char *name) {
    *output = (cli_output){.file = NULL};
    catch_ends();
    int fd =
        is_to_be_made(name) ? open_part(output, name) : open(name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    output->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->file)
        return true;
    int number = errno;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && output->part)
        unlink(output->part);
    forget(output);
    errno = number;
    return false;
}

bool cli_output_close(cli_output *output, bool wanted) {
    bool good = !ferror(output->file);
    int number = good ? 0 : EIO;
    if (fclose(output->file) != 0) {
        number = errno;
        good = false;
    }
    if (good && wanted && output->part && rename(output->part, output->target) < 0) {
        number = errno;
        good = false;
    }
    if (output->part && !(good && wanted))
        unlink(output->part);
    forget(output);
    errno = number;
    return good;
}
