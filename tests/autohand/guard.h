/* An agent of which only the guards are there: settings, rules, questions and hooks, a workspace,
 * and a link on which it is heard what the client is told. */
#ifndef AUTOHAND_TEST_GUARD_H
#define AUTOHAND_TEST_GUARD_H

#include "systems/autohand/guard.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

struct guard {
    struct unit_memory memory;
    dx_allocator alloc;
    dx_loop *loop;
    dx_autohand_agent agent;
    char folder[64];
    char space[96];
    char home[96];
    int client; /* the other end of the link */
    char told[1 << 16];
    size_t logs;
    char log[256]; /* the last line */
};

static inline void guard_on_log(dx_autohand_agent *agent, const char *level, const char *text,
                                void *user) {
    struct guard *guard = user;
    (void)agent;
    (void)level;
    guard->logs++;
    (void)snprintf(guard->log, sizeof guard->log, "%s", text);
}

static inline void guard_shell(const char *command) {
    assert_int_equal(system(command), 0);
}

/* Folders that go with the program's end; see guard_done(). */
static inline void guard_folders(struct guard *guard) {
    const char *root = getenv("TMPDIR");
    (void)snprintf(guard->folder, sizeof guard->folder, "%.30s/autohand-guard-XXXXXX",
                   root && strlen(root) < 30 ? root : "/tmp");
    assert_non_null(mkdtemp(guard->folder));
    (void)snprintf(guard->space, sizeof guard->space, "%s/space", guard->folder);
    (void)snprintf(guard->home, sizeof guard->home, "%s/home", guard->folder);
    assert_int_equal(mkdir(guard->space, 0755), 0);
}

static inline void guard_link(struct guard *guard) {
    int ends[2];
    dx_link_config config = dx_link_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(dx_link_open(guard->loop, ends[0], ends[0], &config, &guard->agent.link, NULL),
                     DX_OK);
    guard->client = ends[1];
    assert_int_equal(fcntl(guard->client, F_SETFL, O_NONBLOCK), 0);
}

static inline dx_status guard_settings(struct guard *guard, const char *text, dx_error *reterr) {
    dx__autohand_settings_done(&guard->agent.settings, &guard->alloc);
    return dx__autohand_settings_read(&guard->agent.settings, &guard->alloc, dx_str(text), reterr);
}

/* settings NULL: none. */
static inline void guard_begin(struct guard *guard, const char *settings) {
    memset(guard, 0, sizeof *guard);
    guard->alloc = unit_allocator(&guard->memory);
    guard_folders(guard);
    assert_int_equal(dx_loop_new(&guard->alloc, &guard->loop, NULL), DX_OK);
    dx_autohand_agent *agent = &guard->agent;
    agent->alloc = guard->alloc;
    agent->loop = guard->loop;
    agent->config = (dx_autohand_agent_config){.home = guard->home,
                                               .ack_ms = 30000,
                                               .answer_ms = 3600000,
                                               .on_log = guard_on_log,
                                               .user = guard};
    (void)snprintf(agent->session, sizeof agent->session, "session_1_2");
    dx_error error = {0};
    assert_int_equal(dx__autohand_workspace_open(&agent->workspace, guard->space, 8 << 20,
                                                 &guard->alloc, &error),
                     DX_OK);
    if (settings)
        assert_int_equal(guard_settings(guard, settings, &error), DX_OK);
    guard_link(guard);
    assert_int_equal(dx__autohand_rules_new(agent, &agent->rules), DX_OK);
}

/* As after a new start of the program. */
static inline void guard_again(struct guard *guard) {
    dx__autohand_rules_free(guard->agent.rules);
    guard->agent.rules = NULL;
    assert_int_equal(dx__autohand_rules_new(&guard->agent, &guard->agent.rules), DX_OK);
}

static inline void guard_done(struct guard *guard) {
    dx_autohand_agent *agent = &guard->agent;
    char command[128];
    dx__autohand_hooks_end(agent);
    assert_null(agent->hookings);
    assert_null(agent->questions);
    dx__autohand_rules_free(agent->rules);
    dx__autohand_settings_done(&agent->settings, &guard->alloc);
    dx__autohand_workspace_close(&agent->workspace);
    dx_link_free(agent->link);
    dx_loop_free(guard->loop);
    (void)close(guard->client);
    assert_int_equal(guard->memory.blocks, 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", guard->folder);
    guard_shell(command);
}

static inline uint64_t guard_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline void guard_stop(dx_timer *timer, void *user) {
    struct guard *guard = user;
    (void)timer;
    dx_loop_stop(guard->loop);
}

/* Lets the loop run until dx_loop_stop(), or for so many ms. */
static inline void guard_run(struct guard *guard, uint64_t ms) {
    dx_timer *timer = NULL;
    if (dx_timer_new(guard->loop, guard_stop, guard, &timer) != DX_OK)
        return;
    dx_timer_set(timer, ms);
    (void)dx_loop_run(guard->loop);
    dx_timer_free(timer);
}

/* What the client was told since the last time. */
static inline const char *guard_told(struct guard *guard) {
    size_t used = 0;
    ssize_t got;
    while (used < sizeof guard->told - 1 &&
           (got = read(guard->client, guard->told + used, sizeof guard->told - 1 - used)) > 0)
        used += (size_t)got;
    guard->told[used] = '\0';
    return guard->told;
}

/* A file in one of the folders. */
static inline void guard_write(const char *folder, const char *name, const char *text) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

/* "" if there is none. The text is the caller's to free(). */
static inline char *guard_read(const char *folder, const char *name) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(text, 1, (1 << 16) - 1, file) : 0;
    text[len] = '\0';
    if (file)
        (void)fclose(file);
    return text;
}

#endif
