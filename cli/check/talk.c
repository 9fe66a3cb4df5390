#include "cli/check/talk.h"

#include "cli/input.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <stdlib.h>
#include <string.h>

/* How much of what came is kept as it came; how many requests one conversation has; how long who
 * waits does not look up. */
enum { RAW_MAX = 64 << 10, ASKED_MAX = 4096, SLICE_MS = 100, OPEN_MAX = 10000, ROOM = 32 << 20 };
/* How long the right answer is waited for when a wrong one came. */
enum { ODD_MS = 300, MESSAGE_MAX = 16 << 20 };
/* How long a request of the peer waits for its answer: so that two with one id are seen. While
 * bytes come, an answer is waited for up to so many times longer. */
enum { HOLD_MS = 20, PATIENCE = 4 };
/* What "never" is. */
enum { DAY_MS = 24 * 3600 * 1000 };

void check_keep(check_bytes *bytes, dx_text text) {
    *bytes = (check_bytes){.is_there = true, .whole = text.len};
    bytes->len = text.len < sizeof bytes->at ? text.len : sizeof bytes->at;
    if (bytes->len)
        memcpy(bytes->at, text.at, bytes->len);
}

dx_text check_text_of(const check_bytes *bytes) {
    return bytes->is_there ? (dx_text){bytes->at, bytes->len} : (dx_text){NULL, 0};
}

bool check_is_up(const check_talk *talk) {
    return !talk->gone && !talk->down && !talk->fatal && !talk->closed && !cli_interrupts();
}

bool check_is_over(const check_talk *talk) {
    return talk->fatal || cli_interrupts() || (talk->gone && !talk->leaving) ||
           (talk->us == DX_SIDE_PLUGIN && (talk->closed || talk->gone));
}

void check_move(check_talk *talk, dx_text method, dx_side from, dx_move move) {
    talk->state = dx_protocol_next(talk->protocol, talk->state, method, from, move);
}

/* What comes. */

static void on_bytes(cli_wire *wire, dx_text bytes, void *user) {
    check_talk *talk = user;
    (void)wire;
    talk->received += bytes.len;
    check_heard(talk->report, CHECK_ANYTHING);
    if (bytes.len > RAW_MAX) {
        bytes = (dx_text){bytes.at + (bytes.len - RAW_MAX), RAW_MAX};
        talk->raw.len = 0;
    }
    if (talk->raw.len + bytes.len > RAW_MAX) {
        size_t dropped = talk->raw.len + bytes.len - RAW_MAX;
        memmove(talk->raw.data, talk->raw.data + dropped, talk->raw.len - dropped);
        talk->raw.len -= dropped;
    }
    (void)dx_buf_append(&talk->raw, bytes.at, bytes.len);
    talk->raw_at = talk->received - talk->raw.len;
}

static void on_errors(cli_wire *wire, dx_text bytes, void *user) {
    check_talk *talk = user;
    size_t max = sizeof talk->errors;
    (void)wire;
    for (size_t i = 0; i < bytes.len; i++)
        talk->written.errors += bytes.at[i] == '\n';
    if (bytes.len > max / 2)
        bytes = (dx_text){bytes.at + (bytes.len - max / 2), max / 2};
    if (talk->errors_len + bytes.len > max) {
        size_t dropped = talk->errors_len + bytes.len - max;
        memmove(talk->errors, talk->errors + dropped, talk->errors_len - dropped);
        talk->errors_len -= dropped;
    }
    memcpy(talk->errors + talk->errors_len, bytes.at, bytes.len);
    talk->errors_len += bytes.len;
}

static void on_closed(cli_wire *wire, void *user) {
    check_talk *talk = user;
    (void)wire;
    talk->closed = true;
    talk->closed_ms = cli_now();
}

static void on_gone(cli_wire *wire, const dx_gone *gone, void *user) {
    check_talk *talk = user;
    (void)wire;
    talk->gone = true;
    if (gone)
        check_tell_gone(talk, gone);
}

void check_wait_until(check_talk *talk, uint64_t until) {
    struct pollfd own;
    uint64_t now = cli_now();
    if (now >= until || talk->gone || cli_interrupts())
        return;
    uint64_t slice = until - now > SLICE_MS ? now + SLICE_MS : until;
    bool answers = talk->held && !talk->holds;
    if (answers && slice > talk->held_ms + HOLD_MS)
        slice = talk->held_ms + HOLD_MS;
    (void)cli_poll(talk->loop, &own, 1, slice);
    /* Whatever it has started is killed by the dispatch that sees its exit. */
    check_look_for_exit(talk);
    dx_loop_dispatch(talk->loop);
    if (answers && cli_now() >= talk->held_ms + HOLD_MS)
        check_release(talk);
}

bool check_wait_gone(check_talk *talk, uint64_t ms) {
    uint64_t until = cli_now() + ms;
    while (!talk->gone && cli_now() < until && !cli_interrupts())
        check_wait_until(talk, until);
    return talk->gone;
}

/* Birth and death. */

static bool make(check_talk *talk, const check_plan *plan) {
    dx_error error;
    talk->protocol = cli_protocol(plan->options->protocol);
    if (!talk->protocol || dx_loop_new(NULL, &talk->loop, &error) != DX_OK)
        return false;
    talk->facts = dx_protocol_facts_of(talk->protocol);
    talk->step = talk->facts->start;
    talk->us = plan->command ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    talk->them = plan->command ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
    talk->room.max = ROOM;
    cli_books_config config = {.protocol = talk->protocol,
                               .open_max = OPEN_MAX,
                               .room = &talk->room,
                               .seed = cli_seed(),
                               .tell = check_take_finding,
                               .user = talk};
    talk->books = cli_books_new(&config);
    return talk->books;
}

check_talk *check_talk_open(const check_plan *plan, const char *scene, dx_framing framing,
                            int *ret_code, dx_error *reterr) {
    check_talk *talk = calloc(1, sizeof *talk);
    *reterr = (dx_error){.fault = DX_FAULT_NONE, .phrase = "out of memory"};
    *ret_code = CLI_NO_START;
    if (!talk)
        return NULL;
    talk->plan = plan;
    talk->report = plan->report;
    talk->scene = scene;
    talk->greeting = CHECK_START_ANSWERED;
    dx_buf_init(&talk->raw, RAW_MAX, NULL);
    if (make(talk, plan)) {
        cli_wire_config config = {
            .loop = talk->loop,
            .command = plan->command,
            .start = plan->options->start,
            .framing = framing,
            .lenient = DX_LENIENT_STRAY | DX_LENIENT_LF |
                       (talk->facts->lenient & (DX_LENIENT_PLUS | DX_LENIENT_LAST_LENGTH |
                                                DX_LENIENT_FIELD_NAME | DX_LENIENT_TAB)),
            .fields = talk->facts->fields,
            .content_type = talk->facts->content_type,
            .message_max = talk->facts->message_max,
            .user = talk,
            .on_bytes = on_bytes,
            .on_frame = check_take_frame,
            .on_errors = on_errors,
            .on_closed = on_closed,
            .on_gone = on_gone,
        };
        *ret_code = cli_wire_open(&config, &talk->wire, reterr);
    }
    if (*ret_code != CLI_OK)
        return check_talk_close(talk);
    pthread_mutex_lock(&talk->report->lock);
    talk->report->starts++;
    pthread_mutex_unlock(&talk->report->lock);
    return talk;
}

check_talk *check_talk_close(check_talk *talk) {
    if (!talk)
        return NULL;
    cli_wire_close(talk->wire);
    cli_books_close(talk->books, CLI_END_FORGOTTEN);
    check_drop_held(talk);
    check_drop_tokens(talk);
    dx_loop_free(talk->loop);
    dx_protocol_free(talk->protocol);
    for (size_t i = 0; i < talk->asked_count; i++)
        free(talk->asked[i].id);
    for (size_t i = 0; i < talk->their_count; i++)
        free(talk->their_ids[i]);
    free(talk->asked);
    free(talk->their_ids);
    dx_buf_done(&talk->raw);
    free(talk);
    return NULL;
}

/* Saying. */

void check_put(check_talk *talk, dx_text bytes) {
    check_keep(&talk->last, bytes);
    if (!talk->gone)
        (void)cli_wire_write(talk->wire, bytes);
}

void check_enter(check_talk *talk, dx_text message) {
    dx_trace_record record = {
        .kind = DX_TRACE_MESSAGE, .from = (dx_trace_from)talk->us, .text = message};
    cli_books_take(talk->books, &record, (cli_place){0});
}

void check_say(check_talk *talk, dx_text message) {
    check_enter(talk, message);
    check_keep(&talk->last, message);
    if (!talk->gone)
        (void)cli_wire_say(talk->wire, message);
}

/* A request, or without an id a notification. By hand, since "params": null is what some want. */
static bool write_message(const check_talk *talk, const char *id, const char *method,
                          const char *params, dx_buf *text) {
    dx_buf out;
    dx_buf_init(&out, MESSAGE_MAX, NULL);
    if (!params && talk->facts->params_null)
        params = "null";
    bool good = dx_buf_append(&out, "{\"jsonrpc\":\"2.0\"", 16) == DX_OK;
    if (id)
        good = good && dx_buf_append(&out, ",\"id\":", 6) == DX_OK &&
               dx_buf_append(&out, id, strlen(id)) == DX_OK;
    good = good && dx_buf_append(&out, ",\"method\":", 10) == DX_OK &&
           dx_json_write_string(&out, dx_str(method)) == DX_OK;
    if (params)
        good = good && dx_buf_append(&out, ",\"params\":", 10) == DX_OK &&
               dx_buf_append(&out, params, strlen(params)) == DX_OK;
    good = good && dx_buf_append(&out, "}", 1) == DX_OK &&
           dx_buf_append(text, out.data, out.len) == DX_OK;
    dx_buf_done(&out);
    return good;
}

void check_notify(check_talk *talk, const char *method, const char *params) {
    dx_buf text;
    dx_buf_init(&text, MESSAGE_MAX, NULL);
    if (write_message(talk, NULL, method, params, &text)) {
        check_say(talk, (dx_text){text.data, text.len});
        check_move(talk, dx_str(method), talk->us, DX_MOVE_SENT);
    }
    dx_buf_done(&text);
}

size_t check_expect(check_talk *talk, const char *id, dx_text message) {
    if (talk->asked_count >= ASKED_MAX)
        return CHECK_NOTHING;
    if ((talk->asked_count & (talk->asked_count + 1)) == 0 || !talk->asked) {
        size_t cap = (talk->asked_count + 1) * 2;
        check_asked *more = realloc(talk->asked, cap * sizeof *more);
        if (!more)
            return CHECK_NOTHING;
        talk->asked = more;
    }
    check_asked *asked = &talk->asked[talk->asked_count];
    *asked = (check_asked){.id = strdup(id), .asked_ms = cli_now()};
    if (!asked->id)
        return CHECK_NOTHING;
    check_keep(&asked->sent, message);
    return talk->asked_count++;
}

size_t check_prepare(check_talk *talk, const char *id, const char *method, const char *params,
                     dx_buf *text) {
    char own[32];
    size_t from = text->len;
    if (!id) {
        snprintf(own, sizeof own, "%llu", (unsigned long long)++talk->last_id);
        id = own;
    }
    size_t asked = CHECK_NOTHING;
    if (write_message(talk, id, method, params, text)) {
        check_move(talk, dx_str(method), talk->us, DX_MOVE_SENT);
        asked = check_expect(talk, id, (dx_text){text->data + from, text->len - from});
    }
    /* Without memory nothing more can be said about anybody. */
    talk->fatal |= asked == CHECK_NOTHING;
    return asked;
}

size_t check_ask(check_talk *talk, const char *id, const char *method, const char *params) {
    dx_buf text;
    dx_buf_init(&text, MESSAGE_MAX, NULL);
    size_t asked = check_prepare(talk, id, method, params, &text);
    if (asked != CHECK_NOTHING)
        check_say(talk, (dx_text){text.data, text.len});
    dx_buf_done(&text);
    return asked;
}

size_t check_ask_any(check_talk *talk, const char *id, size_t n) {
    const check_plan *plan = talk->plan;
    size_t which = n % (plan->call_count + 1);
    /* What somebody asked for may take its time, or change something: once is enough. */
    if (which < plan->call_count && !plan->calls[which].given)
        return check_ask(talk, id, plan->calls[which].method, plan->calls[which].params);
    return check_ask(talk, id, CHECK_NO_METHOD, NULL);
}

/* Waiting. */

void check_wait_for(const check_talk *talk, const char *what, uint64_t most_ms) {
    bool has_limit = most_ms < DAY_MS;
    if (talk->is_only)
        cli_waiting_begin(&(cli_waiting){.what = what,
                                         .who = "the program has",
                                         .most_ms = has_limit ? most_ms : DX_NEVER,
                                         .active_ms = has_limit ? PATIENCE * most_ms : DX_NEVER,
                                         .written = &talk->written,
                                         .stays = true});
}

static uint64_t odd(const check_talk *talk) {
    return talk->strange + talk->nulls + talk->spoiled;
}

bool check_await_quietly(check_talk *talk, size_t asked, uint64_t ms, bool strange) {
    uint64_t until = cli_now() + ms;
    uint64_t limit = until + (PATIENCE - 1) * ms;
    uint64_t before = odd(talk);
    uint64_t received = talk->received;
    if (asked == CHECK_NOTHING)
        return false;
    while (!talk->asked[asked].answers && !talk->gone && !talk->fatal && cli_now() < until &&
           !cli_interrupts() && !(strange && odd(talk) > before)) {
        /* One that closed its output answers no more; its end is worth a moment. */
        if (talk->closed && cli_now() > talk->closed_ms + 300)
            break;
        check_wait_until(talk, talk->closed && talk->closed_ms + 301 < until ? talk->closed_ms + 301
                                                                             : until);
        if (talk->received > received) {
            received = talk->received;
            until = cli_now() + ms < limit ? cli_now() + ms : limit;
        }
    }
    return talk->asked[asked].answers > 0;
}

bool check_await(check_talk *talk, size_t asked) {
    static const check_id ids[] = {CHECK_ANSWER_GIVEN, CHECK_ANSWER_IN_TIME, CHECK_ANSWER_FLUSHED,
                                   CHECK_LIFE_STAYS,   CHECK_LIFE_OUTPUT,    CHECK_INPUT_READ};
    if (asked == CHECK_NOTHING)
        return false;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        check_try(talk->report, ids[i]);
    uint64_t before = talk->strange + talk->spoiled;
    uint64_t all = odd(talk);
    if (check_await_quietly(talk, asked, talk->plan->timeout_ms, true) ||
        /* What answers nothing came: that was told, and the right one may still come. */
        (odd(talk) > all &&
         check_await_quietly(
             talk, asked, talk->strange + talk->spoiled > before ? ODD_MS : talk->plan->timeout_ms,
             false)))
        return true;
    if (talk->strange + talk->spoiled > before)
        talk->down = true;
    else
        check_tell_silence(talk, asked);
    return talk->asked[asked].answers > 0;
}

size_t check_await_all(check_talk *talk, size_t from, uint64_t ms) {
    size_t missing = 0;
    for (size_t i = from; i < talk->asked_count; i++)
        missing += !check_await_quietly(talk, i, missing ? 1 : ms, false);
    return missing;
}

/* Proofs. */

check_proof check_proof_of(const check_talk *talk, size_t asked) {
    if (asked == CHECK_NOTHING)
        return check_proof_here(talk);
    const check_asked *one = &talk->asked[asked];
    return (check_proof){.scene = talk->scene,
                         .sent = check_text_of(&one->sent),
                         .came = check_text_of(&one->came),
                         .offset = one->offset};
}

check_proof check_proof_here(const check_talk *talk) {
    return (check_proof){.scene = talk->scene,
                         .sent = check_text_of(&talk->last),
                         .came = talk->at_hand,
                         .offset = talk->at_offset};
}

bool check_refused(const check_talk *talk, size_t asked, int64_t code) {
    const check_asked *one = &talk->asked[asked];
    return one->answers && !one->is_result && one->code == code;
}
