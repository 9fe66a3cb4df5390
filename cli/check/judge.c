/* What comes, held against the rules: of the framing here, of JSON here, of the rest in the books
 * that duplex lint keeps, too. */
#include "cli/check/talk.h"

#include "cli/input.h"
#include "cli/wait.h"

#include "base/line.h"
#include "frame/noise.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1000, THEIR_MAX = 4096 };

static void fail(check_talk *talk, check_id id, const char *why) {
    check_proof proof = check_proof_here(talk);
    check_fail(talk->report, id, &proof, "%s", why);
}

/* What was read from there on, as far as it is known. */
static dx_text raw_from(const check_talk *talk, uint64_t offset) {
    if (offset < talk->raw_at || offset > talk->received)
        return (dx_text){NULL, 0};
    size_t at = (size_t)(offset - talk->raw_at);
    return (dx_text){talk->raw.data + at, talk->raw.len - at};
}

/* The books. */

static bool key_of(dx_text json, char room[CLI_ID_MAX], dx_text *ret_key) {
    return json.at && cli_asked_key(json, room, ret_key);
}

static bool was_theirs(const check_talk *talk, dx_text key) {
    for (size_t i = 0; i < talk->their_count; i++)
        if (dx_text_is(key, talk->their_ids[i]))
            return true;
    return false;
}

static void note_theirs(check_talk *talk, dx_text id) {
    char room[CLI_ID_MAX];
    dx_text key;
    if (talk->their_count >= THEIR_MAX || !key_of(id, room, &key))
        return;
    char **more = realloc(talk->their_ids, (talk->their_count + 1) * sizeof *more);
    if (!more)
        return;
    talk->their_ids = more;
    more[talk->their_count] = cli_text_copy(key);
    talk->their_count += more[talk->their_count] != NULL;
}

/* A request that was answered meanwhile may be cancelled in good faith; one that never was, not. */
static bool cancels_nothing(const check_talk *talk) {
    char room[CLI_ID_MAX];
    dx_text key;
    dx_text params = dx_rpc_member(talk->at_hand, dx_str("params"));
    dx_text id = dx_rpc_member(params, dx_str(talk->facts->cancel_id));
    return !key_of(id, room, &key) || !was_theirs(talk, key);
}

/* An error about nothing that is known has no id in some protocols, and null in the others. */
static bool may_lack_id(const check_talk *talk, dx_text error) {
    return talk->facts->id_absent && error.at;
}

void check_take_finding(void *user, const cli_finding *finding) {
    check_talk *talk = user;
    bool lacks = finding->flaw == CLI_FLAW_ID_MISSING &&
                 may_lack_id(talk, dx_rpc_member(talk->at_hand, dx_str("error")));
    check_id id = lacks ? CHECK_ID_NULL : check_of_flaw(finding->flaw);
    bool is_id = finding->flaw == CLI_FLAW_ID_UNKNOWN || finding->flaw == CLI_FLAW_ID_FORM ||
                 finding->flaw == CLI_FLAW_ID_ANSWERED;
    if (id == CHECK__COUNT || (dx_side)finding->from != talk->them ||
        (id == CHECK_ID_NULL && (talk->bear & CHECK_BEAR_NULL)) ||
        (is_id && (talk->bear & CHECK_BEAR_UNKNOWN)) ||
        (id == CHECK_JSON_VALUE && (talk->bear & CHECK_BEAR_VALUE)) ||
        (id == CHECK_STATE_KEPT && talk->parted) ||
        (finding->flaw == CLI_FLAW_CANCEL_UNKNOWN && !cancels_nothing(talk)))
        return;
    fail(talk, id, finding->message);
}

/* Answers. */

static void keep_odd(check_talk *talk) {
    check_keep(&talk->odd, talk->at_hand);
    talk->odd_at = talk->at_offset;
}

static void take_answer(check_talk *talk, dx_text id, bool is_result, dx_text error,
                        bool is_broken) {
    char room[CLI_ID_MAX];
    char other[CLI_ID_MAX];
    dx_text key;
    dx_text theirs;
    dx_text code = dx_rpc_member(error, dx_str("code"));
    char digits[24] = "";
    snprintf(digits, sizeof digits, "%.*s", code.len < sizeof digits ? (int)code.len : 0,
             code.at ? code.at : "");
    int64_t number = strtoll(digits, NULL, 10);
    is_broken = is_broken || (error.at && (!code.at || !memchr("-0123456789", code.at[0], 11)));
    if (!id.at && is_broken) {
        talk->spoiled++;
        return;
    }
    if (!id.at || id.at[0] == 'n') {
        talk->nulls++;
        talk->null_code = number;
        keep_odd(talk);
        if (is_result && id.at)
            fail(talk, CHECK_ID_KNOWN, "a result with the id null belongs to no request");
        return;
    }
    /* The last one with that id: ids of ours are used again only in a trial. */
    for (size_t i = talk->asked_count; i-- && key_of(id, room, &key);) {
        check_asked *asked = &talk->asked[i];
        if (!key_of(dx_str(asked->id), other, &theirs) || theirs.len != key.len ||
            memcmp(theirs.at, key.at, key.len) != 0)
            continue;
        if (asked->answers++)
            return;
        asked->answered_ms = cli_now();
        asked->is_result = is_result;
        asked->is_broken = is_broken;
        asked->code = number;
        asked->offset = talk->at_offset;
        check_keep(&asked->came, talk->at_hand);
        dx_text sent = dx_rpc_member(check_text_of(&asked->sent), dx_str("method"));
        if (sent.len > 2 && asked->sent.len == asked->sent.whole)
            check_move(talk, (dx_text){sent.at + 1, sent.len - 2}, talk->us,
                       is_result ? DX_MOVE_RESULT : DX_MOVE_ERROR);
        return;
    }
    talk->strange += !is_broken;
    talk->spoiled += is_broken;
    keep_odd(talk);
}

static dx_text part(dx_text text, dx_slice slice) {
    return slice.len ? (dx_text){text.at + slice.at, slice.len} : (dx_text){NULL, 0};
}

static void take_request(check_talk *talk, dx_text text, const dx_message *message,
                         dx_text method) {
    dx_text id = part(text, message->id);
    note_theirs(talk, id);
    if (talk->facts->progress_token)
        check_note_token(
            talk, dx_rpc_member(part(text, message->params), dx_str(talk->facts->progress_token)));
    check_heard(talk->report, CHECK_REQUESTS);
    if (id.at && id.at[0] != '"' && memchr(id.at, '.', id.len))
        fail(talk, CHECK_ID_WHOLE, "the id of a request has a fraction");
    check_take_request(talk, text, message, method);
}

static void note_noise(check_talk *talk, check_id id, dx_text text) {
    talk->written.noise++;
    check_noise(talk->report, id, text);
}

static void take_one(check_talk *talk, dx_text text, const dx_message *message) {
    dx_text quoted = part(text, message->method);
    dx_text method = quoted.len >= 2 ? (dx_text){quoted.at + 1, quoted.len - 2} : (dx_text){"", 0};
    if (message->kind == DX_KIND_RESPONSE) {
        check_heard(talk->report, CHECK_ANSWERS);
        take_answer(
            talk, part(text, message->id), message->result.len != 0, part(text, message->error),
            message->fault != DX_FAULT_NONE && !(message->fault == DX_FAULT_ID_MISSING &&
                                                 may_lack_id(talk, part(text, message->error))));
        return;
    }
    if (message->kind != DX_KIND_REQUEST && message->kind != DX_KIND_NOTIFICATION) {
        if (!dx__claims_message(text))
            note_noise(talk, CHECK_ENVELOPE_KIND, text);
        talk->spoiled++;
        return;
    }
    check_heard(talk->report, CHECK_SPEECH);
    talk->refusal = (check_refusal){0};
    if (dx_protocol_may(talk->protocol, talk->state, method, talk->them, &talk->refusal.code,
                        &talk->refusal.message) != DX_LEAVE_NO)
        talk->refusal.code = 0;
    check_move(talk, method, talk->them, DX_MOVE_SENT);
    if (message->kind == DX_KIND_REQUEST && message->fault == DX_FAULT_NONE)
        take_request(talk, text, message, method);
    else if (talk->facts->progress_method && dx_text_is(method, talk->facts->progress_method))
        check_take_progress(talk, part(text, message->params));
    /* The handshake, as a plugin sees it: a notification is over when it has come. */
    else if (talk->us == DX_SIDE_PLUGIN && talk->step && talk->step->method &&
             dx_text_is(method, talk->step->method))
        talk->step++;
}

static void take_message(check_talk *talk, dx_text text) {
    dx_trace_record record = {
        .kind = DX_TRACE_MESSAGE, .from = (dx_trace_from)talk->them, .text = text};
    dx_message message;
    dx_message element;
    uint32_t cursor = 0;
    yyjson_doc *doc = yyjson_read(text.at, text.len, 0);
    if (!doc && !(talk->bear & CHECK_BEAR_VALUE))
        fail(talk, CHECK_JSON_VALUE, "a number or string that JSON parsers cannot represent");
    yyjson_doc_free(doc);
    check_heard(talk->report, CHECK_MESSAGES);
    dx_rpc_scan(text, DEPTH_MAX, talk->facts->lenient, &message);
    bool is_batch = message.kind == DX_KIND_BATCH;
    if (!is_batch || talk->facts->batch || !(talk->bear & CHECK_BEAR_BATCH))
        cli_books_take(talk->books, &record, (cli_place){0});
    if (!is_batch)
        take_one(talk, text, &message);
    while (is_batch && dx_rpc_element(text, &message, DEPTH_MAX, talk->facts->lenient, &cursor,
                                      &element) == DX_OK)
        take_one(talk, text, &element);
    if (is_batch && !cursor)
        note_noise(talk, CHECK_ENVELOPE_BATCH, text);
}

/* Is that something that was printed, rather than a message that went wrong? */
static bool is_printed(dx_text text) {
    size_t at = 0;
    while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\t'))
        at++;
    return at < text.len && text.at[at] != '{' && !dx__claims_message(text);
}

/* What is wrong with a text that is no JSON: where the length ends it, the length is. */
static void judge_broken(check_talk *talk, dx_framing framing, dx_text text, dx_fault fault,
                         size_t at) {
    static const char next[] = "Content-Length:";
    check_id id = check_of_fault(fault);
    dx_error error;
    char why[sizeof error.phrase + 60];
    talk->spoiled++;
    bool is_header = framing == DX_FRAMING_HEADER;
    dx_text rest = {text.at + at, text.len - at};
    size_t common = rest.len < sizeof next - 1 ? rest.len : sizeof next - 1;
    bool has_next =
        fault == DX_FAULT_JSON_TRAILING && rest.len > 1 && strncasecmp(rest.at, next, common) == 0;
    if (is_header && (fault == DX_FAULT_JSON_INCOMPLETE || has_next))
        id = CHECK_FRAMING_LENGTH;
    else if (!is_header && is_printed(text))
        id = CHECK_FRAMING_STRAY;
    if (id == CHECK_FRAMING_STRAY || (!is_header && dx__is_noise(text)))
        note_noise(talk, id, text);
    dx__error_set(&error, fault, at, at, DEPTH_MAX);
    snprintf(why, sizeof why, "%s (in a message of %zu bytes)", error.phrase, text.len);
    fail(talk, id, why);
}

/* The framing. */

static void judge_header(check_talk *talk, const dx_frame *frame, uint64_t bytes) {
    uint64_t len = bytes - frame->text.len;
    dx_text head = raw_from(talk, frame->offset - len);
    if (bytes < frame->text.len || !head.at || head.len < len)
        return;
    /* What ends a line that was no header is none of it. */
    while (len && (head.at[0] == '\r' || head.at[0] == '\n')) {
        head.at++;
        len--;
    }
    for (size_t i = 0; i < len; i++)
        if (head.at[i] == '\n' && (!i || head.at[i - 1] != '\r')) {
            check_proof proof = {.scene = talk->scene,
                                 .sent = check_text_of(&talk->last),
                                 .came = {head.at, (size_t)len},
                                 .offset = frame->offset - len};
            check_fail(talk->report, CHECK_FRAMING_LINE_END, &proof,
                       "a header line ends with LF alone, expected CR LF");
            return;
        }
}

static void judge_fault(check_talk *talk, const dx_frame *frame) {
    dx_error error;
    talk->at_hand = frame->text.at ? frame->text : raw_from(talk, frame->offset);
    talk->at_offset = frame->offset;
    talk->spoiled++;
    if (!talk->at_hand.at)
        talk->at_hand = (dx_text){talk->raw.data, talk->raw.len};
    dx__error_set(&error, frame->fault, frame->offset, frame->found, frame->expected);
    fail(talk, check_of_fault(frame->fault), error.phrase);
    talk->fatal |= frame->fatal != 0;
}

void check_take_frame(cli_wire *wire, const dx_frame *frame, uint64_t bytes, void *user) {
    check_talk *talk = user;
    dx_framing framing = cli_wire_framing(wire);
    size_t at = 0;
    if (talk->killed)
        return; /* what is cut off there is our doing */
    if (frame->kind == DX_FRAME_FAULT)
        judge_fault(talk, frame);
    if (frame->kind != DX_FRAME_MESSAGE && frame->kind != DX_FRAME_STRAY) {
        talk->at_hand = (dx_text){NULL, 0};
        return;
    }
    talk->written.messages++;
    talk->at_hand = frame->text;
    talk->at_offset = frame->offset;
    talk->framed = frame->offset + frame->text.len;
    if (frame->kind == DX_FRAME_STRAY) {
        note_noise(talk, CHECK_FRAMING_STRAY, frame->text);
        fail(talk, CHECK_FRAMING_STRAY, "text that is not part of a message");
    } else {
        dx_fault fault = dx_json_check(frame->text, DEPTH_MAX, &at);
        if (framing == DX_FRAMING_HEADER)
            judge_header(talk, frame, bytes);
        if (frame->fault == DX_FAULT_UNTERMINATED)
            fail(talk, fault ? CHECK_FRAMING_WHOLE : CHECK_FRAMING_LAST,
                 "the output ended in the middle of a line");
        if (!fault)
            take_message(talk, frame->text);
        else if (frame->fault != DX_FAULT_UNTERMINATED)
            judge_broken(talk, framing, frame->text, fault, at);
    }
    talk->at_hand = (dx_text){NULL, 0};
}
