/* Answers each request with what it sees of itself: its open descriptors, its working directory,
 * its environment, its arguments, its signals. */
#include "words.h"

#include <sys/resource.h>

extern char **environ;

static char text[65536];
static size_t len;

static void add(const char *string) {
    len += (size_t)snprintf(text + len, sizeof text - len, "%s", string);
}

static void add_quoted(const char *string) {
    add("\"");
    for (; *string && len + 3 < sizeof text; string++) {
        if (*string == '"' || *string == '\\')
            text[len++] = '\\';
        text[len++] = *string;
    }
    text[len] = '\0';
    add("\"");
}

static void add_list(const char *name, char **list) {
    add(",\"");
    add(name);
    add("\":[");
    for (char **at = list; *at; at++) {
        add(at == list ? "" : ",");
        add_quoted(*at);
    }
    add("]");
}

static void add_descriptors(void) {
    int before = 0;
    add("{\"fds\":[");
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0) {
            char entry[16];
            snprintf(entry, sizeof entry, "%s%d", before++ ? "," : "", fd);
            add(entry);
        }
    add("]");
}

/* Signals that are blocked or ignored are inherited over an exec; nobody expects that of a plugin.
 */
static void add_signals(void) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    int odd = 0;
    for (int i = 1; i < 32; i++) {
        struct sigaction action = {0};
        sigaction(i, NULL, &action);
        odd += sigismember(&blocked, i) == 1 || action.sa_handler == SIG_IGN;
    }
    char entry[64];
    snprintf(entry, sizeof entry, ",\"odd_signals\":%d,\"group\":%d", odd, getpgrp() == getpid());
    add(entry);
}

static void add_limits(void) {
    struct rlimit files, memory;
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_AS, &memory);
    char entry[96];
    snprintf(entry, sizeof entry, ",\"files\":%lld,\"memory\":%lld", (long long)files.rlim_cur,
             (long long)memory.rlim_cur);
    add(entry);
}

int main(int argc, char **argv) {
    (void)argc;
    for (char *line; (line = next_line());) {
        char cwd[4096] = "";
        len = 0;
        add_descriptors();
        add(",\"cwd\":");
        add_quoted(getcwd(cwd, sizeof cwd) ? cwd : "");
        add_list("env", environ);
        add_list("argv", argv);
        add_signals();
        add_limits();
        add("}");
        answer(id_of(line), text);
    }
    return 0;
}
