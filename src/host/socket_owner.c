/* The user at the other end of a connection on this machine. */
#include "host/host.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The other end's socket: its own address comes first. */
struct tcp_socket {
    struct sockaddr_in from;
    struct sockaddr_in to;
};

/* A socket that no process holds any more (inode 0) counts as root's for the kernel; it must not
 * for us. The state excludes sockets that have only the address in common with the other end. */
static bool is_known(unsigned state, unsigned long inode) {
    enum { STATES = 1 << TCP_ESTABLISHED | 1 << TCP_FIN_WAIT1 | 1 << TCP_FIN_WAIT2 };
    return state < 16 && 1U << state & STATES && inode;
}

/* One question, which the kernel has answered when send() returns. False if it has no answer; one
 * that leaves the user unknown is one, too. */
static bool ask_netlink(const struct tcp_socket *tcp, bool *ret_known, uid_t *ret_uid) {
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } ask = {
        .head = {.nlmsg_len = sizeof ask,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = AF_INET,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = ~0U,
                 .id = {.idiag_sport = tcp->from.sin_port,
                        .idiag_dport = tcp->to.sin_port,
                        .idiag_src = {tcp->from.sin_addr.s_addr},
                        .idiag_dst = {tcp->to.sin_addr.s_addr},
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    struct {
        struct nlmsghdr head;
        struct inet_diag_msg body;
    } answer;
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return false;
    bool answered = send(fd, &ask, sizeof ask, 0) == (ssize_t)sizeof ask &&
                    recv(fd, &answer, sizeof answer, MSG_DONTWAIT) == (ssize_t)sizeof answer &&
                    answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
                    answer.body.id.idiag_sport == tcp->from.sin_port &&
                    answer.body.id.idiag_dport == tcp->to.sin_port;
    if (answered) {
        *ret_known = is_known(answer.body.idiag_state, answer.body.idiag_inode);
        *ret_uid = answer.body.idiag_uid;
    }
    close(fd);
    return answered;
}

/* "0100007F:1F90": hexadecimal digits of the address as it lies in memory, maybe mapped into IPv6,
 * and of the port. */
static bool is_address(const char *text, const struct sockaddr_in *address) {
    static const char mapped[] = "0000000000000000FFFF0000";
    char *end;
    if (strncmp(text, mapped, sizeof mapped - 1) == 0)
        text += sizeof mapped - 1;
    return strtoul(text, &end, 16) == address->sin_addr.s_addr && end == text + 8 && *end == ':' &&
           strtoul(end + 1, NULL, 16) == ntohs(address->sin_port);
}

static bool search_proc(const char *path, const struct tcp_socket *tcp, uid_t *ret_uid) {
    enum { FROM = 1, TO, STATE, UID = 7, INODE = 9, WORDS };
    FILE *file = fopen(path, "re");
    char line[512];
    bool known = false;
    while (file && !known && fgets(line, sizeof line, file)) {
        char *words[WORDS];
        char *rest = line;
        size_t count = 0;
        while (count < WORDS && (words[count] = strtok_r(rest, " ", &rest)))
            count++;
        known =
            count == WORDS && is_address(words[FROM], &tcp->from) &&
            is_address(words[TO], &tcp->to) &&
            is_known((unsigned)strtoul(words[STATE], NULL, 16), strtoul(words[INODE], NULL, 10));
        if (known)
            *ret_uid = (uid_t)strtoul(words[UID], NULL, 10);
    }
    if (file)
        (void)fclose(file);
    return known;
}

/* /proc is slow to search while there are many connections, which other users can make: it is asked
 * only if netlink is not there. */
static bool tcp_owner(const struct tcp_socket *tcp, uid_t *ret_uid) {
    bool known;
    if (ask_netlink(tcp, &known, ret_uid))
        return known;
    return search_proc("/proc/net/tcp", tcp, ret_uid) ||
           search_proc("/proc/net/tcp6", tcp, ret_uid);
}

bool dx__socket_owner(int fd, uid_t *ret_uid) {
    struct ucred local;
    struct tcp_socket tcp;
    socklen_t len = sizeof tcp.from;
    memset(&tcp, 0, sizeof tcp);
    if (getpeername(fd, (struct sockaddr *)&tcp.from, &len) < 0)
        return false;
    if (tcp.from.sin_family == AF_UNIX) {
        len = sizeof local;
        bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &local, &len) == 0;
        *ret_uid = known ? local.uid : 0;
        return known;
    }
    /* A program that resets its connection leaves its address to others, but only then; after that
     * our end has no peer any more. So the one that was found is the one that we talk to. */
    len = sizeof tcp.to;
    return tcp.from.sin_family == AF_INET &&
           getsockname(fd, (struct sockaddr *)&tcp.to, &len) == 0 && tcp_owner(&tcp, ret_uid) &&
           getpeername(fd, (struct sockaddr *)&tcp.from, &len) == 0;
}
