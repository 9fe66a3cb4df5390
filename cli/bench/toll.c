#include "cli/bench/toll.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NS = 1000000000 };

/* A file of /proc/PID as a text, as much of it as there is room for. */
static bool read_file(pid_t pid, const char *name, char *room, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t len = read(fd, room, size - 1);
    close(fd);
    room[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* "VmRSS:      3884 kB" in bytes; 0 if it is not there: a zombie has none. The name of the program,
 * which it chooses itself, has no line break in it. */
static uint64_t field_of(const char *status, const char *name) {
    const char *at = strstr(status, name);
    return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* What /proc/PID/stat has behind the name of the program, which may hold anything. */
struct facts {
    uint64_t group;
    uint64_t waited_ns; /* of children that it has waited for */
    uint64_t rss_bytes;
};

/* The nth field there; 0 if there are not so many. */
static uint64_t nth(const char *text, unsigned n) {
    for (; text && n; n--) {
        text = strchr(text, ' ');
        text = text ? text + 1 : NULL;
    }
    return text ? strtoull(text, NULL, 10) : 0;
}

static bool read_facts(pid_t pid, struct facts *facts) {
    enum { GROUP = 3, WAITED_USER = 14, WAITED_SYSTEM = 15, RSS = 22 };
    char text[1024];
    long hertz = sysconf(_SC_CLK_TCK);
    if (!read_file(pid, "stat", text, sizeof text))
        return false;
    const char *behind = strrchr(text, ')');
    uint64_t tick = hertz > 0 ? (uint64_t)(NS / hertz) : 0;
    *facts = (struct facts){
        .group = nth(behind, GROUP),
        .waited_ns = (nth(behind, WAITED_USER) + nth(behind, WAITED_SYSTEM)) * tick,
        .rss_bytes = nth(behind, RSS) * (uint64_t)sysconf(_SC_PAGESIZE),
    };
    return facts->group != 0;
}

/* All its threads, those that have ended included; /proc would tell it in hundredths of a second.
 */
static uint64_t cpu_of(pid_t pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * NS + (uint64_t)time.tv_nsec;
}

static void add_member(cli_toll *toll, pid_t leader, pid_t pid) {
    char status[4096];
    struct facts facts;
    if (!read_facts(pid, &facts) || facts.group != (uint64_t)leader ||
        !read_file(pid, "status", status, sizeof status))
        return;
    uint64_t rss = field_of(status, "\nVmRSS:");
    if (pid == leader) {
        toll->rss_bytes = rss;
        toll->peak_bytes = field_of(status, "\nVmHWM:");
    }
    toll->group_rss_bytes += rss;
    toll->processes++;
    toll->cpu_ns += cpu_of(pid) + facts.waited_ns;
}

void cli_toll_memory(const pid_t *leaders, size_t count, uint64_t *ret_bytes) {
    const struct dirent *entry;
    DIR *folder = opendir("/proc");
    memset(ret_bytes, 0, count * sizeof *ret_bytes);
    while (folder && (entry = readdir(folder))) {
        struct facts facts;
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || *end || !read_facts((pid_t)pid, &facts))
            continue;
        for (size_t i = 0; i < count; i++)
            if (leaders[i] && facts.group == (uint64_t)leaders[i])
                ret_bytes[i] += facts.rss_bytes;
    }
    if (folder)
        closedir(folder);
}

bool cli_toll_read(pid_t leader, cli_toll *ret_toll) {
    cli_toll toll = {.processes = 0};
    const struct dirent *entry;
    DIR *folder = opendir("/proc");
    if (!folder)
        return false;
    while ((entry = readdir(folder))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && !*end)
            add_member(&toll, leader, (pid_t)pid);
    }
    closedir(folder);
    if (!toll.rss_bytes)
        return false;
    *ret_toll = toll;
    return true;
}
