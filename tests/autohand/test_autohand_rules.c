/* Decisions that were remembered: what wins, where they are kept, and who may have written them. */
#include "autohand/guard.h"

#include <sys/file.h>

#define LOCAL ".autohand/settings.local.json"

static dx__autohand_verdict judge(struct guard *guard, const char *tool, const char *subject) {
    return dx__autohand_rules_judge(guard->agent.rules, tool, dx_str(subject), (dx_text){0});
}

static dx_status remember(struct guard *guard, const char *tool, const char *subject,
                          const char *decision) {
    return dx__autohand_rules_remember(guard->agent.rules, tool, dx_str(subject), dx_str(decision));
}

static void make_local(struct guard *guard, const char *text) {
    char path[200];
    (void)snprintf(path, sizeof path, "%s/.autohand", guard->space);
    assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
    guard_write(guard->space, LOCAL, text);
}

static void test_settings_first(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, "{\"permissions\":{\"allow\":[\"run_command:make*\",\"run_command:rm*\"],"
                        "\"deny\":[\"run_command:rm -rf*\",\"read_file:secret/*\"],"
                        "\"rules\":[{\"tool\":\"run_command\",\"pattern\":\"make install\","
                        "\"action\":\"prompt\"}]}}");
    assert_int_equal(judge(&guard, "run_command", "make all"), DX__VERDICT_ALLOW);
    assert_int_equal(judge(&guard, "run_command", "make install"), DX__VERDICT_ASK);
    assert_int_equal(judge(&guard, "run_command", "rm x"), DX__VERDICT_ALLOW);
    assert_int_equal(judge(&guard, "run_command", "rm -rf x"), DX__VERDICT_DENY);
    assert_int_equal(judge(&guard, "write_file", "x"), DX__VERDICT_ASK);
    assert_true(
        dx__autohand_rules_forbids(guard.agent.rules, "read_file", TEXT("secret/a"), (dx_text){0}));
    assert_false(
        dx__autohand_rules_forbids(guard.agent.rules, "read_file", TEXT("a"), (dx_text){0}));
    /* What is denied by name stays so, whoever allows it. */
    assert_int_equal(remember(&guard, "run_command", "rm -rf x", "allow_session"), DX_OK);
    assert_int_equal(judge(&guard, "run_command", "rm -rf x"), DX__VERDICT_DENY);
    /* Who was asked and said yes for good is not asked again. */
    assert_int_equal(remember(&guard, "run_command", "make install", "allow_session"), DX_OK);
    assert_int_equal(judge(&guard, "run_command", "make install"), DX__VERDICT_ALLOW);
    assert_int_equal(remember(&guard, "run_command", "make all", "deny_session"), DX_OK);
    assert_int_equal(judge(&guard, "run_command", "make all"), DX__VERDICT_DENY);
    guard.agent.config.allow_all = 1;
    assert_int_equal(judge(&guard, "write_file", "x"), DX__VERDICT_ALLOW);
    assert_int_equal(judge(&guard, "run_command", "make all"), DX__VERDICT_DENY);
    assert_int_equal(judge(&guard, "run_command", "rm -rf x"), DX__VERDICT_DENY);
    guard_done(&guard);
}

/* A wildcard does not cover what has git run another program; see tests/attacks for more of them.
 */
static void test_git(void **state) {
    static const struct {
        const char *command;
        dx__autohand_verdict verdict;
    } rows[] = {
        {"git status", DX__VERDICT_ALLOW},
        {"git log '-c' --oneline", DX__VERDICT_ALLOW},
        {"git -c a=b log", DX__VERDICT_ASK},
        {"git '-c' a=b log", DX__VERDICT_ASK},
        {"git -c a=b version", DX__VERDICT_ALLOW}, /* named exactly */
        {"git fetch --upload-p=x", DX__VERDICT_ASK},
        {"git fetch --", DX__VERDICT_ALLOW},
        {"git rebase -ix x", DX__VERDICT_ASK},
        {"git alias", DX__VERDICT_ASK},
        {"gitk -c a", DX__VERDICT_ALLOW},
        {"git", DX__VERDICT_ALLOW},
        /* Other repositories have hooks of their own; origin is in .git/config. */
        {"git push ./b.git HEAD:refs/heads/m", DX__VERDICT_ASK},
        {"git push b m", DX__VERDICT_ASK},
        {"git push c m", DX__VERDICT_ASK},
        {"git push -o origin a/b", DX__VERDICT_ASK},
        {"git push origin --repo=b", DX__VERDICT_ASK},
        {"git push -f '~b'", DX__VERDICT_ASK},
        {"git fetch host:b", DX__VERDICT_ASK},
        {"git fetch origin --mult b", DX__VERDICT_ASK},
        {"git remote add x y", DX__VERDICT_ASK},
        {"git remote remove origin", DX__VERDICT_ASK},
        {"git push Origin m", DX__VERDICT_ASK},
        {"git push ''", DX__VERDICT_ASK},
        {"git push 'origin\"]' m", DX__VERDICT_ASK},
        {"git remote -v set-url x y", DX__VERDICT_ASK},
        {"git remote show a/b", DX__VERDICT_ASK},
        {"git clone x y", DX__VERDICT_ASK},
        {"git pull x::y", DX__VERDICT_ASK},
        {"git log x::y", DX__VERDICT_ASK},
        {"git merge -s x y", DX__VERDICT_ASK},
        {"git merge -qsx y", DX__VERDICT_ASK},
        {"git rebase --strategy=x y", DX__VERDICT_ASK},
        {"git cherry-pick --strategy x y", DX__VERDICT_ASK},
        {"git rebase -ms x", DX__VERDICT_ASK},
        {"git mv a .git/hooks/a", DX__VERDICT_ASK},
        {"git worktree add .git/hooks", DX__VERDICT_ASK},
        {"git apply --unsafe-p a", DX__VERDICT_ASK},
        {"git apply --unified a", DX__VERDICT_ALLOW},
        {"git push origin main", DX__VERDICT_ALLOW},
        {"git push -u origin a/b", DX__VERDICT_ALLOW},
        {"git push origin HEAD:refs/heads/m", DX__VERDICT_ALLOW},
        {"git push", DX__VERDICT_ALLOW},
        {"git push --all origin", DX__VERDICT_ALLOW},
        {"git fetch origin", DX__VERDICT_ALLOW},
        {"git fetch --depth=1 origin", DX__VERDICT_ALLOW},
        {"git push --force-with-lease origin a/b", DX__VERDICT_ALLOW},
        {"git pull --rebase origin a/b", DX__VERDICT_ALLOW},
        {"git remote -v", DX__VERDICT_ALLOW},
        {"git remote show origin", DX__VERDICT_ALLOW},
        {"git grep a::b", DX__VERDICT_ALLOW},
        {"git log a/b b", DX__VERDICT_ALLOW},
        {"git merge -s ours b", DX__VERDICT_ALLOW},
        {"git merge -sort b", DX__VERDICT_ALLOW},
        {"git rebase --strategy=resolve b", DX__VERDICT_ALLOW},
        {"git merge -Xours b", DX__VERDICT_ALLOW},
        {"git cherry-pick -s b", DX__VERDICT_ALLOW},
        {"git revert -s b", DX__VERDICT_ALLOW},
        {"git merge --strategy-option x b", DX__VERDICT_ALLOW},
    };
    struct guard guard;
    (void)state;
    guard_begin(
        &guard,
        "{\"permissions\":{\"allow\":[\"run_command:git*\",\"run_command:git -c a=b version\","
        "\"sh:*\",\"any\"]}}");
    char path[200];
    (void)snprintf(path, sizeof path, "%s/.git", guard.space);
    assert_int_equal(mkdir(path, 0755), 0);
    guard_write(guard.space, ".git/config", "[core]\n[remote \"origin\"]\n#[remote \"c\"]\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dx_text line = dx_str(rows[i].command);
        if (dx__autohand_rules_judge(guard.agent.rules, "run_command", line, line) !=
            rows[i].verdict)
            fail_msg("%s: not as it should be", rows[i].command);
    }
    assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "run_command",
                                              TEXT("git status (in x)"), TEXT("git status")),
                     DX__VERDICT_ASK);
    /* Who allows everything has allowed git, too. */
    assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "sh", TEXT("git -c a=b log"),
                                              TEXT("git -c a=b log")),
                     DX__VERDICT_ALLOW);
    assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "any", TEXT("git -c a=b log"),
                                              TEXT("git -c a=b log")),
                     DX__VERDICT_ALLOW);
    guard_done(&guard);
}

/* Some file systems don't tell upper and lower case apart: a denied path is denied in both. */
static void test_case(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, "{\"permissions\":{\"allow\":[\"write_file:Doc*\"],"
                        "\"deny\":[\"write_file:secret*\",\"run_command:git -C*\"]}}");
    assert_int_equal(judge(&guard, "write_file", "SeCret"), DX__VERDICT_DENY);
    assert_int_equal(judge(&guard, "write_file", "doc"), DX__VERDICT_ASK);
    assert_false(dx__autohand_rules_forbids(guard.agent.rules, "run_command", TEXT("git -c x"),
                                            TEXT("git -c x")));
    guard_done(&guard);
}

static void test_modes(void **state) {
    struct guard guard;
    dx_error error;
    (void)state;
    guard_begin(&guard,
                "{\"permissions\":{\"mode\":\"restricted\",\"allow\":[\"run_command:ls\"]}}");
    assert_int_equal(judge(&guard, "run_command", "ls"), DX__VERDICT_ALLOW);
    assert_int_equal(judge(&guard, "run_command", "rm"), DX__VERDICT_DENY);
    assert_false(
        dx__autohand_rules_forbids(guard.agent.rules, "read_file", TEXT("a"), (dx_text){0}));
    assert_int_equal(
        guard_settings(&guard, "{\"permissions\":{\"mode\":\"unrestricted\"}}", &error), DX_OK);
    assert_int_equal(judge(&guard, "run_command", "rm"), DX__VERDICT_ALLOW);
    assert_int_equal(guard_settings(&guard, "{\"permissions\":{\"mode\":\"interactive\"}}", &error),
                     DX_OK);
    assert_int_equal(judge(&guard, "run_command", "rm"), DX__VERDICT_ASK);
    guard_done(&guard);
}

static void test_notes_are_logged(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, "{\"x\":1}");
    assert_int_equal(guard.logs, 1);
    assert_string_equal(guard.log, "settings: /: ignoring unknown keys: x");
    guard_done(&guard);
}

/* A star in what was allowed is a star, and nothing else. */
static void test_exact(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(remember(&guard, "run_command", "rm *", "allow_always_project"), DX_OK);
    for (int i = 0; i < 2; i++, guard_again(&guard)) {
        assert_int_equal(judge(&guard, "run_command", "rm *"), DX__VERDICT_ALLOW);
        assert_int_equal(judge(&guard, "run_command", "rm x"), DX__VERDICT_ASK);
        assert_int_equal(judge(&guard, "run_command", "rm"), DX__VERDICT_ASK);
        assert_int_equal(judge(&guard, "write_file", "rm *"), DX__VERDICT_ASK);
        assert_int_equal(judge(&guard, "run_commandrm *", ""), DX__VERDICT_ASK);
    }
    guard_done(&guard);
}

static void test_nothing_to_remember(void **state) {
    static const char *const words[] = {"allow_once", "deny_once",        "alternative",
                                        "",           "allow_everything", "ALLOW_SESSION"};
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    for (size_t i = 0; i < LENGTH(words); i++) {
        assert_int_equal(remember(&guard, "t", "s", words[i]), DX_OK);
        assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    }
    assert_int_equal(access(guard.home, F_OK), -1);
    guard_done(&guard);
}

/* The one of the project is for that workspace, the one of the user for all. */
static void test_where_it_holds(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(remember(&guard, "t", "project", "allow_always_project"), DX_OK);
    assert_int_equal(remember(&guard, "t", "user", "allow_always_user"), DX_OK);
    assert_int_equal(remember(&guard, "t", "no", "deny_always_user"), DX_OK);
    char other[200];
    (void)snprintf(other, sizeof other, "%s/other", guard.folder);
    assert_int_equal(mkdir(other, 0755), 0);
    dx_error error;
    dx__autohand_workspace_close(&guard.agent.workspace);
    assert_int_equal(
        dx__autohand_workspace_open(&guard.agent.workspace, other, 1 << 20, &guard.alloc, &error),
        DX_OK);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "project"), DX__VERDICT_ASK);
    assert_int_equal(judge(&guard, "t", "user"), DX__VERDICT_ALLOW);
    assert_int_equal(judge(&guard, "t", "no"), DX__VERDICT_DENY);
    /* A copy of the first one's file is not a permission. */
    char command[500];
    (void)snprintf(command, sizeof command, "cp -r '%s/.autohand' '%s/.autohand'", guard.space,
                   other);
    guard_shell(command);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "project"), DX__VERDICT_ASK);
    assert_int_equal(guard.logs, 1);
    guard_done(&guard);
}

/* Somebody else's repository comes with permissions of its own. */
static void test_hostile_workspace(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    make_local(
        &guard,
        "{\"permissions\":{\"mode\":\"unrestricted\",\"allow\":[\"*\"],\"whitelist\":[\"*\"],"
        "\"remembered\":[{\"tool\":\"run_command\",\"subject\":\"evil\",\"decision\":\"allow\"},"
        "{\"tool\":\"run_command\",\"subject\":\"good\",\"decision\":\"deny\"},7,"
        "{\"tool\":\"a\\u0000b\",\"subject\":\"x\",\"decision\":\"deny\"},"
        "{\"tool\":\"t\",\"decision\":\"deny\"},{\"tool\":\"t\",\"subject\":\"u\"}],"
        "\"deny\":[\"delete_path\",7,\"\"]}}");
    guard_again(&guard);
    assert_int_equal(judge(&guard, "run_command", "evil"), DX__VERDICT_ASK);
    assert_int_equal(judge(&guard, "run_command", "good"), DX__VERDICT_DENY);
    assert_int_equal(judge(&guard, "delete_path", "x"), DX__VERDICT_DENY);
    assert_int_equal(judge(&guard, "t", "u"), DX__VERDICT_ASK);
    assert_int_equal(judge(&guard, "a", "x"), DX__VERDICT_ASK);
    assert_string_equal(guard.log,
                        ".autohand/settings.local.json: ignoring permissions that this user "
                        "did not grant (1)");
    guard_done(&guard);
}

/* Once refused here, it stays so, even if the file is exchanged for an older one. */
static void test_refused_for_good(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(remember(&guard, "t", "s", "allow_always_project"), DX_OK);
    char *old = guard_read(guard.space, LOCAL);
    assert_non_null(strstr(old, "\"allow\""));
    assert_int_equal(remember(&guard, "t", "s", "deny_always_project"), DX_OK);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_DENY);
    guard_write(guard.space, LOCAL, old);
    free(old);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_DENY);
    guard_done(&guard);
}

/* Who takes it out of the file by hand has taken it back. */
static void test_taken_back_by_hand(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(remember(&guard, "t", "s", "allow_always_project"), DX_OK);
    guard_write(guard.space, LOCAL, "{}");
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    guard_done(&guard);
}

static void test_others_content_stays(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    make_local(&guard, "{\"mine\":[1,2],\"permissions\":{\"whitelist\":[\"a\"],\"remembered\":["
                       "{\"tool\":\"t\",\"subject\":\"s\",\"decision\":\"allow\"}]}}");
    assert_int_equal(remember(&guard, "t", "s", "deny_always_project"), DX_OK);
    char *text = guard_read(guard.space, LOCAL);
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "mine")), 2);
    yyjson_val *permissions = yyjson_obj_get(root, "permissions");
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(permissions, "whitelist")), 1);
    yyjson_val *kept = yyjson_obj_get(permissions, "remembered");
    assert_int_equal(yyjson_arr_size(kept), 1);
    assert_true(yyjson_equals_str(yyjson_obj_get(yyjson_arr_get_first(kept), "decision"), "deny"));
    yyjson_doc_free(doc);
    free(text);
    guard_done(&guard);
}

/* A file that is not understood is left as it is; the decision then ends with the session. */
static void test_broken_files(void **state) {
    static const char *const texts[] = {"{\"permissions\":", "[]", "{\"permissions\":7}",
                                        "{\"permissions\":{\"remembered\":{}}}", ""};
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct guard guard;
        guard_begin(&guard, NULL);
        make_local(&guard, texts[i]);
        guard_again(&guard);
        guard.logs = 0;
        assert_int_equal(remember(&guard, "t", "s", "allow_always_project"), DX_ERR_SYSTEM);
        assert_int_equal(guard.logs, 1);
        assert_memory_equal(guard.log,
                            "cannot save a permission, so it applies to this session only: ", 45);
        assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ALLOW);
        char *text = guard_read(guard.space, LOCAL);
        assert_string_equal(text, texts[i]);
        free(text);
        dx__autohand_rules_forget_session(guard.agent.rules);
        assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
        guard_done(&guard);
    }
}

static void test_symbolic_links(void **state) {
    struct guard guard;
    char path[200];
    (void)state;
    guard_begin(&guard, NULL);
    make_local(&guard, "{}");
    guard_write(guard.folder, "outside", "{\"permissions\":{\"deny\":[\"t\"]}}");
    (void)snprintf(path, sizeof path, "%s/" LOCAL, guard.space);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("../../outside", path), 0);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    (void)remember(&guard, "t", "s", "deny_always_project");
    char *text = guard_read(guard.folder, "outside");
    assert_string_equal(text, "{\"permissions\":{\"deny\":[\"t\"]}}");
    free(text);
    guard_done(&guard);
}

static void test_no_home(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    guard.agent.config.home = NULL;
    assert_int_equal(remember(&guard, "t", "a", "allow_always_project"), DX_ERR_SYSTEM);
    assert_int_equal(remember(&guard, "t", "b", "allow_always_user"), DX_ERR_SYSTEM);
    assert_int_equal(remember(&guard, "t", "c", "deny_always_user"), DX_ERR_SYSTEM);
    assert_int_equal(remember(&guard, "t", "d", "deny_always_project"), DX_OK);
    assert_int_equal(guard.logs, 3);
    assert_int_equal(judge(&guard, "t", "a"), DX__VERDICT_ALLOW);
    assert_int_equal(judge(&guard, "t", "c"), DX__VERDICT_DENY);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "a"), DX__VERDICT_ASK);
    assert_int_equal(judge(&guard, "t", "b"), DX__VERDICT_ASK);
    assert_int_equal(judge(&guard, "t", "c"), DX__VERDICT_ASK);
    assert_int_equal(judge(&guard, "t", "d"), DX__VERDICT_DENY);
    guard_done(&guard);
}

/* permissions.json counts only if nobody else can have written it. */
static void test_whose_home(void **state) {
    struct guard guard;
    char path[200];
    struct stat facts;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(remember(&guard, "t", "s", "allow_always_user"), DX_OK);
    (void)snprintf(path, sizeof path, "%s/permissions.json", guard.home);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0600);
    assert_int_equal(stat(guard.home, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0700);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ALLOW);
    assert_int_equal(chmod(path, 0620), 0);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    assert_int_equal(remember(&guard, "t", "s", "allow_always_user"), DX_ERR_SYSTEM);
    assert_int_equal(chmod(path, 0600), 0);
    char other[200];
    (void)snprintf(other, sizeof other, "%s/elsewhere", guard.home);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    guard_done(&guard);
}

/* A home that the model could write to is none. */
static void test_home_in_workspace(void **state) {
    struct guard guard;
    char inside[200];
    (void)state;
    guard_begin(&guard, NULL);
    (void)snprintf(inside, sizeof inside, "%s/home", guard.space);
    guard.agent.config.home = inside;
    assert_int_equal(remember(&guard, "t", "s", "allow_always_user"), DX_ERR_SYSTEM);
    assert_non_null(strstr(guard.log, " is inside the workspace"));
    guard_write(inside, "permissions.json",
                "{\"remembered\":[{\"tool\":\"t\",\"subject\":\"s\",\"decision\":\"allow\"}]}");
    char path[220];
    (void)snprintf(path, sizeof path, "%s/permissions.json", inside);
    assert_int_equal(chmod(path, 0600), 0);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    /* By another name it is the same folder. */
    (void)snprintf(path, sizeof path, "%s/link", guard.folder);
    assert_int_equal(symlink(inside, path), 0);
    guard.agent.config.home = path;
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    /* One beside it whose name only begins like that is not inside. */
    (void)snprintf(path, sizeof path, "%s-home", guard.space);
    guard.agent.config.home = path;
    assert_int_equal(remember(&guard, "t", "s", "allow_always_user"), DX_OK);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ALLOW);
    guard_done(&guard);
}

/* How many patterns a workspace may refuse by, and how long they may be. */
static void test_limits_of_workspace(void **state) {
    struct guard guard;
    char text[4000];
    char name[202];
    (void)state;
    guard_begin(&guard, NULL);
    for (int count = 100; count <= 101; count++) {
        (void)snprintf(text, sizeof text, "{\"permissions\":{\"deny\":[");
        for (int i = 1; i < count; i++)
            strcat(text, "\"x\",");
        strcat(text, "\"last\"]}}");
        make_local(&guard, text);
        guard_again(&guard);
        assert_int_equal(judge(&guard, "last", "s"),
                         count == 100 ? DX__VERDICT_DENY : DX__VERDICT_ASK);
    }
    for (int len = 200; len <= 201; len++) {
        memset(name, 'n', sizeof name);
        name[len] = '\0';
        (void)snprintf(text, sizeof text, "{\"permissions\":{\"blacklist\":[\"%s\"]}}", name);
        make_local(&guard, text);
        guard_again(&guard);
        assert_int_equal(judge(&guard, name, "s"), len == 200 ? DX__VERDICT_DENY : DX__VERDICT_ASK);
    }
    guard_done(&guard);
}

/* Each side of the limit of a file. */
static void test_large_home(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(mkdir(guard.home, 0700), 0);
    static const char rule[] =
        "{\"remembered\":[{\"tool\":\"t\",\"subject\":\"s\",\"decision\":\"deny\"}]}";
    char *text = malloc((1 << 20) + 2);
    assert_non_null(text);
    memset(text, ' ', (1 << 20) + 1);
    memcpy(text, rule, sizeof rule - 1);
    text[1 << 20] = '\0';
    guard_write(guard.home, "permissions.json", text);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_DENY);
    text[1 << 20] = ' ';
    text[(1 << 20) + 1] = '\0';
    guard_write(guard.home, "permissions.json", text);
    free(text);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ASK);
    guard_done(&guard);
}

/* Two agents of one user do not overwrite what the other has written meanwhile. */
static void test_two_agents(void **state) {
    struct guard guard;
    struct dx__autohand_rules *other = NULL;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(dx__autohand_rules_new(&guard.agent, &other), DX_OK);
    assert_int_equal(remember(&guard, "t", "a", "allow_always_user"), DX_OK);
    assert_int_equal(dx__autohand_rules_remember(other, "t", TEXT("b"), TEXT("allow_always_user")),
                     DX_OK);
    dx__autohand_rules_free(other);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", "a"), DX__VERDICT_ALLOW);
    assert_int_equal(judge(&guard, "t", "b"), DX__VERDICT_ALLOW);
    guard_done(&guard);
}

/* One that never lets go of the lock costs a moment, not the agent. */
static void test_lock_is_held(void **state) {
    struct guard guard;
    char path[200];
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(mkdir(guard.home, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/permissions.lock", guard.home);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    uint64_t start = guard_now();
    assert_int_equal(remember(&guard, "t", "s", "allow_always_user"), DX_ERR_SYSTEM);
    assert_true(guard_now() - start < 1000);
    assert_int_equal(judge(&guard, "t", "s"), DX__VERDICT_ALLOW);
    (void)close(fd);
    assert_int_equal(remember(&guard, "t", "s", "allow_always_user"), DX_OK);
    guard_done(&guard);
}

/* A client that remembers everything, and subjects of any size. */
static void test_limits(void **state) {
    struct guard guard;
    char subject[32];
    (void)state;
    guard_begin(&guard, NULL);
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(subject, sizeof subject, "%d", i);
        assert_int_equal(remember(&guard, "t", subject, "allow_session"), DX_OK);
    }
    assert_int_equal(remember(&guard, "t", "one more", "allow_session"), DX_ERR_LIMIT);
    assert_int_equal(guard.logs, 1);
    assert_int_equal(remember(&guard, "t", "9999", "deny_session"), DX_OK);
    assert_int_equal(judge(&guard, "t", "9999"), DX__VERDICT_DENY);
    assert_int_equal(judge(&guard, "t", "one more"), DX__VERDICT_ASK);
    dx__autohand_rules_forget_session(guard.agent.rules);
    assert_int_equal(judge(&guard, "t", "1"), DX__VERDICT_ASK);
    size_t most = (16 << 20) - 1;
    char *large = malloc(most + 2);
    assert_non_null(large);
    memset(large, 'x', most + 1);
    large[most + 1] = '\0';
    assert_int_equal(remember(&guard, "t", large, "allow_session"), DX_ERR_LIMIT);
    large[most] = '\0';
    assert_int_equal(remember(&guard, "t", large, "allow_session"), DX_OK);
    assert_int_equal(judge(&guard, "t", large), DX__VERDICT_ALLOW);
    free(large);
    guard_done(&guard);
}

/* What no file can hold. */
static void test_odd_subjects(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_int_equal(remember(&guard, "t", "\xff", "deny_always_user"), DX_ERR_SYSTEM);
    assert_int_equal(judge(&guard, "t", "\xff"), DX__VERDICT_DENY);
    assert_int_equal(remember(&guard, "t", "", "deny_always_user"), DX_OK);
    assert_int_equal(
        dx__autohand_rules_remember(guard.agent.rules, "t", TEXT("a\0b"), TEXT("deny_always_user")),
        DX_OK);
    guard_again(&guard);
    assert_int_equal(judge(&guard, "t", ""), DX__VERDICT_DENY);
    assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "t", TEXT("a\0b"), (dx_text){0}),
                     DX__VERDICT_DENY);
    assert_int_equal(judge(&guard, "t", "a"), DX__VERDICT_ASK);
    guard_done(&guard);
}

/* Whichever allocation fails, nothing is lost, and nothing is allowed that was not. */
static void test_memory(void **state) {
    bool failed = true;
    (void)state;
    for (size_t at = 1; failed; at++) {
        struct guard guard;
        struct dx__autohand_rules *rules = NULL;
        guard_begin(&guard, NULL);
        make_local(&guard, "{\"permissions\":{\"deny\":[\"d\"]}}");
        assert_int_equal(remember(&guard, "t", "a", "allow_always_project"), DX_OK);
        assert_int_equal(remember(&guard, "t", "b", "deny_always_user"), DX_OK);
        guard.memory.fail_at = guard.memory.count + at;
        guard.memory.fails = 1;
        dx_status status = dx__autohand_rules_new(&guard.agent, &rules);
        assert_true(status == DX_OK || status == DX_ERR_NOMEM);
        if (status == DX_OK) {
            (void)dx__autohand_rules_remember(rules, "t", TEXT("c"), TEXT("allow_always_project"));
            (void)dx__autohand_rules_remember(rules, "t", TEXT("d"), TEXT("deny_always_user"));
            failed = guard.memory.count >= guard.memory.fail_at;
        }
        guard.memory.fail_at = 0;
        dx__autohand_rules_free(rules);
        guard_again(&guard);
        assert_int_equal(judge(&guard, "t", "a"), DX__VERDICT_ALLOW);
        assert_int_equal(judge(&guard, "t", "b"), DX__VERDICT_DENY);
        assert_int_equal(judge(&guard, "d", "x"), DX__VERDICT_DENY);
        assert_int_equal(judge(&guard, "t", "other"), DX__VERDICT_ASK);
        guard_done(&guard);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_first),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_git),
        cmocka_unit_test(test_case),
        cmocka_unit_test(test_notes_are_logged),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_nothing_to_remember),
        cmocka_unit_test(test_where_it_holds),
        cmocka_unit_test(test_hostile_workspace),
        cmocka_unit_test(test_refused_for_good),
        cmocka_unit_test(test_taken_back_by_hand),
        cmocka_unit_test(test_others_content_stays),
        cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_symbolic_links),
        cmocka_unit_test(test_no_home),
        cmocka_unit_test(test_whose_home),
        cmocka_unit_test(test_large_home),
        cmocka_unit_test(test_home_in_workspace),
        cmocka_unit_test(test_limits_of_workspace),
        cmocka_unit_test(test_two_agents),
        cmocka_unit_test(test_lock_is_held),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_odd_subjects),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
