/* Requests, right and wrong, and what they are answered with. */
#include "cli/check/probe.h"

#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

/* How long something is waited for that had better not come. */
enum { QUIET_MS = 50, SILENT_MS = 400 };

static void fail_asked(check_talk *talk, check_id id, size_t asked, const char *why) {
    check_proof proof = check_proof_of(talk, asked);
    check_fail(talk->report, id, &proof, "%s", why);
}

static void fail_code(check_talk *talk, check_id id, size_t asked, const char *expected) {
    check_proof proof = check_proof_of(talk, asked);
    check_fail(talk->report, id, &proof, "expected error %s, got error %lld", expected,
               (long long)talk->asked[asked].code);
}

/* With what came although nothing of ours asks for it. */
static void fail_odd(check_talk *talk, check_id id, dx_text sent, const char *why) {
    check_proof proof = {.scene = talk->scene,
                         .sent = sent,
                         .came = check_text_of(&talk->odd),
                         .offset = talk->odd_at};
    check_fail(talk->report, id, &proof, "%s", why);
}

/* Where many are silent: whoever has answered the next request after that, is. */
static uint64_t silent_ms(const check_talk *talk) {
    return talk->plan->timeout_ms < SILENT_MS ? talk->plan->timeout_ms : SILENT_MS;
}

bool check_survived(check_talk *talk, check_id id, dx_text what) {
    check_proof proof = {.scene = talk->scene, .sent = what};
    if (!talk->gone && !talk->fatal) {
        size_t asked = check_ask(talk, NULL, CHECK_NO_METHOD, NULL);
        if (check_await_quietly(talk, asked, talk->plan->timeout_ms, false))
            return true;
    }
    if (!check_is_over(talk))
        check_fail(talk->report, id, &proof,
                   talk->gone     ? "the program exited after this message"
                   : talk->closed ? "the program closed its output after this message"
                                  : "the program stopped responding after this message");
    talk->down = true;
    return false;
}

void check_probe_unknown(check_talk *talk) {
    check_try(talk->report, CHECK_REQUEST_UNKNOWN);
    size_t asked = check_ask(talk, NULL, CHECK_NO_METHOD, NULL);
    if (!check_await(talk, asked) || talk->asked[asked].is_broken)
        return;
    if (talk->asked[asked].is_result && talk->plan->lists_methods)
        fail_asked(talk, CHECK_REQUEST_UNKNOWN, asked, "expected an error, got a result");
    else if (!talk->asked[asked].is_result && !check_refused(talk, asked, DX_CODE_METHOD))
        fail_code(talk, CHECK_REQUEST_UNKNOWN, asked, "-32601");
}

/* Names that are something else where methods are looked up in a table of the language, or that
 * can't be written to a log. What can't be held as a text may be ignored. */
void check_probe_names(check_talk *talk) {
    static const char *const names[] = {"constructor",   "__proto__", "toString",
                                        "__class__",     "",          "duplex/\\u0000x",
                                        "duplex/\\ud800"};
    enum { NAMES = sizeof names / sizeof names[0] };
    check_try(talk->report, CHECK_REQUEST_METHOD_NAME);
    for (int i = 0; i < NAMES && check_is_up(talk); i++) {
        char text[200];
        char id[32];
        uint64_t nulls = talk->nulls;
        snprintf(id, sizeof id, "%llu", (unsigned long long)++talk->last_id);
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\"}", id,
                 names[i]);
        talk->bear |= CHECK_BEAR_NULL | CHECK_BEAR_VALUE; /* it may quote the name */
        talk->leaving = true;
        size_t asked = check_expect(talk, id, dx_str(text));
        check_say(talk, dx_str(text));
        bool lives = check_await_quietly(talk, asked, silent_ms(talk), true) ||
                     check_survived(talk, CHECK_REQUEST_METHOD_NAME, dx_str(text));
        talk->bear = 0;
        talk->leaving = false;
        if (!lives || asked == CHECK_NOTHING)
            return;
        if (talk->asked[asked].is_result && talk->plan->lists_methods)
            fail_asked(talk, CHECK_REQUEST_METHOD_NAME, asked, "expected an error, got a result");
        else if (!talk->asked[asked].answers && talk->nulls == nulls && i + 1 < NAMES)
            fail_asked(talk, CHECK_REQUEST_METHOD_NAME, asked,
                       "expected an error, got no response");
    }
}

void check_probe_notification(check_talk *talk) {
    uint64_t before = talk->strange + talk->nulls;
    check_bytes sent;
    check_try(talk->report, CHECK_NOTIFICATION_SILENT);
    talk->bear |= CHECK_BEAR_NULL | CHECK_BEAR_UNKNOWN;
    check_notify(talk, CHECK_NO_METHOD, NULL);
    sent = talk->last;
    (void)check_wait_gone(talk, QUIET_MS);
    bool answered = talk->strange + talk->nulls > before;
    /* What is wrong with the answer to this one, the others find. */
    if (check_await(talk, check_ask(talk, NULL, CHECK_NO_METHOD, NULL)))
        answered = talk->strange + talk->nulls > before;
    talk->bear = 0;
    if (answered) {
        talk->down = false;
        fail_odd(talk, CHECK_NOTIFICATION_SILENT, check_text_of(&sent),
                 "the program sent a response to a notification");
    }
}

/* Those that do no harm, and those that somebody asked for: the books have the rest to say. */
void check_probe_calls(check_talk *talk) {
    for (size_t i = 0; i < talk->plan->call_count && check_is_up(talk); i++)
        (void)check_await(talk, check_ask_with_token(talk, talk->plan->calls[i].method,
                                                     talk->plan->calls[i].params));
}

/* The first of those that do no harm. */
static const char *any_method(const check_talk *talk) {
    for (size_t i = 0; i < talk->plan->call_count; i++)
        if (!talk->plan->calls[i].given)
            return talk->plan->calls[i].method;
    return CHECK_NO_METHOD;
}

void check_probe_params_type(check_talk *talk) {
    char text[300];
    char id[32];
    snprintf(id, sizeof id, "%llu", (unsigned long long)++talk->last_id);
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":\"text\"}", id,
             any_method(talk));
    check_try(talk->report, CHECK_REQUEST_PARAMS_TYPE);
    talk->bear |= CHECK_BEAR_NULL;
    size_t asked = check_expect(talk, id, dx_str(text));
    uint64_t nulls = talk->nulls;
    check_say(talk, dx_str(text));
    bool answered = check_await_quietly(talk, asked, silent_ms(talk), true);
    if (answered && talk->asked[asked].is_result)
        fail_asked(talk, CHECK_REQUEST_PARAMS_TYPE, asked, "expected an error, got a result");
    else if (answered && !check_refused(talk, asked, DX_CODE_REQUEST) &&
             !check_refused(talk, asked, DX_CODE_PARAMS) &&
             !check_refused(talk, asked, DX_CODE_METHOD))
        fail_code(talk, CHECK_REQUEST_PARAMS_TYPE, asked, "-32600 or -32602");
    else if (!answered && check_survived(talk, CHECK_REQUEST_PARAMS_TYPE, dx_str(text)) &&
             talk->nulls == nulls && !talk->asked[asked].answers)
        fail_asked(talk, CHECK_REQUEST_PARAMS_TYPE, asked, "expected an error, got no response");
    talk->bear = 0;
}

/* Params that don't fit a method that does no harm; NULL: there are none. */
static const char *find_misfit(check_talk *talk, const dx_method *rule) {
    static const char *const tries[] = {"{}", "[]"};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        yyjson_doc *doc = yyjson_read(tries[i], strlen(tries[i]), 0);
        bool misfit =
            doc && dx_protocol_check(talk->protocol, rule, talk->us, DX_PART_PARAMS,
                                     yyjson_doc_get_root(doc), DX_CHECK_OPEN, NULL) == DX_MISFIT;
        yyjson_doc_free(doc);
        if (misfit)
            return tries[i];
    }
    return NULL;
}

static void skip_params(check_talk *talk, const char *why) {
    check_skip(talk->report, CHECK_REQUEST_PARAMS_FIT, "%s", why);
    check_skip(talk->report, CHECK_REQUEST_PARAMS_CODE, "%s", why);
}

/* False: it does not have that method, and need not have. */
static bool try_params(check_talk *talk, const char *method, const char *params) {
    size_t asked = check_ask(talk, NULL, method, params);
    if (!check_await(talk, asked) || talk->asked[asked].is_broken)
        return true;
    if (check_refused(talk, asked, DX_CODE_METHOD))
        return false;
    check_try(talk->report, CHECK_REQUEST_PARAMS_FIT);
    check_try(talk->report, CHECK_REQUEST_PARAMS_CODE);
    if (talk->asked[asked].is_result)
        fail_asked(talk, CHECK_REQUEST_PARAMS_FIT, asked,
                   "the program accepted params that do not match their schema");
    else if (!check_refused(talk, asked, DX_CODE_PARAMS))
        fail_code(talk, CHECK_REQUEST_PARAMS_CODE, asked, "-32602");
    return true;
}

void check_probe_params_fit(check_talk *talk) {
    const char *why = "the protocol has no read-only method that can have invalid params";
    for (size_t i = 0; i < talk->plan->call_count && check_is_up(talk); i++) {
        const char *method = talk->plan->calls[i].method;
        const dx_method *rule = dx_protocol_find(talk->protocol, dx_str(method));
        bool needs = rule && rule->has_params[talk->us] && !rule->optional[talk->us];
        const char *params = needs && !talk->plan->calls[i].given ? find_misfit(talk, rule) : NULL;
        if (params && try_params(talk, method, params))
            return;
        if (params)
            why = "the program has no read-only method that can have invalid params";
    }
    skip_params(talk, why);
}

/* A text that is no request, and an error that has no id, or nothing at all, for an answer. */
static void try_text(check_talk *talk, check_id id, const char *text, int64_t code,
                     bool must_answer) {
    uint64_t nulls = talk->nulls;
    uint64_t strange = talk->strange;
    char why[100];
    check_try(talk->report, id);
    talk->bear |= CHECK_BEAR_NULL;
    talk->leaving = true; /* its end is a failure of this check, and not of another one, too */
    check_keep(&talk->last, dx_str(text));
    if (!talk->gone)
        (void)cli_wire_say(talk->wire, dx_str(text));
    bool survived = check_survived(talk, id, dx_str(text));
    talk->bear = 0;
    talk->leaving = false;
    if (!survived)
        return;
    snprintf(why, sizeof why, "expected error %lld, got error %lld", (long long)code,
             (long long)talk->null_code);
    if (talk->strange > strange)
        fail_odd(talk, id, dx_str(text), "the response has an id, but this was not a request");
    else if (talk->nulls > nulls && talk->null_code != code)
        fail_odd(talk, id, dx_str(text), why);
    else if (must_answer && talk->nulls == nulls)
        fail_odd(talk, id, dx_str(text), "expected an error, got no response");
}

void check_probe_not_one(check_talk *talk) {
    try_text(talk, CHECK_REQUEST_NOT_ONE, "{\"jsonrpc\":\"2.0\",\"text\":1}", DX_CODE_REQUEST,
             false);
    if (check_is_up(talk))
        try_text(talk, CHECK_REQUEST_NOT_ONE, "42", DX_CODE_REQUEST, false);
}

void check_probe_invalid(check_talk *talk) {
    try_text(talk, CHECK_REQUEST_INVALID,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", DX_CODE_PARSE, false);
    if (check_is_up(talk))
        try_text(talk, CHECK_REQUEST_INVALID, "not JSON", DX_CODE_PARSE, false);
}

void check_probe_batch_empty(check_talk *talk) {
    try_text(talk, CHECK_REQUEST_BATCH_EMPTY, "[]", DX_CODE_REQUEST, talk->facts->batch);
}

void check_probe_batch(check_talk *talk) {
    size_t asked[2];
    dx_buf text;
    check_report *report = talk->report;
    dx_buf_init(&text, 1 << 20, NULL);
    check_try(report, CHECK_REQUEST_BATCH);
    (void)dx_buf_append(&text, "[", 1);
    asked[0] = check_prepare(talk, NULL, CHECK_NO_METHOD, NULL, &text);
    (void)dx_buf_append(&text, ",", 1);
    asked[1] = check_prepare(talk, NULL, CHECK_NO_METHOD, NULL, &text);
    (void)dx_buf_append(&text, "]", 1);
    dx_text whole = {text.data, text.len};
    talk->leaving = true;
    talk->bear |=
        CHECK_BEAR_NULL | CHECK_BEAR_BATCH | (talk->facts->batch ? 0 : CHECK_BEAR_UNKNOWN);
    check_say(talk, whole);
    uint64_t nulls = talk->nulls;
    if (talk->facts->batch && !check_await_quietly(talk, asked[0], talk->plan->timeout_ms, true) &&
        talk->nulls > nulls) {
        check_try(report, CHECK_REQUEST_BATCH_REFUSED);
        fail_odd(talk, CHECK_REQUEST_BATCH_REFUSED, whole, "the program refused the whole batch");
    } else if (talk->facts->batch) {
        check_try(report, CHECK_REQUEST_BATCH_REFUSED);
        for (int i = 0; i < 2; i++)
            if (!check_await_quietly(talk, asked[i], talk->plan->timeout_ms, false) &&
                !check_is_over(talk)) {
                check_proof proof = {.scene = talk->scene, .sent = whole};
                check_fail(report, CHECK_REQUEST_BATCH, &proof,
                           "request %d of 2 in the batch got no response", i + 1);
                talk->down = true;
                break;
            }
    } else {
        check_skip(report, CHECK_REQUEST_BATCH_REFUSED, "the protocol does not allow batches");
        check_survived(talk, CHECK_REQUEST_BATCH, whole);
    }
    talk->bear = 0;
    talk->leaving = false;
    dx_buf_done(&text);
}

void check_probe_response(check_talk *talk) {
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":\"duplex-never-asked\",\"result\":{}}";
    uint64_t before = talk->strange + talk->nulls;
    check_try(talk->report, CHECK_RESPONSE_UNKNOWN);
    talk->leaving = true;
    talk->bear |= CHECK_BEAR_NULL | CHECK_BEAR_UNKNOWN;
    check_say(talk, dx_str(text));
    bool survived = check_survived(talk, CHECK_RESPONSE_UNKNOWN, dx_str(text));
    talk->bear = 0;
    talk->leaving = false;
    if (survived && talk->strange + talk->nulls > before)
        fail_odd(talk, CHECK_RESPONSE_UNKNOWN, dx_str(text),
                 "the program sent a response to a response");
}

void check_probe_duplicate(check_talk *talk) {
    char id[40];
    snprintf(id, sizeof id, "\"twice-%llu\"", (unsigned long long)++talk->last_id);
    check_try(talk->report, CHECK_ID_DUPLICATE);
    talk->leaving = true;
    talk->bear |= CHECK_BEAR_NULL | CHECK_BEAR_UNKNOWN;
    (void)check_ask(talk, id, CHECK_NO_METHOD, NULL);
    size_t asked = check_ask(talk, id, CHECK_NO_METHOD, NULL);
    check_bytes sent = talk->last;
    if (!check_await_quietly(talk, asked, talk->plan->timeout_ms, false) && !talk->gone &&
        !check_is_over(talk)) {
        fail_asked(talk, CHECK_ID_DUPLICATE, asked, "neither of the two requests got a response");
        talk->down = true;
    } else {
        check_survived(talk, CHECK_ID_DUPLICATE, check_text_of(&sent));
    }
    talk->bear = 0;
    talk->leaving = false;
}

/* Ids. */

void check_probe_ids(check_talk *talk) {
    static const char *const ids[] = {
        "0",
        "-1",
        "2147483647",
        "\"\"",
        "\"a\"",
        "\"7\"",
        "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
        "\"\\u00e4\\\"\\\\\\/\\n\\u0041\"",
        "\"a rather long one: 0123456789 0123456789 0123456789 0123456789 0123456789\"",
    };
    size_t from = talk->asked_count;
    uint64_t before = talk->strange;
    check_try(talk->report, CHECK_ID_ECHOED);
    talk->bear |= CHECK_BEAR_UNKNOWN | CHECK_BEAR_NULL;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0] && check_is_up(talk); i++) {
        size_t first = talk->asked_count;
        (void)check_ask_any(talk, ids[i], i);
        /* A few at once are enough: their answers may be large. */
        if (i % 3 == 2 && check_await_all(talk, first - 2, talk->plan->timeout_ms))
            talk->down = true;
    }
    talk->bear = 0;
    for (size_t i = from; i < talk->asked_count && !check_is_over(talk); i++) {
        check_proof proof = check_proof_of(talk, i);
        if (talk->asked[i].answers)
            continue;
        if (talk->strange > before) {
            proof.came = check_text_of(&talk->odd);
            proof.offset = talk->odd_at;
        }
        check_fail(talk->report, CHECK_ID_ECHOED, &proof, "no response has the id %s",
                   talk->asked[i].id);
    }
}

/* What not everybody can do. Many are silent then: whoever has answered the next one by then, is.
 */
static void try_odd_id(check_talk *talk, check_id id, const char *text) {
    check_try(talk->report, id);
    uint64_t nulls = talk->nulls;
    talk->bear |= CHECK_BEAR_UNKNOWN | CHECK_BEAR_NULL;
    talk->leaving = true;
    talk->odd.is_there = false;
    size_t asked = check_ask(talk, text, CHECK_NO_METHOD, NULL);
    check_bytes sent = talk->last;
    bool lives = check_await_quietly(talk, asked, silent_ms(talk), true) || talk->odd.is_there ||
                 check_survived(talk, id, check_text_of(&sent));
    talk->bear = 0;
    talk->leaving = false;
    if (!lives || asked == CHECK_NOTHING || talk->asked[asked].answers ||
        (id == CHECK_ID_FRACTION && talk->nulls > nulls))
        return;
    check_proof proof = check_proof_of(talk, asked);
    proof.came = check_text_of(&talk->odd);
    proof.offset = talk->odd_at;
    check_fail(talk->report, id, &proof, "no response has the id %s", text);
}

void check_probe_odd_ids(check_talk *talk) {
    try_odd_id(talk, CHECK_ID_LARGE, "9007199254740993");
    if (check_is_up(talk))
        try_odd_id(talk, CHECK_ID_FRACTION, "1.5");
}
