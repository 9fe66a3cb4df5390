/* What the small programs share: JSON-RPC in line framing, read and written by hand, so that
 * nothing of the library stands between a test and its bytes. */
#ifndef CHILDREN_WORDS_H
#define CHILDREN_WORDS_H

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int number(int argc, char **argv, int at, int otherwise) {
    return argc > at ? atoi(argv[at]) : otherwise;
}

static inline int has_word(int argc, char **argv, const char *word) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], word))
            return 1;
    return 0;
}

static inline void put(int fd, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n <= 0)
            _exit(90);
        bytes += n;
        len -= (size_t)n;
    }
}

static inline void put_string(int fd, const char *string) {
    put(fd, string, strlen(string));
}

/* The next line of standard input, without its newline; NULL at the end. Lent until the next one.
 */
static inline char *next_line(void) {
    static char *line;
    static size_t cap;
    ssize_t len = getline(&line, &cap, stdin);
    if (len <= 0)
        return NULL;
    if (line[len - 1] == '\n')
        line[len - 1] = '\0';
    return line;
}

/* Duplex numbers its calls; 0 for a notification. */
static inline long id_of(const char *line) {
    const char *at = strstr(line, "\"id\":");
    return at ? atol(at + 5) : 0;
}

/* The params are last in what Duplex writes, so they end before the closing brace. */
static inline char *params_of(char *line) {
    char *at = strstr(line, "\"params\":");
    if (!at)
        return NULL;
    at += strlen("\"params\":");
    at[strlen(at) - 1] = '\0';
    return at;
}

/* One write, so that two programs on one pipe don't mix short answers. */
static inline void answer(long id, const char *result) {
    size_t room = strlen(result) + 64;
    char *text = malloc(room);
    int len = snprintf(text, room, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}\n", id, result);
    put(1, text, (size_t)len);
    free(text);
}

/* Answers requests with true; returns when the input ends, or when `most` (not negative) were
 * answered. */
static inline void serve(int most) {
    for (char *line; most != 0 && (line = next_line());)
        if (id_of(line)) {
            answer(id_of(line), "true");
            most -= most > 0;
        }
}

static inline _Noreturn void wait_for_ever(void) {
    for (;;)
        pause();
}

#endif
