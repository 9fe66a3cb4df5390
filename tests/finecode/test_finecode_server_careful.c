/* The manager as a server: what others must not do to it, and what must not get lost. */
#include "finecode/server_talk.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static struct world *world;
static dx_finecode_server *server;
static struct client *client;

static void begin(void) {
    world_open(world);
    dx_finecode_server_config config = dx_finecode_server_defaults();
    dx_error error = {0};
    if (dx_finecode_server_new(world->wm, &config, &server, &error) != DX_OK)
        fail_msg("%s", error.phrase);
    client = client_new(world, server);
}

static int set_up(void **state) {
    (void)state;
    server = NULL;
    client = NULL;
    world = world_new();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    if (client)
        client_free(client);
    server = dx_finecode_server_free(server);
    world_free(world);
    return 0;
}

/* Sends the bytes to the server; what it answers until it closes. */
static const char *say_raw(const char *bytes) {
    static char answer[4096];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)dx_finecode_server_port(server))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
    size_t len = 0;
    ssize_t got = -1;
    for (uint64_t end = now_ms() + 10000; got && now_ms() < end;) {
        turn(world, 5);
        got = recv(fd, answer + len, sizeof answer - 1 - len, MSG_DONTWAIT);
        len += got > 0 ? (size_t)got : 0;
        got = got < 0 && errno != EAGAIN ? 0 : got;
    }
    assert_int_equal(got, 0);
    (void)close(fd);
    answer[len] = '\0';
    return answer;
}

/* A web page can have any browser post to any port of this machine. Nothing of it is done. */
static void browsers(void **state) {
    static const char message[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"actions/run\",\"params\":{\"actionSource\":"
        "\"act\",\"project\":\"a\"}}";
    char text[1000];
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    begin();
    (void)snprintf(text, sizeof text,
                   "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n"
                   "Content-Type: text/plain;charset=UTF-8\r\nContent-Length: %zu\r\n\r\n%s",
                   sizeof message - 1, message);
    const char *answer = say_raw(text);
    assert_null(strstr(answer, "returnCode"));
    linger(world, 100);
    assert_null(world->wm->runs);
    assert_string_equal(trace_of(world, "a", "e"), "");
    client_gets(client, "server/getInfo", "{}", "pid");
}

/* One folder whose name is no text does not silence all others. */
static void odd_names(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    make_project(world, "caf\xe9", "e", "stdio", "");
    begin();
    client_gets(client, "workspace/listProjects", "{}", "\"name\":\"a\"");
    client_gets(client, "workspace/listProjects", "{}",
                "/caf?\",\"status\":\"CONFIG_INVALID\",\"why\":\"its path is not valid UTF-8");
    client_gets(client, "actions/getTree", "{}", "::x.Act\"");
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"\"}", "returnCode");
}

static void links(void **state) {
    char path[128];
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    (void)snprintf(path, sizeof path, "%s/link", world->folder);
    assert_int_equal(symlink("a", path), 0);
    begin();
    client_gets(client, "workspace/addDir", "{\"dirPath\":\"%s/link\"}", "[{\"name\":\"a\"");
    WAIT(world, is_in(runner_of(world, "a", "e"), DX_FINECODE_RUNNING));
    client_gets(client, "workspace/addDir", "{\"dirPath\":\"%s/a/../a\",\"startRunners\":false}",
                "[{\"name\":\"a\"");
    client_gets(client, "workspace/findProjectForFile", "{\"filePath\":\"%s/link/finecode.toml\"}",
                "/a\"}");
}

#define JSON "\"options\":{\"resultFormats\":[\"json\"]}"
#define LONG "123456789012345678901234567890"

/* No number is another one at the other end. */
static void long_numbers(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    set_spec(world, "a", "e",
             "{'answers': {'actions/run': {'result': {'status': 'success', 'return_code': 0, "
             "'result_by_format': '{\"json\": {\"n\": -" LONG "}}'}}}}");
    begin();
    client_gets(client, "actions/run",
                "{\"actionSource\":\"act\",\"project\":\"a\",\"params\":{\"n\":" LONG "}," JSON "}",
                "\"json\":{\"n\":-" LONG "}");
    must_have(trace_of(world, "a", "e"), "\"params\": {\"n\": " LONG "}");
    client_gets(client, "actions/runBatch",
                "{\"actionSources\":[\"act\"],\"params\":{\"x\":" LONG "},\"paramsByProject\":{"
                "\"%s/a\":{\"y\":" LONG "}}," JSON "}",
                "\"json\":{\"n\":-" LONG "}");
    must_have(trace_of(world, "a", "e"), "\"params\": {\"x\": " LONG ", \"y\": " LONG "}");
}

/* Where an action is asked for and cannot be, the answer says it. */
static void batches(void **state) {
    (void)state;
    make_project(world, "a", "e", "stdio", "");
    make_project(world, "b", "e", "stdio", "");
    make_project(world, "c", "e", "stdio", "");
    make_project(world, "bad", "e", "stdio", "[finecode.action.act]\n");
    write_file(world, "c", "finecode.toml", "[finecode.action.other]\nsource = 'x.Other'\n");
    begin();
    /* Only projects that have it count, and those that are named twice count once. */
    client_gets(client, "actions/runBatch", "{\"actionSources\":[\"act\"]," JSON "}",
                "\"returnCode\":0}");
    client_gets(client, "actions/runBatch",
                "{\"actionSources\":[\"act\"],\"projects\":[\"a\",\"%s/a\"]," JSON "}",
                "\"returnCode\":0}");
    client_gets(client, "actions/runBatch", "{\"actionSources\":[\"act\",\"none\"]," JSON "}",
                "\"code\":-32602,\"message\":\"no project has the action none\"");
    /* One that is invalid, and a name that turns out to be nothing only when runners were asked. */
    const char *answer = client_get(
        client, "actions/runBatch",
        "{\"actionSources\":[\"act\",\"no.such\"],\"projects\":[\"a\",\"bad\"]," JSON "}");
    must_have(answer, "/a\":{\"act\":{\"resultByFormat\":{\"json\":{\"pid\":");
    must_have(answer, "\"no.such\":{\"error\":\"unknown action 'no.such'");
    must_have(answer, "/bad\":{\"act\":{\"error\":\"");
    must_have(answer, "\"returnCode\":1}");
}

/* A result that a runner can just send, and that is too long as a part of what a client gets. */
static void lost_parts(void **state) {
    enum { SIZE = (64 << 20) - 400, TOKEN = 900 };
    static const char before[] = "{'answers': {'actions/run': {'result': {'status': 'success', "
                                 "'return_code': 0, 'result_by_format': '{\"json\": {\"x\": \"";
    char *spec = malloc(SIZE + 500);
    char params[TOKEN + 200];
    char token[TOKEN + 1] = "";
    (void)state;
    assert_non_null(spec);
    char *to = mempcpy(spec, before, sizeof before - 1);
    memset(to, 'x', SIZE);
    strcpy(to + SIZE, "\"}}'}}}}");
    memset(token, 't', TOKEN);
    make_project(world, "a", "e", "stdio", "");
    set_spec(world, "a", "e", spec);
    free(spec);
    begin();
    (void)snprintf(params, sizeof params,
                   "{\"actionSource\":\"act\",\"project\":\"a\",\"partialResultToken\":\"%s\"," JSON
                   "}",
                   token);
    client_gets(client, "actions/run", params, "some partial results could not be sent");
    assert_null(strstr(client->heard.text, "partialResult"));
}

static void overrides(void **state) {
    static const char *const given[] = {"act.h_e.level=1", NULL};
    (void)state;
    world->config.overrides = given;
    make_project(world, "a", "e", "stdio", "");
    set_spec(world, "a", "e", "{'answers': {'finecodeRunner/updateConfig': 'mute'}, 'then': [{}]}");
    begin();
    client_gets(client, "workspace/startRunners", "{}", "{}");
    WAIT(world, strstr(trace_of(world, "a", "e"), "updateConfig"));
    must_have(trace_of(world, "a", "e"), "\"level\": 1");
    /* One that is just being configured has to hear of it, too. */
    client_gets(client, "workspace/setConfigOverrides",
                "{\"overrides\":{\"act\":{\"\":{\"level\":2}}}}", "{}");
    WAIT(world, is_in(runner_of(world, "a", "e"), DX_FINECODE_RUNNING));
    must_have(trace_of(world, "a", "e"), "\"level\": 2");
    /* A refusal changes nothing. */
    client_gets(client, "workspace/setConfigOverrides",
                "{\"overrides\":{\"act\":{\"a.b\":{\"level\":3}}}}", "\"code\":-32602");
    client_gets(client, "workspace/listProjects", "{}", "\"status\":\"CONFIG_VALID\"");
    /* However often: what is old goes. */
    for (int i = 0; i < 5; i++) {
        char params[100];
        (void)snprintf(params, sizeof params, "{\"overrides\":{\"act\":{\"h_e\":{\"level\":%d}}}}",
                       10 + i);
        client_gets(client, "workspace/setConfigOverrides", params, "{}");
    }
    dx_finecode_project *project = dx_finecode_wm_project(world->wm, 0);
    assert_non_null(project->readings);
    assert_null(project->readings->older);
    /* What was given before holds again when the server goes. */
    client_gets(client, "server/subscribeLogs", "{\"minLevel\":\"DEBUG\"}", "{}");
    assert_string_equal(world->wm->log_level, "DEBUG");
    server = dx_finecode_server_free(server);
    assert_null(world->wm->log_level);
    assert_string_equal(world->wm->config.overrides[0], given[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(browsers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(batches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overrides, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
