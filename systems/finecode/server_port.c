/* The file that tells clients the port. The server holds it locked: a file that is locked belongs
 * to one that lives. The original does not lock its file, so the port in it is tried, too. */
#include "systems/finecode/server_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWER_MS = 1000 };

static dx_status fail(dx_error *reterr, const char *path, const char *why, int error) {
    if (reterr) {
        (void)dx__finecode_fail(reterr, path, error ? strerror(error) : why);
        reterr->fault = DX_FAULT_SYSTEM;
        reterr->system = error ? error : EADDRINUSE;
    }
    return DX_ERR_SYSTEM;
}

static bool is_ready(int fd, short events) {
    struct pollfd wait = {.fd = fd, .events = events};
    int got;
    do
        got = poll(&wait, 1, ANSWER_MS);
    while (got < 0 && errno == EINTR);
    return got > 0;
}

/* Another program may have the port by now; only one that answers as a manager does counts. */
static bool answers(int fd, uint16_t port) {
    static const char question[] =
        "Content-Length: 62\r\n\r\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/getInfo\",\"params\":{}}";
    char start[16] = "";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)
        return false;
    int error = 0;
    socklen_t size = sizeof error;
    if (!is_ready(fd, POLLOUT) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error)
        return false;
    if (send(fd, question, sizeof question - 1, MSG_NOSIGNAL) != (ssize_t)sizeof question - 1 ||
        !is_ready(fd, POLLIN))
        return false;
    ssize_t got = recv(fd, start, sizeof start - 1, 0);
    return got >= 8 && strncasecmp(start, "Content-", 8) == 0;
}

static bool is_served(int file) {
    char text[16] = "";
    ssize_t got = pread(file, text, sizeof text - 1, 0);
    unsigned long port = got > 0 ? strtoul(text, NULL, 10) : 0;
    if (!port || port > 65535)
        return false;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool served = fd >= 0 && answers(fd, (uint16_t)port);
    if (fd >= 0)
        (void)close(fd);
    return served;
}

static dx_status make_folder(const char *path) {
    const char *name = strrchr(path, '/');
    char *folder = name && name > path ? strndup(path, (size_t)(name - path)) : NULL;
    if (name && name > path && !folder)
        return DX_ERR_NOMEM;
    dx_status status = folder ? dx__finecode_make_folders(folder) : DX_OK;
    free(folder);
    return status;
}

/* Has the name still the file that is open? Another server may have removed it as its own. */
static bool is_named(int fd, const char *path) {
    struct stat open_one;
    struct stat named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

dx_status dx__finecode_port_take(dx_finecode_server *server, dx_error *reterr) {
    const char *path = server->port_file;
    struct stat facts;
    dx_status status = make_folder(path);
    if (status != DX_OK)
        return status;
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(reterr, path, "", errno);
    if (fstat(fd, &facts) < 0 || !S_ISREG(facts.st_mode))
        status = fail(reterr, path, "is not a regular file", 0);
    else if (flock(fd, LOCK_EX | LOCK_NB) < 0 || !is_named(fd, path))
        status = fail(reterr, path, "belongs to a running server", 0);
    else if (is_served(fd))
        status = fail(reterr, path, "a server is running at the port in it", 0);
    if (status != DX_OK) {
        (void)close(fd);
        return status;
    }
    server->port_fd = fd;
    return DX_OK;
}

dx_status dx__finecode_port_tell(dx_finecode_server *server, unsigned port, dx_error *reterr) {
    char text[16];
    int len = snprintf(text, sizeof text, "%u", port);
    /* In this order there is no moment at which it is empty. */
    if (pwrite(server->port_fd, text, (size_t)len, 0) != len || ftruncate(server->port_fd, len) < 0)
        return fail(reterr, server->port_file, "", errno);
    return DX_OK;
}

void dx__finecode_port_remove(dx_finecode_server *server) {
    if (server->port_fd < 0)
        return;
    if (is_named(server->port_fd, server->port_file))
        (void)unlink(server->port_file);
    (void)close(server->port_fd);
    server->port_fd = -1;
}
