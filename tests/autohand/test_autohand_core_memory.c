/* Memory that runs out at every single place: the agent lives on, a turn ends once, nothing leaks.
 */
#include "autohand/core_talk.h"

/* One session with all that there is; how often the agent asked for memory. */
static size_t play(size_t fail_at, size_t fails) {
    struct talk talk;
    dx_error error = {.phrase = ""};
    int in[2];
    int out[2];
    size_t turn_ends = 0;
    bool opened = false;
    talk_init(&talk);
    talk.config.allow_all = 1;
    talk_put(&talk, "hello.txt", "hello\n");
    struct talk_step *step = talk_next_step(&talk);
    step->text = "First.";
    step->calls[0] = "read_file";
    step->calls[1] = "{\"path\":\"hello.txt\"}";
    step->calls[2] = "write_file";
    step->calls[3] = "{\"path\":\"new.txt\",\"contents\":\"x\"}";
    step->calls[4] = "nope";
    step->calls[5] = "{}";
    for (int i = 0; i < 8; i++)
        talk_says(&talk, "Done.");
    talk.memory.fail_at = fail_at;
    talk.memory.fails = fails;
    assert_int_equal(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    if (dx_autohand_agent_new(talk.loop, &talk.config, &talk.agent, &error) == DX_OK)
        opened = dx_autohand_agent_open(talk.agent, in[0], out[1], DX_FRAMING_LINE, dx_str(NULL),
                                        &error) == DX_OK;
    else
        assert_true(error.phrase[0]);
    talk.to = in[1];
    talk.from = out[0];
    if (!opened) {
        close(in[0]);
        close(out[1]);
    }
    if (opened) {
        talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
        talk_call(&talk, 2, "getMessages", NULL);
        for (int i = 0; i < 30 && !talk.left; i++)
            talk_turn(&talk, 2);
        talk.memory.fail_at = 0;
        for (uint64_t until = talk_now() + 5000; talk_now() < until && !talk.left;) {
            char *line = talk_wait(&talk, 20);
            if (!line)
                break;
            turn_ends += strstr(line, "autohand.turnEnd") != NULL;
        }
        for (uint64_t until = talk_now() + 3000; !talk.left;) {
            talk_call(&talk, 3, "getState", NULL);
            talk_until(&talk, "=3");
            turn_ends += strstr(talk.shape, "turnEnd ") != NULL;
            if (strstr(talk.line, "\"idle\""))
                break;
            if (talk_now() > until)
                fail_msg("%zu, %zu: %s\n%s", fail_at, fails, talk.line, talk.log);
        }
        assert_true(turn_ends <= 1);
    }
    talk.memory.fail_at = 0;
    size_t count = talk.memory.count;
    talk_done(&talk);
    return count;
}

static void test_every_place(void **state) {
    (void)state;
    size_t count = play(0, 0);
    assert_true(count > 100);
    size_t step = getenv("AUTOHAND_ALL_PLACES") ? 1 : 1 + count / 300;
    for (size_t at = 1; at <= count; at += step)
        play(at, 1);
    for (size_t at = 1; at <= count; at += step * 4)
        play(at, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
