/* A debugger that wants to be there from the beginning: here, whoever connects to the port. */
#include "systems/finecode/command/er/er.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOK_MS = 1000 };

static int open_port(unsigned *ret_port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
        int number = errno;
        close(fd);
        errno = number;
        return -1;
    }
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* Who started us may end while nobody connects: then nobody ever will. By pipes the end of the
 * input says so, otherwise that we have got another parent. */
static int await(int fd, bool by_pipes, pid_t parent) {
    struct pollfd fds[2] = {{fd, POLLIN, 0}, {by_pipes ? 0 : -1, 0, 0}};
    const struct timespec look = {LOOK_MS / 1000, 0};
    sigset_t none;
    sigemptyset(&none);
    for (;;) {
        int count = ppoll(fds, 2, &look, &none);
        if (cli_interrupts())
            return cli_fail(CLI_INTERRUPTED, "interrupted");
        if (count < 0 && errno != EINTR)
            return cli_fail(CLI_NO_START, "no debugger can be waited for: %s", strerror(errno));
        if (count > 0 && (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)))
            return cli_fail(CLI_ENDED, "the manager has left before a debugger came");
        if (getppid() != parent)
            return cli_fail(CLI_ENDED, "who started it has ended before a debugger came");
        if (count > 0 && fds[0].revents)
            return CLI_OK;
    }
}

int er_await_debugger(bool by_pipes) {
    unsigned port = 0;
    pid_t parent = getppid();
    int fd = open_port(&port);
    if (fd < 0)
        return cli_fail(CLI_NO_START, "no debugger can be waited for: %s", strerror(errno));
    /* The standard output is for messages alone where those go by pipes. */
    FILE *stream = by_pipes ? stderr : stdout;
    fprintf(stream, "Debug session: 127.0.0.1:%u\n", port);
    fflush(stream);
    int code = await(fd, by_pipes, parent);
    /* It stays attached until we end. */
    if (code == CLI_OK && accept4(fd, NULL, NULL, SOCK_CLOEXEC) < 0)
        code = cli_fail(CLI_NO_START, "the debugger can't be let in: %s", strerror(errno));
    close(fd);
    return code;
}
