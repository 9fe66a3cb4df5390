/* How plugins are found, met and left out. */
#include "reginald/host.h"

#define FRAME(length, body) "Content-Length: " #length "\r\n\r\n" body

static const char golden[] = FRAME(
    93, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"handshake\",\"params\":{\"protocol\":"
        "\"rpp\",\"protocolVersion\":0}}")
    FRAME(100, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"logging\":{"
               "\"enabled\":true,\"level\":\"TRACE\"}}}")
        FRAME(135, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"setupCommand\",\"params\":{\"name\":"
                   "\"sleep\",\"args\":null,\"config\":[{\"key\":\"time\",\"value\":1,\"type\":"
                   "\"int\"}]}}")
            FRAME(72,
                  "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"runCommand\",\"params\":{\"name\":"
                  "\"sleep\"}}")
                FRAME(58, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"shutdown\",\"params\":null}")
                    FRAME(47, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\",\"params\":null}");

static void read_file(const char *path, char *room, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t len = fread(room, 1, size - 1, file);
    room[len] = '\0';
    fclose(file);
}

/* Row 1 of the facts, and 8 for free: nothing but these bytes. */
static void test_golden(void **state) {
    static const char *const revisions[] = {"gen-a", "exact"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_new(revisions[i]);
        char spec[512];
        char bytes[4096];
        world_open(world);
        snprintf(spec, sizeof spec, "{'dump': '%s/dump'}", world->folder);
        dx_reginald_guest *guest = world_add(world, spec);
        start(world);
        expect_ready(guest);
        assert_int_equal(
            dx_reginald_run_command(world->host, offer(world, 0, "sleep"),
                                    json("[{\"key\":\"time\",\"value\":1,\"type\":\"int\"}]"), NULL,
                                    on_done, world),
            DX_OK);
        WAIT(world, world->done.len);
        must_have(&world->done, "sleep result 0");
        stop(world);
        assert_int_equal(dx_reginald_guest_state(guest), DX_REGINALD_STOPPED);
        assert_string_equal(dx_reginald_guest_why(guest), "");
        read_file(path_in(world, "dump"), bytes, sizeof bytes);
        assert_string_equal(bytes, golden);
        world_free(world);
    }
}

/* Without a revision, null is not sent: JSON-RPC does not have it. */
static void test_plain(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    world_add(world, "{}");
    start(world);
    stop(world);
    must_have(&world->sent, "\"method\":\"shutdown\"}\n");
    must_have(&world->sent, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}\n");
    world_free(world);
}

static void test_offers(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    dx_reginald_guest *guest = world_add(
        world, "{'handshake': {'name': 'one', 'version': 'x', 'extra': 1, 'configs': ["
               "{'key': 'a', 'value': True, 'type': 'bool', 'envOverride': 'AA'},"
               "{'key': 'b', 'value': 'txt', 'type': 'string', 'flagOnly': True, 'flag': {'name': "
               "'bee', 'shorthand': 'b', 'usage': 'u'}}],"
               "'commands': [{'name': 'c', 'usage': 'c it', 'configs': [{'key': 'n', 'value': "
               "-9223372036854775808, 'type': 'int'}]}], 'tasks': [{'type': 't'}]}}");
    assert_string_equal(dx_reginald_guest_name(guest), "p1");
    assert_string_equal(dx_reginald_guest_version(guest), "");
    assert_null(dx_reginald_guest_settings(guest)[0].value.key);
    assert_null(dx_reginald_offer_at(world->host, 0));
    start(world);
    expect_ready(guest);
    assert_string_equal(dx_reginald_guest_name(guest), "one");
    assert_string_equal(dx_reginald_guest_version(guest), "x");
    const dx_reginald_entry *settings = dx_reginald_guest_settings(guest);
    assert_string_equal(settings[0].value.key, "a");
    assert_int_equal(settings[0].value.type, DX_REGINALD_BOOL);
    assert_int_equal(settings[0].value.number, 1);
    assert_string_equal(settings[0].env, "AA");
    assert_int_equal(settings[0].has_flag, 0);
    assert_int_equal(settings[1].value.type, DX_REGINALD_STRING);
    assert_string_equal(settings[1].value.text, "txt");
    assert_int_equal(settings[1].has_flag && settings[1].flag_only, 1);
    assert_string_equal(settings[1].flag, "bee");
    assert_int_equal(settings[1].shorthand, 'b');
    assert_string_equal(settings[1].usage, "u");
    assert_null(settings[2].value.key);
    const dx_reginald_offer *command = offer(world, 0, "c");
    assert_ptr_equal(command->guest, guest);
    assert_string_equal(command->usage, "c it");
    assert_true(command->settings[0].value.number == INT64_MIN);
    assert_null(command->settings[1].value.key);
    assert_null(offer(world, 1, "t")->settings[0].value.key);
    assert_null(dx_reginald_find(world->host, 1, dx_str("c")));
    assert_null(dx_reginald_offer_at(world->host, 2));
    stop(world);
    assert_null(dx_reginald_offer_at(world->host, 0));
    world_free(world);
}

/* Rows 9, 10 and 15, and others: each is named with a reason, and the good one goes on. */
static void test_failures(void **state) {
    static const struct {
        const char *spec;
        const char *why;
    } rows[] = {
        {"{'handshake': {'protocol': 'xyz'}}", "sent an invalid response to handshake"},
        {"{'handshake': {'protocol': 'reginald', 'commands': None}}", "generation B"},
        {"{'handshake': {'protocolVersion': 1}}", "protocolVersion"},
        {"{'handshake': {'name': ''}}", "/name"},
        {"{'handshake': {'name': None}}", "name"},
        {"{'handshake': {'commands': [{'name': 'attend', 'usage': ''}]}}",
         "reserved command name: attend"},
        {"{'handshake': {'tasks': [{'type': 'link'}]}}", "reserved task name: link"},
        {"{'handshake': {'tasks': [{'type': 'a'}, {'type': 'a'}]}}", "duplicate name: a"},
        {"{'handshake': {'tasks': [{'type': 'a\\0b'}]}}", "NUL"},
        {"{'handshake': {'tasks': [{'type': str(i)} for i in range(1025)], 'commands': []}}",
         "too many commands and tasks"},
        {"{'handshake': {'configs': [{'key': str(i), 'value': i, 'type': 'int'} for i in "
         "range(4097)]}}",
         "too many settings"},
        {"{'handshake': {'configs': [{'key': 'k', 'value': 2**63, 'type': 'int'}]}}",
         "a number does not fit into 64 bits: k"},
        {"{'handshake': {'configs': [{'key': 'k', 'value': 1.5, 'type': 'int'}]}}", "configs"},
        {"{'handshake': {'configs': [{'key': 'k', 'value': 1, 'type': 'int'}] * 2}}",
         "duplicate setting: k"},
        {"{'handshake': {'configs': [{'key': 'k', 'value': 1, 'type': 'int', 'flag': {'shorthand': "
         "'ab'}}]}}",
         "one letter"},
        {"{'answers': {'handshake': {'error': {'code': -7, 'message': 'no\\nway'}}}}",
         "an error: [-7] no?way"},
        {"{'answers': {'handshake': {'error': 'text'}}}", "handshake"},
        {"{'answers': {'handshake': [1]}}", "sent an invalid response"},
        {"{'text': {'handshake': '{\"jsonrpc\":\"2.0\",\"id\":%ID}'}}", "handshake"},
        {"{'text': {'handshake': '{\"jsonrpc\":\"2.0\",\"id\":%ID,\"result\":1,\"error\":{}}'}}",
         "handshake"},
        {"{'answers': {'initialize': {'error': {'code': 5, 'message': 'bad'}}}}",
         "initialize with an error: [5] bad"},
        {"{'answers': {'initialize': 7}}", "sent an invalid response to initialize"},
        {"{'exit': 3, 'lines': ['oops']}", "code 3; stderr: oops"},
        {"{'leave': {'initialize': 4}}", "code 4"},
    };
    struct world *world = world_new(NULL);
    dx_reginald_guest *guests[sizeof rows / sizeof *rows];
    (void)state;
    world_open(world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char spec[512];
        /* Each has a name of its own, so that only what is meant is wrong. */
        snprintf(spec, sizeof spec,
                 "(lambda s: {**s, 'handshake': {'name': 'n%zu', 'commands': [], 'tasks': [], "
                 "**s.get('handshake', {})}})(%s)",
                 i, rows[i].spec);
        guests[i] = world_add(world, spec);
    }
    dx_reginald_guest *good = world_add(world, "{}");
    start(world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_failed(guests[i], rows[i].why);
    expect_ready(good);
    assert_ptr_equal(dx_reginald_guest_at(world->host, sizeof rows / sizeof *rows), good);
    stop(world);
    assert_int_equal(count_of(&world->sent, "shutdown"), 1);
    world_free(world);
}

static void test_most(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    dx_reginald_guest *guest = world_add(
        world, "{'handshake': {'commands': [], 'tasks': [{'type': str(i), 'configs': [{'key': "
               "str(k), 'value': k, 'type': 'int'} for k in range(4)]} for i in range(1024)]}}");
    start(world);
    expect_ready(guest);
    assert_non_null(dx_reginald_offer_at(world->host, DX_REGINALD_OFFERS_MAX - 1));
    assert_null(dx_reginald_offer_at(world->host, DX_REGINALD_OFFERS_MAX));
    stop(world);
    world_free(world);
}

/* Who is first in the list stays, whoever answers first. */
static void test_same_names(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    dx_reginald_guest *first = world_add(world, "__import__('time').sleep(0.3) or {}");
    dx_reginald_guest *same = world_add(world, "{}");
    dx_reginald_guest *command = world_add(world, "{'handshake': {'name': 'x', 'tasks': []}}");
    dx_reginald_guest *task = world_add(world, "{'handshake': {'name': 'y', 'commands': []}}");
    start(world);
    expect_ready(first);
    expect_failed(same, "another plugin has the same name: ");
    expect_failed(command, "another plugin has the same command: sleep");
    expect_failed(task, "another plugin has the same task: echo");
    stop(world);
    world_free(world);
}

static void test_cannot_start(void **state) {
    struct world *world = world_new(NULL);
    dx_reginald_guest *none;
    dx_reginald_guest *bad;
    dx_error error;
    (void)state;
    world_open(world);
    start(world); /* of nothing */
    assert_int_equal(world->ready, 1);
    assert_int_equal(dx_reginald_add(world->host, "", NULL, NULL, &error), DX_ERR_INVALID);
    assert_int_equal(dx_reginald_add(world->host, "/nowhere/reginald-x", NULL, &none, NULL), DX_OK);
    assert_int_equal(
        dx_reginald_add(world->host, make_file(world, "bad", 0600, "x"), "b", &bad, NULL), DX_OK);
    assert_string_equal(dx_reginald_guest_name(none), "x");
    assert_string_equal(dx_reginald_guest_name(bad), "b");
    dx_reginald_guest *good = world_add(world, "{}");
    start(world);
    expect_failed(none, "/nowhere/reginald-x");
    expect_failed(bad, "/bad");
    expect_ready(good);
    stop(world);
    world_free(world);
}

/* Row 11. */
static void test_silence(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world->config.handshake_ms = 2000;
    world->config.initialize_ms = 1000;
    world_open(world);
    dx_reginald_guest *mute = world_add(world, "{'answers': {'handshake': 'mute'}, 'stay': 1}");
    dx_reginald_guest *half =
        world_add(world, "{'handshake': {'name': 'h', 'commands': [], 'tasks': []}, 'answers': "
                         "{'initialize': 'mute'}, 'stay': 1}");
    dx_reginald_guest *good = world_add(world, "{}");
    uint64_t begin = now_ms();
    start(world);
    assert_in_range(now_ms() - begin, 3000, 7000);
    expect_failed(mute, "did not answer handshake in time");
    expect_failed(half, "did not answer initialize in time");
    expect_ready(good);
    stop(world);
    world_free(world);
}

/* Row 24. */
static void test_discover(void **state) {
    struct world *world = world_new(NULL);
    size_t count = 0;
    dx_error error;
    char link[300];
    (void)state;
    world_open(world);
    make_plugin(world, "reginald-b", "{'handshake': {'name': 'b', 'commands': [], 'tasks': []}}");
    make_plugin(world, "reginald-a", "{}");
    make_plugin(world, "other", "{}");
    make_file(world, "reginald-text", 0644, "text");
    assert_int_equal(mkdir(path_in(world, "reginald-folder"), 0755), 0);
    snprintf(link, sizeof link, "%s/reginald-c", world->folder);
    assert_int_equal(symlink("other", link), 0);
    snprintf(link, sizeof link, "%s/reginald-d", world->folder);
    assert_int_equal(symlink("missing", link), 0);
    assert_int_equal(dx_reginald_discover(world->host, world->folder, &count, &error), DX_OK);
    assert_int_equal(count, 3);
    assert_string_equal(dx_reginald_guest_name(dx_reginald_guest_at(world->host, 0)), "a");
    assert_string_equal(dx_reginald_guest_name(dx_reginald_guest_at(world->host, 1)), "b");
    assert_string_equal(dx_reginald_guest_name(dx_reginald_guest_at(world->host, 2)), "c");
    assert_null(dx_reginald_guest_at(world->host, 3));
    assert_int_equal(dx_reginald_discover(world->host, "/nowhere", &count, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, ENOENT);
    assert_non_null(strstr(error.phrase, "/nowhere"));
    start(world);
    expect_ready(dx_reginald_guest_at(world->host, 0));
    expect_ready(dx_reginald_guest_at(world->host, 1));
    stop(world);
    world_free(world);
}

static dx_status on_settings(dx_reginald *host, dx_reginald_guest *guest, dx_buf *values,
                             char reason[200], void *user) {
    const char *name = dx_reginald_guest_name(guest);
    const char *text = "[{\"key\":\"a\",\"value\":\"<&>\",\"type\":\"string\"}]";
    (void)host;
    (void)user;
    if (strcmp(name, "bad") == 0) {
        strcpy(reason, "a is no number");
        return DX_MISFIT;
    }
    if (strcmp(name, "odd") == 0)
        text = "[{\"key\":1}]";
    if (strcmp(name, "none") == 0)
        return DX_OK;
    return dx_buf_append(values, text, strlen(text));
}

static void test_settings(void **state) {
    static const char *const revisions[] = {NULL, "exact"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_new(revisions[i]);
        world->config.on_settings = on_settings;
        world->config.log_off = 1;
        world->config.log_level = DX_REGINALD_WARN + 1;
        world_open(world);
        dx_reginald_guest *good = world_add(world, "{}");
        dx_reginald_guest *bad =
            world_add(world, "{'handshake': {'name': 'bad', 'commands': [], 'tasks': []}}");
        dx_reginald_guest *odd =
            world_add(world, "{'handshake': {'name': 'odd', 'commands': [], 'tasks': []}}");
        dx_reginald_guest *none =
            world_add(world, "{'handshake': {'name': 'none', 'commands': [], 'tasks': []}}");
        start(world);
        expect_ready(good);
        expect_failed(bad, "a is no number");
        expect_failed(odd, "key");
        expect_ready(none);
        must_have(&world->sent,
                  i ? "{\"config\":[{\"key\":\"a\",\"value\":\"\\u003c\\u0026\\u003e\",\"type\":"
                      "\"string\"}],\"logging\":{\"enabled\":false,\"level\":\"WARN+1\"}}"
                    : "{\"config\":[{\"key\":\"a\",\"value\":\"<&>\",\"type\":\"string\"}],"
                      "\"logging\":{\"enabled\":false,\"level\":\"WARN+1\"}}");
        stop(world);
        world_free(world);
    }
}

static void test_revisions(void **state) {
    static const char *const good[] = {NULL, "seed", "gen-a", "exact"};
    static const char *const bad[] = {"gen-b", "gen-z"};
    struct world *world = world_new(NULL);
    dx_error error;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        world->config.revision = good[i];
        world_open(world);
        dx_reginald_stop(world->host); /* which is over at once */
        WAIT(world, world->stopped == (int)i + 1);
        world->host = dx_reginald_free(world->host);
    }
    for (size_t i = 0; i < 2; i++) {
        world->config.revision = bad[i];
        assert_int_equal(dx_reginald_new(world->loop, &world->config, &world->host, &error),
                         DX_ERR_INVALID);
        assert_true(error.phrase[0]);
    }
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),       cmocka_unit_test(test_plain),
        cmocka_unit_test(test_offers),       cmocka_unit_test(test_failures),
        cmocka_unit_test(test_most),         cmocka_unit_test(test_same_names),
        cmocka_unit_test(test_cannot_start), cmocka_unit_test(test_silence),
        cmocka_unit_test(test_discover),     cmocka_unit_test(test_settings),
        cmocka_unit_test(test_revisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
