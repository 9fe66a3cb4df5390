/* The example that makes symbolic links, as a process: what it makes, what it refuses, what it
 * tells. */
#include "reginald/plugin_talk.h"

#include <sys/stat.h>

static struct talk talk;
static char folder[64];

static int begin(void **state) {
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/reginald-symlink-XXXXXX");
    assert_non_null(mkdtemp(folder));
    talk_spawn(&talk, "reginald-symlink");
    talk_ask(&talk, TALK_HANDSHAKE,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":\"rpp\",\"protocolVersion\":0,"
             "\"name\":\"symlink\",\"version\":\"0.1.0\",\"tasks\":[{\"type\":\"symlink\","
             "\"configs\":[{\"key\":\"from\",\"value\":\"\",\"type\":\"string\"},{\"key\":\"to\","
             "\"value\":\"\",\"type\":\"string\"},{\"key\":\"force\",\"value\":false,\"type\":"
             "\"bool\"},{\"key\":\"dry\",\"value\":false,\"type\":\"bool\"}]}]}}");
    talk_ask(&talk, TALK_INITIALIZE, TALK_GOOD("2"));
    return 0;
}

static int end(void **state) {
    char command[100];
    (void)state;
    talk_say(&talk, TALK_EXIT);
    int code = talk_exits(&talk);
    talk_close(&talk);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return code || system(command);
}

static char *path(const char *name) {
    static char room[200];
    (void)snprintf(room, sizeof room, "%s/%s", folder, name);
    return room;
}

static void put(const char *name, const char *text) {
    int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* "" if it is no link. */
static const char *link_at(const char *name) {
    static char room[200];
    ssize_t len = readlink(path(name), room, sizeof room - 1);
    room[len < 0 ? 0 : len] = '\0';
    return room;
}

static bool is_there(const char *name) {
    struct stat about;
    return lstat(path(name), &about) == 0;
}

static void say(const char *method, const char *from, const char *to, bool force, bool dry) {
    char body[1000];
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"%s\",\"params\":{\"type\":"
                   "\"symlink\",\"dir\":\"%s\",\"config\":[{\"key\":\"from\",\"value\":\"%s\","
                   "\"type\":\"string\"},{\"key\":\"to\",\"value\":\"%s\",\"type\":\"string\"},{"
                   "\"key\":\"force\",\"value\":%s,\"type\":\"bool\"},{\"key\":\"dry\",\"value\":"
                   "%s,\"type\":\"bool\"}]}}",
                   method, folder, from, to, force ? "true" : "false", dry ? "true" : "false");
    talk_say(&talk, body);
}

static void expect_log(const char *level, const char *text, const char *from, const char *to,
                       const char *before, const char *flags) {
    char expected[1000];
    (void)snprintf(expected, sizeof expected,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"fields\":{\"dir\":\"%s\","
                   "\"from\":\"%s\",\"to\":\"%s\",\"before\":\"%s\",%s},\"msg\":\"%s\",\"level\":"
                   "\"%s\"}}",
                   folder, from, to, before, flags, text, level);
    talk_expect(&talk, expected);
}

#define CHANGED "\"changed\":true,\"dry\":false"
#define SAME "\"changed\":false,\"dry\":false"
#define DRY "\"changed\":false,\"dry\":true"

static void refused(int code, const char *part) {
    char start[100];
    (void)snprintf(start, sizeof start, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":%d,",
                   code);
    char *answer = talk_hear(&talk);
    if (strncmp(answer, start, strlen(start)) != 0 || !strstr(answer, part))
        fail_msg("%s: not %s with %s", answer, start, part);
}

static void makes_a_link_and_folders_on_the_way(void **state) {
    (void)state;
    put("file", "x");
    say("runTask", "../../file", "a/b/link", false, false);
    expect_log("INFO", "the link was created", "../../file", "a/b/link", "nothing", CHANGED);
    talk_expect(&talk, TALK_GOOD("3"));
    assert_string_equal(link_at("a/b/link"), "../../file");
    /* Again: nothing is to be done. */
    say("runTask", "../../file", "a/b/link", true, false);
    expect_log("INFO", "the link already exists", "../../file", "a/b/link", "the same link", SAME);
    talk_expect(&talk, TALK_GOOD("3"));
}

static void tells_that_a_link_leads_to_nothing(void **state) {
    (void)state;
    say("runTask", "nowhere", "link", false, false);
    expect_log("INFO", "the link was created", "nowhere", "link", "nothing", CHANGED);
    expect_log("WARN", "the target of the link does not exist", "nowhere", "link", "the same link",
               SAME);
    talk_expect(&talk, TALK_GOOD("3"));
}

static void a_dry_run_changes_nothing(void **state) {
    (void)state;
    say("runTask", "file", "a/b/link", false, true);
    expect_log("INFO", "the link would be created", "file", "a/b/link", "nothing", DRY);
    talk_expect(&talk, TALK_GOOD("3"));
    assert_false(is_there("a"));
    put("file", "x");
    say("runTask", "other", "file", true, true);
    expect_log("INFO", "the link would be created", "other", "file", "a file", DRY);
    talk_expect(&talk, TALK_GOOD("3"));
    say("runTask", "other", "file", false, true);
    expect_log("ERROR", "the link was not created", "other", "file", "a file", DRY);
    refused(-32603, "file: a file is in the way");
    assert_string_equal(link_at("file"), "");
}

static void replaces_only_if_it_is_forced(void **state) {
    (void)state;
    put("file", "x");
    put("other", "y");
    say("runTask", "other", "file", false, false);
    expect_log("ERROR", "the link was not created", "other", "file", "a file", SAME);
    refused(-32603, "file: a file is in the way");
    assert_string_equal(link_at("file"), "");
    say("runTask", "other", "file", true, false);
    expect_log("INFO", "the link was replaced", "other", "file", "a file", CHANGED);
    talk_expect(&talk, TALK_GOOD("3"));
    assert_string_equal(link_at("file"), "other");
    put("third", "z");
    say("runTask", "third", "file", false, false);
    expect_log("ERROR", "the link was not created", "third", "file", "another link", SAME);
    refused(-32603, "file: another link is in the way");
    say("runTask", "third", "file", true, false);
    expect_log("INFO", "the link was replaced", "third", "file", "another link", CHANGED);
    talk_expect(&talk, TALK_GOOD("3"));
    assert_string_equal(link_at("file"), "third");
    assert_true(is_there("other"));
}

static void never_replaces_a_folder(void **state) {
    (void)state;
    assert_int_equal(mkdir(path("a"), 0700), 0);
    say("runTask", "x", "a", true, false);
    expect_log("ERROR", "the link was not created", "x", "a", "a folder", SAME);
    refused(-32603, "a: a folder is in the way");
    assert_string_equal(link_at("a"), "");
}

static void never_leaves_its_folder(void **state) {
    (void)state;
    static const char *const rows[] = {"",  "/tmp/x", "..", "../x", "a/../x", "a/..",
                                       ".", "a//b",   "a/", "./a",  "a/./b"};
    assert_int_equal(mkdir(path("inside"), 0700), 0);
    assert_int_equal(mkdir(path("outside"), 0700), 0);
    assert_int_equal(symlink("../outside", path("inside/door")), 0);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        say("validateTask", "x", rows[i], true, false);
        refused(-32050, "to ");
        say("runTask", "x", rows[i], true, false);
        refused(-32603, "to ");
    }
    say("validateTask", "", "a", true, false);
    refused(-32050, "from is empty");
    say("validateTask", "x", "a/b..c/.d", true, false);
    talk_expect(&talk, TALK_GOOD("3"));
    (void)strcat(folder, "/inside");
    say("runTask", "x", "door/link", true, false);
    refused(-32603, "door: expected a folder that is not a symbolic link");
    folder[strlen(folder) - strlen("/inside")] = '\0';
    assert_false(is_there("outside/link"));
    put("file", "x");
    say("runTask", "x", "file/link", true, false);
    refused(-32603, "file: expected a folder that is not a symbolic link");
}

static void a_folder_that_is_not_there(void **state) {
    (void)state;
    (void)strcat(folder, "/none");
    say("runTask", "x", "link", true, false);
    refused(-32603, "cannot open the folder");
    folder[strlen(folder) - strlen("/none")] = '\0';
    assert_false(is_there("none"));
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROW(makes_a_link_and_folders_on_the_way),
        ROW(tells_that_a_link_leads_to_nothing),
        ROW(a_dry_run_changes_nothing),
        ROW(replaces_only_if_it_is_forced),
        ROW(never_replaces_a_folder),
        ROW(never_leaves_its_folder),
        ROW(a_folder_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
