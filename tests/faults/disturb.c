/*
 * The rows of the catalogue again, with the n-th system call of a kind failing, once or from then
 * on:
 *
 *     faults --disturb KIND                        a few rows, the same ones each time
 *     faults --disturb KIND SECONDS                all rows, as many positions as time allows
 *     faults --disturb KIND ROW POSITION once|on   exactly one run, as a failure names it
 *
 * A row that is disturbed may well not get what it expects: that ends the row, and is no failure.
 * A crash, a sanitizer's report, a hang or a process left behind is one; and a row that passes all
 * the same has to leave as many descriptors as there were.
 */
#include "faults/harness.h"
#include "faults/wrap.h"
#include "host/host.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
    SKIPPED = 77,
    DISTURBED = 78,
    LOOPS = 64,
    POSITIONS = 64,
    ROWS = 8,
    PATIENCE = 300 /* ms */
};

static const struct kind {
    const char *name;
    enum wrapped call;
    int error;
} kinds[] = {
    {"read", WRAP_READ, EIO},
    {"write", WRAP_WRITE, EIO},
    {"pipe2", WRAP_PIPE2, EMFILE},
    {"epoll_ctl", WRAP_EPOLL_CTL, ENOMEM},
    {"pidfd_open", WRAP_PIDFD_OPEN, EMFILE},
    {"clone", WRAP_CLONE, EAGAIN},
    {"execve", WRAP_EXECVE, ENOMEM},
    /* Not ECHILD: that says that somebody else has taken the number, and who has it now is spared.
     */
    {"waitid", WRAP_WAITID, EINVAL},
};

/* Rows that say nothing here; a name that ends in _ means all that begin like that. */
static const struct {
    const char *name, *why;
} unsuited[] = {
    {"F86_host_", "kills a host, which may lack a guardian here: its grandchildren may stay"},
    {"F86_group_killed", "the same"},
    {"F86_guardian_misses_", "the same"},
    {"F86_guardian_newborn", "the same"},
    {"F86_guardian_full", "starts hundreds of children to measure time"},
    {"F86_guardian_full_", "the same"},
    {"F88_reused_", "lives in a namespace of its own, in forks, where it cannot be cut short"},
    {"F85_session", "whoever escapes is ended by the last line of the row, and by nobody else"},
    {"F83_cannot_be_killed", "bends the calls itself"},
    {"F98_run", "waits in dx_loop_run(), where it cannot be cut short"},
};

/* The process of the row. */

static struct {
    pid_t process; /* that is disturbed; forks of it are not */
    uid_t user;
    uint64_t end; /* of patience, once a call has failed */
    pthread_mutex_t lock;
    dx_loop *loops[LOOPS]; /* that are to be freed when the row is cut short */
} row = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void replace_loop(const dx_loop *was, dx_loop *loop) {
    pthread_mutex_lock(&row.lock);
    for (size_t i = 0; i < LOOPS; i++)
        if (row.loops[i] == was) {
            row.loops[i] = loop;
            break;
        }
    pthread_mutex_unlock(&row.lock);
}

/* The linker sends the tests' loops through here, so that none is overlooked. */
dx_status __real_dx_loop_new(const dx_allocator *allocator, dx_loop **ret_loop, dx_error *reterr);
dx_status __wrap_dx_loop_new(const dx_allocator *allocator, dx_loop **ret_loop, dx_error *reterr);
dx_loop *__real_dx_loop_free(dx_loop *loop);
dx_loop *__wrap_dx_loop_free(dx_loop *loop);

dx_status __wrap_dx_loop_new(const dx_allocator *allocator, dx_loop **ret_loop, dx_error *reterr) {
    dx_status status = __real_dx_loop_new(allocator, ret_loop, reterr);
    if (status == DX_OK)
        replace_loop(NULL, *ret_loop);
    return status;
}

dx_loop *__wrap_dx_loop_free(dx_loop *loop) {
    if (loop)
        replace_loop(loop, NULL);
    return __real_dx_loop_free(loop);
}

/* Everything works again, and the host ends as one does that gave up: it frees its loops and
 * leaves. Inside of a dispatch the loop itself outlives that, so nobody may count the leaks; and
 * nobody can, once it has become another user. */
void disturb_end(void) {
    if (!row.process)
        return;
    wrap.fail = WRAP_NONE;
    wrap.on = 0;
    if (getpid() != row.process || gettid() != row.process)
        _exit(DISTURBED);
    row.process = 0;
    int inside = 0;
    for (size_t i = 0; i < LOOPS; i++)
        if (row.loops[i]) {
            inside |= row.loops[i]->dispatching;
            __real_dx_loop_free(row.loops[i]);
        }
    if (inside || geteuid() != row.user)
        _exit(DISTURBED);
    exit(DISTURBED);
}

/* Whoever is left when its host has ended has a moment to die; a plugin has its drain_ms. */
static size_t left_behind(void) {
    size_t left;
    uint64_t end = now_ms() + 3000 * slow;
    while ((left = descendants(NULL, 0)) && now_ms() < end) {
        while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
            continue;
        sleep_ms(2);
    }
    return left;
}

void disturb_passed(void) {
    if (!row.process)
        return;
    row.process = 0;
    wrap.fail = WRAP_NONE;
    left_behind(); /* Whom it could not wait for may be a zombie, but not alive. */
}

uint64_t patience(uint64_t end) {
    if (!row.process || row.process != getpid())
        return end;
    uint64_t now = now_ms();
    int failed = wrap.fail_at && *wrap.calls >= wrap.fail_at;
    if (failed && !row.end)
        row.end = now + PATIENCE * slow;
    if (row.end && now >= row.end)
        fail("waited long enough");
    /* It may fail while we wait. */
    uint64_t most = row.end ? row.end : now + 100;
    return end < most ? end : most;
}

/* The runner. */

struct run {
    const struct kind *kind;
    const struct fault *fault;
    unsigned at; /* 0: none fails, they are counted */
    int for_ever;
    int in_haste; /* to be cut short though none has failed */
};

static unsigned *calls, runs, failures;
static struct run slowest;
static uint64_t slowest_ms;
static char calls_path[64];

/* In a file, so that programs which the row starts find it. */
static void share_calls(void) {
    int fd = memfd_create("calls", MFD_CLOEXEC);
    if (ftruncate(fd, sizeof *calls))
        fail("no shared memory");
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    snprintf(calls_path, sizeof calls_path, "/proc/%d/fd/%d", (int)getpid(), fd);
}

static _Noreturn void run_disturbed(const struct run *run, int errors) {
    dup2(errors, 1);
    dup2(errors, 2);
    close(errors);
    row.process = getpid();
    row.user = geteuid();
    if (run->in_haste)
        row.end = now_ms() + PATIENCE * slow;
    wrap = (struct wrap){.fail = run->kind->call,
                         .fail_at = run->at,
                         .for_ever = run->for_ever,
                         .error = run->kind->error,
                         .calls = calls};
    wrap_pass_on(calls_path);
    run_row(run->fault);
}

/* What the row and the programs of its own have said; cut off. */
struct words {
    char text[1 << 16];
    size_t len;
};

static void hear(int errors, struct words *words) {
    ssize_t len = pread(errors, words->text, sizeof words->text, 0);
    words->len = len > 0 ? (size_t)len : 0;
}

static int has(const struct words *words, const char *part) {
    return memmem(words->text, words->len, part, strlen(part)) != NULL;
}

static int verdict(const struct run *run, int ended, int status, int errors) {
    size_t left = ended ? left_behind() : 0;
    int code = ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    clean_up();
    static struct words words;
    hear(errors, &words);
    int reported = has(&words, "Sanitizer") || has(&words, "runtime error");
    if (!left && !reported && (code == 0 || code == DISTURBED || code == SKIPPED))
        return 0;
    fwrite(words.text, 1, words.len, stderr);
    if (!ended)
        fprintf(stderr, "expected it to end within %u s, it did not\n", run->fault->seconds * slow);
    else if (WIFSIGNALED(status))
        fprintf(stderr, "expected an exit, got signal %d\n", WTERMSIG(status));
    else if (left)
        fprintf(stderr, "expected no process left behind, got %zu\n", left);
    fprintf(stderr, "FAILED: faults --disturb %s %s %u %s\n", run->kind->name, run->fault->name,
            run->at, run->for_ever ? "on" : "once");
    return 1;
}

/* Returns how many calls of the kind there were. */
static unsigned run_apart(const struct run *run) {
    uint64_t begin = now_ms();
    fflush(NULL);
    *calls = 0;
    int status = 0, errors = memfd_create("errors", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0)
        run_disturbed(run, errors);
    int ended = pid > 0 && wait_for(pid, run->fault->seconds * slow, &status);
    failures += (unsigned)verdict(run, ended, status, errors);
    close(errors);
    runs++;
    if (now_ms() - begin > slowest_ms) {
        slowest_ms = now_ms() - begin;
        slowest = *run;
    }
    return *calls;
}

/* 1, 2, 3, 5, 8 … and the last. */
static unsigned make_positions(unsigned last, unsigned *positions) {
    unsigned count = 0, before = 1;
    for (unsigned at = 1; at < last && count < POSITIONS - 1;) {
        positions[count++] = at;
        unsigned next = at + before;
        before = at;
        at = next;
    }
    positions[count++] = last;
    return count;
}

static int have_common_divisor(unsigned a, unsigned b) {
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a != 1;
}

/* Each position, once and for ever, in an order that is mixed but always the same: whoever stops
 * early has seen some of the first and some of the last. `run` is the first run, which counts. */
static void disturb(struct run run, unsigned most, uint64_t end) {
    unsigned positions[POSITIONS], last = run_apart(&run);
    if (!last)
        return;
    unsigned count = 2 * make_positions(last, positions), step = count * 5 / 8;
    while (have_common_divisor(step, count))
        step++;
    for (unsigned i = 0; i < count && i < most && (!i || now_ms() < end); i++) {
        unsigned choice = (i * step + (unsigned)strlen(run.fault->name)) % count;
        run = (struct run){run.kind, run.fault, positions[choice / 2], choice % 2, 0};
        run_apart(&run);
    }
}

static int is_suited(const struct fault *fault) {
    for (size_t i = 0; i < LENGTH(unsuited); i++) {
        size_t len = strlen(unsuited[i].name);
        if (!strncmp(fault->name, unsuited[i].name, len + (unsuited[i].name[len - 1] != '_')))
            return 0;
    }
    return fault->name[0] == 'F';
}

static unsigned count_suited(void) {
    unsigned count = 0;
    for (const struct fault *fault = fault_first(); fault; fault = fault->next)
        count += (unsigned)is_suited(fault);
    return count;
}

/* The short form: a few rows, far from each other, and others for each kind. */
static void disturb_some(const struct kind *kind) {
    unsigned index = 0, step = count_suited() / ROWS + 1;
    unsigned first = (unsigned)(kind - kinds) * step / (unsigned)LENGTH(kinds);
    for (const struct fault *fault = fault_first(); fault; fault = fault->next)
        if (is_suited(fault) && index++ % step == first)
            disturb((struct run){kind, fault, 0, 0, 1}, 3, UINT64_MAX);
}

/* The long form: each row has its share of the time, and what those before it left over. */
static void disturb_all(const struct kind *kind, unsigned seconds) {
    uint64_t end = now_ms(), share = 1000ULL * seconds / (count_suited() + 1);
    for (const struct fault *fault = fault_first(); fault; fault = fault->next)
        if (is_suited(fault))
            disturb((struct run){kind, fault, 0, 0, 0}, UINT32_MAX, end += share);
}

static int disturb_one(const struct kind *kind, char **words) {
    struct run run = {.kind = kind, .for_ever = !strcmp(words[2], "on")};
    run.at = (unsigned)strtoul(words[1], NULL, 10);
    for (run.fault = fault_first(); run.fault; run.fault = run.fault->next)
        if (!strcmp(run.fault->name, words[0])) {
            printf("%u calls\n", run_apart(&run));
            return 1;
        }
    return 0;
}

int disturb_main(int argc, char **argv) {
    const struct kind *kind = NULL;
    for (size_t i = 0; i < LENGTH(kinds); i++)
        if (argc > 2 && !strcmp(argv[2], kinds[i].name))
            kind = &kinds[i];
    share_calls();
    uint64_t begin = now_ms();
    if (kind && argc == 3)
        disturb_some(kind);
    else if (kind && argc == 4 && atoi(argv[3]) > 0)
        disturb_all(kind, (unsigned)atoi(argv[3]));
    else if (!kind || argc != 6 || !disturb_one(kind, argv + 3)) {
        fprintf(stderr, "usage: faults --disturb KIND [SECONDS | ROW POSITION once|on]\n");
        return 2;
    }
    printf("%u runs, %u failed, %u ms; the slowest was %s %u %s, %u ms\n", runs, failures,
           (unsigned)(now_ms() - begin), slowest.fault->name, slowest.at,
           slowest.for_ever ? "on" : "once", (unsigned)slowest_ms);
    return failures != 0;
}
