#include "systems/mcp/command/opener.h"

#include "systems/mcp/command/words.h"

#include "cli/say.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int opener_check(const char *opener) {
    const char *why = NULL;
    char **words = words_split(opener, &why);
    bool is_empty = words && (!words[0] || !words[0][0]);
    free(words);
    if (is_empty)
        why = "expected a program";
    return why ? cli_fail(CLI_USAGE, "--opener: %s", why) : CLI_OK;
}

/* It gets signals as any program does, lives on when we are interrupted at the terminal, and can't
 * write into our results. */
static int spawn(char **argv) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t normal;
    pid_t pid;
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
            number = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* Who serves the page decides what is opened: nothing but the web, and nothing that looks like an
 * option. */
static bool is_web(const char *url) {
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

const char *opener_run(const char *opener, const char *url) {
    const char *why = NULL;
    size_t count = 0;
    if (!is_web(url))
        return "only pages of the web are opened";
    char **words = words_split(opener, &why);
    if (!words)
        return why;
    while (words[count])
        count++;
    char **argv = calloc(count + 2, sizeof *argv);
    if (argv) {
        memcpy(argv, words, count * sizeof *argv);
        argv[count] = (char *)(uintptr_t)url;
        int number = spawn(argv);
        why = number ? strerror(number) : NULL;
    }
    why = argv ? why : "no memory";
    free(argv);
    free(words);
    return why;
}
