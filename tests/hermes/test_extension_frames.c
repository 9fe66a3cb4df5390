/* Bytes between an editor and an extension: what an extension takes, and the one form it sends,
 * which editor_receive() insists on. */
#include "hermes/extension.h"

#define INITIALIZED                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"name\":\"Probe\",\"version\":\"1\"," \
    "\"capabilities\":{\"commands\":[]}}}"
#define INITIALIZE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"

static void say_start(dx_hermes_extension *extension, const dx_hermes_told *told, void *user) {
    (void)extension;
    (void)user;
    fprintf(stderr, "start %s\n", told->data_directory);
}

/* Sends the command's name back as the title of a window. */
static void echo(dx_hermes_extension *extension, const char *command, void *user) {
    dx_hermes_page page = {.url = "http://a/", .title = command};
    (void)user;
    dx_hermes_open_window(extension, &page, NULL);
}

static dx_hermes_extension_config probe(void) {
    dx_hermes_extension_config config = dx_hermes_extension_defaults("Probe", "1");
    config.on_start = say_start;
    config.on_command = echo;
    return config;
}

static void expect_taken(const char *header) {
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_start(run_config, &config);
    editor_raw(&editor, header, strlen(header));
    editor_raw(&editor, INITIALIZE, strlen(INITIALIZE));
    editor_expect(&editor, INITIALIZED);
    editor_stop(&editor);
}

/* H6 and rows 2 to 4: all that the real editor would take from us, and any case. The body has 58
 * bytes. */
static void test_headers_that_are_taken(void **state) {
    (void)state;
    assert_int_equal(strlen(INITIALIZE), 58);
    static const char *const headers[] = {
        "Content-Length: 58\r\n\r\n",
        "content-length: 58\r\n\r\n",
        "CONTENT-LENGTH: 58\r\n\r\n",
        "Content-Length:58\r\n\r\n",
        "Content-Length:     58  \r\n\r\n",
        "Content-Length: 58\n\n",
        "Content-Length: +58\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 58\r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 58\r\n\r\n",
        "Content-Length: 58\r\nX-Other: y\r\n\r\n",
        "a stray line\nContent-Length: 58\r\n\r\n",
    };
    for (size_t i = 0; i < LENGTH(headers); i++)
        expect_taken(headers[i]);
}

/* H1: the document's own example. What is said names both numbers, and the next message counts. */
static void test_sample_with_the_wrong_length(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_start(run_config, &config);
    static const char sample[] = "Content-Length: 52\r\n\r\n" INITIALIZE;
    editor_raw(&editor, sample, sizeof sample - 1);
    editor_send(&editor, INITIALIZE);
    editor_log_has(&editor, "JSON ends too early, at byte 52");
    editor_log_has(&editor, "declared 52, document ended at 58");
    char *body = editor_receive(&editor);
    assert_non_null(strstr(body, "\"id\":null,\"error\":{\"code\":-32700"));
    free(body);
    editor_expect(&editor, INITIALIZED);
    editor_stop(&editor);
}

/* One byte at a time, with a pause where readers of the samples break. */
static void test_byte_by_byte(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_start(run_config, &config);
    static const char bytes[] =
        "Content-Length: 123\r\n\r\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"apiVersion\":\"1\","
        "\"dataDirectory\":\"/\xc3\x85\xe4\xb8\xad\xf0\x9f\x98\x80\",\"hermesVersion\":\"2\"}}";
    assert_int_equal(strlen(strstr(bytes, "{")), 123);
    for (size_t i = 0; i < sizeof bytes - 1; i++) {
        editor_raw(&editor, bytes + i, 1);
        if (i < 24 || (unsigned char)bytes[i] >= 0x80)
            usleep(2000);
    }
    editor_log(&editor, "start /\xc3\x85\xe4\xb8\xad\xf0\x9f\x98\x80");
    editor_expect(&editor, INITIALIZED);
    editor_stop(&editor);
}

/* Non-ASCII goes out as it is, counted in bytes; what must be escaped is. */
static void test_what_goes_out(void **state) {
    (void)state;
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    editor_command(&editor, "\xc3\x85/\xe4\xb8\xad\xf0\x9f\x98\x80<&>\x7f\\u00e5\\u0001\\t\\\"");
    editor_expect(&editor, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ui/openWindow\",\"params\":{"
                           "\"url\":\"http://a/\",\"title\":\"\xc3\x85/\xe4\xb8\xad\xf0\x9f\x98\x80"
                           "<&>\x7f\xc3\xa5\\u0001\\t\\\"\"}}");
    editor_stop(&editor);
}

/* A hundred commands in one write, each of which asks something (F02, row 7). */
static void test_many_at_once(void **state) {
    (void)state;
    enum { MANY = 100, ROOM = 128 };
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    char *all = malloc((size_t)MANY * ROOM);
    assert_non_null(all);
    size_t len = 0;
    for (int i = 0; i < MANY; i++)
        len += (size_t)snprintf(all + len, ROOM,
                                "Content-Length: 71\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":"
                                "\"command/execute\",\"params\":{\"command\":\"%03d\"}}",
                                i);
    editor_raw(&editor, all, len);
    for (int i = 0; i < MANY; i++) {
        snprintf(all, ROOM,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ui/openWindow\",\"params\":{\"url\":"
                 "\"http://a/\",\"title\":\"%03d\"}}",
                 i + 1, i);
        editor_expect(&editor, all);
    }
    free(all);
    editor_stop(&editor);
}

static void expect_answered(const char *json, const char *part) {
    dx_hermes_extension_config config = probe();
    struct editor editor = editor_running(&config);
    editor_send(&editor, json);
    char *body = editor_receive(&editor);
    if (!body || !strstr(body, part))
        fail_msg("%s: %s", json, body ? body : "nothing");
    free(body);
    editor_stop(&editor); /* and it goes on */
}

/* H8: what cannot be read is answered, and the conversation goes on. */
static void test_bodies_that_are_none(void **state) {
    (void)state;
    static const char parse[] = "\"id\":null,\"error\":{\"code\":-32700";
    static const char request[] = "\"error\":{\"code\":-32600";
    expect_answered("", parse);
    expect_answered("{", parse);
    expect_answered("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"} x", parse);
    expect_answered("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", parse);
    expect_answered("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"shutdown\"}", request);
    expect_answered("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"shutdown\"}", request);
    expect_answered("[]", request);
    expect_answered("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}]",
                    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601");
    expect_answered("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"shutdown\"}", request);
}

/* A length that is none: the header is left out, and the next one counts. */
static void test_lengths_that_are_none(void **state) {
    (void)state;
    static const char *const headers[] = {
        "Content-Length: -5\r\n\r\n",
        "Content-Length: 0x10\r\n\r\n",
        "Content-Length: \r\n\r\n",
        "Content-Length: 5 5\r\n\r\n",
    };
    for (size_t i = 0; i < LENGTH(headers); i++) {
        dx_hermes_extension_config config = probe();
        struct editor editor = editor_start(run_config, &config);
        editor_raw(&editor, headers[i], strlen(headers[i]));
        editor_log_has(&editor, "Content-Length is not a plain decimal number");
        editor_send(&editor, INITIALIZE);
        editor_expect(&editor, INITIALIZED);
        editor_stop(&editor);
    }
}

/* Longer than the limit: nothing of it is stored, and nobody knows where the next one begins. */
static void test_lengths_that_end_it(void **state) {
    (void)state;
    static const struct {
        const char *revision;
        const char *header;
        const char *limit;
    } rows[] = {
        {NULL, "Content-Length: 1074790401\r\n\r\n", "1074790400"},
        {NULL, "Content-Length: 99999999999999999999999999\r\n\r\n", "1074790400"},
        {"exact", "Content-Length: 10485761\r\n\r\n", "10485760"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_hermes_extension_config config = probe();
        config.revision = rows[i].revision;
        struct editor editor = editor_start(run_config, &config);
        editor_raw(&editor, rows[i].header, strlen(rows[i].header));
        editor_log_has(&editor, rows[i].limit);
        editor_gone(&editor, 1);
    }
}

/* Row 5: at the limit all is well. */
static void test_largest_message(void **state) {
    (void)state;
    enum { LIMIT = 10485760 };
    static const char head[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
        "\"apiVersion\":\"\",\"dataDirectory\":\"\",\"hermesVersion\":\"";
    dx_hermes_extension_config config = probe();
    config.revision = "exact";
    struct editor editor = editor_start(run_config, &config);
    char *body = malloc(LIMIT + 1);
    assert_non_null(body);
    memset(body, 'x', LIMIT);
    memcpy(body, head, sizeof head - 1);
    strcpy(body + LIMIT - 3, "\"}}");
    editor_send(&editor, body);
    free(body);
    editor_expect(&editor, INITIALIZED);
    editor_send(&editor, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\",\"params\":{"
                         "\"reason\":\"reload\"}}");
    free(editor_receive(&editor));
    editor_gone(&editor, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_that_are_taken),
        cmocka_unit_test(test_sample_with_the_wrong_length),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_what_goes_out),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_bodies_that_are_none),
        cmocka_unit_test(test_lengths_that_are_none),
        cmocka_unit_test(test_lengths_that_end_it),
        cmocka_unit_test(test_largest_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
