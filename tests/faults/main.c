/* Runs one test: faults NAME, or all of them: faults. `faults --list` names them, and `faults
 * --disturb` runs them with failing system calls. */
#include "faults/harness.h"

#include <dirent.h>
#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { SKIPPED = 77, MOST = 4096 };

static struct fault *first;
static pid_t runner;

const unsigned slow =
#if defined(__SANITIZE_ADDRESS__)
    4;
#else
    1;
#endif

void fault_enlist(struct fault *fault) {
    struct fault **at = &first;
    while (*at && strcmp((*at)->name, fault->name) < 0)
        at = &(*at)->next;
    fault->next = *at;
    *at = fault;
}

const struct fault *fault_first(void) {
    return first;
}

static char at_place[64];

void fault_place(const char *place) {
    snprintf(at_place, sizeof at_place, "%s", place);
}

void fail(const char *format, ...) {
    va_list list;
    if (*at_place)
        fprintf(stderr, "%s: ", at_place);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    disturb_end();
    /* Not exit(): a leak report of half a test would only hide the line above. */
    _exit(1);
}

void skip(const char *why) {
    fprintf(stderr, "skipped: %s\n", why);
    _exit(SKIPPED);
}

void expect_at(const char *file, int line, const char *what, long long got, const char *how,
               long long expected) {
    const char *name = strrchr(file, '/');
    fail("%s:%d: expected %s %s %lld, got %lld", name ? name + 1 : file, line, what, how, expected,
         got);
}

void expect_part(const char *file, int line, const char *what, dx_text text, const char *part) {
    if (text.at && memmem(text.at, text.len, part, strlen(part)))
        return;
    const char *name = strrchr(file, '/');
    size_t from = text.len > 300 ? text.len - 300 : 0;
    fail("%s:%d: expected \"%s\" in %s, got %zu bytes: \"%.*s\"", name ? name + 1 : file, line,
         part, what, text.len, (int)(text.len - from), text.at ? text.at + from : "");
}

static pid_t parent_of(pid_t pid, char *ret_state) {
    char path[32], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t len = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[len] = '\0';
    int parent = 0;
    /* A name may contain anything, so look behind the last bracket. */
    char *bracket = strrchr(line, ')');
    if (!bracket || sscanf(bracket + 1, " %c %d", ret_state, &parent) != 2)
        return 0;
    return parent;
}

char process_state(pid_t pid) {
    char state = 0;
    return parent_of(pid, &state) ? state : 0;
}

int process_lives(pid_t pid) {
    char state = process_state(pid);
    return state && state != 'Z' && state != 'X';
}

int process_dies(pid_t pid) {
    for (uint64_t end = now_ms() + 100 * slow; process_lives(pid); sleep_ms(1))
        if (now_ms() > end)
            return 0;
    return 1;
}

struct process {
    pid_t pid, parent;
    char state;
    int ours;
};

static size_t all_processes(struct process *list, size_t max) {
    DIR *proc = opendir("/proc");
    size_t count = 0;
    for (struct dirent *entry; proc && count < max && (entry = readdir(proc));) {
        pid_t pid = (pid_t)atol(entry->d_name);
        struct process process = {pid, 0, 0, 0};
        if (pid > 0 && (process.parent = parent_of(pid, &process.state)))
            list[count++] = process;
    }
    closedir(proc);
    return count;
}

static const struct process *find(const struct process *list, size_t count, pid_t pid) {
    for (size_t i = 0; i < count; i++)
        if (list[i].pid == pid)
            return &list[i];
    return NULL;
}

/* A zombie whose parent is the runner is only waiting for the runner to look. */
static int descends(const struct process *list, size_t count, const struct process *process) {
    if (process->parent == runner)
        return process->state != 'Z' && process->state != 'X';
    for (int depth = 0; process && depth < 64; depth++) {
        if (process->parent == runner)
            return 1;
        process = find(list, count, process->parent);
    }
    return 0;
}

size_t descendants(pid_t *ret_pids, size_t max) {
    static struct process list[MOST];
    size_t count = all_processes(list, MOST), found = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].pid != getpid() && list[i].pid != runner && descends(list, count, &list[i])) {
            if (found < max)
                ret_pids[found] = list[i].pid;
            found++;
        }
    return found;
}

size_t descendants_until(size_t count, unsigned ms) {
    uint64_t end = now_ms() + ms;
    size_t found;
    while ((found = descendants(NULL, 0)) != count && now_ms() < end)
        sleep_ms(5);
    return found;
}

size_t open_fds(void) {
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;
    while (dir && readdir(dir))
        count++;
    closedir(dir);
    return count - 3; /* ".", ".." and the folder itself */
}

_Noreturn void run_row(const struct fault *fault) {
    size_t fds = open_fds();
    fault->run();
    disturb_passed();
    if (open_fds() != fds)
        fail("expected %zu open descriptors after the test, got %zu", fds, open_fds());
    size_t left = descendants_until(0, 1000 * slow);
    if (left)
        fail("expected no process left behind, got %zu", left);
    exit(0);
}

int wait_for(pid_t pid, unsigned seconds, int *ret_status) {
    uint64_t end = now_ms() + 1000 * (uint64_t)seconds;
    for (;;) {
        int status;
        pid_t who = waitpid(-1, &status, WNOHANG);
        if (who == pid) {
            *ret_status = status;
            return 1;
        }
        if (who < 0 && errno == ECHILD)
            return 0;
        if (who == 0 && now_ms() >= end)
            return 0;
        if (who == 0)
            sleep_ms(2);
    }
}

void clean_up(void) {
    static pid_t left[MOST];
    for (int tries = 0; tries < 100; tries++) {
        size_t count = descendants(left, MOST);
        for (size_t i = 0; i < count && i < MOST; i++)
            kill(left[i], SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (!count)
            return;
        sleep_ms(10);
    }
}

static int verdict(const struct fault *fault, int ended, int status) {
    if (!ended)
        fprintf(stderr, "%s: expected it to end within %u s, it did not\n", fault->name,
                fault->seconds * slow);
    else if (WIFSIGNALED(status))
        fprintf(stderr, "%s: expected an exit, got signal %d\n", fault->name, WTERMSIG(status));
    else if (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SKIPPED)
        return WEXITSTATUS(status);
    fprintf(stderr, "%s: FAILED: %s\n", fault->name, fault->sentence);
    return 1;
}

static int run_apart(const struct fault *fault) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return 1;
    if (pid == 0)
        run_row(fault);
    int status = 0;
    int ended = wait_for(pid, fault->seconds * slow, &status);
    clean_up();
    return verdict(fault, ended, status);
}

int main(int argc, char **argv) {
    runner = getpid();
    /* Orphans come to us instead of to init, so that none is overlooked. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    /* What we were started with is nobody's business but ours. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (argc > 1 && !strcmp(argv[1], "--disturb"))
        return disturb_main(argc, argv);
    int failed = 0, skipped = 0, count = 0;
    for (struct fault *fault = first; fault; fault = fault->next) {
        if (argc > 1 && !strcmp(argv[1], "--list"))
            printf("%s: %s\n", fault->name, fault->sentence);
        else if (argc < 2 || !strncmp(fault->name, argv[1], strlen(argv[1]))) {
            int result = run_apart(fault);
            failed += result == 1;
            skipped += result == SKIPPED;
            count++;
            if (argc < 2 && result != 1)
                printf("%s: %s\n", fault->name, result ? "skipped" : "ok");
            fflush(stdout);
        } else
            continue;
    }
    if (argc > 1 && !count && strcmp(argv[1], "--list")) {
        fprintf(stderr, "no test is named %s\n", argv[1]);
        return 2;
    }
    return failed ? 1 : skipped == count && count ? SKIPPED : 0;
}
