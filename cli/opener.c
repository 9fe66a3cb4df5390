#include "cli/opener.h"

#include "cli/subreaper.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* It gets signals as any program does, lives on when we are interrupted at the terminal, and can't
 * write into our results. */
static int spawn(char **argv, pid_t *ret_pid) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t normal;
    sigemptyset(&none);
    sigemptyset(&normal);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&normal, numbers[i]);
    int number = posix_spawn_file_actions_init(&actions);
    if (number)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (!number) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigdefault(&attributes, &normal);
        posix_spawnattr_setsigmask(&attributes, &none);
        number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (!number)
            number = posix_spawn_file_actions_adddup2(&actions, 2, 1);
        if (!number)
            number = posix_spawnp(ret_pid, argv[0], &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* Who names the page is not trusted: nothing but the web is opened, and nothing that looks like an
 * option. */
static bool is_web(const char *url) {
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

const char *cli_open_page(char *const *words, const char *url, pid_t *ret_pid) {
    size_t count = 0;
    if (!is_web(url))
        return "only http and https URLs are opened";
    while (words[count])
        count++;
    char **argv = calloc(count + 2, sizeof *argv);
    if (!argv)
        return "out of memory";
    memcpy(argv, words, count * sizeof *argv);
    argv[count] = (char *)(uintptr_t)url;
    int number = spawn(argv, ret_pid);
    free(argv);
    if (!number)
        cli_subreaper_spare(*ret_pid);
    return number ? strerror(number) : NULL;
}
