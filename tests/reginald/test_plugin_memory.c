/* Every allocation of a plugin's life fails once, each in a run of its own: no request stays
 * without an answer, it ends as it should, and no memory is lost. */
#include "reginald/plugin_talk.h"
#include "unit/wrapped.h"

static struct talk talk;
static bool failed;

static void on_answer(dx_reginald_plugin *plugin, const dx_event *event, void *user) {
    (void)plugin;
    (void)event;
    (void)user;
}

static void run(dx_reginald_work *work, void *user) {
    (void)user;
    static const char fields[] = "{\"a\":1}";
    dx_reginald_log(work, DX_REGINALD_WARN, "a\xff", dx_json_text(fields, sizeof fields - 1));
    (void)dx_reginald_ask(talk.plugin, "config", dx_json_none(), on_answer, NULL);
    if (dx_reginald_folder(work))
        dx_reginald_fail(work, "b\xff");
    else
        dx_reginald_done(work);
}

static bool declare(void) {
    static const dx_reginald_entry settings[] = {
        {.value = {"a", DX_REGINALD_STRING, 0, "d"},
         .has_flag = 1,
         .flag = "f",
         .usage = "u",
         .env = "E"},
        {.value = {.key = NULL}},
    };
    dx_reginald_command command = {
        .name = "go", .usage = "u", .settings = settings, .run = run, .setup = run};
    dx_reginald_task task = {.type = "go", .settings = settings, .run = run, .validate = run};
    return dx_reginald_plugin_new("probe", "1", settings, &talk.plugin) == DX_OK &&
           dx_reginald_add_command(talk.plugin, &command, NULL) == DX_OK &&
           dx_reginald_add_task(talk.plugin, &task, NULL) == DX_OK;
}

/* Until the answer with that id is here, whatever else comes. */
static void wait_for(const char *id) {
    char start[64];
    (void)snprintf(start, sizeof start, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"", id);
    for (;;) {
        char *body = talk_hear(&talk);
        if (strncmp(body, start, strlen(start)) == 0 && !strstr(body, "\"method\""))
            return;
    }
}

#define CONFIG "\"config\":[{\"key\":\"a\",\"value\":\"v\",\"type\":\"string\"}]"

static void converse(void) {
    static const char *const rows[] = {
        "\"handshake\",\"params\":{\"protocol\":\"reginald\",\"protocolVersion\":0}",
        "\"handshake\",\"params\":{\"protocol\":\"rpp\",\"protocolVersion\":0}",
        "\"initialize\",\"params\":{" CONFIG ",\"logging\":{\"enabled\":true,\"level\":\"TRACE\"}}",
        "\"setupCommand\",\"params\":{\"name\":\"go\",\"args\":[\"w\"]," CONFIG "}",
        "\"runCommand\",\"params\":{\"name\":\"go\"}",
        "\"validateTask\",\"params\":{\"type\":\"go\"," CONFIG "}",
        "\"runTask\",\"params\":{\"type\":\"go\",\"dir\":\"/\"," CONFIG "}",
        "\"nope\"",
        "\"shutdown\",\"params\":null",
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char body[400];
        char id[8];
        (void)snprintf(id, sizeof id, "%zu", i + 100);
        (void)snprintf(body, sizeof body, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":%s}", id,
                       rows[i]);
        talk_say(&talk, body);
        wait_for(id);
    }
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_leaves(&talk), 0);
}

/* False if nothing failed: there are no more allocations. */
static bool try_with(size_t fail_at) {
    int in[2];
    int out[2];
    memset(&talk, 0, sizeof talk);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(fcntl(out[0], F_SETFL, O_NONBLOCK), 0);
    talk.to = in[1];
    talk.from = out[0];
    assert_int_equal(dx_loop_new(NULL, &talk.loop, NULL), DX_OK);
    memory.count = 0;
    memory.fail_at = fail_at;
    memory.failed = &failed;
    failed = false;
    memory.on = true;
    bool open = declare() && dx_reginald_plugin_open(talk.plugin, talk.loop, in[0], out[1],
                                                     talk_on_left, &talk, NULL) == DX_OK;
    if (open)
        converse();
    memory.on = false;
    assert_true(open || failed);
    if (!open) {
        close(in[0]);
        close(out[1]);
    }
    talk_free(&talk);
    return failed;
}

static void each_allocation_fails_once(void **state) {
    (void)state;
    size_t fail_at = 1;
    while (try_with(fail_at))
        fail_at++;
    print_message("%zu allocations\n", fail_at - 1);
    assert_true(fail_at > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
