/* Links over sockets: listening and connecting. */
#include "unit/ends.h"

#include <netinet/in.h>

static int connected;

static void on_connect(dx_listener *listener, int fd, void *user) {
    (void)listener;
    assert_ptr_equal(user, &plugin);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    connected++;
    if (plugin.link)
        close(fd);
    else
        open_side(&plugin, fd);
}

static const dx_listener_config listening = {.on_connect = on_connect, .user = &plugin};

static dx_listener *listen_on(const char *address) {
    dx_listener *listener = NULL;
    dx_error error = {0};
    dx_status status = dx_listener_open(loop, address, &listening, &listener, &error);
    if (status != DX_OK)
        print_error("%s\n", error.phrase);
    assert_int_equal(status, DX_OK);
    connected = 0;
    return listener;
}

static void talk_over(const char *address) {
    dx_link_config config = config_of(&host);
    assert_int_equal(dx_link_connect(loop, address, &config, &host.link, NULL), DX_OK);
    ask("echo", "[\"over a socket\"]");
    assert_int_equal(wait_for(&host.results, 1), 1);
    assert_string_equal(host.body, "[\"over a socket\"]");
    assert_int_equal(connected, 1);
    dx_link_close(host.link);
    assert_int_equal(wait_for(&plugin.closed, 1), 1);
    assert_int_equal(wait_for(&host.closed, 1), 1);
}

static void over_tcp(void **state) {
    (void)state;
    dx_listener *listener = listen_on("tcp:0");
    unsigned port = dx_listener_port(listener);
    assert_true(port > 0 && port < 65536);
    char address[32];
    snprintf(address, sizeof address, "tcp:%u", port);
    talk_over(address);
    /* The port is taken while it is there, and free again right after. */
    dx_listener *second = NULL;
    dx_error error = {0};
    assert_int_equal(dx_listener_open(loop, address, &listening, &second, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, EADDRINUSE);
    assert_null(dx_listener_free(listener));
    dx_listener_free(listen_on(address));
    dx_link_config config = config_of(&host);
    dx_link *link = NULL;
    assert_int_equal(dx_link_connect(loop, address, &config, &link, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, ECONNREFUSED);
    assert_non_null(strstr(error.phrase, address));
    assert_null(link);
}

static void over_unix(void **state) {
    (void)state;
    char folder[] = "/tmp/duplex-link-XXXXXX", address[64];
    assert_non_null(mkdtemp(folder));
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    const char *path = address + strlen("unix:");
    dx_listener *listener = listen_on(address);
    assert_int_equal(dx_listener_port(listener), 0);
    struct stat stat_of;
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0777, 0600);
    talk_over(address);
    dx_listener_free(listener);
    assert_int_equal(access(path, F_OK), -1);
    dx_error error = {0};
    dx_link_config config = config_of(&host);
    dx_link *link = NULL;
    assert_int_equal(dx_link_connect(loop, address, &config, &link, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, ENOENT);
    assert_null(dx_listener_free(NULL));
    /* A listener that is still there when its loop goes removes its path, too. */
    listen_on(address);
    dx_link_free(host.link);
    dx_link_free(plugin.link);
    host.link = plugin.link = NULL;
    dx_loop_free(loop);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
}

static void senseless_addresses(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "unix",
                                      "unix:",
                                      "tcp:",
                                      "tcp:x",
                                      "tcp:-1",
                                      "tcp:65536",
                                      "tcp:1x",
                                      "udp:1",
                                      "/tmp/socket",
                                      "tcp:99999999999999999999"};
    dx_link_config config = config_of(&host);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        dx_listener *listener = NULL;
        dx_link *link = NULL;
        assert_int_equal(dx_listener_open(loop, bad[i], &listening, &listener, NULL),
                         DX_ERR_INVALID);
        assert_int_equal(dx_link_connect(loop, bad[i], &config, &link, NULL), DX_ERR_INVALID);
        assert_null(listener);
        assert_null(link);
    }
    char longer[300];
    memset(longer, 'l', sizeof longer);
    memcpy(longer, "unix:/tmp/", 10);
    longer[sizeof longer - 1] = '\0';
    dx_listener *listener = NULL;
    dx_error error = {0};
    assert_int_equal(dx_listener_open(loop, longer, &listening, &listener, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, ENAMETOOLONG);
}

static int refused;
static char why_refused[200];
static bool frees_listener;

static void on_refused(dx_listener *listener, const char *why, void *user) {
    assert_ptr_equal(user, &plugin);
    refused++;
    snprintf(why_refused, sizeof why_refused, "%s", why);
    if (frees_listener)
        dx_listener_free(listener);
}

static int knock(unsigned port, const char *bytes) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, bytes, strlen(bytes), 0), strlen(bytes));
    return fd;
}

static dx_listener *listen_for(dx_framing framing) {
    dx_listener_config config = listening;
    dx_listener *listener = NULL;
    config.on_refused = on_refused;
    config.framing = framing;
    connected = refused = 0;
    assert_int_equal(dx_listener_open(loop, "tcp:0", &config, &listener, NULL), DX_OK);
    return listener;
}

static void first_bytes(void **state) {
    (void)state;
    static const struct {
        dx_framing framing;
        bool good;
        const char *bytes;
    } rows[] = {
        {DX_FRAMING_LINE, true, " \t\r\n{"},
        {DX_FRAMING_LINE, true, "["},
        {DX_FRAMING_LINE, false, "GET / HTTP/1.1\r\n"},
        {DX_FRAMING_LINE, false, "hello"},
        {DX_FRAMING_LINE, false, "Content-Length: 1\r\n\r\n1"},
        {DX_FRAMING_LINE, false, "\n\"\""},
        {DX_FRAMING_HEADER, true, "Content-Length: 1"},
        {DX_FRAMING_HEADER, true, "cOnTeNt-type: x"},
        {DX_FRAMING_HEADER, false, "{}"},
        {DX_FRAMING_HEADER, false, "Contents: 1"},
        {DX_FRAMING_HEADER, false, "CONTENT-X / HTTP/1.1\r\nContent-Length: 1\r\n\r\n1"},
        {DX_FRAMING_HEADER, false, "\r\nContent-Length: 1"},
        {DX_FRAMING_HEADER, false, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n1"},
        {(dx_framing)0, true, ""},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_listener *listener = listen_for(rows[i].framing);
        int fd = knock(dx_listener_port(listener), rows[i].bytes);
        wait_for(rows[i].good ? &connected : &refused, 1);
        assert_int_equal(connected, rows[i].good);
        assert_int_equal(refused, !rows[i].good);
        if (refused)
            assert_int_equal(strstr(why_refused, "HTTP") != NULL,
                             strstr(rows[i].bytes, "HTTP") != NULL);
        plugin.link = dx_link_free(plugin.link);
        close(fd);
        dx_listener_free(listener);
    }
}

/* One byte at a time; and what never becomes a message is nobody's until it ends. */
static void first_bytes_come_slowly(void **state) {
    (void)state;
    dx_listener *listener = listen_for(DX_FRAMING_HEADER);
    int fds[2] = {knock(dx_listener_port(listener), ""),
                  knock(dx_listener_port(listener), "Conte")};
    for (const char *byte = "content-type:"; *byte; byte++) {
        turn_for(10);
        assert_int_equal(connected + refused, 0);
        assert_int_equal(send(fds[0], byte, 1, 0), 1);
    }
    assert_int_equal(wait_for(&connected, 1), 1);
    close(fds[1]);
    assert_int_equal(wait_for(&refused, 1), 1);
    plugin.link = dx_link_free(plugin.link);
    close(fds[0]);
    /* The listener may go with one that is silent, and when one is refused. */
    fds[0] = knock(dx_listener_port(listener), "");
    turn_for(20);
    frees_listener = true;
    fds[1] = knock(dx_listener_port(listener), "x");
    assert_int_equal(wait_for(&refused, 2), 2);
    frees_listener = false;
    char byte;
    assert_int_equal(recv(fds[0], &byte, 1, 0), 0);
    close(fds[0]);
    close(fds[1]);
}

/* Text between messages ends a conversation by a connection, but not one by a pair of sockets. */
static void stray_text(void **state) {
    (void)state;
    int pair[2];
    dx_link_config config = config_of(&plugin);
    config.on_event = on_event;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    open_with(&plugin, pair[0], &config);
    assert_int_equal(send(pair[1], "hello\n", 6, 0), 6);
    assert_int_equal(wait_for(&plugin.strays, 1), 1);
    turn_for(20);
    assert_int_equal(plugin.closed, 0);
    plugin.link = dx_link_free(plugin.link);
    close(pair[1]);
    dx_listener *listener = listen_for(DX_FRAMING_LINE);
    int fd = knock(dx_listener_port(listener), "[]\nhello\n");
    assert_int_equal(wait_for(&plugin.closed, 1), 1);
    assert_int_equal(plugin.why.fault, DX_FAULT_STRAY);
    dx_listener_free(listener);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        loop_test(over_tcp),
        loop_test(over_unix),
        loop_test(senseless_addresses),
        loop_test(first_bytes),
        loop_test(first_bytes_come_slowly),
        loop_test(stray_text),
    };
    return cmocka_run_group_tests_name("socket", tests, NULL, NULL);
}
