/* How a child finds itself: descriptors, folder, environment, signals, limits. */
#include "faults/faults.h"

#include <fcntl.h>
#include <signal.h>

static void look(struct family *family) {
    family_start(family);
    ask(family_link(family), "look", NULL, &family->calls);
    family_end(family, 3000 * slow);
}

FAULT(F87_descriptors, 5, "a child has no descriptor but 0, 1 and 2") {
    /* Somebody else's descriptors, one without close-on-exec. */
    int leaky = open("/dev/null", O_RDONLY), high = fcntl(leaky, F_DUPFD, 900);
    dx_loop *loop = loop_new();
    struct family first, second;
    family_init(&first, loop, "mirror");
    family_start(&first);
    family_init(&second, loop, "mirror");
    look(&second);
    EXPECT_PART(dx_str(second.calls.body), "\"fds\":[0,1,2]");
    family_end(&first, 3000 * slow);
    dx_loop_free(loop);
    close(leaky);
    close(high);
}

FAULT(F87_closed_standard, 5, "a host without 0, 1 and 2 of its own starts children just as well") {
    int saved[3];
    for (int fd = 0; fd < 3; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        close(fd);
    }
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "mirror");
    dx_error error = {0};
    dx_status status = dx_child_start(loop, &family.config, &family.child, &error);
    int answered = 0;
    if (status == DX_OK) {
        call(dx_child_link(family.child), "look", NULL, &family.calls);
        turn_until(loop, &family.calls.done, 1, 2000 * slow);
        answered = family.calls.results;
        dx_child_free(family.child);
    }
    dx_loop_free(loop);
    for (int fd = 0; fd < 3; fd++) {
        dup2(saved[fd], fd);
        close(saved[fd]);
    }
    EXPECT(status, ==, DX_OK);
    EXPECT(answered, ==, 1);
    EXPECT_PART(dx_str(family.calls.body), "\"fds\":[0,1,2]");
}

FAULT(F87_environment, 5, "a child has the small environment, plus what was asked for") {
    setenv("SECRET_OF_THE_HOST", "hush", 1);
    setenv("HOME", "/tmp", 1);
    setenv("LC_TIME", "C", 1);
    setenv("LD_PRELOAD_NOT", "x", 1);
    const char *env[] = {"WANTED=\"yes\"", "HOME=/elsewhere", NULL};
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "mirror");
    look(&family);
    EXPECT_PART(dx_str(family.calls.body), "\"HOME=/tmp\"");
    EXPECT_PART(dx_str(family.calls.body), "\"LC_TIME=C\"");
    EXPECT_PART(dx_str(family.calls.body), "\"PATH=");
    EXPECT(strstr(family.calls.body, "SECRET_OF_THE_HOST") == NULL, ==, 1);
    EXPECT(strstr(family.calls.body, "LD_PRELOAD_NOT") == NULL, ==, 1);

    family_init(&family, loop, "mirror");
    family.config.env = env;
    look(&family);
    EXPECT_PART(dx_str(family.calls.body), "\"WANTED=\\\"yes\\\"\"");
    EXPECT_PART(dx_str(family.calls.body), "\"HOME=/elsewhere\"");
    EXPECT(strstr(family.calls.body, "HOME=/tmp") == NULL, ==, 1);

    family_init(&family, loop, "mirror");
    family.config.env = env;
    family.config.inherit_env = 1;
    look(&family);
    EXPECT_PART(dx_str(family.calls.body), "\"SECRET_OF_THE_HOST=hush\"");
    EXPECT_PART(dx_str(family.calls.body), "\"HOME=/elsewhere\"");
    EXPECT(strstr(family.calls.body, "HOME=/tmp") == NULL, ==, 1);
    dx_loop_free(loop);
}

FAULT(F87_place, 5, "a child has its folder, arguments, group and limits, and plain signals") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "mirror $HOME * ;");
    family.config.cwd = "/usr";
    family.config.files_max = 123;
    family.config.memory_max = (uint64_t)1 << 36;
    /* What is ignored or blocked here would be so in the child, too. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    look(&family);
    EXPECT_PART(dx_str(family.calls.body), "\"cwd\":\"/usr\"");
    EXPECT_PART(dx_str(family.calls.body), "\"$HOME\",\"*\",\";\"]");
    EXPECT_PART(dx_str(family.calls.body), "\"group\":1");
    EXPECT_PART(dx_str(family.calls.body), "\"odd_signals\":0");
    EXPECT_PART(dx_str(family.calls.body), "\"files\":123,");
    EXPECT_PART(dx_str(family.calls.body), "\"memory\":68719476736}");
    dx_loop_free(loop);
}

FAULT(F87_path, 5,
      "a name without a slash is looked up in PATH, and argv[0] stays as it was given") {
    char folder[4096];
    snprintf(folder, sizeof folder, "/nonexistent:%s", program("mirror"));
    *strrchr(folder, '/') = '\0';
    setenv("PATH", folder, 1);
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "mirror");
    family.argv[0] = "mirror";
    look(&family);
    EXPECT_PART(dx_str(family.calls.body), "\"argv\":[\"mirror\"]");
    dx_loop_free(loop);
}
