/* What has come of an answer, how it ended, and whether it is asked for once more. */
#include "systems/autohand/model_http.h"

#include <stdio.h>

/* From the last word of a stream to the end of its connection, which can be used again if that
 * comes in time. */
enum { CLOSING_MS = 100 };
/* From the reason why an answer ends to that last word, which some forget. */
enum { ENDING_MS = 2000 };
/* What is shorter is no secret, but a word like "none" that some want for a key. */
enum { KEY_MIN = 8, KEY_PART = 4 };

static void stop_times(struct dx__autohand_http *http) {
    dx_timer_set(http->total, DX_NEVER);
    dx_timer_set(http->pause, DX_NEVER);
}

/* There are servers that repeat the key when they don't like it; the line may end in the midst of
 * it. */
static void hide_key(struct dx__autohand_model_trouble *trouble, const char *key) {
    size_t len = key ? strlen(key) : 0;
    if (len < KEY_MIN)
        return;
    for (char *at = trouble->message; (at = strstr(at, key)); at += len)
        memset(at, '*', len);
    size_t used = strlen(trouble->message);
    size_t part = len - 1 < used ? len - 1 : used;
    while (part >= KEY_PART && memcmp(trouble->message + used - part, key, part) != 0)
        part--;
    if (part >= KEY_PART)
        memset(trouble->message + used - part, '*', part);
}

void dx__autohand_http_give_up(struct dx__autohand_http *http,
                               const struct dx__autohand_model_trouble *trouble) {
    struct dx__autohand_model_trouble kept = *trouble;
    dx__autohand_http_drop(http);
    stop_times(http);
    hide_key(&kept, http->config.key);
    dx__autohand_ear_fail(&http->ear, &kept);
}

static uint64_t pause_before(const struct dx__autohand_http *http, uint64_t asked_for) {
    uint64_t most = http->config.most_wait_ms;
    uint64_t wait = http->config.first_wait_ms;
    for (unsigned i = 1; i < http->tried && wait < most; i++)
        wait = wait < most / 2 ? 2 * wait : most;
    if (wait < asked_for)
        wait = asked_for;
    return wait < most ? wait : most;
}

static void ask_again(struct dx__autohand_http *http,
                      const struct dx__autohand_model_trouble *trouble, uint64_t wait) {
    struct dx__autohand_model_trouble kept = *trouble;
    dx__autohand_http_drop(http);
    hide_key(&kept, http->config.key);
    dx_timer_set(http->pause, wait);
    (void)dx__autohand_ear_retry(&http->ear, &kept, wait);
}

void dx__autohand_http_fail(struct dx__autohand_http *http,
                            const struct dx__autohand_model_trouble *trouble) {
    if (!trouble->retryable || http->answer.told || http->tried >= http->config.tries) {
        dx__autohand_http_give_up(http, trouble);
        return;
    }
    ask_again(http, trouble, pause_before(http, trouble->retry_after_ms));
}

/* Some take no members that they don't know: then the tokens of a stream are not counted. */
static bool minds_usage(struct dx__autohand_http *http, int status) {
    static const char name[] = "stream_options";
    if ((status != 400 && status != 422) || !http->whole.len ||
        !memmem(http->whole.data, http->whole.len, name, sizeof name - 1) ||
        !dx__autohand_http_body_plain(http))
        return false;
    http->no_usage = true;
    http->tried--;
    return true;
}

/* DX_MISFIT: as the answer's trouble says. */
static void fail_with(struct dx__autohand_http *http, dx_status status) {
    struct dx__autohand_model_trouble trouble = http->answer.trouble;
    if (status == DX_ERR_LIMIT)
        dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_NETWORK, false,
                                       "the model's response is longer than %zu bytes",
                                       http->config.answer_max);
    else if (status != DX_MISFIT)
        dx__autohand_model_trouble_set(
            &trouble, DX_AUTOHAND_FAIL_UNKNOWN, false, "cannot process the model's response: %s",
            status == DX_ERR_NOMEM ? "out of memory" : dx_status_name(status));
    dx__autohand_http_fail(http, &trouble);
}

static bool is_last(dx_text data) {
    while (data.len && (data.at[data.len - 1] == ' ' || data.at[data.len - 1] == '\t'))
        data.len--;
    return dx_text_is(data, "[DONE]");
}

void dx__autohand_http_take(struct dx__autohand_http *http) {
    uint64_t number = http->ear.number;
    bool finished = http->answer.finished;
    dx_status status = http->form == DX__FORM_EVENTS && !http->complete ? DX_OK : DX_AGAIN;
    while (status == DX_OK && !http->complete) {
        dx_text data = {0};
        status = dx__autohand_sse_next(&http->events, &data);
        if (status == DX_OK && is_last(data))
            http->complete = true;
        else if (status == DX_OK && data.len)
            status = dx__autohand_model_answer_take(&http->answer, data);
    }
    if (status == DX_AGAIN && http->ear.number == number && http->answer.finished && !finished)
        dx_timer_set(http->silence, ENDING_MS);
    if (status == DX_GONE || status == DX_AGAIN)
        return;
    if (status != DX_OK)
        fail_with(http, status);
    else
        dx_timer_set(http->silence, CLOSING_MS);
}

static void cut(struct dx__autohand_http *http) {
    struct dx__autohand_model_trouble trouble;
    dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_NETWORK, true,
                                   "the model's response %s",
                                   http->received && !http->complete ? "was cut off" : "is empty");
    dx__autohand_http_fail(http, &trouble);
}

void dx__autohand_http_finish(struct dx__autohand_http *http) {
    if (!http->answer.any) {
        cut(http);
        return;
    }
    /* Whoever hears of a call may cancel: so the calls are no longer the model's. */
    struct dx__autohand_model_answer answer = http->answer;
    dx__autohand_model_answer_init(&http->answer, &http->ear, &http->alloc);
    dx__autohand_http_drop(http);
    stop_times(http);
    if (dx__autohand_model_calls_tell(&answer.calls, &http->ear))
        dx__autohand_ear_done(&http->ear, answer.tokens);
    dx__autohand_model_answer_done(&answer);
}

static void complain(struct dx__autohand_http *http, int status) {
    struct dx__autohand_model_trouble trouble = {.kind = DX_AUTOHAND_FAIL_UNKNOWN};
    curl_off_t after = 0;
    (void)curl_easy_getinfo(http->easy, CURLINFO_RETRY_AFTER, &after);
    dx__autohand_model_trouble_of_status(&trouble, status);
    if (after > 0)
        trouble.retry_after_ms = after < 1000000 ? (uint64_t)after * 1000 : 1000000000;
    (void)snprintf(trouble.message, sizeof trouble.message, "HTTP %d: ", status);
    size_t before = strlen(trouble.message);
    dx__autohand_model_answer_complaint(&trouble, (dx_text){http->whole.data, http->whole.len},
                                        &http->alloc);
    if (strlen(trouble.message) == before)
        dx__autohand_model_trouble_say(
            &trouble, dx_str(status < 400 ? "redirects are not followed" : "no details given"));
    if (minds_usage(http, status))
        ask_again(http, &trouble, 0);
    else
        dx__autohand_http_fail(http, &trouble);
}

static void broken(struct dx__autohand_http *http, CURLcode result) {
    struct dx__autohand_model_trouble trouble;
    bool late = result == CURLE_OPERATION_TIMEDOUT;
    bool for_ever = result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_OUT_OF_MEMORY ||
                    result == CURLE_UNSUPPORTED_PROTOCOL;
    dx__autohand_model_trouble_set(
        &trouble, late ? DX_AUTOHAND_FAIL_TIMEOUT : DX_AUTOHAND_FAIL_NETWORK, !for_ever,
        "cannot reach the model: %s",
        http->words_of_curl[0] ? http->words_of_curl : curl_easy_strerror(result));
    dx__autohand_http_fail(http, &trouble);
}

/* The connection ended as it should; did the answer? */
static void weigh(struct dx__autohand_http *http) {
    uint64_t number = http->ear.number;
    if (http->form == DX__FORM_EVENTS) {
        /* What ends without an empty line counts nevertheless. */
        dx_status status = dx__autohand_sse_feed(&http->events, dx_str("\n\n"));
        if (status != DX_OK)
            fail_with(http, status);
        else
            dx__autohand_http_take(http);
        if (http->ear.number != number || !http->easy)
            return;
        if (http->complete || http->answer.finished)
            dx__autohand_http_finish(http);
        else
            cut(http);
        return;
    }
    if (http->form != DX__FORM_WHOLE) {
        cut(http);
        return;
    }
    dx_status status =
        dx__autohand_model_answer_take(&http->answer, (dx_text){http->whole.data, http->whole.len});
    if (status == DX_GONE)
        return;
    if (status != DX_OK)
        fail_with(http, status);
    else
        dx__autohand_http_finish(http);
}

void dx__autohand_http_ended(struct dx__autohand_http *http, CURLcode result) {
    long status = 0;
    (void)curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
    if (http->lack != DX_OK)
        fail_with(http, http->lack);
    else if (status && (status < 200 || status >= 300))
        complain(http, (int)status);
    else if (result == CURLE_OK)
        weigh(http);
    else if (http->complete || http->answer.finished)
        dx__autohand_http_finish(http);
    else
        broken(http, result);
}
