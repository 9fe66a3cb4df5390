/* report.h: how each check went. Several threads tell; one shows. */
#ifndef CLI_CHECK_REPORT_H
#define CLI_CHECK_REPORT_H

#include "cli/check/checks.h"
#include "cli/options.h"

#include <duplex/frame.h>

#include <pthread.h>

/* How much of what was sent, and of what came, is shown. */
enum { CHECK_SHOWN = 400 };

typedef enum check_outcome { CHECK_PASS, CHECK_FAIL, CHECK_SKIP, CHECK_NOTE } check_outcome;

/* The bytes that prove it. Each may be absent. */
typedef struct check_proof {
    const char *scene;
    dx_text sent;
    dx_text came;
    uint64_t offset; /* of `came` in what the peer wrote */
} check_proof;

/* Bytes of somebody, or the beginning of them. */
typedef struct check_bytes {
    char at[CHECK_SHOWN];
    size_t len;
    uint64_t whole; /* how many there were */
    bool is_there;
} check_bytes;

typedef struct check_result {
    bool chosen;
    bool tried;
    uint64_t failures;
    char message[400]; /* of the first failure, or why it was skipped */
    char scene[24];
    check_bytes sent;
    check_bytes came;
    uint64_t offset;
} check_result;

typedef struct check_report {
    pthread_mutex_t lock;
    check_result results[CHECK__COUNT];
    bool heard[CHECK_NEED__COUNT]; /* by check_need: has that come? */
    uint64_t messages;             /* that came */
    uint64_t starts;
    bool complete; /* nothing more will be tried */
    bool quiet;    /* there will be another one: no summary for people */
    dx_framing framing;
    check_bytes noise;    /* the first text that is not JSON-RPC, if there was any … */
    check_id noise_fails; /* … and the check that fails for it */
    FILE *out;
} check_report;

/* CLI_OK; or a pattern of --only or --skip fits nothing, which was told. */
int check_report_init(check_report *report, const cli_list *only, const cli_list *skip);

/* It is looked at; unless it fails, it passes. */
void check_try(check_report *report, check_id id);
/* It failed, or there is something to note. proof may be NULL. */
void check_fail(check_report *report, check_id id, const check_proof *proof, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
/* The program printed text that is not JSON-RPC, for which that check fails. */
void check_noise(check_report *report, check_id id, dx_text text);
/* Warns of it, unless that check is reported. */
void check_warn_noise(const check_report *report);
/* It can't be looked at; unless somebody else does, it is skipped for that reason. */
void check_skip(check_report *report, check_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* It was tried, but nobody knows how that would have gone on. */
void check_undo(check_report *report, check_id id, const char *why);
/* Skipped is all that was not tried until now. */
void check_skip_rest(check_report *report, const char *why);
bool check_has_failed(check_report *report, check_id id);
/* Nothing more can be tried: what has failed is told, also if --only did not ask for it. */
void check_choose_failed(check_report *report, const cli_list *skip);
void check_heard(check_report *report, check_need what);

check_outcome check_outcome_of(const check_report *report, check_id id);
/* What is said about it; "" if there is nothing to say. */
const char *check_message(const check_report *report, check_id id);
const char *check_outcome_name(check_outcome outcome);
/* How often which outcome is there, of those that were chosen. */
uint64_t check_count(const check_report *report, check_outcome outcome);

/* All of it, in the format "text", "json", "tap" or "junit". */
void check_show(const check_report *report, const char *format, const char *subject);
void check_list(void);

#endif
