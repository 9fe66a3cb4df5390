/* tests/autohand/fake_model.py, started for a test. */
#ifndef AUTOHAND_FAKE_MODEL_H
#define AUTOHAND_FAKE_MODEL_H

#include "unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

struct fake_model {
    pid_t pid;
    int in;
    unsigned port;
    char log[64];
};

static inline void fake_model_start(struct fake_model *fake) {
    const char *source = getenv("SOURCE");
    int in[2], out[2];
    char path[4096];
    char line[32] = "";
    strcpy(fake->log, "/tmp/fake-model-XXXXXX");
    int log = mkstemp(fake->log);
    assert_true(log >= 0);
    (void)close(log);
    (void)snprintf(path, sizeof path, "%s/tests/autohand/fake_model.py", source ? source : ".");
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fake->pid = fork();
    if (!fake->pid) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)execlp("python3", "python3", path, "--log", fake->log, (char *)NULL);
        _exit(127);
    }
    assert_true(fake->pid > 0);
    (void)close(in[0]);
    (void)close(out[1]);
    fake->in = in[1];
    for (size_t len = 0; len < sizeof line - 1 && !strchr(line, '\n'); len++)
        assert_int_equal(read(out[0], line + len, 1), 1);
    (void)close(out[0]);
    fake->port = (unsigned)strtoul(line, NULL, 10);
}

static inline void fake_model_stop(struct fake_model *fake) {
    (void)close(fake->in);
    assert_int_equal(waitpid(fake->pid, NULL, 0), fake->pid);
    (void)unlink(fake->log);
}

static inline const char *fake_model_url(const struct fake_model *fake, const char *mode) {
    static char room[200];
    (void)snprintf(room, sizeof room, "http://127.0.0.1:%u/%s", fake->port, mode);
    return room;
}

/* Has that line come within a second? */
static inline int fake_model_says(const struct fake_model *fake, const char *wanted) {
    for (int i = 0; i < 100; i++) {
        char line[100];
        int found = 0;
        FILE *log = fopen(fake->log, "r");
        assert_non_null(log);
        while (fgets(line, sizeof line, log))
            found |= strncmp(line, wanted, strlen(wanted)) == 0 && line[strlen(wanted)] == '\n';
        (void)fclose(log);
        if (found)
            return 1;
        (void)usleep(10000);
    }
    return 0;
}

#endif
