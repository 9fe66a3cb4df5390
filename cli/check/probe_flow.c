/* How bytes come and go: in what pieces, how written, how many, how fast. */
#include "cli/check/probe.h"

#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

/* Of a burst; of answers that wait, each with an id that is so long. */
enum { BURST = 50, WAITING = 400, ID_LEN = 200, SLOW_MS = 150, SILENT_MS = 400, LARGE = 1 << 20 };
/* Who answers with more than this is asked so few times. */
enum { LARGE_ANSWER = 64 << 10, FEW = 4 };

/* How soon a request that was cancelled has to be over; how long that is watched. */
enum { HEED_MS = 400, WATCH_MS = 1300 };

/* How many at once: who answers with many bytes need not do it often. */
static size_t count_for(check_talk *talk, size_t usual) {
    uint64_t before = talk->received;
    (void)check_await(talk, check_ask(talk, NULL, CHECK_NO_METHOD, NULL));
    return talk->received - before < LARGE_ANSWER ? usual : FEW;
}

void check_probe_many(check_talk *talk) {
    check_try(talk->report, CHECK_MANY_ANSWERED);
    size_t count = count_for(talk, BURST);
    size_t from = talk->asked_count;
    for (size_t i = 0; i < count && check_is_up(talk); i++)
        (void)check_ask_any(talk, NULL, i);
    size_t missing = check_await_all(talk, from, talk->plan->timeout_ms);
    if (!missing || check_is_over(talk))
        return;
    size_t first = from;
    while (first < talk->asked_count && talk->asked[first].answers)
        first++;
    check_proof proof = check_proof_of(talk, first);
    check_fail(talk->report, CHECK_MANY_ANSWERED, &proof, "%zu of %zu requests got no response",
               missing, count);
    talk->down = true;
}

void check_probe_slow(check_talk *talk) {
    char id[ID_LEN + 1];
    check_try(talk->report, CHECK_OUTPUT_SLOW);
    size_t count = count_for(talk, WAITING);
    size_t from = talk->asked_count;
    if (!check_is_up(talk))
        return;
    cli_wire_pause(talk->wire, true);
    for (size_t i = 0; i < count; i++) {
        memset(id, 'x', sizeof id - 1);
        id[sizeof id - 1] = '\0';
        id[0] = id[ID_LEN - 1] = '"';
        char number[16];
        int len = snprintf(number, sizeof number, "%zu", i);
        memcpy(id + 1, number, (size_t)len);
        (void)check_ask(talk, id, CHECK_NO_METHOD, NULL);
    }
    uint64_t until = cli_now() + SLOW_MS;
    while (cli_now() < until && !talk->gone && !cli_interrupts())
        check_wait_until(talk, until);
    cli_wire_pause(talk->wire, false);
    size_t missing = check_await_all(talk, from, talk->plan->timeout_ms);
    if (!missing || check_is_over(talk))
        return;
    check_proof proof = check_proof_here(talk);
    check_fail(talk->report, CHECK_OUTPUT_SLOW, &proof, "%zu of %zu responses are missing", missing,
               count);
    talk->down = true;
}

void check_probe_large(check_talk *talk) {
    char *params = malloc(LARGE + 16);
    check_report *report = talk->report;
    if (!params) {
        check_skip(report, CHECK_INPUT_LARGE, "out of memory");
        return;
    }
    memset(params, 'x', LARGE + 16);
    memcpy(params, "{\"text\":\"", 9);
    memcpy(params + LARGE, "\"}", 3);
    check_try(report, CHECK_INPUT_LARGE);
    talk->bear |= CHECK_BEAR_NULL;
    talk->leaving = true;
    size_t asked = check_ask(talk, NULL, CHECK_NO_METHOD, params);
    check_bytes sent = talk->last;
    free(params);
    uint64_t nulls = talk->nulls;
    if (!check_await_quietly(talk, asked, talk->plan->timeout_ms, true) &&
        check_survived(talk, CHECK_INPUT_LARGE, check_text_of(&sent)) && talk->nulls == nulls &&
        asked != CHECK_NOTHING && !talk->asked[asked].answers) {
        check_proof proof = check_proof_of(talk, asked);
        check_fail(report, CHECK_INPUT_LARGE, &proof,
                   "expected a result or an error, got no response");
    }
    talk->bear = 0;
    talk->leaving = false;
}

/* What a parser that calls itself has no stack for. It is JSON, but nobody has to take it; the
 * books don't, and see a request without it. */
static size_t ask_deep(check_talk *talk) {
    enum { DEPTH = 20000 };
    dx_buf text;
    dx_buf_init(&text, 1 << 20, NULL);
    size_t asked = check_prepare(talk, NULL, CHECK_NO_METHOD, "[]", &text);
    bool good = asked != CHECK_NOTHING;
    if (good) {
        check_enter(talk, (dx_text){text.data, text.len});
        text.len -= 3; /* from the params on */
    }
    for (int i = 0; i < 2 * DEPTH && good; i++)
        good = dx_buf_append(&text, i < DEPTH ? "[" : "]", 1) == DX_OK;
    good = good && dx_buf_append(&text, "}", 1) == DX_OK;
    check_keep(&talk->last, (dx_text){text.data, text.len});
    if (good && !talk->gone)
        (void)cli_wire_say(talk->wire, (dx_text){text.data, text.len});
    dx_buf_done(&text);
    return asked;
}

void check_probe_deep(check_talk *talk) {
    check_try(talk->report, CHECK_INPUT_DEEP);
    talk->bear |= CHECK_BEAR_NULL;
    talk->leaving = true;
    size_t asked = ask_deep(talk);
    check_bytes sent = talk->last;
    if (!check_await_quietly(talk, asked, SILENT_MS, true))
        check_survived(talk, CHECK_INPUT_DEEP, check_text_of(&sent));
    talk->bear = 0;
    talk->leaving = false;
}

/* Spellings. */

static dx_framing framing_of(const check_talk *talk) {
    return cli_wire_framing(talk->wire);
}

static void fail_silence(check_talk *talk, check_id id, dx_text bytes) {
    check_proof proof = {.scene = talk->scene, .sent = bytes};
    if (!check_is_over(talk))
        check_fail(talk->report, id, &proof,
                   talk->gone ? "the program exited after this input"
                              : "a request in this input got no response");
    talk->down = true;
}

void check_probe_together(check_talk *talk) {
    size_t from = talk->asked_count;
    dx_buf all;
    dx_buf_init(&all, 1 << 20, NULL);
    check_try(talk->report, CHECK_INPUT_TOGETHER);
    for (int i = 0; i < 4; i++) {
        dx_buf text;
        dx_buf_init(&text, 1 << 20, NULL);
        if (check_prepare(talk, NULL, CHECK_NO_METHOD, NULL, &text) != CHECK_NOTHING) {
            check_enter(talk, (dx_text){text.data, text.len});
            (void)dx_frame_write(&all, framing_of(talk), talk->facts->content_type,
                                 (dx_text){text.data, text.len});
        }
        dx_buf_done(&text);
    }
    check_put(talk, (dx_text){all.data, all.len});
    if (check_await_all(talk, from, talk->plan->timeout_ms))
        fail_silence(talk, CHECK_INPUT_TOGETHER, (dx_text){all.data, all.len});
    dx_buf_done(&all);
}

/* A request, framed by hand: `head` has %zu for its length. */
static size_t put_by_hand(check_talk *talk, const char *id, const char *head, const char *tail,
                          dx_buf *all) {
    char header[200];
    dx_buf text;
    dx_buf_init(&text, 1 << 20, NULL);
    size_t asked = check_prepare(talk, id, CHECK_NO_METHOD, NULL, &text);
    if (asked != CHECK_NOTHING) {
        const char *mark = strchr(head, '#');
        if (mark)
            snprintf(header, sizeof header, "%.*s%zu%s", (int)(mark - head), head, text.len,
                     mark + 1);
        else
            snprintf(header, sizeof header, "%s", head);
        check_enter(talk, (dx_text){text.data, text.len});
        (void)dx_buf_append(all, header, strlen(header));
        (void)dx_buf_append(all, text.data, text.len);
        (void)dx_buf_append(all, tail, strlen(tail));
    }
    dx_buf_done(&text);
    return asked;
}

static void try_by_hand(check_talk *talk, check_id id, const char *head, const char *tail) {
    dx_buf all;
    dx_buf_init(&all, 1 << 20, NULL);
    check_try(talk->report, id);
    talk->bear |= CHECK_BEAR_NULL;
    talk->leaving = true;
    size_t asked = put_by_hand(talk, NULL, head, tail, &all);
    check_put(talk, (dx_text){all.data, all.len});
    if (!check_await_quietly(talk, asked, talk->plan->timeout_ms, false))
        fail_silence(talk, id, (dx_text){all.data, all.len});
    talk->leaving = false;
    talk->bear = 0;
    dx_buf_done(&all);
}

void check_probe_pieces(check_talk *talk) {
    bool is_line = framing_of(talk) == DX_FRAMING_LINE;
    dx_buf all;
    dx_buf_init(&all, 1 << 20, NULL);
    check_try(talk->report, CHECK_INPUT_PIECES);
    /* Characters come in pieces, too, and come back whole. */
    size_t asked =
        put_by_hand(talk, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 in pieces\"",
                    is_line ? "" : "Content-Length: #\r\n\r\n", is_line ? "\n" : "", &all);
    bool held = talk->holds;
    talk->holds = true; /* an answer of ours would be in between */
    uint64_t before = talk->strange;
    talk->bear |= CHECK_BEAR_UNKNOWN;
    uint64_t until = cli_now() + talk->plan->timeout_ms;
    for (size_t i = 0; i < all.len && check_is_up(talk); i++) {
        check_put(talk, (dx_text){all.data + i, 1});
        /* On a busy machine one piece would come with the next. */
        do
            check_wait_until(talk, cli_now() + 1);
        while (check_is_up(talk) && cli_wire_unread(talk->wire) && cli_now() < until);
    }
    talk->holds = held;
    bool answered =
        talk->strange == before && check_await_quietly(talk, asked, talk->plan->timeout_ms, true);
    talk->bear = 0;
    if (!answered && talk->strange > before) {
        check_proof proof = check_proof_of(talk, asked);
        proof.came = check_text_of(&talk->odd);
        proof.offset = talk->odd_at;
        check_fail(talk->report, CHECK_INPUT_PIECES, &proof,
                   "the response has a different id from the request");
    } else if (!answered) {
        fail_silence(talk, CHECK_INPUT_PIECES, (dx_text){all.data, all.len});
    }
    dx_buf_done(&all);
}

/* In the header framing only. */
static bool has_headers(check_talk *talk, check_id id) {
    if (framing_of(talk) == DX_FRAMING_HEADER)
        return true;
    check_skip(talk->report, id, "the program uses line framing, which has no headers");
    return false;
}

void check_probe_header_case(check_talk *talk) {
    if (!has_headers(talk, CHECK_INPUT_HEADER_CASE))
        return;
    try_by_hand(talk, CHECK_INPUT_HEADER_CASE, "content-length: #\r\n\r\n", "");
    if (check_is_up(talk))
        try_by_hand(talk, CHECK_INPUT_HEADER_CASE, "CONTENT-LENGTH: #\r\n\r\n", "");
}

void check_probe_header_blanks(check_talk *talk) {
    if (!has_headers(talk, CHECK_INPUT_HEADER_BLANKS))
        return;
    try_by_hand(talk, CHECK_INPUT_HEADER_BLANKS, "Content-Length:#\r\n\r\n", "");
    if (check_is_up(talk))
        try_by_hand(talk, CHECK_INPUT_HEADER_BLANKS, "Content-Length:   #  \r\n\r\n", "");
}

void check_probe_header_extra(check_talk *talk) {
    if (!has_headers(talk, CHECK_INPUT_HEADER_EXTRA))
        return;
    try_by_hand(talk, CHECK_INPUT_HEADER_EXTRA,
                "Content-Length: #\r\nContent-Type: application/vscode-jsonrpc; "
                "charset=utf-8\r\n\r\n",
                "");
    if (check_is_up(talk))
        try_by_hand(talk, CHECK_INPUT_HEADER_EXTRA,
                    "Content-Type: application/vscode-jsonrpc; charset=utf8\r\n"
                    "Content-Length: #\r\n\r\n",
                    "");
    if (check_is_up(talk) && talk->facts->fields == DX_FIELDS_HTTP)
        try_by_hand(talk, CHECK_INPUT_HEADER_EXTRA, "X-Duplex: check\r\nContent-Length: #\r\n\r\n",
                    "");
}

void check_probe_line_ends(check_talk *talk) {
    if (framing_of(talk) != DX_FRAMING_LINE) {
        check_skip(talk->report, CHECK_INPUT_LINE_ENDS, "this check is only for line framing");
        return;
    }
    try_by_hand(talk, CHECK_INPUT_LINE_ENDS, "", "\r\n");
    if (check_is_up(talk))
        try_by_hand(talk, CHECK_INPUT_LINE_ENDS, "\n\r\n", "\n");
}

void check_probe_space(check_talk *talk) {
    char text[400];
    char id[32];
    snprintf(id, sizeof id, "%llu", (unsigned long long)++talk->last_id);
    snprintf(
        text, sizeof text,
        " { \"params\" : { \"text\" : \"\\u00e4 \xc3\xa4 \\ud83d\\ude00 \xf0\x9f\x98\x80 "
        "\\\"Content-Length: 5\\\\\" } ,\t\"id\" :%s , \"method\" : \"duplex\\/no-such-method\" "
        ", \"jsonrpc\" : \"2.0\" } ",
        id);
    check_try(talk->report, CHECK_INPUT_SPACE);
    size_t asked = check_expect(talk, id, dx_str(text));
    check_say(talk, dx_str(text));
    if (!check_await_quietly(talk, asked, talk->plan->timeout_ms, false))
        fail_silence(talk, CHECK_INPUT_SPACE, dx_str(text));
}

/* Cancelling. */

static void cancel(check_talk *talk, const char *id) {
    char params[200];
    snprintf(params, sizeof params, "{\"%s\":%s}", talk->facts->cancel_id, id);
    check_notify(talk, talk->facts->cancel_method, params);
}

static bool can_cancel(check_talk *talk) {
    static const check_id ids[] = {CHECK_CANCEL_HEEDED, CHECK_CANCEL_ANSWERED,
                                   CHECK_CANCEL_UNKNOWN};
    const char *method = talk->facts->cancel_method;
    const dx_method *rule = method ? dx_protocol_find(talk->protocol, dx_str(method)) : NULL;
    if (method && (!rule || (talk->us == DX_SIDE_HOST ? rule->from_host : rule->from_plugin)))
        return true;
    for (int i = 0; i < 3; i++)
        check_skip(talk->report, ids[i], "the protocol has no way to cancel a request");
    return false;
}

/* What somebody asked for is what may take long. */
static size_t ask_long(check_talk *talk) {
    for (size_t i = 0; i < talk->plan->call_count; i++)
        if (talk->plan->calls[i].given)
            return check_ask(talk, NULL, talk->plan->calls[i].method, talk->plan->calls[i].params);
    return check_ask_any(talk, NULL, 0);
}

/* Asks and cancels; how long the answer took after that, 0 if there is none. `usual` is how long it
 * takes if nobody cancels it: so long whoever goes on working has to be watched. */
static uint64_t cancel_one(check_talk *talk, uint64_t usual, size_t *ret_asked) {
    bool needs = talk->facts->cancel_answered;
    uint64_t watch = WATCH_MS + usual + usual / 2 + (needs ? talk->plan->timeout_ms : 0);
    size_t asked = *ret_asked = ask_long(talk);
    if (asked == CHECK_NOTHING)
        return 0;
    uint64_t since = cli_now();
    cancel(talk, talk->asked[asked].id);
    bool answered = check_await_quietly(talk, asked, watch, false);
    if (!answered && needs && check_is_up(talk)) {
        check_proof proof = check_proof_of(talk, asked);
        check_fail(talk->report, CHECK_CANCEL_ANSWERED, &proof,
                   "the cancelled request got no response within %llu ms",
                   (unsigned long long)watch);
        talk->down = true;
    }
    return answered ? talk->asked[asked].answered_ms - since : 0;
}

void check_probe_cancel(check_talk *talk) {
    check_report *report = talk->report;
    size_t asked = CHECK_NOTHING;
    uint64_t took = 0;
    if (!can_cancel(talk))
        return;
    check_try(report, CHECK_CANCEL_HEEDED);
    if (talk->facts->cancel_answered)
        check_try(report, CHECK_CANCEL_ANSWERED);
    else
        check_skip(report, CHECK_CANCEL_ANSWERED,
                   "in this protocol a cancelled request needs no response");
    uint64_t since = cli_now();
    if (!check_await(talk, ask_long(talk)))
        return;
    uint64_t usual = cli_now() - since; /* if nobody cancels it */
    /* Once may be a machine that is busy. */
    for (int i = 0; i < 2 && check_is_up(talk); i++) {
        took = cancel_one(talk, usual, &asked);
        if (took <= HEED_MS || took <= usual / 2 || talk->asked[asked].came.whole >= LARGE_ANSWER ||
            check_refused(talk, asked, talk->facts->cancel_code))
            return;
    }
    check_proof proof = check_proof_of(talk, asked);
    if (took)
        check_fail(report, CHECK_CANCEL_HEEDED, &proof,
                   "the response arrived %llu ms after the cancellation", (unsigned long long)took);
}

void check_probe_cancel_unknown(check_talk *talk) {
    if (!can_cancel(talk))
        return;
    uint64_t before = talk->strange + talk->nulls;
    check_try(talk->report, CHECK_CANCEL_UNKNOWN);
    talk->bear |= CHECK_BEAR_NULL | CHECK_BEAR_UNKNOWN;
    talk->leaving = true;
    cancel(talk, "\"duplex-never-asked\"");
    check_bytes sent = talk->last;
    bool survived = check_survived(talk, CHECK_CANCEL_UNKNOWN, check_text_of(&sent));
    talk->bear = 0;
    talk->leaving = false;
    if (survived && talk->strange + talk->nulls > before) {
        check_proof proof = {.scene = talk->scene,
                             .sent = check_text_of(&sent),
                             .came = check_text_of(&talk->odd),
                             .offset = talk->odd_at};
        check_fail(talk->report, CHECK_CANCEL_UNKNOWN, &proof,
                   "the program sent a response to the cancellation");
    }
}
