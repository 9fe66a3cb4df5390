#include "cli/subreaper.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <duplex/child.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* After SIGTERM comes SIGKILL, and after that it can't be ended; when to look again, at first and
 * at the latest; how many are remembered, and how many of them reported one by one; how much of an
 * environment is read, and how many of them at a time. */
enum { GRACE_MS = 400, LIMIT_MS = 3000, SOON_MS = 50, LATER_MS = 400 };
enum {
    ESCAPEES_MAX = 256,
    LINES_MAX = 10,
    ENVIRONMENT_MAX = 4 << 20,
    COMMAND_MAX = 160,
    LOOKS_MAX = 200
};

struct pids {
    pid_t *at;
    size_t count;
};

struct escapee {
    pid_t pid;
    pid_t peer;
    bool denied; /* it has other rights than we */
    bool dying;  /* by itself, or since the library has killed its group: it did not escape */
    bool told;
    char command[COMMAND_MAX];
};

struct watched_loop {
    struct watched_loop *next;
    dx_loop *loop;
    dx_watch *watch;
    dx_timer *timer;
};

static struct {
    bool active;
    bool unsure; /* a process without a mark may come from elsewhere than a peer */
    bool blind;  /* there is no /proc, or not ours */
    bool pending;
    int children; /* an eventfd: SIGCHLD has come */
    struct watched_loop *loops;
    struct pids spared;
    struct pids known; /* adopted, and of a peer that lives; sorted */
    uint64_t peers;    /* when that was found out */
    struct escapee escapees[ESCAPEES_MAX];
    size_t count;
    uint64_t began; /* when the first of them was found; 0: there are none */
    uint64_t pause; /* until the next look */
    size_t lines;
    size_t more; /* that were not reported one by one */
    void (*on_escaped)(const cli_escaped *escaped, void *user);
    void *user;
} reaper;

static bool pids_add(struct pids *pids, pid_t pid) {
    pid_t *more = pids->count & (pids->count + 1)
                      ? pids->at
                      : realloc(pids->at, 2 * (pids->count + 1) * sizeof *more);
    if (!more)
        return false;
    pids->at = more;
    pids->at[pids->count++] = pid;
    return true;
}

static bool pids_has(const struct pids *pids, pid_t pid) {
    for (size_t i = 0; i < pids->count; i++)
        if (pids->at[i] == pid)
            return true;
    return false;
}

/* All children, whichever thread has them. False if /proc does not tell, or is that of another pid
 * namespace. */
static bool list_children(struct pids *ret) {
    char path[300];
    char *word = NULL;
    size_t room = 0;
    bool found = false;
    struct dirent *task;
    snprintf(path, sizeof path, "/proc/self/task/%d", (int)getpid());
    DIR *tasks = access(path, F_OK) == 0 ? opendir("/proc/self/task") : NULL;
    while (tasks && (task = readdir(tasks))) {
        snprintf(path, sizeof path, "/proc/self/task/%s/children", task->d_name);
        FILE *file = task->d_name[0] != '.' ? fopen(path, "re") : NULL;
        found |= file != NULL;
        while (file && getdelim(&word, &room, ' ', file) > 0 &&
               pids_add(ret, (pid_t)strtol(word, NULL, 10)))
            ;
        if (file)
            (void)fclose(file);
    }
    if (tasks)
        (void)closedir(tasks);
    free(word);
    return found;
}

enum child { NOT_OURS, RUNNING, EXITED };

static enum child look_at(idtype_t type, pid_t pid, int flags) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(type, (id_t)pid, &info, WEXITED | WNOHANG | flags) < 0)
        return NOT_OURS;
    return info.si_pid ? EXITED : RUNNING;
}

static int owner_of(pid_t pid) {
    int owner = 0;
    for (const struct watched_loop *one = reaper.loops; one && !owner; one = one->next)
        owner = dx_loop_owns(one->loop, pid);
    return owner;
}

static int open_file_of(pid_t pid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* "1:2,3:4": the peer of the last part whose host we are; 0: there is none. */
static pid_t read_mark(const char *value) {
    pid_t found = 0;
    for (const char *part = value; part; part = strchr(part, ',')) {
        char *end;
        part += *part == ',';
        if (strtol(part, &end, 10) == getpid() && *end == ':')
            found = (pid_t)strtol(end + 1, NULL, 10);
    }
    return found;
}

/* The peer that its environment names. That is its own to change, so a mark only tells peers apart:
 * without one it belongs to whoever is left. */
static pid_t peer_of(pid_t pid) {
    static const char name[] = "\0DUPLEX_PEER=";
    enum { NAME = sizeof name - 1 };
    char room[16 << 10] = "";
    size_t len = 1; /* the first variable has a NUL before it, too */
    pid_t peer = 0;
    int fd = open_file_of(pid, "environ");
    for (size_t most = ENVIRONMENT_MAX; fd >= 0 && most && !peer;) {
        ssize_t n = read(fd, room + len, sizeof room - len - 1);
        if (n <= 0)
            break;
        len += (size_t)n;
        most -= (size_t)n < most ? (size_t)n : most;
        room[len] = '\0';
        const char *mark = memmem(room, len, name, NAME);
        bool whole = mark && (strlen(mark + NAME) < (size_t)(room + len - mark) - NAME);
        if (whole)
            peer = read_mark(mark + NAME);
        /* What may be the beginning of a mark is looked at again with what follows. */
        size_t keep = mark && !whole && mark > room ? (size_t)(room + len - mark) : NAME;
        keep = keep < len ? keep : len;
        memmove(room, room + len - keep, keep);
        len = keep;
    }
    if (fd >= 0)
        close(fd);
    return peer;
}

static void read_command(pid_t pid, char room[COMMAND_MAX]) {
    int fd = open_file_of(pid, "cmdline");
    ssize_t n = fd >= 0 ? read(fd, room, COMMAND_MAX - 1) : 0;
    size_t len = n > 0 ? (size_t)n : 0;
    if (fd >= 0)
        close(fd);
    while (len && !room[len - 1])
        len--;
    for (size_t i = 0; i < len; i++)
        room[i] = (char)(room[i] ? room[i] : ' ');
    room[len] = '\0';
    if (!len)
        snprintf(room, COMMAND_MAX, "no command line");
}

/* A process that was killed may need a while to die, and without memory it has no mark any more. */
static bool is_dying(pid_t pid, pid_t peer) {
    enum { EXITING = 4 }; /* PF_EXITING of the kernel */
    char room[400];
    int fd = open_file_of(pid, "stat");
    ssize_t n = fd >= 0 ? read(fd, room, sizeof room - 1) : 0;
    long group = 0;
    unsigned long flags = 0;
    if (fd >= 0)
        close(fd);
    room[n > 0 ? n : 0] = '\0';
    const char *rest = strrchr(room, ')'); /* behind the name; the next field is the third */
    for (int field = 3; rest && field <= 9 && (rest = strchr(rest, ' ')); field++) {
        rest++;
        if (field == 5)
            group = strtol(rest, NULL, 10);
        if (field == 9)
            flags = strtoul(rest, NULL, 10);
    }
    return (flags & EXITING) || (peer && group == peer);
}

void cli_escaped_line(const cli_escaped *escaped, char *room, size_t len) {
    snprintf(room, len, "%s escaped process %d: %s", escaped->ended ? "stopped" : "could not stop",
             (int)escaped->pid, escaped->command);
}

static void report(const struct escapee *escapee, bool ended) {
    cli_escaped escaped = {escapee->pid, escapee->peer, escapee->command, ended};
    char line[COMMAND_MAX + 60];
    if (reaper.lines++ >= LINES_MAX)
        reaper.more++;
    else if (reaper.on_escaped)
        reaper.on_escaped(&escaped, reaper.user);
    else {
        cli_escaped_line(&escaped, line, sizeof line);
        cli_warn("%s", line);
    }
}

static void report_more(void) {
    if (reaper.more)
        cli_warn("… and %zu more", reaper.more);
    reaper.more = reaper.lines = 0;
}

static struct escapee *find_escapee(pid_t pid) {
    for (size_t i = 0; i < reaper.count; i++)
        if (reaper.escapees[i].pid == pid)
            return &reaper.escapees[i];
    return NULL;
}

static struct escapee *add_escapee(pid_t pid, pid_t peer) {
    struct escapee *escapee = &reaper.escapees[reaper.count];
    if (reaper.count == ESCAPEES_MAX)
        return NULL;
    reaper.count++;
    *escapee = (struct escapee){.pid = pid, .peer = peer, .dying = is_dying(pid, peer)};
    read_command(pid, escapee->command);
    return escapee;
}

/* Has the peer that it comes from ended? */
static bool is_escaped(pid_t pid, bool has_peers, bool last, pid_t *ret_peer) {
    *ret_peer = peer_of(pid);
    if (*ret_peer)
        return last || !owner_of(*ret_peer);
    return !reaper.unsure && (last || !has_peers);
}

/* It is our child, and nobody else reaps it: its number can't be another's. */
static void end_one(pid_t pid, pid_t peer, struct escapee *escapee) {
    uint64_t now = cli_now();
    bool is_new = !escapee;
    if (!reaper.began || (is_new && now >= reaper.began + LIMIT_MS))
        reaper.began = now;
    bool may_leave = now < reaper.began + GRACE_MS;
    if (is_new)
        escapee = add_escapee(pid, peer);
    if (may_leave && !is_new)
        return;
    bool denied = kill(pid, may_leave && escapee ? SIGTERM : SIGKILL) < 0 && errno == EPERM;
    if (may_leave)
        (void)kill(pid, SIGCONT);
    if (escapee)
        escapee->denied = denied;
}

/* Reports those that are gone, and those that have had their time: all if it is over. True: some
 * have not. */
static bool judge(bool over) {
    uint64_t now = cli_now();
    bool again = false;
    for (size_t i = reaper.count; i--;) {
        struct escapee *escapee = &reaper.escapees[i];
        uint64_t limit = escapee->denied ? GRACE_MS : LIMIT_MS;
        if (look_at(P_PID, escapee->pid, WNOWAIT | __WALL) == NOT_OURS) {
            if (!escapee->dying)
                report(escapee, true);
            *escapee = reaper.escapees[--reaper.count];
        } else if (!escapee->told && !over && now < reaper.began + limit) {
            again = true;
        } else if (!escapee->told) {
            escapee->told = true;
            report(escapee, false);
        }
    }
    return again;
}

static int compare_pids(const void *one, const void *other) {
    pid_t a = *(const pid_t *)one;
    pid_t b = *(const pid_t *)other;
    return (a > b) - (a < b);
}

static bool is_known(pid_t pid) {
    return reaper.known.count &&
           bsearch(&pid, reaper.known.at, reaper.known.count, sizeof pid, compare_pids);
}

static void set_known(struct pids known) {
    if (known.count)
        qsort(known.at, known.count, sizeof *known.at, compare_pids);
    free(reaper.known.at);
    reaper.known = known;
}

/* Which peers there are, as a number that changes when they do; 0: none. */
static uint64_t sum_peers(const struct pids *children, bool *ret_exited) {
    uint64_t sum = 0;
    for (size_t i = 0; i < children->count; i++) {
        pid_t pid = children->at[i];
        if (is_known(pid) || owner_of(pid) != DX_OWNS_PROGRAM)
            continue;
        sum += (uint64_t)pid * (uint64_t)pid;
        /* It is about to be reaped, and then what it left behind has escaped. */
        *ret_exited |= look_at(P_PID, pid, WNOWAIT | __WALL) == EXITED;
    }
    return sum;
}

/* Reaps the adopted ones that have exited, and ends those that have escaped: all of them if `last`.
 * One whose peer lives is not looked at again before the peers change, and not too many are at a
 * time: others wait for the loop. True: it has to be looked again. */
static bool sweep(bool last) {
    struct pids children = {NULL, 0};
    struct pids known = {NULL, 0};
    bool again = false;
    reaper.blind = !list_children(&children);
    uint64_t peers = sum_peers(&children, &again);
    if (peers != reaper.peers || last)
        set_known(known);
    reaper.peers = peers;
    size_t looks = 0;
    for (size_t i = 0; !reaper.blind && i < children.count; i++) {
        pid_t pid = children.at[i];
        pid_t peer = 0;
        bool knew = is_known(pid);
        if (!knew && (owner_of(pid) || pids_has(&reaper.spared, pid)))
            continue;
        if (look_at(P_PID, pid, __WALL) != RUNNING)
            continue;
        struct escapee *escapee = find_escapee(pid);
        looks += !knew && !escapee;
        if (looks > LOOKS_MAX && !knew && !escapee && !last) {
            again = true;
            reaper.pause = SOON_MS;
        } else if (knew || (!escapee && !is_escaped(pid, peers != 0, last, &peer))) {
            (void)pids_add(&known, pid);
        } else {
            end_one(pid, peer, escapee);
            again |= !escapee;
        }
    }
    free(children.at);
    set_known(known);
    again |= judge(false);
    if (!reaper.count && !last) {
        report_more();
        reaper.began = 0;
    }
    return again;
}

/* While the loop runs. */

static void on_sigchld(int number) {
    int saved = errno;
    uint64_t one = 1;
    (void)number;
    (void)!write(reaper.children, &one, sizeof one);
    errno = saved;
}

static void on_time(dx_timer *timer, void *user) {
    (void)user;
    reaper.pending = sweep(false);
    dx_timer_set(timer, reaper.pending ? reaper.pause : DX_NEVER);
    reaper.pause = 2 * reaper.pause < LATER_MS ? 2 * reaper.pause : LATER_MS;
}

/* Not at once: the library reads what a peer that has exited still said, and then reaps it. */
static void on_children(dx_watch *watch, unsigned ready, void *user) {
    const struct watched_loop *one = user;
    uint64_t count;
    (void)watch;
    (void)ready;
    (void)!read(reaper.children, &count, sizeof count);
    reaper.pause = SOON_MS;
    if (!reaper.pending)
        dx_timer_set(one->timer, SOON_MS);
    reaper.pending = true;
}

/* Whoever became this program by exec may have left us children, which are nobody's peers. */
void cli_subreaper_begin(bool keep_daemons) {
    struct sigaction action = {.sa_handler = on_sigchld, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    if (reaper.active || keep_daemons)
        return;
    reaper.children = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reaper.children < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) < 0)
        return;
    reaper.active = true;
    reaper.unsure = look_at(P_ALL, 0, WNOWAIT | __WALL) != NOT_OURS;
    if (reaper.unsure)
        (void)list_children(&reaper.spared);
    sigaction(SIGCHLD, &action, NULL);
}

static struct watched_loop *watch_loop(dx_loop *loop) {
    struct watched_loop *one = calloc(1, sizeof *one);
    if (!one || dx_timer_new(loop, on_time, NULL, &one->timer) != DX_OK ||
        dx_watch_new(loop, reaper.children, DX_WATCH_READ, on_children, one, &one->watch) !=
            DX_OK) {
        if (one)
            dx_timer_free(one->timer);
        free(one);
        return NULL;
    }
    one->loop = loop;
    one->next = reaper.loops;
    return one;
}

dx_status cli_loop_new(bool keep_daemons, dx_loop **ret_loop, dx_error *reterr) {
    dx_status status = dx_loop_new(NULL, ret_loop, reterr);
    if (status != DX_OK || keep_daemons)
        return status;
    cli_subreaper_begin(keep_daemons);
    struct watched_loop *one = reaper.active ? watch_loop(*ret_loop) : NULL;
    if (reaper.active && !one) {
        *ret_loop = dx_loop_free(*ret_loop);
        return DX_ERR_NOMEM;
    }
    if (one)
        reaper.loops = one;
    return DX_OK;
}

dx_loop *cli_loop_free(dx_loop *loop) {
    for (struct watched_loop **at = &reaper.loops; *at; at = &(*at)->next) {
        struct watched_loop *one = *at;
        if (one->loop != loop)
            continue;
        *at = one->next;
        dx_watch_free(one->watch);
        dx_timer_free(one->timer);
        free(one);
        reaper.pending = false; /* its timer may have been the one … */
        on_sigchld(SIGCHLD);    /* … so another loop has to look */
        break;
    }
    return dx_loop_free(loop);
}

/* The end. */

int cli_subreaper_finish(int code) {
    uint64_t until = cli_now() + LIMIT_MS + GRACE_MS;
    if (!reaper.active)
        return code;
    while (look_at(P_ALL, 0, WNOWAIT) != NOT_OURS && sweep(true) && cli_now() < until) {
        struct pollfd child = {reaper.children, POLLIN, 0};
        uint64_t count;
        (void)poll(&child, 1, 10);
        (void)!read(reaper.children, &count, sizeof count);
    }
    (void)judge(true);
    report_more();
    reaper.began = 0;
    bool left = reaper.count;
    while (reaper.blind && look_at(P_ALL, 0, 0) == EXITED)
        ;
    if (reaper.blind && !reaper.unsure && look_at(P_ALL, 0, WNOWAIT) == RUNNING) {
        cli_warn("cannot stop processes that escaped: /proc does not list the children of duplex");
        left = true;
    }
    return left && code == CLI_OK ? CLI_LATE : code;
}

void cli_subreaper_spare(pid_t pid) {
    reaper.unsure = true;
    (void)pids_add(&reaper.spared, pid);
}

void cli_subreaper_listen(void (*on_escaped)(const cli_escaped *escaped, void *user), void *user) {
    reaper.on_escaped = on_escaped;
    reaper.user = user;
}
