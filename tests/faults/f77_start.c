/* Children that cannot be started, or not for long: F77 to F79; and how one finds itself. */
#include "faults/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char folder[] = "/tmp/duplex-start-XXXXXX";

static const char *make_file(const char *name, const char *text, mode_t mode) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
    EXPECT(write(fd, text, strlen(text)), ==, strlen(text));
    fchmod(fd, mode);
    close(fd);
    return path;
}

/* It fails at once, says why and where, and leaves nothing behind. */
static void cannot_start_because(dx_loop *loop, const char *path, const char *cwd, int number,
                                 const char *reason) {
    const char *argv[] = {path, "argument", NULL};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    config.cwd = cwd;
    dx_child *child = (dx_child *)&config;
    dx_error error = {0};
    size_t before = descendants(NULL, 0), fds = open_fds();
    uint64_t begin = now_ms();
    dx_status status = dx_child_start(loop, &config, &child, &error);
    if (status != DX_ERR_SYSTEM)
        fail("expected system for %s, got %s: %s", path, dx_status_name(status), error.phrase);
    EXPECT(now_ms() - begin, <, 500 * slow);
    EXPECT(child == (dx_child *)&config, ==, 1);
    EXPECT_PART(dx_str(error.phrase), cwd ? cwd : path);
    EXPECT_PART(dx_str(error.phrase), reason);
    EXPECT(error.system, ==, number);
    EXPECT(error.fault, ==, DX_FAULT_START);
    /* The guardian may have come, once. */
    EXPECT(descendants(NULL, 0), <=, before + 1);
    EXPECT(open_fds(), <=, fds + 2);
    status = dx_child_start(loop, &config, &child, NULL);
    EXPECT(status, ==, DX_ERR_SYSTEM);
}

static void cannot_start(dx_loop *loop, const char *path, const char *cwd, int number) {
    cannot_start_because(loop, path, cwd, number, strerror(number));
}

static void all_that_cannot_start(dx_loop *loop) {
    cannot_start(loop, "/nonexistent/program", NULL, ENOENT);
    cannot_start(loop, "no-such-program-in-path", NULL, ENOENT);
    cannot_start(loop, "./no-such-program-here", NULL, ENOENT);
    cannot_start(loop, folder, NULL, EISDIR);
    cannot_start(loop, "", NULL, ENOENT);
    cannot_start(loop, make_file("plain", "no program\n", 0644), NULL, EACCES);
    cannot_start_because(loop, make_file("script", "#!/nonexistent/interpreter\n", 0755), NULL,
                         ENOENT,
                         "script: its interpreter \"/nonexistent/interpreter\" does not exist");
    cannot_start(loop, make_file("nothing", "no program, but executable\n", 0755), NULL, ENOEXEC);
    cannot_start(loop, program("silent"), "/nonexistent/folder", ENOENT);
    cannot_start(loop, program("silent"), make_file("plain", "", 0644), ENOTDIR);
}

static void remove_folder(void) {
    static const char *const names[] = {"plain", "script", "nothing"};
    char path[128];
    for (size_t i = 0; i < LENGTH(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

FAULT(F77_cannot_start, 10, "what cannot be started is told at once, with errno and path") {
    EXPECT(mkdtemp(folder) != NULL, ==, 1);
    dx_loop *loop = loop_new();
    all_that_cannot_start(loop);
    struct family family;
    family_init(&family, loop, "parrot");
    family_start(&family);
    all_that_cannot_start(loop);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    family_end(&family, 3000 * slow);
    dx_loop_free(loop);
    remove_folder();
}

FAULT(F77_sigchld_ignored, 10, "the same where SIGCHLD is ignored") {
    EXPECT(mkdtemp(folder) != NULL, ==, 1);
    signal(SIGCHLD, SIG_IGN);
    dx_loop *loop = loop_new();
    all_that_cannot_start(loop);
    dx_loop_free(loop);
    remove_folder();
}

FAULT(F77_oversized, 5, "arguments and paths that are too long are told, too") {
    dx_loop *loop = loop_new();
    size_t len = 4 << 20;
    char *word = malloc(len);
    memset(word, 'w', len);
    word[len - 1] = '\0';
    const char *argv[] = {program("silent"), word, NULL};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    dx_child *child = NULL;
    dx_error error = {0};
    EXPECT(dx_child_start(loop, &config, &child, &error), ==, DX_ERR_SYSTEM);
    EXPECT(error.system, ==, E2BIG);
    word[0] = '/';
    word[3000] = '\0';
    argv[0] = word;
    argv[1] = NULL;
    EXPECT(dx_child_start(loop, &config, &child, &error), ==, DX_ERR_SYSTEM);
    EXPECT(error.system, ==, ENAMETOOLONG);
    EXPECT(strlen(error.phrase), <, sizeof error.phrase);
    word[3000] = 'w';
    EXPECT(dx_child_start(loop, &config, &child, &error), ==, DX_ERR_SYSTEM);
    EXPECT(error.system, ==, ENAMETOOLONG);
    argv[0] = "silent";
    word[3000] = '\0';
    setenv("PATH", word, 1);
    EXPECT(dx_child_start(loop, &config, &child, &error), ==, DX_ERR_SYSTEM);
    free(word);
    dx_loop_free(loop);
}

FAULT(F77_senseless, 5, "a configuration that cannot be right is refused") {
    dx_loop *loop = loop_new();
    dx_child *child = NULL;
    const char *argv[] = {NULL};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    dx_error error = {.phrase = ""};
    EXPECT(dx_child_start(loop, &config, &child, &error), ==, DX_ERR_INVALID);
    EXPECT(error.phrase[0], !=, '\0');
    const char *good[] = {program("silent"), NULL};
    config = dx_child_defaults(DX_FRAMING_LINE, good);
    config.link.peer.message_max = 0;
    EXPECT(dx_child_start(loop, &config, &child, NULL), ==, DX_ERR_INVALID);
    EXPECT(child == NULL, ==, 1);
    EXPECT(dx_child_free(NULL) == NULL, ==, 1);
    dx_loop_free(loop);
}

/* From none to enough: every step of a start has its turn to fail. */
FAULT(F78_no_descriptors, 10, "no descriptors left: an error for that child only, nothing leaks") {
    dx_loop *loop = loop_new();
    struct family old, new;
    family_init(&old, loop, "parrot");
    family_start(&old);
    ask(family_link(&old), "hello", "[1]", &old.calls);
    struct rlimit before, low;
    getrlimit(RLIMIT_NOFILE, &before);
    int next = dup(0);
    close(next);
    int failed = 0, started = 0;
    for (unsigned more = 0; more < 24 && !started; more++) {
        size_t fds = open_fds(), processes = descendants(NULL, 0);
        family_init(&new, loop, "parrot");
        dx_error error = {0};
        low = (struct rlimit){(rlim_t)next + more, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &low);
        dx_status status = dx_child_start(loop, &new.config, &new.child, &error);
        setrlimit(RLIMIT_NOFILE, &before);
        ask(family_link(&old), "hello", "[1]", &old.calls);
        if (status == DX_OK) {
            started = 1;
            break;
        }
        failed++;
        EXPECT(status, ==, DX_ERR_SYSTEM);
        EXPECT(error.system, ==, EMFILE);
        EXPECT(open_fds(), ==, fds);
        EXPECT(descendants(NULL, 0), ==, processes);
    }
    EXPECT(failed, >, 2);
    EXPECT(started, ==, 1);
    ask(family_link(&new), "hello", "[1]", &new.calls);
    family_end(&new, 3000 * slow);
    family_end(&old, 3000 * slow);
    dx_loop_free(loop);
}

FAULT(F78_no_descriptors_at_first, 10, "the same for the first child, which brings the guardian") {
    struct rlimit before, low;
    getrlimit(RLIMIT_NOFILE, &before);
    dx_loop *loop = loop_new();
    int next = dup(0), started = 0;
    close(next);
    for (unsigned more = 0; more < 24 && !started; more++) {
        struct family family;
        family_init(&family, loop, "parrot");
        low = (struct rlimit){(rlim_t)next + more, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &low);
        dx_status status = dx_child_start(loop, &family.config, &family.child, NULL);
        setrlimit(RLIMIT_NOFILE, &before);
        EXPECT(status == DX_OK || status == DX_ERR_SYSTEM, ==, 1);
        if ((started = status == DX_OK)) {
            ask(family_link(&family), "hello", "[1]", &family.calls);
            family_end(&family, 3000 * slow);
        }
    }
    EXPECT(started, ==, 1);
    dx_loop_free(loop);
}

/* Limits on processes don't hold for root, so it must not be root meanwhile. */
static void leave_root(void) {
    if (getuid() == 0 && setresuid(65534, 65534, 0))
        skip("this user cannot be left");
    if (access(program("parrot"), X_OK))
        skip("the build folder cannot be read by others");
}

FAULT(F78_no_processes, 10, "fork fails: an error for that child only, the others go on") {
    dx_loop *loop = loop_new();
    leave_root();
    struct family old, new;
    family_init(&old, loop, "parrot");
    family_start(&old);
    ask(family_link(&old), "hello", "[1]", &old.calls);
    size_t fds = open_fds(), processes = descendants(NULL, 0);
    struct rlimit before, low;
    getrlimit(RLIMIT_NPROC, &before);
    low = (struct rlimit){1, before.rlim_max};
    setrlimit(RLIMIT_NPROC, &low);
    for (int i = 0; i < 3; i++) {
        family_init(&new, loop, "parrot");
        dx_error error = {0};
        EXPECT(dx_child_start(loop, &new.config, &new.child, &error), ==, DX_ERR_SYSTEM);
        EXPECT(error.system, ==, EAGAIN);
        ask(family_link(&old), "hello", "[1]", &old.calls);
        EXPECT(open_fds(), ==, fds);
        EXPECT(descendants(NULL, 0), ==, processes);
    }
    setrlimit(RLIMIT_NPROC, &before);
    family_start(&new);
    ask(family_link(&new), "hello", "[1]", &new.calls);
    family_end(&new, 3000 * slow);
    family_end(&old, 3000 * slow);
    dx_loop_free(loop);
    if (setuid(0) == 0)
        return;
}

static void leaves(const char *command, int code, int number) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, command);
    family_start(&family);
    dx_status status = call_with(family_link(&family), "initialize", "{}", &family.calls, 0);
    EXPECT(status, ==, DX_OK);
    uint64_t begin = now_ms();
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, <, 1000 * slow);
    EXPECT(family.calls.lost, ==, 1);
    EXPECT(family.calls.turn, ==, family.gone_turn);
    EXPECT(family.how.known, ==, 1);
    EXPECT(family.how.code, ==, code);
    EXPECT(family.how.signal, ==, number);
    EXPECT(family.how.stopped, ==, 0);
    EXPECT(family.how.core, ==, 0);
    EXPECT_PART(family.how.errors, "last words\n");
    EXPECT(family.how.error.fault != DX_FAULT_NONE, ==, 1);
    EXPECT(strlen(family.how.error.phrase), >, 0);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F79_leaves_at_once, 10,
      "a child that exits before it answers: the call ends at once, with why") {
    leaves("leaves exit 3 -1", 3, 0);
    leaves("leaves exit 1 0", 1, 0);
    leaves("leaves exit 255 0", 255, 0);
    leaves("leaves signal 9 -1", 0, SIGKILL);
    leaves("leaves signal 11 0", 0, SIGSEGV);
    leaves("leaves signal 15 0", 0, SIGTERM);
}

FAULT(F79_leaves_with_zero, 5, "a child that leaves with 0 by itself ends its calls, too") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "leaves exit 0 2");
    family_start(&family);
    for (int i = 0; i < 3; i++)
        call(family_link(&family), "hello", NULL, &family.calls);
    family_wait(&family, 3000 * slow);
    EXPECT(family.calls.results, ==, 2);
    EXPECT(family.calls.lost, ==, 1);
    EXPECT(family.how.code, ==, 0);
    EXPECT(family.how.stopped, ==, 0);
    EXPECT(family.how.error.fault, ==, DX_FAULT_NONE);
    dx_child_free(family.child);
    dx_loop_free(loop);
}
