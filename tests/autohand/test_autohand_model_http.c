/* The model behind an endpoint, against one that does what it should and otherwise. */
#include "autohand/fake_model.h"
#include "autohand/model_talk.h"

static struct fake_model fake;

static int start(void **state) {
    (void)state;
    /* This machine is never asked by way of a proxy. */
    (void)setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    fake_model_start(&fake);
    return 0;
}

static int stop(void **state) {
    (void)state;
    fake_model_stop(&fake);
    return 0;
}

static dx_autohand_http_config config_for(const char *mode) {
    dx_autohand_http_config config = dx_autohand_http_defaults();
    config.url = fake_model_url(&fake, mode);
    config.model = "m";
    config.first_wait_ms = 20;
    return config;
}

static struct talk *talk_to(const dx_autohand_http_config *config) {
    struct talk *talk = talk_new();
    dx_error error = {0};
    dx_status status = dx_autohand_model_http(talk->loop, config, &talk->model, &error);
    if (status != DX_OK)
        fail_msg("%s", error.phrase);
    return talk;
}

static void hears(const char *mode, const char *heard) {
    dx_autohand_http_config config = config_for(mode);
    struct talk *talk = talk_to(&config);
    talk_hears(talk, "hello", heard);
    talk_free(talk);
}

#define ALL "text(Grü)text(ße, )text(世界)text(! 🙂)done(12)"

static void as_it_should(void **state) {
    (void)state;
    hears("text", ALL);
    hears("text/", ALL);
    hears("text/chat/completions", ALL);
    hears("plain", "text(Grüße, 世界! 🙂)done(12)");
    hears("plain-calls", "call(c1,read_file,{\"path\":\"a\"})call(c2,list_tree,{})done(-1)");
    hears("plain-calls-no-ids", "call(,read_file,{\"path\":\"a\"})call(,list_tree,{})done(-1)");
    hears("calls", "text(I look. )call(c1,read_file,{\"path\":\"a\"})"
                   "call(c2,write_file,{\"path\":\"b\",\"contents\":\"ü\\n\"})done(12)");
    hears("thought", "thought(Hm, )thought(well.)text(Yes.)done(-1)");
    dx_autohand_http_config config = config_for("text");
    config.no_stream = 1;
    struct talk *talk = talk_to(&config);
    assert_string_equal(talk->model->name, "m");
    talk_hears(talk, "hello", "text(Grüße, 世界! 🙂)done(12)");
    talk_hears(talk, "hello", "text(Grüße, 世界! 🙂)done(12)");
    talk_free(talk);
}

static void otherwise(void **state) {
    (void)state;
    hears("crlf", "text(a)text(b)done(-1)");
    hears("bytes", "text(Grüße, 世界! 🙂)done(-1)");
    hears("no-done", "text(a)done(-1)");
    hears("no-blank", "text(a)done(-1)");
    hears("open", "text(a)done(-1)");
    hears("no-index", "call(c1,list_tree,{})call(c2,read_file,{\"path\":\"a\"})done(-1)");
    hears("same-index", "call(c1,list_tree,{})call(c2,read_file,{\"path\":\"a\"})done(-1)");
    hears("slow", "text(a)text(b)text(c)done(-1)");
    dx_autohand_http_config config = config_for("comments");
    config.silence_ms = 400;
    struct talk *talk = talk_to(&config);
    talk_hears(talk, "hello", "text(a)done(-1)");
    talk_free(talk);
}

static void many_calls(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("many");
    struct talk *talk = talk_to(&config);
    talk_ask(talk, "hello");
    talk_run(talk);
    assert_int_equal(talk->calls, 1000);
    assert_int_equal(talk->dones, 1);
    assert_non_null(strstr(talk->heard, "call(c999,read_file,{\"path\":\"999\"})done(-1)"));
    talk_free(talk);
    hears("too-many", "fail(unknown,0,0,the model calls more than 20000 tools at once)");
}

static void refused(void **state) {
    (void)state;
    hears("400", "fail(context,400,0,HTTP 400: no 400)");
    hears("402", "fail(payment,402,0,HTTP 402: no 402)");
    hears("403", "fail(model,403,0,HTTP 403: no 403)");
    hears("404", "fail(model,404,0,HTTP 404: no 404)");
    hears("418", "fail(unknown,418,0,HTTP 418: no 418)");
    hears("listed", "fail(context,400,0,HTTP 400: one of a list)");
    hears("detailed", "fail(context,422,0,HTTP 422: {\"detail\": [{\"msg\": \"too hot\"}]})");
    hears("elsewhere", "fail(unknown,307,0,HTTP 307: redirects are not followed)");
    dx_autohand_http_config config = config_for("401");
    config.key = "sk-0123456789";
    struct talk *talk = talk_to(&config);
    talk_hears(talk, "hello", "fail(auth,401,0,HTTP 401: the key ************* is wrong)");
    talk_free(talk);
    config = config_for("late-key");
    config.key = "sk-0123456789";
    talk = talk_to(&config);
    talk_ask(talk, "hello");
    talk_run(talk);
    assert_non_null(strstr(talk->why, "xxx***"));
    assert_null(strstr(talk->why, "sk-"));
    talk_free(talk);
}

static void tried_again(void **state) {
    (void)state;
    hears("429-once", "retry(rate_limit,429,20)" ALL);
    hears("503-once", "retry(server,503,20)" ALL);
    hears("408-once", "retry(timeout,408,20)" ALL);
    hears("drop-once", "retry(network,0,20)" ALL);
    hears("cut-early-once", "retry(network,0,20)" ALL);
    hears("cut-call-once", "retry(network,0,20)" ALL);
    hears("malformed-once", "retry(network,0,20)" ALL);
    hears("nothing-once", "retry(network,0,20)" ALL);
    hears("only-done-once", "retry(network,0,20)" ALL);
    hears("in-stream-once", "retry(server,503,20)" ALL);
    hears("429", "retry(rate_limit,429,20)retry(rate_limit,429,40)retry(rate_limit,429,80)"
                 "fail(rate_limit,429,1,HTTP 429: slow down)");
    hears("html", "retry(server,502,20)retry(server,502,40)retry(server,502,80)"
                  "fail(server,502,1,HTTP 502: <html> <body>Bad Gateway</body>?</html>)");
    dx_autohand_http_config config = config_for("500");
    config.tries = 1;
    struct talk *talk = talk_to(&config);
    talk_hears(talk, "hello", "fail(server,500,1,HTTP 500: no 500)");
    talk_free(talk);
    /* What it does not know is left out, from then on, and is no try. */
    config = config_for("strict");
    config.tries = 1;
    talk = talk_to(&config);
    talk_hears(talk, "hello", "retry(context,422,0)" ALL);
    talk_hears(talk, "hello", ALL);
    talk_free(talk);
}

static void waits(void **state) {
    (void)state;
    /* What it asks for is waited for … */
    dx_autohand_http_config config = config_for("later");
    config.tries = 2;
    struct talk *talk = talk_to(&config);
    uint64_t before = talk_now();
    talk_hears(talk, "hello", "retry(rate_limit,429,2000)fail(rate_limit,429,1,HTTP 429: later)");
    assert_in_range(talk_now() - before, 2000, 4000);
    assert_int_equal(talk->failure.retry_after_ms, 2000);
    talk_free(talk);

    /* … but not for ever. */
    config = config_for("much-later");
    config.tries = 4;
    config.most_wait_ms = 30;
    talk = talk_to(&config);
    talk_hears(talk, "hello",
               "retry(rate_limit,429,30)retry(rate_limit,429,30)retry(rate_limit,429,30)"
               "fail(rate_limit,429,1,HTTP 429: much later?[31m)");
    assert_int_equal(talk->failure.retry_after_ms, 3600000);
    talk_free(talk);
}

static void broken(void **state) {
    (void)state;
    /* Of what was told in part nothing is asked for again. */
    hears("short", "text(half an )fail(network,0,1,the model's response was cut off)");
    hears("in-field", "fail(context,400,0,too much context)");
    hears("in-stream-late", "text(a)fail(server,0,1,it broke)");
    dx_autohand_http_config config = config_for("cut");
    struct talk *talk = talk_to(&config);
    talk_ask(talk, "hello");
    talk_run(talk);
    assert_int_equal(talk->failure.kind, DX_AUTOHAND_FAIL_NETWORK);
    assert_int_equal(talk->retries, 0);
    assert_int_equal(strncmp(talk->heard, "text(half an )fail(network,0,1,", 31), 0);
    talk_free(talk);
    const char *const modes[] = {"malformed-late", "wrong-types", "wrong-calls", "not-utf8",
                                 "no-choices",     "cut-call",    "drop"};
    for (size_t i = 0; i < LENGTH(modes); i++) {
        config = config_for(modes[i]);
        config.tries = 1;
        talk = talk_to(&config);
        talk_ask(talk, "hello");
        talk_run(talk);
        assert_int_equal(talk->failure.kind, DX_AUTOHAND_FAIL_NETWORK);
        assert_int_equal(talk->calls, 0);
        assert_true(strlen(talk->why) > 10);
        talk_free(talk);
    }
    for (int i = 0; i < 2; i++) {
        config = config_for(i ? "endless-complaint" : "long-complaint");
        config.tries = 1;
        talk = talk_to(&config);
        talk_ask(talk, "hello");
        talk_run(talk);
        assert_int_equal(talk->failure.status, i ? 400 : 500);
        assert_in_range(strlen(talk->why), 300, 399);
        talk_free(talk);
    }
}

/* However this machine is spelt, no proxy is asked for it. */
static void proxies(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("text");
    char url[100] = "http://LocalHost";
    assert_non_null(strcat(url, strrchr(config.url, ':')));
    config.url = url;
    struct talk *talk = talk_to(&config);
    talk_hears(talk, "hello", ALL);
    talk_free(talk);
}

static void nobody_there(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("text");
    config.url = "http://127.0.0.1:1/v1";
    config.tries = 2;
    struct talk *talk = talk_to(&config);
    talk_ask(talk, "hello");
    talk_run(talk);
    assert_int_equal(talk->retries, 1);
    assert_int_equal(talk->failure.kind, DX_AUTOHAND_FAIL_NETWORK);
    assert_true(talk->failure.retryable);
    talk_free(talk);
}

/* Giving up does not wait for a name to be looked up. */
static void no_name(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("text");
    config.url = "http://there-is-no-such-host.invalid/v1";
    config.tries = 1;
    for (uint64_t ms = 0; ms < 3; ms++) {
        struct talk *talk = talk_to(&config);
        talk_ask(talk, "hello");
        talk_run_for(talk, ms);
        uint64_t before = talk_now();
        if (talk->model)
            talk->model->cancel(talk->model);
        talk_free(talk);
        assert_true(talk_now() - before < 100);
    }
}

static void too_long(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("huge");
    config.answer_max = 100000;
    struct talk *talk = talk_to(&config);
    talk_ask(talk, "hello");
    talk_run(talk);
    assert_string_equal(talk->why, "the model's response is longer than 100000 bytes");
    assert_int_equal(talk->failure.retryable, 0);
    assert_true(talk->texts < 10);
    talk_free(talk);
    hears("huge-line", "fail(network,0,0,the model's response is longer than 16777216 bytes)");

    /* The limit is what the answer has, to the byte. */
    for (int more = 0; more < 2; more++) {
        config = config_for("no-choices");
        config.answer_max = strlen("{\"choices\": []}") - (more ? 0 : 1);
        config.tries = 1;
        talk = talk_to(&config);
        talk_ask(talk, "hello");
        talk_run(talk);
        assert_int_equal(strstr(talk->why, "longer than") == NULL, more);
        talk_free(talk);
    }
}

static void times(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("mute");
    config.silence_ms = 200;
    struct talk *talk = talk_to(&config);
    uint64_t before = talk_now();
    talk_hears(talk, "hello", "fail(timeout,0,1,the model timed out: no output within 200 ms)");
    assert_in_range(talk_now() - before, 200, 1500);
    talk_free(talk);
    assert_true(fake_model_says(&fake, "gone mute"));

    config = config_for("silent");
    config.silence_ms = 200;
    talk = talk_to(&config);
    talk_hears(talk, "hello",
               "text(a)fail(timeout,0,1,the model timed out: no output within 200 ms)");
    talk_free(talk);

    config = config_for("500");
    config.total_ms = 300;
    config.first_wait_ms = 200;
    talk = talk_to(&config);
    before = talk_now();
    talk_hears(talk, "hello",
               "retry(server,500,200)retry(server,500,400)fail(timeout,0,1,the model timed out: no "
               "complete response "
               "within 300 ms)");
    assert_in_range(talk_now() - before, 300, 1500);
    talk_free(talk);

    /* What was said in time is not lost because its end is late, nor waited for. */
    for (int i = 0; i < 2; i++) {
        config = config_for(i ? "endless" : "never-quiet");
        talk = talk_to(&config);
        before = talk_now();
        talk_hears(talk, "hello", "text(a)done(-1)");
        assert_true(talk_now() - before < (i ? 3500 : 1500));
        talk_free(talk);
    }
}

static void cancelled(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("silent");
    struct talk *talk = talk_to(&config);
    talk_ask(talk, "hello");
    yyjson_doc *none = yyjson_read("[]", 2, 0);
    yyjson_doc_free(none);
    assert_int_equal(talk_try(talk, "[]"), DX_BUSY);
    talk_run_for(talk, 200);
    assert_string_equal(talk->heard, "text(a)");
    uint64_t before = talk_now();
    talk->model->cancel(talk->model);
    talk->model->cancel(talk->model);
    assert_true(talk_now() - before < 50);
    assert_true(fake_model_says(&fake, "gone silent"));
    assert_true(talk_now() - before < 100);
    talk_run_for(talk, 100);
    assert_string_equal(talk->heard, "text(a)");

    /* It can be asked again; from inside, too; and while it waits. */
    talk->cancel_at_text = talk->texts + 1;
    talk_ask(talk, "hello");
    talk_run_for(talk, 200);
    assert_string_equal(talk->heard, "text(a)text(a)");
    talk_free(talk);

    config = config_for("500");
    talk = talk_to(&config);
    talk->cancel_at_retry = 1;
    talk_ask(talk, "hello");
    talk_run_for(talk, 200);
    assert_string_equal(talk->heard, "retry(server,500,20)");
    talk_free(talk);
}

static void freed_inside(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        dx_autohand_http_config config = config_for("calls");
        struct talk *talk = talk_to(&config);
        *(i == 0   ? &talk->free_at_text
          : i == 1 ? &talk->free_at_call
          : i == 2 ? &talk->free_at_end
                   : &talk->cancel_at_call) = 1;
        talk_ask(talk, "hello");
        talk_run_for(talk, 300);
        assert_int_equal(talk->dones, i == 2);
        assert_int_equal(talk->calls, i == 2 ? 2 : i == 0 ? 0 : 1);
        talk_free(talk);
    }
    /* While nothing has come. */
    dx_autohand_http_config config = config_for("mute");
    struct talk *talk = talk_to(&config);
    talk_ask(talk, "hello");
    talk_run_for(talk, 50);
    talk_free(talk);
}

static void again_and_again(void **state) {
    (void)state;
    dx_autohand_http_config config = config_for("text");
    struct talk *talk = talk_to(&config);
    talk->again = 200;
    talk_ask(talk, "hello");
    talk_run(talk);
    assert_int_equal(talk->dones, 201);
    talk_free(talk);
}

static void wrong_configs(void **state) {
    (void)state;
    static const struct {
        const char *url, *model, *key, *why;
    } wrong[] = {
        {NULL, "m", NULL, "the model's URL is missing"},
        {"", "m", NULL, "the model's URL is missing"},
        {"http://h", NULL, NULL, "the model's name is missing"},
        {"http://h", "", NULL, "the model's name is missing"},
        {"http://h", "\xff", NULL, "the model's name is missing"},
        {"http://h", "m", "a\r\nX: y", "the model's API key contains an invalid character"},
        {"http://h", "m", "a b", "the model's API key contains an invalid character"},
        {"ftp://h", "m", NULL, "invalid model URL: ftp://h: expected http or https"},
        {"file:///etc/passwd", "m", NULL, "expected http or https"},
        {"nonsense", "m", NULL, "invalid model URL: nonsense: "},
        {"http://h\nx/", "m", NULL, "invalid model URL: http://h?x/: "},
        {"http://", "m", NULL, "invalid model URL: http://: "},
    };
    struct talk *talk = talk_new();
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        dx_autohand_http_config config = dx_autohand_http_defaults();
        dx_error error = {0};
        config.url = wrong[i].url;
        config.model = wrong[i].model;
        config.key = wrong[i].key;
        assert_int_equal(dx_autohand_model_http(talk->loop, &config, &talk->model, &error),
                         DX_ERR_INVALID);
        if (!strstr(error.phrase, wrong[i].why))
            fail_msg("%s", error.phrase);
    }
    talk_free(talk);
}

/* Every allocation fails once: the question ends, or is refused, and nothing is left. */
static void memory(void **state) {
    (void)state;
    struct talk *talk = talk_new();
    size_t whole = 0;
    for (size_t at = 1; at < 2000 && !whole; at++) {
        struct unit_memory held = {.fail_at = at, .fails = 1};
        dx_allocator alloc = unit_allocator(&held);
        dx_autohand_http_config config = config_for("calls");
        config.allocator = &alloc;
        talk->heard[0] = '\0';
        talk->dones = talk->fails = 0;
        if (dx_autohand_model_http(talk->loop, &config, &talk->model, NULL) == DX_OK) {
            if (talk_try(talk, "[{\"role\":\"user\",\"content\":\"x\"}]") == DX_OK) {
                talk_run(talk);
                assert_int_equal(talk->dones + talk->fails, 1);
                whole = held.count < at ? at : 0;
            }
            talk->model = dx_autohand_model_free(talk->model);
        }
        assert_int_equal(held.blocks, 0);
    }
    assert_true(whole > 10);
    assert_non_null(strstr(talk->heard, "done(12)"));
    talk_free(talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_it_should),    cmocka_unit_test(otherwise),
        cmocka_unit_test(many_calls),      cmocka_unit_test(refused),
        cmocka_unit_test(tried_again),     cmocka_unit_test(waits),
        cmocka_unit_test(broken),          cmocka_unit_test(nobody_there),
        cmocka_unit_test(proxies),         cmocka_unit_test(no_name),
        cmocka_unit_test(too_long),        cmocka_unit_test(times),
        cmocka_unit_test(cancelled),       cmocka_unit_test(freed_inside),
        cmocka_unit_test(again_and_again), cmocka_unit_test(wrong_configs),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests_name("autohand_model_http", tests, start, stop);
}
