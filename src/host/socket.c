/* Addresses and connecting: Unix sockets, and TCP on the loopback address. Nothing here reaches
 * another machine. */
#include "base/line.h"
#include "host/host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool parse_port(const char *text, in_port_t *ret) {
    unsigned port = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || (port = port * 10 + (unsigned)(*text - '0')) > 65535)
            return false;
    }
    *ret = htons((in_port_t)port);
    return true;
}

static dx_status refuse(const char *text, dx_error *reterr) {
    if (!reterr)
        return DX_ERR_INVALID;
    dx__error_set(reterr, DX_FAULT_SYSTEM, 0, 0, 0);
    reterr->system = EINVAL;
    dx__line line = dx__line_on(reterr->phrase, sizeof reterr->phrase);
    dx__line_str(&line, "expected an address, unix:PATH or tcp:PORT, got ");
    dx__line_str(&line, text);
    return DX_ERR_INVALID;
}

dx_status dx__address_parse(const char *text, union dx__address *ret, socklen_t *ret_len,
                            dx_error *reterr) {
    memset(ret, 0, sizeof *ret);
    if (strncmp(text, "unix:", 5) == 0 && text[5]) {
        size_t len = strlen(text + 5);
        if (len >= sizeof ret->local.sun_path)
            return dx__system_error(reterr, DX_FAULT_SYSTEM, "use the path", text + 5,
                                    ENAMETOOLONG);
        ret->local.sun_family = AF_UNIX;
        memcpy(ret->local.sun_path, text + 5, len + 1);
        *ret_len = sizeof ret->local;
        return DX_OK;
    }
    if (strncmp(text, "tcp:", 4) == 0 && parse_port(text + 4, &ret->inet.sin_port)) {
        ret->inet.sin_family = AF_INET;
        ret->inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *ret_len = sizeof ret->inet;
        return DX_OK;
    }
    return refuse(text, reterr);
}

/* Messages are short and somebody waits for each. */
void dx__set_nodelay(int fd, const union dx__address *address) {
    int one = 1;
    if (address->any.sa_family == AF_INET)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/* On this machine a connect is answered at once, with yes or no, unless the other side is overrun:
 * then it is no. Returns an errno, or 0. */
static int connect_now(int fd, const union dx__address *address, socklen_t len) {
    if (connect(fd, &address->any, len) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    struct pollfd wait = {fd, POLLOUT, 0};
    int number = 0;
    socklen_t number_len = sizeof number;
    if (poll(&wait, 1, 200) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &number_len) < 0 ? errno : number;
}

dx_status dx_link_connect(dx_loop *loop, const char *text, const dx_link_config *config,
                          dx_link **ret_link, dx_error *reterr) {
    union dx__address address;
    socklen_t len = 0;
    dx_status status = dx__address_parse(text, &address, &len, reterr);
    if (status != DX_OK)
        return status;
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int number = fd < 0 ? errno : connect_now(fd, &address, len);
    if (number) {
        status = dx__system_error(reterr, DX_FAULT_START, "connect to", text, number);
        if (fd >= 0)
            close(fd);
        return status;
    }
    dx__set_nodelay(fd, &address);
    status = dx_link_open(loop, fd, fd, config, ret_link, reterr);
    if (status != DX_OK)
        close(fd);
    return status;
}
