/* Who can tell what: with --only, nobody is asked in vain. */
#include "cli/check/probe.h"

enum { TELLS_MAX = 4 };

static const struct {
    check_probe probe; /* NULL: the first conversation, which is always had */
    unsigned count;
    check_id tells[TELLS_MAX];
} trials[] = {
    {NULL, 4, {CHECK_START_ANSWERED, CHECK_END_STOP, CHECK_END_STOP_ANSWERED, CHECK_END_CODE}},
    {check_probe_unknown, 1, {CHECK_REQUEST_UNKNOWN}},
    {check_probe_notification, 1, {CHECK_NOTIFICATION_SILENT}},
    {check_probe_names, 1, {CHECK_REQUEST_METHOD_NAME}},
    {check_probe_params_type, 1, {CHECK_REQUEST_PARAMS_TYPE}},
    {check_probe_params_fit, 2, {CHECK_REQUEST_PARAMS_FIT, CHECK_REQUEST_PARAMS_CODE}},
    {check_probe_not_one, 1, {CHECK_REQUEST_NOT_ONE}},
    {check_probe_invalid, 1, {CHECK_REQUEST_INVALID}},
    {check_probe_batch, 2, {CHECK_REQUEST_BATCH, CHECK_REQUEST_BATCH_REFUSED}},
    {check_probe_batch_empty, 1, {CHECK_REQUEST_BATCH_EMPTY}},
    {check_probe_response, 1, {CHECK_RESPONSE_UNKNOWN}},
    {check_probe_duplicate, 1, {CHECK_ID_DUPLICATE}},
    {check_probe_odd_ids, 2, {CHECK_ID_LARGE, CHECK_ID_FRACTION}},
    {check_probe_many, 1, {CHECK_MANY_ANSWERED}},
    {check_probe_slow, 1, {CHECK_OUTPUT_SLOW}},
    {check_probe_large, 1, {CHECK_INPUT_LARGE}},
    {check_probe_deep, 1, {CHECK_INPUT_DEEP}},
    {check_probe_together, 1, {CHECK_INPUT_TOGETHER}},
    {check_probe_pieces, 1, {CHECK_INPUT_PIECES}},
    {check_probe_header_case, 1, {CHECK_INPUT_HEADER_CASE}},
    {check_probe_header_blanks, 1, {CHECK_INPUT_HEADER_BLANKS}},
    {check_probe_header_extra, 1, {CHECK_INPUT_HEADER_EXTRA}},
    {check_probe_line_ends, 1, {CHECK_INPUT_LINE_ENDS}},
    {check_probe_space, 1, {CHECK_INPUT_SPACE}},
    {check_probe_cancel, 2, {CHECK_CANCEL_HEEDED, CHECK_CANCEL_ANSWERED}},
    {check_probe_cancel_unknown, 1, {CHECK_CANCEL_UNKNOWN}},
    {check_probe_early,
     4,
     {CHECK_START_EARLY, CHECK_START_EARLY_SERVED, CHECK_START_EARLY_CODE, CHECK_START_AFTER}},
    {check_probe_eof, 2, {CHECK_END_EOF, CHECK_END_EOF_QUIET}},
    {check_probe_term, 1, {CHECK_END_TERM}},
    {check_probe_killed, 1, {CHECK_END_KILLED}},
};
enum { TRIALS = sizeof trials / sizeof trials[0] };

static bool tells(size_t trial, check_id id) {
    for (unsigned i = 0; i < trials[trial].count; i++)
        if (trials[trial].tells[i] == id)
            return true;
    return false;
}

/* What nobody has for himself may be seen in every conversation. */
static bool is_of_all(check_id id) {
    for (size_t i = 0; i < TRIALS; i++)
        if (tells(i, id))
            return false;
    return true;
}

bool check_is_wanted(const check_report *report, check_probe probe) {
    for (int id = 0; id < CHECK__COUNT; id++) {
        if (!report->results[id].chosen)
            continue;
        if (is_of_all((check_id)id))
            return true;
        for (size_t i = 0; i < TRIALS; i++)
            if (trials[i].probe == probe && tells(i, (check_id)id))
                return true;
    }
    return false;
}

void check_probe_undo(check_report *report, check_probe probe, const char *why) {
    for (size_t i = 0; i < TRIALS; i++)
        for (unsigned k = 0; trials[i].probe == probe && k < trials[i].count; k++)
            check_undo(report, trials[i].tells[k], why);
}
