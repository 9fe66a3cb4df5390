/* Work: answered once, now or later, in any order, by any thread; and what happens at the end. */
#include "reginald/plugin_talk.h"

#include <pthread.h>

static struct talk talk;
static dx_reginald_work *kept[8];
static size_t keeps;
static int overs;

static void keep(dx_reginald_work *work, void *user) {
    (void)user;
    kept[keeps++] = work;
    dx_reginald_keep(work);
}

static void forget(dx_reginald_work *work, void *user) {
    (void)work;
    (void)user;
}

static void fail_it(dx_reginald_work *work, void *user) {
    dx_reginald_fail(work, user);
}

static void on_over(dx_reginald_work *work, void *user) {
    (void)user;
    assert_true(dx_reginald_is_over(work));
    overs++;
    dx_reginald_done(work);
}

static void keep_until_over(dx_reginald_work *work, void *user) {
    keep(work, user);
    assert_false(dx_reginald_is_over(work));
    dx_reginald_on_over(work, on_over, NULL);
}

static void free_all(dx_reginald_work *work, void *user) {
    (void)user;
    talk.plugin = dx_reginald_plugin_free(talk.plugin);
    assert_true(dx_reginald_is_over(work));
    dx_reginald_done(work);
}

static void finish(void *user) {
    dx_reginald_done(user);
}

/* Another thread works, and the loop's thread says that it is done. */
static void *labour(void *user) {
    dx_reginald_work *work = user;
    usleep(20000);
    if (dx_loop_post(dx_reginald_loop(work), finish, work) != DX_OK)
        abort();
    return NULL;
}

static pthread_t thread;

static void hand_over(dx_reginald_work *work, void *user) {
    (void)user;
    dx_reginald_keep(work);
    assert_int_equal(pthread_create(&thread, NULL, labour, work), 0);
}

static void add(const char *name, void (*run)(dx_reginald_work *, void *), char *user) {
    dx_reginald_command command = {.name = name, .usage = "", .run = run, .user = user};
    dx_reginald_task task = {.type = name, .run = run, .validate = run, .user = user};
    assert_int_equal(dx_reginald_add_command(talk.plugin, &command, NULL), DX_OK);
    assert_int_equal(dx_reginald_add_task(talk.plugin, &task, NULL), DX_OK);
}

static void answer(dx_reginald_work *work, void *user) {
    const char *result = user;
    assert_int_equal(dx_reginald_done_with(work, dx_json_text("{", 1)), DX_ERR_INVALID);
    assert_int_equal(dx_reginald_done_with(work, dx_json_text(result, strlen(result))), DX_OK);
}

static void check_with_a_result(dx_reginald_work *work, void *user) {
    (void)user;
    assert_int_equal(dx_reginald_done_with(work, dx_json_text("1", 1)), DX_ERR_INVALID);
    dx_reginald_done(work);
}

static int begin(void **state) {
    static char result[] = "{\"found\":[1,\"two\"]}";
    static const dx_reginald_command find = {
        .name = "find", .usage = "", .run = answer, .setup = check_with_a_result, .user = result};
    static char why[] = "it \"broke\"";
    static char odd[] = "a\xff\nb";
    (void)state;
    keeps = 0;
    overs = 0;
    talk_new(&talk, NULL);
    add("keep", keep, NULL);
    add("forget", forget, NULL);
    add("fail", fail_it, why);
    add("odd", fail_it, odd);
    add("null", fail_it, NULL);
    add("over", keep_until_over, NULL);
    add("free", free_all, NULL);
    add("thread", hand_over, NULL);
    assert_int_equal(dx_reginald_add_command(talk.plugin, &find, NULL), DX_OK);
    talk_open(&talk);
    talk_greet(&talk);
    return 0;
}

static int end(void **state) {
    (void)state;
    talk_free(&talk);
    return 0;
}

static void say(const char *method, const char *member, const char *name, int id) {
    char body[300];
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{\"%s\":\"%s\","
                   "\"dir\":\"/\",\"args\":null}}",
                   id, method, member, name);
    talk_say(&talk, body);
}

static void wait_for(size_t count) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (keeps < count && talk_now() < until)
        talk_turn(&talk, 20);
    assert_int_equal(keeps, count);
}

static void row_23_answers_in_any_order(void **state) {
    (void)state;
    say("runTask", "type", "keep", 3);
    say("runTask", "type", "keep", 4);
    say("runCommand", "name", "keep", 5);
    wait_for(3);
    talk_quiet(&talk);
    dx_reginald_done(kept[1]);
    talk_expect(&talk, TALK_GOOD("4"));
    dx_reginald_fail(kept[2], "no");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32000,\"message\":"
                       "\"no\"}}");
    dx_reginald_done(kept[0]);
    talk_expect(&talk, TALK_GOOD("3"));
}

static void row_20_the_codes_of_failures(void **state) {
    (void)state;
    static const struct {
        const char *method;
        const char *member;
        const char *code;
    } rows[] = {{"runCommand", "name", "-32000"},
                {"runTask", "type", "-32603"},
                {"validateTask", "type", "-32050"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char expected[200];
        say(rows[i].method, rows[i].member, "fail", 3);
        (void)snprintf(expected, sizeof expected,
                       "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":%s,\"message\":\"it "
                       "\\\"broke\\\"\"}}",
                       rows[i].code);
        talk_expect(&talk, expected);
    }
    say("runCommand", "name", "odd", 4);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32000,\"message\":"
                       "\"a??b\"}}");
    say("runCommand", "name", "null", 5);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32000,\"message\":"
                       "\"\"}}");
}

static void no_answer_is_an_answer(void **state) {
    (void)state;
    say("runCommand", "name", "forget", 3);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,\"message\":\"The "
                       "handler did not respond\"}}");
    talk_quiet(&talk);
}

static void a_command_answers_with_a_result(void **state) {
    (void)state;
    say("runCommand", "name", "find", 3);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"found\":[1,\"two\"]}}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"setupCommand\",\"params\":{"
                    "\"name\":\"find\",\"args\":null}}");
    talk_expect(&talk, TALK_GOOD("4"));
}

static void another_thread(void **state) {
    (void)state;
    say("runCommand", "name", "thread", 3);
    talk_expect(&talk, TALK_GOOD("3"));
    pthread_join(thread, NULL);
}

static void work_that_is_still_there_at_the_end(void **state) {
    (void)state;
    say("runCommand", "name", "keep", 3);
    say("runCommand", "name", "over", 4);
    say("runTask", "type", "over", 5);
    wait_for(3);
    assert_false(dx_reginald_is_over(kept[0]));
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_leaves(&talk), 0);
    assert_int_equal(overs, 2);
    assert_true(dx_reginald_is_over(kept[0]));
    dx_reginald_log(kept[0], DX_REGINALD_ERROR, "nobody hears", dx_json_none());
    talk_quiet(&talk);
    /* A new conversation has nothing to do with it. */
    talk_close(&talk);
    talk_open(&talk);
    talk_greet(&talk);
    assert_true(dx_reginald_is_over(kept[0]));
    dx_reginald_done(kept[0]);
    talk_quiet(&talk);
}

static void work_outlives_its_plugin(void **state) {
    (void)state;
    say("runCommand", "name", "keep", 3);
    say("runCommand", "name", "over", 4);
    wait_for(2);
    talk.plugin = dx_reginald_plugin_free(talk.plugin);
    assert_int_equal(overs, 1);
    assert_true(dx_reginald_is_over(kept[0]));
    assert_string_equal(dx_reginald_name(kept[0]), "keep");
    dx_reginald_fail(kept[0], "too late");
}

static void a_plugin_is_freed_by_its_own_work(void **state) {
    (void)state;
    say("runCommand", "name", "over", 3);
    say("runCommand", "name", "free", 4);
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (talk.plugin && talk_now() < until)
        talk_turn(&talk, 20);
    assert_null(talk.plugin);
    assert_int_equal(overs, 1);
    assert_false(talk.left);
}

static void on_left(dx_reginald_plugin *plugin, int code, void *user) {
    *(int *)user = code;
    talk.plugin = dx_reginald_plugin_free(plugin);
}

static void a_plugin_is_freed_when_it_has_left(void **state) {
    (void)state;
    int pair[2];
    int code = -1;
    talk_say(&talk, TALK_EXIT);
    talk_leaves(&talk);
    talk_close(&talk);
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(
        dx_reginald_plugin_open(talk.plugin, talk.loop, pair[0], out, on_left, &code, NULL), DX_OK);
    close(pair[1]);
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (talk.plugin && talk_now() < until)
        talk_turn(&talk, 20);
    assert_int_equal(code, 1);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROW(row_23_answers_in_any_order),
        ROW(row_20_the_codes_of_failures),
        ROW(no_answer_is_an_answer),
        ROW(a_command_answers_with_a_result),
        ROW(another_thread),
        ROW(work_that_is_still_there_at_the_end),
        ROW(work_outlives_its_plugin),
        ROW(a_plugin_is_freed_by_its_own_work),
        ROW(a_plugin_is_freed_when_it_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
