/* When a server ends, and the file that tells its port. */
#include "finecode/server_talk.h"

#include "finecode/place.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/socket.h>

static struct world *world;
static char *place;
static int idle;

static void on_idle(dx_finecode_server *server, void *user) {
    (void)server;
    ++*(int *)user;
}

static int set_up(void **state) {
    (void)state;
    idle = 0;
    place = place_new();
    world = world_new();
    world_open(world);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    world_free(world);
    place_free(place);
    return 0;
}

static dx_finecode_server_config usual(uint64_t ms, const char *port_file) {
    dx_finecode_server_config config = dx_finecode_server_defaults();
    config.disconnect_ms = ms;
    config.port_file = port_file;
    config.on_idle = on_idle;
    config.user = &idle;
    return config;
}

static dx_finecode_server *serve(uint64_t ms, const char *port_file) {
    dx_finecode_server_config config = usual(ms, port_file);
    dx_finecode_server *server = NULL;
    dx_error error = {0};
    if (dx_finecode_server_new(world->wm, &config, &server, &error) != DX_OK)
        fail_msg("%s", error.phrase);
    return server;
}

static void nobody_comes(void **state) {
    (void)state;
    dx_finecode_server *server = serve(50, NULL);
    uint64_t start = now_ms();
    WAIT(world, idle);
    assert_true(now_ms() - start >= 49);
    assert_null(dx_finecode_server_free(server));
    assert_null(dx_finecode_server_free(NULL));
}

static void the_last_one_leaves(void **state) {
    (void)state;
    dx_finecode_server *server = serve(100, NULL);
    struct client *one = client_new(world, server);
    struct client *two = client_new(world, server);
    client_gets(one, "server/getInfo", "{}", "pid");
    client_gets(two, "server/getInfo", "{}", "pid");
    linger(world, 250);
    assert_int_equal(idle, 0);
    client_free(one);
    linger(world, 250);
    assert_int_equal(idle, 0);
    client_free(two);
    linger(world, 30);
    assert_int_equal(idle, 0);
    /* One that comes in time keeps it alive. */
    one = client_new(world, server);
    client_gets(one, "server/getInfo", "{}", "pid");
    linger(world, 250);
    assert_int_equal(idle, 0);
    client_free(one);
    WAIT(world, idle);
    dx_finecode_server_free(server);
}

static void asked_to_end(void **state) {
    (void)state;
    dx_finecode_server *server = serve(DX_NEVER, NULL);
    struct client *client = client_new(world, server);
    client_gets(client, "server/shutdown", "{}", "{}");
    /* Who leaves, and who comes, does not put it off. */
    client_free(client);
    client = client_new(world, server);
    uint64_t start = now_ms();
    WAIT(world, idle);
    assert_true(now_ms() - start < 5000);
    dx_finecode_server_free(server);
    client_free(client);
}

static void tells_its_port(void **state) {
    (void)state;
    char *path = strdup(place_path(place, "deep/er/port"));
    dx_finecode_server *server = serve(DX_NEVER, path);
    char expected[16];
    (void)snprintf(expected, sizeof expected, "%u", dx_finecode_server_port(server));
    place_has(place, "deep/er/port", expected);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    dx_finecode_server_free(server);
    assert_int_not_equal(access(path, F_OK), 0);
    /* One that is no longer its own is left alone. */
    server = serve(DX_NEVER, path);
    assert_int_equal(unlink(path), 0);
    place_write(place, "deep/er/port", "other", 5);
    dx_finecode_server_free(server);
    place_has(place, "deep/er/port", "other");
    free(path);
}

/* What is left of a server that is gone: nobody listens there, or somebody who does not answer. */
static void stale_files(void **state) {
    (void)state;
    int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    assert_int_equal(bind(other, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(other, (struct sockaddr *)&address, &size), 0);
    char bound[16];
    (void)snprintf(bound, sizeof bound, "%u", ntohs(address.sin_port));
    const char *const rows[] = {"", "0", "99999", "x", "-1", "70000000000000000000", bound, bound};
    char *path = strdup(place_path(place, "port"));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (i == LENGTH(rows) - 1) /* now it listens, but says nothing */
            assert_int_equal(listen(other, 5), 0);
        place_write(place, "port", rows[i], strlen(rows[i]));
        dx_finecode_server *server = serve(DX_NEVER, path);
        char expected[16];
        (void)snprintf(expected, sizeof expected, "%u", dx_finecode_server_port(server));
        place_has(place, "port", expected);
        dx_finecode_server_free(server);
    }
    (void)close(other);
    free(path);
}

static void refused(const char *path, const char *part) {
    dx_finecode_server_config config = usual(DX_NEVER, path);
    dx_finecode_server *server = NULL;
    dx_error error = {0};
    assert_int_equal(dx_finecode_server_new(world->wm, &config, &server, &error), DX_ERR_SYSTEM);
    must_have(error.phrase, part);
    assert_null(server);
    assert_null(world->wm->server);
}

static void *answer_one(void *user) {
    int fd = accept(*(int *)user, NULL, NULL);
    char question[200];
    ssize_t got = recv(fd, question, sizeof question - 1, 0);
    question[got > 0 ? got : 0] = '\0';
    static const char answer[] = "Content-Length: 2\r\n\r\n{}";
    if (strstr(question, "server/getInfo"))
        (void)!write(fd, answer, sizeof answer - 1);
    char end;
    (void)!read(fd, &end, 1);
    (void)close(fd);
    return NULL;
}

static void live_files(void **state) {
    (void)state;
    char *path = strdup(place_path(place, "port"));
    /* It is held by another server of ours, */
    place_write(place, "port", "1", 1);
    int held = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(held, LOCK_EX), 0);
    refused(path, "belongs to a running server");
    place_has(place, "port", "1");
    (void)close(held);
    /* or one of another kind answers there; */
    int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    assert_int_equal(bind(other, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(other, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(listen(other, 5), 0);
    char port[16];
    (void)snprintf(port, sizeof port, "%u\n", ntohs(address.sin_port));
    place_write(place, "port", port, strlen(port));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_one, &other), 0);
    refused(path, "a server is running at the port in it");
    assert_int_equal(pthread_join(thread, NULL), 0);
    place_has(place, "port", port);
    (void)close(other);
    /* or it is no file at all. */
    assert_int_equal(unlink(path), 0);
    place_write(place, "victim", "v", 1);
    assert_int_equal(symlink("victim", path), 0);
    refused(path, "port");
    place_has(place, "victim", "v");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(path, "is not a regular file");
    refused(place, "");
    refused("/proc/none/port", "/proc/none/port");
    free(path);
}

static void only_one(void **state) {
    (void)state;
    dx_finecode_server *server = serve(DX_NEVER, NULL);
    dx_finecode_server *second = NULL;
    dx_finecode_server_config config = usual(DX_NEVER, NULL);
    dx_error error = {0};
    assert_int_equal(dx_finecode_server_new(world->wm, &config, &second, &error), DX_ERR_INVALID);
    dx_finecode_server_free(server);
    server = serve(DX_NEVER, NULL);
    dx_finecode_server_free(server);
    config.port = 65536;
    assert_int_equal(dx_finecode_server_new(world->wm, &config, &second, &error), DX_ERR_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_comes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_one_leaves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asked_to_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_its_port, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stale_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(live_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_one, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
