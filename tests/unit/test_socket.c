/* Links over sockets: listening and connecting. */
#include "unit/ends.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        loop_test(over_tcp),
        loop_test(over_unix),
        loop_test(senseless_addresses),
    };
    return cmocka_run_group_tests_name("socket", tests, NULL, NULL);
}
