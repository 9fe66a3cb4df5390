#include "cli/record.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVE_MS = 2000, STEP_MS = 20 };

static bool takes_words(void) {
    struct pollfd takes = {2, POLLOUT, 0};
    return poll(&takes, 1, 0) == 1 && takes.revents & POLLOUT;
}

int cli_check_redactions(const cli_list *more) {
    for (size_t i = 0; i < more->count; i++) {
        const char *text = more->at[i];
        if (strncmp(text, "#/", 2) == 0 || strncmp(text, "$.", 2) == 0)
            return cli_fail(CLI_USAGE,
                            "--redact: '%s' is neither a member name nor a JSON Pointer; write it "
                            "like /params/pin",
                            text);
    }
    return CLI_OK;
}

const char **cli_redactions(const cli_list *more) {
    const char **list = calloc(1 + more->count + 1, sizeof *list);
    if (list)
        list[0] = DX_TRACE_USUAL_SECRETS;
    for (size_t i = 0; list && i < more->count; i++)
        list[1 + i] = more->at[i];
    return list;
}

dx_status cli_recorder_open(const dx_recorder_config *given, dx_recorder **ret_recorder,
                            dx_error *reterr) {
    static const char *const usual[] = {DX_TRACE_USUAL_SECRETS, NULL};
    dx_recorder_config config = *given;
    dx_status status;
    if (!config.redact)
        config.redact = usual;
    for (uint64_t until = cli_now() + LEAVE_MS;
         (status = dx_recorder_open(&config, ret_recorder, reterr)) == DX_ERR_SYSTEM &&
         reterr->system == EBUSY && cli_now() < until && !cli_interrupts();)
        (void)poll(NULL, 0, STEP_MS);
    return status;
}

int cli_record_open(const char *path, dx_recorder **ret_recorder) {
    dx_error error = {.fault = DX_FAULT_NONE};
    if (!path)
        return CLI_OK;
    dx_recorder_config config = dx_recorder_defaults(path);
    if (cli_recorder_open(&config, ret_recorder, &error) != DX_OK)
        return cli_fail(CLI_USAGE, "%s",
                        error.fault ? error.phrase : "the trace cannot be written");
    return CLI_OK;
}

bool cli_record_close(dx_recorder *recorder) {
    dx_error error = {.fault = DX_FAULT_NONE};
    uint64_t dropped = recorder ? dx_recorder_dropped(recorder) : 0;
    dx_status status = dx_recorder_close(recorder, &error);
    if (status != DX_OK && takes_words())
        cli_warn("the recording is incomplete: %s", error.phrase);
    else if (dropped && takes_words())
        cli_warn("%llu records were dropped: the disk did not keep up, or a message was too long",
                 (unsigned long long)dropped);
    return status == DX_OK && takes_words();
}

void cli_record_left(void) {
    if (takes_words())
        cli_warn(
            "the recording is not complete: a signal stopped the tap before all of it was written");
}
