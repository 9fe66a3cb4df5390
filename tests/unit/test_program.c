/* Plain programs: their input, their output, their end, and that nobody is left behind. */
#include "unit/unit.h"

#include <duplex/program.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

struct run {
    dx_loop *loop;
    dx_program *program;
    char out[4096];
    size_t out_len;
    char errors[4096];
    size_t errors_len;
    uint64_t bytes; /* of both */
    dx_program_end end;
    dx_gone gone;
    int ends;
    int closed[2]; /* its output, its standard error */
    int rooms;
    int pause_at_first;
    int free_at_first;
    int stop_at_first;
};

static uint64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void on_output(dx_program *program, int errors, dx_text bytes, void *user) {
    struct run *run = user;
    char *to = errors ? run->errors : run->out;
    size_t *len = errors ? &run->errors_len : &run->out_len;
    size_t part = bytes.len < sizeof run->out - *len ? bytes.len : sizeof run->out - *len;
    memcpy(to + *len, bytes.at, part);
    *len += part;
    bool first = !run->bytes;
    run->bytes += bytes.len;
    if (first && run->pause_at_first)
        dx_program_pause(program, 1);
    if (first && run->stop_at_first)
        dx_program_stop(program);
    if (first && run->free_at_first) {
        run->program = dx_program_free(program);
        dx_loop_stop(run->loop);
    }
}

static void on_end(dx_program *program, dx_program_end end, const dx_gone *gone, void *user) {
    struct run *run = user;
    assert_ptr_equal(program, run->program);
    assert_ptr_equal(dx_program_user(program), run);
    run->end = end;
    run->gone = *gone;
    run->ends++;
    dx_loop_stop(run->loop);
}

static void on_closed(dx_program *program, int errors, void *user) {
    struct run *run = user;
    assert_ptr_equal(program, run->program);
    run->closed[errors]++;
}

static void on_room(dx_program *program, void *user) {
    struct run *run = user;
    assert_int_equal(dx_program_waiting(program), 0);
    run->rooms++;
}

static int set_up(void **state) {
    struct run *run = calloc(1, sizeof *run);
    assert_int_equal(dx_loop_new(NULL, &run->loop, NULL), DX_OK);
    *state = run;
    return 0;
}

static int tear_down(void **state) {
    struct run *run = *state;
    dx_program_free(run->program);
    dx_loop_free(run->loop);
    free(run);
    return 0;
}

static dx_program_config config_for(struct run *run, const char *const *argv) {
    dx_program_config config = dx_program_defaults(argv);
    config.on_output = on_output;
    config.on_end = on_end;
    config.user = run;
    return config;
}

static void start(struct run *run, const dx_program_config *config) {
    dx_error error;
    assert_int_equal(dx_program_start(run->loop, config, &run->program, &error), DX_OK);
}

static void shell(struct run *run, const char *script) {
    const char *const argv[] = {"sh", "-c", script, NULL};
    dx_program_config config = config_for(run, argv);
    start(run, &config);
}

static void wait_for_end(struct run *run) {
    assert_int_equal(dx_loop_run(run->loop), DX_OK);
    assert_int_equal(run->ends, 1);
}

static void dispatch_for(struct run *run, uint64_t ms) {
    for (uint64_t end = clock_ms() + ms; clock_ms() < end;) {
        dx_loop_dispatch(run->loop);
        usleep(1000);
    }
}

static void assert_out(const struct run *run, const char *text) {
    unit_same((dx_text){run->out, run->out_len}, dx_str(text));
}

static bool is_alive(pid_t pid) {
    return kill(pid, 0) == 0 || errno != ESRCH;
}

static void wait_for_death(pid_t pid) {
    for (int i = 0; i < 500 && is_alive(pid); i++)
        usleep(10000);
    assert_false(is_alive(pid));
}

static void tells_what_it_writes(void **state) {
    struct run *run = *state;
    shell(run, "echo out; echo err >&2; exit 3");
    wait_for_end(run);
    assert_out(run, "out\n");
    unit_same((dx_text){run->errors, run->errors_len}, dx_str("err\n"));
    assert_int_equal(run->end, DX_PROGRAM_EXITED);
    assert_int_equal(run->gone.code, 3);
    assert_int_equal(run->gone.escaped, 0);
}

static void joins_both(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "echo a; echo b >&2; echo c", NULL};
    dx_program_config config = config_for(run, argv);
    config.joined = 1;
    start(run, &config);
    wait_for_end(run);
    assert_out(run, "a\nb\nc\n");
}

static void gives_it_all_of_its_input(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "wc -c | tr -d ' '", NULL};
    dx_program_config config = config_for(run, argv);
    char *input = malloc(3 << 20);
    memset(input, 'x', 3 << 20);
    config.input = (dx_text){input, 3 << 20};
    start(run, &config);
    free(input);
    wait_for_end(run);
    assert_out(run, "3145728\n");
}

static void has_an_empty_input_otherwise(void **state) {
    struct run *run = *state;
    shell(run, "cat; echo end");
    wait_for_end(run);
    assert_out(run, "end\n");
}

/* More than a pipe holds, to one that reads late. */
static void writes_through_a_pipe(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "sleep 0.1; wc -c | tr -d ' '", NULL};
    dx_program_config config = config_for(run, argv);
    char block[1000];
    memset(block, 'y', sizeof block);
    config.piped = 1;
    start(run, &config);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(dx_program_write(run->program, (dx_text){block, sizeof block}), DX_OK);
    dx_program_close_input(run->program);
    assert_int_equal(dx_program_write(run->program, (dx_text){block, 1}), DX_CLOSED);
    wait_for_end(run);
    assert_out(run, "1000000\n");
}

static void talks_back_and_forth(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "while read -r line; do echo \"<$line>\"; done", NULL};
    dx_program_config config = config_for(run, argv);
    config.piped = 1;
    start(run, &config);
    assert_int_equal(dx_program_write(run->program, dx_str("one\n")), DX_OK);
    while (run->out_len < 6)
        dispatch_for(run, 2);
    assert_int_equal(dx_program_write(run->program, dx_str("two\n")), DX_OK);
    dx_program_close_input(run->program);
    wait_for_end(run);
    assert_out(run, "<one>\n<two>\n");
}

/* What a pipe holds (64 KiB) does not wait. */
static void tells_when_there_is_room(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "sleep 0.5; head -c 200000 | wc -c; cat", NULL};
    dx_program_config config = config_for(run, argv);
    static const char block[100000];
    config.piped = 1;
    config.on_room = on_room;
    start(run, &config);
    assert_int_equal(dx_program_write(run->program, dx_str("x")), DX_OK);
    assert_int_equal(dx_program_waiting(run->program), 0);
    assert_int_equal(dx_program_unread(run->program), 1);
    assert_int_equal(dx_program_write(run->program, (dx_text){block, sizeof block}), DX_OK);
    assert_int_equal(dx_program_write(run->program, (dx_text){block, sizeof block - 1}), DX_OK);
    assert_true(dx_program_waiting(run->program) > 100000);
    assert_int_equal(run->rooms, 0);
    assert_true(dx_program_unread(run->program) > dx_program_waiting(run->program));
    while (!run->rooms || dx_program_unread(run->program))
        dispatch_for(run, 2);
    dx_program_close_input(run->program);
    wait_for_end(run);
    assert_int_equal(run->rooms, 1);
    assert_int_equal(dx_program_unread(run->program), 0);
    assert_out(run, "200000\n");
}

static void tells_that_its_output_is_closed(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "echo last; exec >&-; read -r line", NULL};
    dx_program_config config = config_for(run, argv);
    config.piped = 1;
    config.on_closed = on_closed;
    start(run, &config);
    while (!run->closed[0])
        dispatch_for(run, 2);
    dispatch_for(run, 20);
    assert_out(run, "last\n");
    assert_int_equal(run->ends, 0);
    assert_int_equal(run->closed[1], 0);
    dx_program_close_input(run->program);
    wait_for_end(run);
    assert_int_equal(run->closed[0], 1);
    assert_int_equal(run->closed[1], 1);
}

static void refuses_two_inputs(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"true", NULL};
    dx_program_config config = config_for(run, argv);
    config.piped = 1;
    config.input = dx_str("x");
    dx_error error = {.phrase = ""};
    assert_int_equal(dx_program_start(run->loop, &config, &run->program, &error), DX_ERR_INVALID);
    assert_true(error.phrase[0]);
    assert_null(run->program);
}

static void says_why_it_cannot_start(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"/nowhere/at/all", NULL};
    dx_program_config config = config_for(run, argv);
    dx_error error;
    assert_int_equal(dx_program_start(run->loop, &config, &run->program, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, ENOENT);
    assert_non_null(strstr(error.phrase, "/nowhere/at/all"));
    const char *const there[] = {"true", NULL};
    config = config_for(run, there);
    config.cwd = "/nowhere";
    assert_int_equal(dx_program_start(run->loop, &config, &run->program, &error), DX_ERR_SYSTEM);
    assert_non_null(strstr(error.phrase, "/nowhere"));
    assert_true(dx_program_is_there("sh"));
    assert_false(dx_program_is_there("no-such-program-anywhere"));
    assert_false(dx_program_is_there("/etc/passwd"));
}

static void has_a_session_of_its_own(void **state) {
    struct run *run = *state;
    shell(run, "ps -o sid= -p $$ | tr -d ' '; echo $$");
    wait_for_end(run);
    run->out[run->out_len] = '\0';
    long sid = strtol(run->out, NULL, 10);
    long pid = strtol(strchr(run->out, '\n'), NULL, 10);
    assert_int_equal(sid, pid);
}

static void ends_what_takes_too_long(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done",
                                NULL};
    dx_program_config config = config_for(run, argv);
    config.timeout_ms = 200;
    config.grace_ms = 100;
    uint64_t before = clock_ms();
    start(run, &config);
    wait_for_end(run);
    assert_int_equal(run->end, DX_PROGRAM_LATE);
    assert_int_equal(run->gone.signal, SIGKILL);
    assert_true(clock_ms() - before >= 300);
}

static void does_not_end_what_is_in_time(void **state) {
    struct run *run = *state;
    const char *const argv[] = {"sh", "-c", "sleep 0.05", NULL};
    dx_program_config config = config_for(run, argv);
    config.timeout_ms = 30000;
    start(run, &config);
    wait_for_end(run);
    assert_int_equal(run->end, DX_PROGRAM_EXITED);
}

static void stops(void **state) {
    struct run *run = *state;
    run->stop_at_first = 1;
    shell(run, "echo up; exec sleep 60");
    wait_for_end(run);
    assert_int_equal(run->end, DX_PROGRAM_STOPPED);
    assert_int_equal(run->gone.stopped, 1);
    dx_program_stop(run->program);
    assert_int_equal(run->ends, 1);
}

/* A grandchild in the background goes with its parent, and does not hold up the end. */
static void takes_all_along(void **state) {
    struct run *run = *state;
    uint64_t before = clock_ms();
    shell(run, "sleep 60 & echo $!");
    wait_for_end(run);
    run->out[run->out_len] = '\0';
    assert_true(clock_ms() - before < 5000);
    wait_for_death((pid_t)strtol(run->out, NULL, 10));
}

/* Who leaves the session keeps the output open; nobody waits for that. */
static void does_not_wait_for_who_escaped(void **state) {
    struct run *run = *state;
    shell(run, "setsid sh -c 'echo $$; exec sleep 3' & sleep 0.2");
    uint64_t before = clock_ms();
    wait_for_end(run);
    assert_true(clock_ms() - before < 2500);
    assert_int_equal(run->gone.escaped, 1);
    run->out[run->out_len] = '\0';
    pid_t pid = (pid_t)strtol(run->out, NULL, 10);
    assert_true(pid > 1);
    kill(pid, SIGKILL);
}

/* Until it is paused at its first output, and a while longer. */
static void dispatch_paused(struct run *run, uint64_t ms) {
    while (!run->bytes)
        dispatch_for(run, 10);
    dispatch_for(run, ms);
}

static void waits_while_paused(void **state) {
    struct run *run = *state;
    run->pause_at_first = 1;
    shell(run, "echo first; sleep 0.1; echo second");
    dispatch_paused(run, 400);
    assert_out(run, "first\n");
    assert_int_equal(run->ends, 0);
    dx_program_pause(run->program, 0);
    wait_for_end(run);
    assert_out(run, "first\nsecond\n");
}

/* It stands still in its pipe and costs nothing; then all of it comes. */
static void holds_up_what_writes_too_much(void **state) {
    struct run *run = *state;
    run->pause_at_first = 1;
    shell(run, "head -c 10000000 /dev/zero");
    dispatch_paused(run, 200);
    assert_true(run->bytes <= 64 << 10);
    dx_program_pause(run->program, 0);
    wait_for_end(run);
    assert_int_equal(run->bytes, 10000000);
}

/* What it still had to tell is dropped, and its end comes. */
static void ends_while_paused(void **state) {
    struct run *run = *state;
    for (int late = 0; late < 3; late++) {
        static const char *const scripts[] = {"echo first; sleep 60 & echo second; wait",
                                              "echo first; sleep 60 & echo second; wait",
                                              "echo first; echo second; exit 3"};
        const char *const argv[] = {"sh", "-c", scripts[late], NULL};
        dx_program_config config = config_for(run, argv);
        run->pause_at_first = 1;
        run->bytes = run->ends = 0;
        if (late == 1)
            config.timeout_ms = 100;
        start(run, &config);
        if (late != 1) {
            dispatch_paused(run, 300);
            assert_int_equal(run->ends, 0);
            dx_program_stop(run->program);
        }
        wait_for_end(run);
        static const dx_program_end ends[] = {DX_PROGRAM_STOPPED, DX_PROGRAM_LATE,
                                              DX_PROGRAM_EXITED};
        assert_int_equal(run->end, ends[late]);
        assert_int_equal(run->gone.escaped, 0);
        run->program = dx_program_free(run->program);
    }
}

static void is_freed_in_its_own_callback(void **state) {
    struct run *run = *state;
    run->free_at_first = 1;
    shell(run, "echo $$; exec sleep 60");
    assert_int_equal(dx_loop_run(run->loop), DX_OK);
    assert_int_equal(run->ends, 0);
    run->out[run->out_len] = '\0';
    wait_for_death((pid_t)strtol(run->out, NULL, 10));
}

static void goes_with_its_loop(void **state) {
    struct run *run = *state;
    shell(run, "exec sleep 60");
    pid_t pid = dx_program_pid(run->program);
    assert_true(is_alive(pid));
    run->loop = dx_loop_free(run->loop);
    run->program = NULL;
    assert_false(is_alive(pid));
}

static void has_a_small_environment(void **state) {
    struct run *run = *state;
    const char *const env[] = {"GIVEN=yes", NULL};
    const char *const argv[] = {"sh", "-c", "echo \"$GIVEN$UNIT_SECRET\"", NULL};
    dx_program_config config = config_for(run, argv);
    config.env = env;
    setenv("UNIT_SECRET", "no", 1);
    start(run, &config);
    wait_for_end(run);
    assert_out(run, "yes\n");
}

static void survives_failing_memory(void **state) {
    struct run *run = *state;
    dx_loop_free(run->loop);
    for (size_t i = 1;; i++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        const char *const argv[] = {"true", NULL};
        dx_program_config config = config_for(run, argv);
        run->ends = 0;
        assert_int_equal(dx_loop_new(&alloc, &run->loop, NULL), DX_OK);
        memory.fail_at = memory.count + i;
        dx_status status = dx_program_start(run->loop, &config, &run->program, NULL);
        memory.fail_at = 0;
        if (status == DX_OK)
            wait_for_end(run);
        else
            assert_int_equal(status, DX_ERR_NOMEM);
        run->loop = dx_loop_free(run->loop);
        run->program = NULL;
        assert_int_equal(memory.blocks, 0);
        if (status == DX_OK)
            break;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(tells_what_it_writes),
        TEST(joins_both),
        TEST(gives_it_all_of_its_input),
        TEST(has_an_empty_input_otherwise),
        TEST(writes_through_a_pipe),
        TEST(talks_back_and_forth),
        TEST(tells_when_there_is_room),
        TEST(tells_that_its_output_is_closed),
        TEST(refuses_two_inputs),
        TEST(says_why_it_cannot_start),
        TEST(has_a_session_of_its_own),
        TEST(ends_what_takes_too_long),
        TEST(does_not_end_what_is_in_time),
        TEST(stops),
        TEST(takes_all_along),
        TEST(does_not_wait_for_who_escaped),
        TEST(waits_while_paused),
        TEST(ends_while_paused),
        TEST(holds_up_what_writes_too_much),
        TEST(is_freed_in_its_own_callback),
        TEST(goes_with_its_loop),
        TEST(has_a_small_environment),
        TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
