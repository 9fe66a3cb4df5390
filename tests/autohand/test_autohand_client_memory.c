/* Memory that runs out at any point: nothing leaks, nothing breaks, every prompt that was accepted
 * ends once. */
#include "autohand/client_talk.h"

/* What an agent says, each piece when a line has come. */
static const char agent[] =
    "say() { printf '{\"jsonrpc\":\"2.0\",\"method\":\"autohand.%s\",\"params\":{%s}}\\n' \"$1\" "
    "\"$2\"; }\n"
    "say agentStart '\"sessionId\":\"s\",\"model\":\"m\",\"workspace\":\"/\"'\n"
    "read -r prompt || exit 0\n"
    "say turnStart '\"turnId\":\"t\"'\n"
    "say messageStart '\"messageId\":\"m\"'\n"
    "say changesBatchStart '\"batchId\":\"b\",\"turnId\":\"t\"'\n"
    "say permissionRequest '\"requestId\":\"p\",\"tool\":\"x\",\"description\":\"d\"'\n"
    "read -r ack && read -r answer || exit 0\n"
    "say changesBatchUpdate '\"batchId\":\"b\",\"change\":{\"id\":\"1\",\"filePath\":\"f\","
    "\"changeType\":\"create\",\"originalContent\":\"\",\"proposedContent\":\"x\"}'\n"
    "say messageUpdate '\"messageId\":\"m\",\"delta\":\"text\"'\n"
    "say error '\"code\":-32000,\"message\":\"e\",\"recoverable\":true'\n"
    "say changesBatchEnd '\"batchId\":\"b\",\"changeCount\":1'\n"
    "say messageEnd '\"messageId\":\"m\",\"content\":\"text\"'\n"
    "say turnEnd '\"turnId\":\"t\"'\n"
    "printf '{\"jsonrpc\":\"2.0\",\"result\":{\"success\":true},\"id\":1}\\n'\n"
    "read -r decision || exit 0\n"
    "printf '{\"jsonrpc\":\"2.0\",\"result\":{\"success\":true},\"id\":4}\\n'\n"
    "cat >/dev/null\n";

static void permit(dx_autohand_client *client, const dx_autohand_permission *permission,
                   void *user) {
    (void)user;
    if (dx_autohand_client_permit(client, permission->id, DX_AUTOHAND_ALLOW_SESSION,
                                  dx_str(NULL)) != DX_OK)
        dx_autohand_client_stop(client);
}

static void decided(dx_autohand_client *client, yyjson_val *value, const dx_error *error,
                    void *user) {
    struct talk *talk = user;
    (void)error;
    talk->events += value != NULL;
    dx_autohand_client_stop(client);
}

static void decide(dx_autohand_client *client, dx_text batch, const dx_autohand_change *changes,
                   size_t count, void *user) {
    assert_int_equal(count, 1); /* never a part of them */
    if (dx_autohand_client_decide(client, batch, 1, &changes[0].id, 1, decided, user) != DX_OK)
        dx_autohand_client_stop(client);
}

static void turn_over(dx_autohand_client *client, const dx_autohand_turn *turn, void *user) {
    struct talk *talk = user;
    talk->turns++;
    if (!turn->success)
        dx_autohand_client_stop(client);
}

/* False: all went well, so that there is nothing left to fail. */
static int play(struct unit_memory *memory) {
    const char *argv[] = {"/bin/sh", "-c", agent, NULL};
    const char *files[] = {"a", NULL};
    const dx_autohand_image image = {.mime_type = "image/png", .bytes = {"xy", 2}};
    const dx_autohand_prompt prompt = {.message = dx_str("hi"),
                                       .files = files,
                                       .selection_file = "f",
                                       .selection_text = dx_str("t"),
                                       .images = &image,
                                       .image_count = 1};
    dx_allocator allocator = unit_allocator(memory);
    struct talk *talk = talk_new();
    talk->config.child.argv = argv;
    talk->config.child.link.peer.allocator = &allocator;
    talk->config.child.ladder.close_ms = 200;
    talk->config.on_event = NULL;
    talk->config.on_permission = permit;
    talk->config.on_changes = decide;
    talk->config.on_turn = turn_over;
    dx_status status =
        dx_autohand_client_start(talk->loop, &talk->config, &talk->client, &talk->error);
    size_t accepted = 0;
    if (status == DX_OK) {
        dx_status said = dx_autohand_client_prompt(talk->client, &prompt, NULL);
        accepted = said == DX_OK;
        assert_true(said == DX_OK || said == DX_ERR_NOMEM);
        if (!accepted)
            dx_autohand_client_stop(talk->client);
        /* What cannot go on without memory is ended from outside. */
        uint64_t end = talk_now() + (memory->fails ? 20000 : 60);
        while (!talk->gone && talk_now() < end)
            talk_for(talk, 2);
        assert_true(talk->gone || !memory->fails);
        assert_true(talk->turns <= accepted);
        if (talk->gone)
            assert_int_equal(talk->turns, accepted);
    } else {
        assert_true(status == DX_ERR_NOMEM || status == DX_ERR_SYSTEM);
        assert_true(talk->error.phrase[0]);
    }
    int failed = memory->count >= memory->fail_at;
    if (!failed)
        assert_int_equal(talk->events, 1); /* it was played to its end */
    dx_autohand_client_free(talk->client);
    dx_loop_free(talk->loop);
    free(talk);
    assert_int_equal(memory->blocks, 0);
    return failed;
}

static void test_once(void **state) {
    size_t number = 0;
    int failed = 1;
    (void)state;
    for (size_t at = 1; failed; at++, number++) {
        struct unit_memory memory = {.fail_at = at, .fails = 1};
        failed = play(&memory);
    }
    assert_true(number > 200);
}

static void test_from_there_on(void **state) {
    struct unit_memory all = {.fail_at = SIZE_MAX};
    (void)state;
    (void)play(&all);
    for (size_t at = 1; at < all.count; at += 3) {
        struct unit_memory memory = {.fail_at = at};
        (void)play(&memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_from_there_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
