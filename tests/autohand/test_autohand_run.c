/* run_command: what a program prints as it comes, its end, and that nothing of it stays. */
#include "autohand/files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static uint64_t now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#define SH(line) "{\"command\":\"sh\",\"args\":[\"-c\",\"" line "\"]}"

static void test_plain(void **state) {
    struct files *files = *state;
    must_end(files, "run_command", "{\"command\":\"echo\",\"args\":[\"a  b\",\"*\"]}", 'd',
             "a  b *\n");
    must_end(files, "run_command", "{\"command\":\"echo 'a  b' c\"}", 'd', "a  b c\n");
    must_end(files, "run_command", "{\"command\":\"echo a\",\"args\":[]}", 'd', "a\n");
    must_end(files, "run_command", "{\"command\":\"true\"}", 'd', "");
    must_end(files, "run_command", SH("cat; echo over"), 'd', "over\n");
}

static void test_ends(void **state) {
    struct files *files = *state;
    must_end(files, "run_command", SH("echo a; exit 3"), 'f', "Exit code 3\na\n");
    must_end(files, "run_command", SH("echo a; kill -9 $$"), 'f', "Killed by signal 9\na\n");
    must_end(files, "run_command", "{\"command\":\"no-such-program-at-all x\"}", 'f', NULL);
    must_end(files, "run_command", "{\"command\":\"a | b\"}", 'f', NULL);
    must_end(files, "run_command", "{\"command\":\"echo\",\"args\":[\"a\\u0000b\"]}", 'f',
             "an argument is not a string, or contains a NUL character");
    must_end(files, "run_command", "{\"command\":\"echo\",\"args\":[1]}", 'f',
             "an argument is not a string, or contains a NUL character");
}

static void test_streams(void **state) {
    struct files *files = *state;
    dx_autohand_job *job = run_to_end(files, "run_command", SH("echo out; echo err >&2"));
    assert_int_equal(job->ended, 'd');
    assert_int_equal(job->said[0], 1);
    assert_int_equal(job->said[1], 1);
    job_free(job);
    /* As it comes, not when it ends. */
    job = run_tool(files, "run_command", SH("echo first; sleep 60"));
    uint64_t before = now_ms();
    while (!job->says) {
        assert_true(now_ms() - before < 10000);
        dx_loop_dispatch(files->loop);
    }
    assert_int_equal(job->ended, 0);
    assert_int_equal(job->heard.len, 6);
    job->on_cancel(job, job->user);
    job_free(job);
}

static void test_folder(void **state) {
    struct files *files = *state;
    char expected[PATH_MAX + 8];
    put(files, "d/x", "");
    (void)snprintf(expected, sizeof expected, "%s\n", files->top);
    must_end(files, "run_command", "{\"command\":\"pwd -P\"}", 'd', expected);
    (void)snprintf(expected, sizeof expected, "%s/d\n", files->top);
    must_end(files, "run_command", "{\"command\":\"pwd -P\",\"directory\":\"d\"}", 'd', expected);
    assert_int_equal(symlink("../outside", in_top(files, "out")), 0);
    must_end(files, "run_command", "{\"command\":\"pwd\",\"directory\":\"out\"}", 'f',
             "out: leads outside the workspace");
    must_end(files, "run_command", "{\"command\":\"pwd\",\"directory\":\"..\"}", 'f',
             "..: a path must not contain '..'");
    must_end(files, "run_command", "{\"command\":\"pwd\",\"directory\":\"d/x\"}", 'f',
             "d/x: a part of the path is not a folder");
    must_end(files, "run_command", "{\"command\":\"pwd\",\"directory\":\"none\"}", 'f',
             "none: no such folder");
    /* A program of the folder that it runs in. */
    put(files, "d/run", "#!/bin/sh\necho mine\n");
    assert_int_equal(chmod(in_top(files, "d/run"), 0700), 0);
    must_end(files, "run_command", "{\"command\":\"./run\",\"directory\":\"d\"}", 'd', "mine\n");
}

/* Bytes that are no characters are mended for the model, also where two pieces meet. */
static void test_mended(void **state) {
    struct files *files = *state;
    must_end(files, "run_command",
             SH("printf 'a\\\\303'; sleep 0.1; printf '\\\\274b\\\\342'; sleep 0.1; printf 'd'"),
             'd',
             "aüb\xef\xbf\xbd"
             "d");
}

static void test_late(void **state) {
    struct files *files = *state;
    uint64_t before = now_ms();
    must_end(files, "run_command",
             "{\"command\":\"sh\",\"args\":[\"-c\",\"echo a; sleep 60\"],\"timeout\":300}", 'l',
             "Timed out after 300 ms\na\n");
    assert_true(now_ms() - before >= 300);
    assert_true(now_ms() - before < 5000);
    /* It can ask for less than the agent allows, but not for more. */
    files->agent.config.command_ms = 200;
    must_end(files, "run_command", "{\"command\":\"sleep 60\",\"timeout\":50000}", 'l',
             "Timed out after 200 ms\n");
    must_end(files, "run_command", "{\"command\":\"sleep 60\",\"timeout\":0}", 'l',
             "Timed out after 200 ms\n");
}

static bool is_alive(pid_t pid) {
    return kill(pid, 0) == 0;
}

/* All that it started goes with it, at once. */
static void test_cancel(void **state) {
    struct files *files = *state;
    dx_autohand_job *job = run_tool(files, "run_command",
                                    SH("trap '' TERM; sleep 60 & echo $! $$; sleep 60; sleep 60"));
    long pids[2] = {0};
    while (!job->says)
        dx_loop_dispatch(files->loop);
    assert_int_equal(dx_buf_append(&job->heard, "", 1), DX_OK);
    assert_int_equal(sscanf(job->heard.data, "%ld %ld", &pids[0], &pids[1]), 2);
    assert_true(is_alive((pid_t)pids[0]) && is_alive((pid_t)pids[1]));
    uint64_t before = now_ms();
    job->on_cancel(job, job->user);
    assert_true(now_ms() - before < 1000);
    assert_int_equal(job->ended, 'f');
    job_free(job);
    assert_false(is_alive((pid_t)pids[1]));
    while (is_alive((pid_t)pids[0])) /* whoever adopted it has to notice */
        assert_true(now_ms() - before < 5000);
}

/* What has made a session of its own cannot be ended, but is told of. */
static void test_escaped(void **state) {
    struct files *files = *state;
    must_end(files, "run_command", SH("setsid sleep 2 & echo a; sleep 0.3"), 'd',
             "a\n\n[a process that it started is still running]\n");
    /* In the same session, it goes. */
    uint64_t before = now_ms();
    must_end(files, "run_command", SH("sleep 60 & echo a"), 'd', "a\n");
    assert_true(now_ms() - before < 5000);
}

static void test_kept(void **state) {
    struct files *files = *state;
    files->agent.config.output_max = 2000;
    dx_autohand_job *job =
        run_to_end(files, "run_command", "{\"command\":\"seq\",\"args\":[\"1\",\"100000\"]}");
    assert_int_equal(job->ended, 'd');
    assert_ptr_equal(strstr(job->output, "1\n2\n3\n"), job->output);
    assert_non_null(strstr(job->output, "\n[587151 bytes omitted]\n"));
    assert_string_equal(job->output + strlen(job->output) - 14, "\n99999\n100000\n");
    assert_true(strlen(job->output) <= 2000);
    job_free(job);
}

/* A client that does not read stops the program, not the agent's memory. */
static void test_full(void **state) {
    struct files *files = *state;
    dx_autohand_job *job = run_tool(files, "run_command", SH("yes | head -c 20000000; echo over"));
    uint64_t most = 0;
    job->full = 1 << 20;
    while (!job->ended) {
        dx_loop_dispatch(files->loop);
        most = job->waiting > most ? job->waiting : most;
        if (dx_autohand_job_is_full(job)) {
            uint64_t stuck = job->waiting;
            for (int i = 0; i < 20; i++)
                dx_loop_dispatch(files->loop);
            assert_int_equal(job->waiting, stuck);
            job->waiting = 0;
            job->on_drained(job, job->user);
        }
    }
    assert_true(most < (1 << 20) + (256 << 10));
    assert_string_equal(job->output + strlen(job->output) - 7, "y\nover\n");
    job_free(job);
}

static long peak_kib(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* 1 GB of output. */
static void test_gigabyte(void **state) {
    struct files *files = *state;
    long before = peak_kib();
    size_t held = files->memory.peak;
    dx_autohand_job *job =
        run_to_end(files, "run_command", SH("head -c 1000000000 /dev/zero | tr '\\\\0' x"));
    assert_int_equal(job->ended, 'd');
    assert_int_equal(job->waiting, 1000000000);
    assert_true(strlen(job->output) <= 65536);
    assert_non_null(strstr(job->output, "\n[999934720 bytes omitted]\n"));
    job_free(job);
    assert_true(files->memory.peak - held < 400000);
    assert_true(peak_kib() - before < 16384);
}

static void test_gigabyte_cancel(void **state) {
    struct files *files = *state;
    dx_autohand_job *job = run_tool(files, "run_command", "{\"command\":\"yes\"}");
    while (job->waiting < 10000000)
        dx_loop_dispatch(files->loop);
    uint64_t before = now_ms();
    job->on_cancel(job, job->user);
    assert_true(now_ms() - before < 100);
    job_free(job);
}

static void test_memory(void **state) {
    struct files *files = *state;
    for (size_t at = 1;; at++) {
        files->memory.count = 0;
        files->memory.fail_at = at;
        dx_autohand_job *job = run_to_end(files, "run_command", "{\"command\":\"echo a\"}");
        bool reached = files->memory.count >= at;
        files->memory.fail_at = 0;
        assert_string_equal(job->output, reached ? "Out of memory" : "a\n");
        job_free(job);
        assert_int_equal(files->memory.blocks, 1); /* the path of the workspace */
        if (!reached)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        ROW(test_plain),   ROW(test_ends), ROW(test_streams),  ROW(test_folder),
        ROW(test_mended),  ROW(test_late), ROW(test_cancel),   ROW(test_kept),
        ROW(test_escaped), ROW(test_full), ROW(test_gigabyte), ROW(test_gigabyte_cancel),
        ROW(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
