/* A peer that learns from a message which protocol is spoken; and what the two other members of a
 * document say that came with it: giving up, and errors without an id. */
#include "unit/rules.h"
#include "unit/talk.h"

#define HEAD "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"Test\",\"version\":\"1\"},"
#define OPEN                                                                                       \
    "{\"name\":\"open\",\"summary\":\"Opens.\",\"params\":[{\"name\":\"newer\",\"schema\":true}]," \
    "\"result\":{\"name\":\"r\",\"schema\":true},\"x-duplex\":{\"from\":\"host\","                 \
    "\"params\":{\"type\":\"object\",\"properties\":{\"newer\":true}}}}"
#define WORK(type)                                                                             \
    "{\"name\":\"work\",\"summary\":\"Works.\",\"params\":[{\"name\":\"a\",\"required\":true," \
    "\"schema\":{\"type\":\"" type "\"}}],\"result\":{\"name\":\"r\",\"schema\":{\"type\":"    \
    "\"" type "\"}},\"x-duplex\":{\"from\":\"both\",\"params\":{\"type\":\"object\","          \
    "\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"" type "\"}}}}}"
#define DROP_RULE                                                                                 \
    "{\"name\":\"drop\",\"summary\":\"Cancels.\",\"params\":[{\"name\":\"id\",\"required\":true," \
    "\"schema\":true}],\"x-duplex\":{\"from\":\"both\",\"notification\":true,"                    \
    "\"params\":{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":true}}}}"
#define LIFE                                                                         \
    "\"lifecycle\":{\"start\":\"new\",\"states\":{\"new\":{\"host\":[\"open\"],"     \
    "\"early\":\"deliver\"},"                                                        \
    "\"ready\":{}},\"moves\":[{\"in\":\"new\",\"message\":\"open\",\"by\":\"host\"," \
    "\"outcome\":\"result\",\"to\":\"ready\"}]}"

static const char old_document[] =
    HEAD "\"methods\":[" OPEN "," WORK("string") "],\"x-duplex\":{\"name\":\"test\","
                                                 "\"framing\":\"line\"," LIFE "}}";
/* Another order, so that a rule of the one is not a rule of the other by its place. */
static const char new_document[] = HEAD "\"methods\":[" WORK(
    "number") "," DROP_RULE "," OPEN
              "],\"x-duplex\":{\"name\":\"test\",\"framing\":\"line\",\"batch\":true,"
              "\"unknownId\":\"absent\",\"cancel\":{\"method\":\"drop\",\"id\":\"id\","
              "\"mutual\":true}," LIFE "}}";

static dx_protocol *newer;

static int load(void **state) {
    (void)state;
    return load_document(old_document) ||
           dx_protocol_read(dx_str(new_document), TEXT("new.openrpc.json"), NULL, &newer, NULL);
}

static int unload_both(void **state) {
    newer = dx_protocol_free(newer);
    return unload(state);
}

/* The newer one is spoken as soon as somebody has said {"newer":…}. */
static dx_protocol *choose(void *user, const dx_event *event) {
    ++*(int *)user;
    return yyjson_obj_get(event->value, "newer") ? newer : NULL;
}

static dx_peer *new_peer(dx_side side, int *asked) {
    dx_peer_config config = dx_peer_for(protocol, side);
    config.choose = choose;
    config.choose_user = asked;
    return talk_new(&config);
}

static dx_call call(dx_peer *peer, const char *method, const char *params) {
    dx_call handle = 0;
    assert_int_equal(
        dx_peer_call(peer, dx_str(method), dx_json_text(params, strlen(params)), NULL, 1, &handle),
        DX_OK);
    return handle;
}

static void a_request_chooses(void **state) {
    (void)state;
    int asked = 0;
    dx_peer *peer = new_peer(DX_SIDE_PLUGIN, &asked);
    talk_feed(peer, V ",\"id\":1,\"method\":\"open\",\"params\":{\"newer\":1}}\n", 1);
    const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
    assert_int_equal(asked, 1);
    assert_ptr_equal(event->rule, dx_protocol_find(newer, TEXT("open")));
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_text("{}", 2)), DX_OK);
    assert_string_equal(dx_peer_state(peer), "ready");

    talk_feed(peer, V ",\"id\":2,\"method\":\"work\",\"params\":{\"a\":\"text\"}}\n", 2);
    event = talk_next(peer, DX_EVENT_VIOLATION);
    assert_string_equal(event->error.phrase, "work: /params/a: expected number, found string");
    talk_feed(peer, "[" V ",\"id\":3,\"method\":\"work\",\"params\":{\"a\":1}}]\n", 3);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_peer_free(peer);
}

static void without_a_word_all_stays(void **state) {
    (void)state;
    int asked = 0;
    dx_peer *peer = new_peer(DX_SIDE_PLUGIN, &asked);
    talk_feed(peer, V ",\"id\":1,\"method\":\"open\",\"params\":{}}\n", 1);
    const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_text("{}", 2)), DX_OK);
    talk_feed(peer, V ",\"id\":2,\"method\":\"work\",\"params\":{\"a\":1}}\n", 2);
    event = talk_next(peer, DX_EVENT_VIOLATION);
    assert_string_equal(event->error.phrase, "work: /params/a: expected string, found number");
    assert_int_equal(asked, 2);
    dx_peer_free(peer);
}

/* What is pending when the choice is made ends by the new rules. */
static void a_result_chooses(void **state) {
    (void)state;
    int asked = 0;
    dx_peer *peer = new_peer(DX_SIDE_HOST, &asked);
    call(peer, "open", "{}");
    talk_feed(peer, V ",\"id\":1,\"result\":{}}\n", 1);
    talk_next(peer, DX_EVENT_DONE);
    call(peer, "work", "{\"a\":\"one\"}");
    call(peer, "work", "{\"a\":\"two\"}");
    talk_feed(peer, V ",\"id\":9,\"method\":\"work\",\"params\":{\"a\":\"theirs\"}}\n", 2);
    dx_request theirs = talk_next(peer, DX_EVENT_REQUEST)->request;
    dx_event *kept;
    assert_int_equal(dx_peer_keep(peer, &kept), DX_OK);

    call(peer, "open", "{}");
    talk_feed(peer, V ",\"id\":4,\"result\":{\"newer\":true}}\n", 3);
    const dx_event *event = talk_next(peer, DX_EVENT_DONE);
    assert_int_equal(event->outcome, DX_OUTCOME_RESULT);
    assert_ptr_equal(event->rule, dx_protocol_find(newer, TEXT("open")));
    assert_string_equal(dx_peer_state(peer), "ready");

    talk_feed(peer, V ",\"id\":2,\"result\":5}\n" V ",\"id\":3,\"result\":\"x\"}\n", 4);
    assert_int_equal(talk_next(peer, DX_EVENT_DONE)->outcome, DX_OUTCOME_RESULT);
    assert_int_equal(talk_next(peer, DX_EVENT_DONE)->outcome, DX_OUTCOME_INVALID);
    assert_int_equal(dx_peer_reply(peer, theirs, dx_json_text("\"x\"", 3)), DX_MISFIT);
    assert_int_equal(dx_peer_reply(peer, theirs, dx_json_text("7", 1)), DX_OK);
    dx_event_free(kept);
    dx_peer_free(peer);
}

static dx_peer *new_one_of_newer(dx_side side) {
    dx_peer_config config = dx_peer_for(newer, side);
    return talk_new(&config);
}

#define DROP(id) V ",\"method\":\"drop\",\"params\":{\"id\":" id "}}\n"

static void who_has_to_answer_may_give_up(void **state) {
    (void)state;
    dx_peer *peer = new_one_of_newer(DX_SIDE_HOST);
    dx_call handle = call(peer, "work", "{\"a\":1}");
    talk_feed(peer, DROP("2"), 1);
    talk_silence(peer);
    talk_feed(peer, DROP("1"), 1);
    const dx_event *event = talk_next(peer, DX_EVENT_DONE);
    assert_true(event->call == handle && event->outcome == DX_OUTCOME_CANCELLED);
    assert_int_equal(event->error.fault, DX_FAULT_GIVEN_UP);
    talk_feed(peer, DROP("1") V ",\"id\":1,\"result\":1}\n", 2); /* both are late */
    talk_silence(peer);
    assert_int_equal(dx_peer_statistics(peer).late, 1);
    dx_peer_free(peer);
}

/* An id that both sides have in use names the request of who cancels. */
static void their_own_request_comes_first(void **state) {
    (void)state;
    dx_peer *peer = new_one_of_newer(DX_SIDE_HOST);
    call(peer, "work", "{\"a\":1}");
    talk_feed(peer, V ",\"id\":1,\"method\":\"work\",\"params\":{\"a\":1}}\n", 1);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_event *kept;
    assert_int_equal(dx_peer_keep(peer, &kept), DX_OK);
    talk_feed(peer, DROP("1"), 1);
    talk_next(peer, DX_EVENT_CANCEL);
    talk_silence(peer);
    assert_int_equal(dx_peer_pending(peer), 1);
    dx_event_free(kept);
    dx_peer_free(peer);
}

static void errors_about_nothing_have_no_id(void **state) {
    (void)state;
    dx_peer *peer = new_one_of_newer(DX_SIDE_PLUGIN);
    talk_feed(peer, "{\"jsonrpc\":\n", 1);
    talk_next(peer, DX_EVENT_VIOLATION);
    dx_text out = dx_peer_output(peer);
    static const char start[] = "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,";
    assert_true(out.len > sizeof start);
    assert_memory_equal(out.at, start, sizeof start - 1);
    dx_peer_free(peer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_chooses),
        cmocka_unit_test(without_a_word_all_stays),
        cmocka_unit_test(a_result_chooses),
        cmocka_unit_test(who_has_to_answer_may_give_up),
        cmocka_unit_test(their_own_request_comes_first),
        cmocka_unit_test(errors_about_nothing_have_no_id),
    };
    return cmocka_run_group_tests(tests, load, unload_both);
}
