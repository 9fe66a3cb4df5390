/* Log records for clients: who gets which, together, without secrets, and never too many. */
#include "finecode/server_talk.h"

static struct world *world;
static dx_finecode_server *server;
static struct client *client;

static int set_up(void **state) {
    (void)state;
    world = world_new();
    world_open(world);
    dx_finecode_server_config config = dx_finecode_server_defaults();
    assert_int_equal(dx_finecode_server_new(world->wm, &config, &server, NULL), DX_OK);
    client = client_new(world, server);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    client_free(client);
    dx_finecode_server_free(server);
    world_free(world);
    return 0;
}

static void say(const char *level, const char *text) {
    dx__finecode_server_log(server, NULL, level, "group", dx_str(text), 1.5);
}

static void redaction(void **state) {
    static const char *const rows[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"password=abc", "password=***REDACTED***"},
        {"PASSWORD: abc def", "PASSWORD: ***REDACTED*** def"},
        {"x api_key = abc;y", "x api_key = ***REDACTED***;y"},
        {"{\"token\": \"abc\", \"n\": 1}", "{\"token\": \"***REDACTED***\", \"n\": 1}"},
        {"{'secret':'abc'}", "{'secret':'***REDACTED***'}"},
        {"token=a&secret=b", "token=***REDACTED***&secret=***REDACTED***"},
        {"Authorization: Bearer abc", "Authorization: Bearer ***REDACTED***"},
        {"Bearer abc", "Bearer ***REDACTED***"},
        {"Authorization: Basic dTpw\nx", "Authorization: ***REDACTED***\nx"},
        {"authorization: token abc", "authorization: ***REDACTED***"},
        {"{'Authorization': 'Basic abc', 'n': 1}", "{'Authorization': '***REDACTED***', 'n': 1}"},
        {"my_token=abc", "my_token=***REDACTED***"},
        {"tokens: 7", "tokens: 7"},
        {"a token", "a token"},
        {"token=", "token="},
        {"token", "token"},
        {"token=\xc3\xa9 x", "token=***REDACTED*** x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dx_buf text;
        dx_buf_init(&text, 1000, NULL);
        assert_int_equal(dx__finecode_redact(&text, dx_str(rows[i][0])), DX_OK);
        assert_int_equal(dx_buf_append(&text, "", 1), DX_OK);
        assert_string_equal(text.data, rows[i][1]);
        dx_buf_done(&text);
    }
}

static void subscribers(void **state) {
    (void)state;
    struct client *other = client_new(world, server);
    assert_null(world->wm->log_level);
    client_gets(client, "server/subscribeLogs", "{\"minLevel\":\"WARNING\"}", "{}");
    assert_string_equal(world->wm->log_level, "WARNING");
    client_gets(other, "server/subscribeLogs", "{\"minLevel\":\"debug\"}", "{}");
    assert_string_equal(world->wm->log_level, "DEBUG");
    say("INFO", "one secret=x");
    say("WARNING", "two");
    linger(world, 50);
    assert_null(strstr(other->heard.text, "logRecords"));
    linger(world, 300);
    must_have(other->heard.text,
              "server/logRecords {\"records\":[{\"timestamp\":1.500000,\"level\":\"INFO\","
              "\"group\":\"group\",\"message\":\"one secret=***REDACTED***\",\"source\":\"wm\"},{");
    assert_null(strstr(client->heard.text, "one"));
    must_have(client->heard.text, "\"message\":\"two\"");
    /* An error comes at once. */
    say("ERROR", "three");
    linger(world, 30);
    must_have(client->heard.text, "\"message\":\"three\"");
    client_gets(other, "server/unsubscribeLogs", "{}", "{}");
    assert_string_equal(world->wm->log_level, "WARNING");
    say("ERROR", "four");
    linger(world, 30);
    must_have(client->heard.text, "four");
    assert_null(strstr(other->heard.text, "four"));
    /* Who leaves wants none. */
    client_gets(other, "server/subscribeLogs", "{}", "{}");
    assert_string_equal(world->wm->log_level, "INFO");
    client_free(other);
    WAIT(world, strcmp(world->wm->log_level, "WARNING") == 0);
    client_gets(client, "server/unsubscribeLogs", "{}", "{}");
    assert_null(world->wm->log_level);
}

static void together(void **state) {
    (void)state;
    client_gets(client, "server/subscribeLogs", "{\"minLevel\":\"TRACE\"}", "{}");
    for (int i = 0; i < 250; i++)
        say("INFO", "x");
    linger(world, 50);
    assert_int_equal(count_of(client->heard.text, "server/logRecords"), 2);
    linger(world, 300);
    assert_int_equal(count_of(client->heard.text, "server/logRecords"), 3);
    assert_int_equal(count_of(client->heard.text, "\"message\":\"x\""), 250);
    assert_null(strstr(client->heard.text, "droppedCount"));
}

/* Nobody reads: records wait up to their number, and those beyond are counted. */
static void too_many(void **state) {
    (void)state;
    client_gets(client, "server/subscribeLogs", "{\"minLevel\":\"INFO\"}", "{}");
    static char large[8000];
    memset(large, 'x', sizeof large - 1);
    for (int i = 0; i < 6000; i++)
        say("INFO", large);
    dx__finecode_client *one = server->clients;
    assert_int_equal(one->record_count, DX__FINECODE_RECORDS_MAX);
    assert_true(one->dropped > 0 && one->dropped < 6000);
    assert_true(one->records.len < 16 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redaction),
        cmocka_unit_test_setup_teardown(subscribers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
