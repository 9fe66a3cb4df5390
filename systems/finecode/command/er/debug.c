/* A debugger that wants to be there from the beginning: here, whoever connects to the port and
 * begins a message as the Debug Adapter Protocol has it. */
#include "systems/finecode/command/er/er.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <duplex/link.h>

#include <poll.h>
#include <unistd.h>

enum { LOOK_MS = 1000 };

/* Nothing that it says is read. It stays attached until we end. */
static void on_connect(dx_listener *listener, int fd, void *user) {
    bool *came = user;
    (void)listener;
    (void)fd;
    *came = true;
}

static void on_refused(dx_listener *listener, const char *why, void *user) {
    (void)listener;
    (void)user;
    cli_warn("%s", why);
}

/* Who started us may end while nobody connects: then nobody ever will. By pipes the end of the
 * input says so, otherwise that we have got another parent. */
static int await(dx_loop *loop, const bool *came, bool by_pipes, pid_t parent) {
    struct pollfd fds[2] = {{0}, {by_pipes ? 0 : -1, 0, 0}};
    while (!*came) {
        int count = cli_poll(loop, fds, 2, cli_now() + LOOK_MS);
        if (cli_interrupts())
            return cli_fail(CLI_INTERRUPTED, "interrupted");
        if (count > 0 && (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)))
            return cli_fail(CLI_ENDED, "the manager exited before a debugger connected");
        if (getppid() != parent)
            return cli_fail(CLI_ENDED, "the parent process exited before a debugger connected");
        dx_loop_dispatch(loop);
    }
    return CLI_OK;
}

int er_await_debugger(bool by_pipes, bool any_user) {
    pid_t parent = getppid();
    bool came = false;
    dx_loop *loop = NULL;
    dx_listener *listener;
    dx_error error = {.phrase = "out of memory"};
    dx_listener_config config = {.on_connect = on_connect,
                                 .on_refused = on_refused,
                                 .user = &came,
                                 .framing = DX_FRAMING_HEADER, /* of the Debug Adapter Protocol */
                                 .any_user = any_user};
    if (dx_loop_new(NULL, &loop, &error) != DX_OK ||
        dx_listener_open(loop, "tcp:0", &config, &listener, &error) != DX_OK) {
        dx_loop_free(loop);
        return cli_fail(CLI_NO_START, "cannot wait for a debugger: %s", error.phrase);
    }
    /* The standard output is for messages alone where those go by pipes. */
    FILE *stream = by_pipes ? stderr : stdout;
    fprintf(stream, "Debug session: 127.0.0.1:%u\n", dx_listener_port(listener));
    fflush(stream);
    int code = await(loop, &came, by_pipes, parent);
    dx_loop_free(loop);
    return code;
}
