/* The example, as a program of its own: by pipes and by TCP. */
#include "finecode/er_talk.h"

#include <signal.h>
#include <sys/wait.h>

static struct talk talk;
static pid_t pid;
static char folder[64];

#define CONFIG                                                                                   \
    "{\"actions\":[{\"name\":\"count\",\"source\":\"words.Count\",\"config\":{},\"handlers\":[{" \
    "\"name\":\"c\",\"source\":\"words.count\",\"config\":{},\"env\":\"dev\"}]},{\"name\":"      \
    "\"files\","                                                                                 \
    "\"source\":\"words.Files\",\"config\":{},\"handlers\":[{\"name\":\"f\",\"source\":\"words." \
    "files\","                                                                                   \
    "\"config\":{},\"env\":\"dev\"}]}],\"action_handler_configs\":{}}"

/* Its standard input and output are to be talk.to and talk.from. */
static void spawn(bool by_tcp) {
    char path[4096];
    char place[100];
    int in[2];
    int out[2];
    const char *build = getenv("BUILD");
    (void)snprintf(path, sizeof path, "%s/examples/finecode-words", build ? build : ".");
    (void)snprintf(place, sizeof place, "--project-path=%s", folder);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(path, path, "start", place, "--env-name", "dev", by_tcp ? "--tcp" : NULL,
              (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    talk_nonblock(in[1]);
    talk_nonblock(out[0]);
    talk.to = in[1];
    talk.from = out[0];
}

static void begin(bool by_tcp) {
    strcpy(folder, "/tmp/duplex-words-XXXXXX");
    assert_non_null(mkdtemp(folder));
    talk_init(&talk);
    spawn(by_tcp);
}

static int exits(void) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (talk_now() > until) {
            kill(pid, SIGKILL);
            fail_msg("it does not leave");
        }
        usleep(2000);
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void end(void) {
    talk_request(&talk, 99, "shutdown", "null");
    talk_result(&talk, 99, "null");
    talk_notify(&talk, "exit", "null");
    assert_int_equal(exits(), 0);
    talk_quiet(&talk);
    talk_free(&talk);
    rmdir(folder);
}

static void write_file(const char *name, const char *text, char path[100]) {
    (void)snprintf(path, 100, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void by_pipes(void **state) {
    (void)state;
    char a[100];
    char b[100];
    char params[1000];
    begin(false);
    write_file("a.txt", "one two\nthree", a);
    write_file("b.txt", "  four ", b);
    talk_greet(&talk);
    talk_configure(&talk, CONFIG);
    talk_request(&talk, 2, "finecodeRunner/resolveActionMeta", "{}");
    talk_result(
        &talk, 2,
        "{\"words.Count\":{\"canonical_source\":\"words.actions.Count\",\"runs_concurrently\":"
        "false},\"words.Files\":{\"canonical_source\":\"words.Files\",\"runs_concurrently\":"
        "false}}");
    talk_request(
        &talk, 3, "actions/run",
        "{\"actionName\":\"count\",\"params\":{\"text\":\" a  b\\nc \"},\"options\":null}");
    talk_result(&talk, 3,
                "{\"status\":\"success\",\"result_by_format\":\"{\\\"json\\\":{\\\"words\\\":3}}\","
                "\"return_code\":0}");
    (void)snprintf(
        params, sizeof params,
        "{\"actionName\":\"files\",\"params\":{\"files\":[\"%s\",\"b.txt\"]},\"options\":{"
        "\"partialResultToken\":\"p\"}}",
        a);
    talk_request(&talk, 4, "actions/run", params);
    unsigned words = 0;
    for (;;) {
        char *body = talk_hear(&talk);
        char *at = strstr(body, "\\\"words\\\":");
        if (!strstr(body, "$/progress"))
            break;
        assert_non_null(at);
        words += (unsigned)strtoul(at + strlen("\\\"words\\\":"), NULL, 10);
    }
    assert_int_equal(words, 4);
    assert_string_equal(talk.body,
                        "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"status\":\"streamed\","
                        "\"result_by_format\":\"{}\",\"return_code\":0}}");
    talk_request(
        &talk, 5, "actions/run",
        "{\"actionName\":\"files\",\"params\":{\"files\":[\"none.txt\"]},\"options\":null}");
    assert_has(talk_hear(&talk), "none.txt: No such file or directory\"}");
    unlink(a);
    unlink(b);
    end();
}

static void by_tcp(void **state) {
    (void)state;
    begin(true);
    static const char start[] = "Serving on ('127.0.0.1', ";
    while (!talk.len || !memchr(talk.in, '\n', talk.len))
        talk_turn(&talk, 50);
    assert_memory_equal(talk.in, start, strlen(start));
    char *after;
    unsigned port = (unsigned)strtoul(talk.in + strlen(start), &after, 10);
    assert_memory_equal(after, ")\n", 2);
    assert_int_equal((size_t)(after + 2 - talk.in), talk.len);
    talk_close(&talk);
    talk.len = talk.used = 0;
    talk.to = talk.from = talk_connect(port);
    assert_true(talk.to >= 0);
    talk_greet(&talk);
    talk_configure(&talk, CONFIG);
    talk_request(
        &talk, 3, "actions/run",
        "{\"actionName\":\"count\",\"params\":{\"text\":\"a b\"},\"options\":{\"walRunId\":"
        "\"w\",\"meta\":{\"trigger\":\"user\",\"devEnv\":\"cli\"}}}");
    talk_result(
        &talk, 3,
        "{\"status\":\"success\",\"resultByFormat\":{\"json\":{\"words\":2}},\"returnCode\":0}");
    end();
}

/* The manager is gone: so is the runner. */
static void the_end_of_the_input(void **state) {
    (void)state;
    begin(false);
    talk_greet(&talk);
    talk_close(&talk);
    assert_int_equal(exits(), 0);
    talk_free(&talk);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_pipes),
        cmocka_unit_test(by_tcp),
        cmocka_unit_test(the_end_of_the_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
