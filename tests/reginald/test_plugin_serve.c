/* A plugin as a whole program: its standard descriptors, and every way in which it leaves. */
#include "reginald/plugin_talk.h"

#include <pthread.h>

static struct talk talk;
static dx_reginald_plugin *plugin;

static void print(dx_reginald_work *work, void *user) {
    (void)user;
    puts("this is no message");
    (void)fflush(stdout);
    dx_reginald_done(work);
}

/* It also shows that there is nothing of the host's to read for a plugin that tries. */
static void ask(dx_reginald_work *work, void *user) {
    (void)user;
    if (getchar() == EOF)
        dx_reginald_done(work);
    else
        dx_reginald_fail(work, "it took what is not its own");
}

static void *never_end(void *user) {
    for (;;)
        pause();
    return user;
}

static void hang(dx_reginald_work *work, void *user) {
    pthread_t thread;
    (void)user;
    dx_reginald_keep(work);
    if (pthread_create(&thread, NULL, never_end, work) != 0)
        abort();
}

static void free_it(dx_reginald_work *work, void *user) {
    (void)user;
    dx_reginald_done(work);
    dx_reginald_plugin_free(plugin);
}

static int serve(const char *path) {
    static const struct {
        const char *name;
        void (*run)(dx_reginald_work *, void *);
    } rows[] = {{"print", print}, {"ask", ask}, {"hang", hang}, {"free", free_it}};
    (void)path;
    if (dx_reginald_plugin_new("probe", "1", NULL, &plugin) != DX_OK)
        return 99;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_reginald_command command = {.name = rows[i].name, .run = rows[i].run};
        if (dx_reginald_add_command(plugin, &command, NULL) != DX_OK)
            return 98;
    }
    return dx_reginald_serve(plugin);
}

static int serve_nothing(const char *path) {
    (void)path;
    return dx_reginald_serve(NULL);
}

static void run(const char *name) {
    char body[200];
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"runCommand\",\"params\":{\"name\":"
                   "\"%s\"}}",
                   name);
    talk_say(&talk, body);
}

static int begin(void **state) {
    (void)state;
    talk_fork(&talk, serve, NULL);
    talk_greet(&talk);
    return 0;
}

static int end(void **state) {
    (void)state;
    talk_close(&talk);
    return 0;
}

static void what_is_printed_is_no_message(void **state) {
    (void)state;
    run("print");
    talk_expect(&talk, TALK_GOOD("3"));
    run("ask");
    talk_expect(&talk, TALK_GOOD("3"));
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_exits(&talk), 0);
    talk_quiet(&talk);
}

static void exit_waits_for_no_thread(void **state) {
    (void)state;
    uint64_t before = talk_now();
    run("hang");
    talk_say(&talk, TALK_EXIT);
    assert_int_equal(talk_exits(&talk), 0);
    assert_in_range(talk_now() - before, 0, 5000);
}

static void a_host_that_is_gone(void **state) {
    (void)state;
    run("hang");
    talk_close(&talk);
    assert_int_equal(talk_exits(&talk), 1);
}

static void a_host_that_hears_nothing_more(void **state) {
    (void)state;
    close(talk.from);
    talk.from = -1;
    run("print");
    assert_int_equal(talk_exits(&talk), 1);
}

static void a_plugin_that_frees_itself(void **state) {
    (void)state;
    run("free");
    assert_int_equal(talk_exits(&talk), 1); /* nobody has said exit */
}

static void no_plugin_at_all(void **state) {
    (void)state;
    talk_fork(&talk, serve_nothing, NULL);
    assert_int_equal(talk_exits(&talk), 2);
    talk_close(&talk);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROW(what_is_printed_is_no_message), ROW(exit_waits_for_no_thread),
        ROW(a_host_that_is_gone),           ROW(a_host_that_hears_nothing_more),
        ROW(a_plugin_that_frees_itself),    cmocka_unit_test(no_plugin_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
