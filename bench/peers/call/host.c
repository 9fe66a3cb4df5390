/* host FRAMING start TIMES -- ECHO ARGUMENTS…: the workload "call": duplex call as a script runs
 * it, from before its start until it is gone. The command lies beside this program. */
#include "../c/bench.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* duplex call -f FRAMING echo [1] -- ECHO ARGUMENTS… */
static char **command_of(const char *framing, char **echo) {
    static char path[PATH_MAX];
    const char *words[] = {path, "call", "-f", framing, "echo", "[1]", "--"};
    enum { WORDS = sizeof words / sizeof words[0] };
    size_t count = 0;
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - sizeof "duplex");
    need(len > 0, "no name of its own");
    path[len] = '\0';
    memcpy(strrchr(path, '/') + 1, "duplex", sizeof "duplex");
    while (echo[count])
        count++;
    char **all = room((WORDS + count + 1) * sizeof *all);
    memcpy(all, words, sizeof words);
    memcpy(all + WORDS, echo, (count + 1) * sizeof *all);
    return all;
}

static void call_once(char **command) {
    struct child child = start_child(command);
    char answer[16];
    size_t len = 0;
    ssize_t n;
    while (len < sizeof answer && (n = read(child.out, answer + len, sizeof answer - len)) > 0)
        len += (size_t)n;
    need(len == 4 && memcmp(answer, "[1]\n", 4) == 0, "the wrong answer");
    end_child(&child);
}

int main(int argc, char **argv) {
    need(argc > 2, "usage: host FRAMING start TIMES -- ECHO ARGUMENTS...");
    struct job job = job_of(argv + 2);
    need(job.workload == START, "only the workload start");
    char **command = command_of(argv[1], job.echo);
    uint64_t *samples = room(job.count * sizeof *samples);
    for (size_t i = 0; i < job.count; i++) {
        uint64_t begin = now_ns();
        call_once(command);
        samples[i] = now_ns() - begin;
    }
    printf("{\"ms\":%.3f}\n", (double)percentile(samples, job.count, 50) / 1e6);
    return 0;
}
