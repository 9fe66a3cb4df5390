#include "systems/mcp/command/answer.h"

#include "systems/mcp/command/put.h"

#include "cli/params.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>

yyjson_val *answer_value(const struct answer *answer) {
    return yyjson_doc_get_root(answer->doc);
}

static bool keep_text(struct answer *answer, const dx_event *event) {
    if (event->body.len) {
        answer->text = malloc(event->body.len + 1);
        answer->len = event->body.len;
        if (answer->text)
            memcpy(answer->text, event->body.at, event->body.len);
    } else if (event->value) {
        answer->text = yyjson_val_write(event->value, 0, &answer->len);
    }
    return answer->text;
}

/* Numbers that no double holds stay as they are written. */
static void keep_result(struct answer *answer, const dx_event *event) {
    if (keep_text(answer, event))
        answer->doc =
            cli_read_theirs((dx_text){answer->text, answer->len}, YYJSON_READ_BIGNUM_AS_RAW);
    if (!answer->doc) {
        answer->code = CLI_NO_START;
        answer->failure = strdup("out of memory");
    }
}

/* For people; a text of the server may hold anything, even NUL. The code should be an integer. */
static void keep_error(struct answer *answer, const dx_event *event) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = keep_text(answer, event) ? open_memstream(&text, &len) : NULL;
    yyjson_doc *doc =
        out ? cli_read_theirs((dx_text){answer->text, answer->len}, YYJSON_READ_NUMBER_AS_RAW)
            : NULL;
    yyjson_val *error = yyjson_doc_get_root(doc);
    dx_text message = member_of(error, "message");
    answer->refused = true;
    if (!out)
        return;
    fprintf(out, "%s: ", answer->method);
    cli_put_safe(out, message.len ? message : dx_str("no error message"));
    fputs(" (", out);
    put_value(out, yyjson_obj_get(error, "code"));
    putc(')', out);
    yyjson_doc_free(doc);
    if (fclose(out) == 0)
        answer->failure = text;
    else
        free(text);
}

static int code_of(const dx_event *event) {
    switch (event->outcome) {
    case DX_OUTCOME_RESULT:
        return CLI_OK;
    case DX_OUTCOME_ERROR:
        return CLI_REFUSED;
    case DX_OUTCOME_TIMED_OUT:
        return CLI_LATE;
    case DX_OUTCOME_CANCELLED:
        return event->error.fault == DX_FAULT_GIVEN_UP ? CLI_REFUSED : CLI_INTERRUPTED;
    case DX_OUTCOME_INVALID:
        return event->error.fault == DX_FAULT_RESULT_FIT ? CLI_MISFIT : CLI_VIOLATION;
    default:
        return talk_code(event->error.fault);
    }
}

void answer_take(dx_mcp_client *client, dx_mcp_call call, const dx_event *event, void *user) {
    struct answer *answer = user;
    const struct talk *talk = dx_mcp_client_user(client);
    (void)call;
    answer->done = true;
    answer->code = code_of(event);
    cli_note_mended(answer->method, event->mended);
    if (answer->code == CLI_OK) {
        keep_result(answer, event);
        return;
    }
    if (event->outcome == DX_OUTCOME_ERROR) {
        keep_error(answer, event);
        return;
    }
    const char *timer = event->outcome != DX_OUTCOME_TIMED_OUT ? ""
                        : event->error.fault == DX_FAULT_TOTAL && !talk->is_hard
                            ? " (--total-timeout)"
                            : " (--timeout)";
    /* What does not fit is told with its method. */
    size_t len = strlen(answer->method);
    bool has_method = strncmp(event->error.phrase, answer->method, len) == 0;
    if (asprintf(&answer->failure, "%s%s%s%s", has_method ? "" : answer->method,
                 has_method ? "" : ": ", event->error.phrase, timer) < 0)
        answer->failure = NULL;
    else if (event->outcome == DX_OUTCOME_TIMED_OUT)
        cli_say_seconds(answer->failure);
}

static int tell_unsent(struct talk *talk, const struct answer *answer, dx_status status) {
    if (status == DX_CLOSED)
        return talk_tell_gone(talk, answer->method);
    const char *why = status == DX_MISFIT ? dx_mcp_client_why(talk->client) : NULL;
    return cli_fail(status == DX_MISFIT      ? CLI_MISFIT
                    : status == DX_ERR_NOMEM ? CLI_NO_START
                                             : CLI_USAGE,
                    "cannot send %s: %s", answer->method,
                    why ? why : cli_params_why_not(answer->method, status));
}

/* What the server says of its error, as it came. Any other member could pass for one of ours. */
static void add_error(yyjson_mut_doc *doc, yyjson_mut_val *more, dx_text error) {
    static const char *const names[] = {"code", "message", "data"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        dx_text value = dx_rpc_member(error, dx_str(names[i]));
        if (value.len)
            yyjson_mut_obj_add_val(doc, more, names[i],
                                   yyjson_mut_rawncpy(doc, value.at, value.len));
    }
}

int answer_tell(struct talk *talk, struct answer *answer, const char *hint) {
    if (answer->code != CLI_REFUSED || !answer->refused)
        return talk_tell(talk, answer->code, answer->failure, NULL, NULL);
    yyjson_doc *read = answer->text ? cli_read_theirs((dx_text){answer->text, answer->len},
                                                      YYJSON_READ_NUMBER_AS_RAW)
                                    : NULL;
    yyjson_val *error = yyjson_doc_get_root(read);
    yyjson_val *data = yyjson_obj_get(error, "data");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *more = yyjson_mut_obj(doc);
    size_t len = 0;
    char *detail = data && !cli_voice.json ? yyjson_val_write(data, 0, &len) : NULL;
    if (hint)
        cli_add_text(doc, more, "hint", dx_str(hint));
    yyjson_mut_obj_add_str(doc, more, "method", answer->method);
    if (cli_voice.json)
        add_error(doc, more, (dx_text){answer->text, answer->text ? answer->len : 0});
    talk_clear_line(talk);
    int code = cli_fail_with(CLI_REFUSED, answer->failure ? answer->failure : "out of memory", doc,
                             more, detail ? (dx_text){detail, len} : dx_str(NULL));
    free(detail);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(read);
    return code;
}

static uint64_t later(uint64_t at, uint64_t ms) {
    return ms > CLI_NEVER - at ? CLI_NEVER : at + ms;
}

/* While the user is asked something, the server waits, too: then the time is ours to keep. */
static uint64_t deadline_of(const struct talk *talk) {
    uint64_t late = later(talk->alive_at, talk->timeout_ms);
    uint64_t total = later(talk->began_at, talk->total_ms);
    return !talk->interactive || talk->asks ? CLI_NEVER : late < total ? late : total;
}

static void cancel(struct talk *talk, const struct answer *answer, const char *reason) {
    if (answer->call)
        dx_mcp_client_cancel(talk->client, answer->call, dx_str(reason));
}

/* Ends only with the answer: the call has its address. */
static int wait_for_end(struct talk *talk, struct answer *answer) {
    int why = CLI_OK;
    talk->began_at = talk->alive_at = cli_now();
    while (!answer->done) {
        bool asked = talk->asks;
        uint64_t until = why == CLI_OK ? deadline_of(talk) : CLI_NEVER;
        uint64_t before = cli_now();
        if (why == CLI_OK && talk_is_interrupted(talk))
            why = CLI_INTERRUPTED;
        else if (why == CLI_OK && talk->given_up)
            why = talk->given_up;
        else if (before >= until)
            why = CLI_LATE;
        else {
            talk_wait(talk, until);
            if (asked) {
                talk->began_at += cli_now() - before;
                talk->alive_at = cli_now();
            }
            continue;
        }
        cancel(talk, answer, why == CLI_LATE ? "timeout" : "interrupted by the user");
    }
    return why;
}

int answer_wait(struct talk *talk, struct answer *answer, dx_status status) {
    if (status != DX_OK)
        return answer->optional && status != DX_CLOSED ? CLI_OK : tell_unsent(talk, answer, status);
    talk_waits_for(talk, answer->method, talk->timeout_ms);
    int why = wait_for_end(talk, answer);
    cli_waiting_end();
    talk_clear_line(talk);
    if (why == CLI_INTERRUPTED)
        return talk_tell_interrupt();
    if (why == CLI_LATE)
        return talk_tell(talk, CLI_LATE,
                         talk->is_hard || cli_now() < later(talk->began_at, talk->total_ms)
                             ? "timed out (--timeout)"
                             : "timed out (--total-timeout)",
                         NULL, NULL);
    if (why != CLI_OK)
        return why;
    if (answer->optional && (answer->code == CLI_REFUSED || answer->code == CLI_MISFIT ||
                             answer->code == CLI_VIOLATION))
        return CLI_OK;
    if (answer->code == CLI_OK || (answer->quiet && answer->code == CLI_REFUSED))
        return answer->code;
    return answer->code == CLI_ENDED ? talk_tell_gone(talk, answer->method)
                                     : answer_tell(talk, answer, NULL);
}

void answer_done(struct answer *answer) {
    yyjson_doc_free(answer->doc);
    free(answer->text);
    free(answer->failure);
    answer->doc = NULL;
    answer->text = NULL;
    answer->failure = NULL;
}
