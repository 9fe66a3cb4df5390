/* The harness of the fault tests: one row of the catalogue is one test, run in a process of its
 * own, with an alarm, and with its descriptors and its descendants counted before and after.
 *
 *     FAULT(F81_closes_stdout, 5, "a child that closes its output is asked to leave") {
 *         …
 *     }
 *
 * cmake/DuplexTests.cmake finds the names by their FAULT( at the beginning of a line.
 */
#ifndef FAULTS_FAULTS_H
#define FAULTS_FAULTS_H

#include <duplex/child.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct fault {
    const char *name;
    unsigned seconds;
    const char *sentence;
    void (*run)(void);
    struct fault *next;
};

void fault_enlist(struct fault *fault);

#define FAULT(name, seconds, sentence)                                            \
    static void run_##name(void);                                                 \
    __attribute__((constructor)) static void enlist_##name(void) {                \
        static struct fault fault = {#name, seconds, sentence, run_##name, NULL}; \
        fault_enlist(&fault);                                                     \
    }                                                                             \
    static void run_##name(void)

/* How many times longer things may take here: a sanitizer is slow. */
extern const unsigned slow;

/* One line on what was expected and what came, then the end of the test. */
__attribute__((format(printf, 1, 2))) _Noreturn void fail(const char *format, ...);
_Noreturn void skip(const char *why);
/* Where in a test that does the same many times; stands before what fail() says. */
void fault_place(const char *place);

void expect_at(const char *file, int line, const char *what, long long got, const char *how,
               long long expected);
#define EXPECT(got, how, expected)                                            \
    do {                                                                      \
        long long got_ = (long long)(got), expected_ = (long long)(expected); \
        if (!(got_ how expected_))                                            \
            expect_at(__FILE__, __LINE__, #got, got_, #how, expected_);       \
    } while (0)

/* `text` contains `part`. */
void expect_part(const char *file, int line, const char *what, dx_text text, const char *part);
#define EXPECT_PART(text, part) expect_part(__FILE__, __LINE__, #text, text, part)

/* Processes: everything that descends from the runner, orphans included, but for the test itself.
 */

size_t descendants(pid_t *ret_pids, size_t max);
/* Waits until there are so many, at most ms; how many there are then. */
size_t descendants_until(size_t count, unsigned ms);
size_t open_fds(void);
/* The letter of /proc/PID/stat; 0 if there is no such process. */
char process_state(pid_t pid);
/* It exists and is not a zombie. */
int process_lives(pid_t pid);
/* It is dead, or about to be: a signal that was sent takes a moment to arrive. */
int process_dies(pid_t pid);
/* Milliseconds of processor time that this process has used. */
uint64_t cpu_ms(void);
uint64_t now_ms(void);
void sleep_ms(unsigned ms);
/* Whether something can be read within so many ms. */
int readable(int fd, unsigned ms);
/* For a wait of one's own: until when it may be waited instead of until `end`. Ends a row that is
 * disturbed on purpose (disturb.c) and has had its time. */
uint64_t patience(uint64_t end);
/* Build folder's children/NAME. Lent for the life of the test. */
const char *program(const char *name);

/* A program that is started by hand, as another host would do it; in and out may be NULL. */
pid_t spawn_by_hand(const char *const *argv, int *ret_in, int *ret_out);

/* Memory: an allocator that counts. */

struct memory {
    size_t bytes, peak, blocks;
};
dx_allocator counting(struct memory *memory);

/* Loops */

dx_loop *loop_new(void);
/* Waits as an embedder does, and dispatches, until *flag is at least `count` or ms have passed. */
int turn_until(dx_loop *loop, const int *flag, int count, unsigned ms);
void turn_for(dx_loop *loop, unsigned ms);
/* How often turn_…() has called dx_loop_dispatch() until now. */
extern _Thread_local unsigned turns;

/* What became of calls. */
struct calls {
    int made, done, results, errors, lost, other;
    unsigned turn; /* of the last one that ended */
    unsigned first_lost_turn;
    char body[4096]; /* of the last result or error, cut off */
    dx_error error;  /* of the last one that has one */
};

dx_status call_with(dx_link *link, const char *method, const char *params, struct calls *calls,
                    uint64_t timeout_ms);
void call(dx_link *link, const char *method, const char *params, struct calls *calls);
/* Calls once and waits for the result, which goes to calls->body. */
void ask(dx_link *link, const char *method, const char *params, struct calls *calls);

/* One child and all that is heard of it. `user` of the child's configuration points to it. */
struct family {
    dx_loop *loop;
    dx_child *child;
    dx_child_config config;
    const char *argv[8];
    struct calls calls;
    int gone, notes, strays, events, lines;
    unsigned gone_turn;
    uint64_t gone_ms; /* when */
    dx_gone how;
    char errors[65536 + 1]; /* its last words */
};

/* Configures a child: `command` is the name of a program of tests/children and its arguments, with
 * spaces between them. Change family->config as you like before family_start(). */
void family_init(struct family *family, dx_loop *loop, const char *command);
void family_start(struct family *family);
/* Waits until it is gone; fails if that takes longer. */
void family_wait(struct family *family, unsigned ms);
/* Stops it, waits, frees it. */
void family_end(struct family *family, unsigned ms);
/* The number behind "grandchild " in what it wrote to its standard error; waits for it. */
pid_t family_grandchild(struct family *family);
dx_link *family_link(const struct family *family);

#endif
