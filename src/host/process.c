/* What child.c and tap.c do with a process that runs: signals, its exit, its number. */
#include "host/host.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

void dx__process_signal(const struct dx__process *process, int number) {
    syscall(SYS_pidfd_send_signal, process->pidfd, number, NULL, 0);
}

/* The number of a group is only ours while its leader is not reaped; we do that last, but somebody
 * else in this process may have done it since we last looked. Linux 6.9 knows the group by the
 * leader's pidfd, whoever reaped it. */
void dx__process_signal_group(const struct dx__process *process, int number) {
    siginfo_t info;
    if (dx__pidfd_signal_group(process->pidfd, number))
        return;
    if (waitid(P_PIDFD, (id_t)process->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
        errno != ECHILD)
        kill(-process->pid, number);
}

int dx_loop_owns(const dx_loop *loop, pid_t pid) {
    if (loop->guardian >= 0 && loop->guardian_pid == pid)
        return DX_OWNS_GUARDIAN;
    for (const dx__thing *thing = loop->things; thing; thing = thing->next)
        if (thing->process && thing->process->pidfd >= 0 && thing->process->pid == pid)
            return DX_OWNS_PROGRAM;
    return 0;
}

bool dx__process_has_exited(const struct dx__process *process, siginfo_t *ret_status,
                            bool *ret_known) {
    memset(ret_status, 0, sizeof *ret_status);
    int rc = waitid(P_PIDFD, (id_t)process->pidfd, ret_status, WEXITED | WNOHANG | WNOWAIT);
    *ret_known = rc == 0;
    return rc < 0 || ret_status->si_pid;
}

bool dx__process_reap(const struct dx__process *process, int most_ms) {
    struct pollfd exit = {process->pidfd, POLLIN, 0};
    siginfo_t info = {.si_pid = 0};
    while (poll(&exit, 1, most_ms) < 0 && errno == EINTR)
        ;
    int rc = waitid(P_PIDFD, (id_t)process->pidfd, &info, WEXITED | WNOHANG);
    return rc < 0 || info.si_pid;
}

void dx__gone_set(dx_gone *gone, bool known, const siginfo_t *status) {
    bool by_signal = known && status->si_code != CLD_EXITED;
    gone->known = known;
    gone->signal = by_signal ? status->si_status : 0;
    gone->code = known && !by_signal ? status->si_status : 0;
    gone->core = known && status->si_code == CLD_DUMPED;
}
