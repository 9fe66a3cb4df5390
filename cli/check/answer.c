/* What the peer asks is answered as its protocol wants it, with as little as will do. */
#include "cli/check/talk.h"

#include "cli/describe/example.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

enum { HELD_MAX = 1000, HELD_BYTES = 16 << 20, EXAMPLE_MAX = 1 << 20, ANSWER_MAX = 2 << 20 };

/* A request that is answered later. */
struct check_held {
    struct check_held *next;
    check_refusal refusal;
    size_t len;
    char text[];
};

static bool result_fits(check_talk *talk, const dx_method *rule, const char *text, size_t len) {
    yyjson_doc *doc = yyjson_read(text, len, 0);
    bool fits = doc && dx_protocol_check(talk->protocol, rule, talk->them, DX_PART_RESULT,
                                         yyjson_doc_get_root(doc), 0, NULL) == DX_OK;
    yyjson_doc_free(doc);
    return fits;
}

/* The smallest result that fits; false: there is none. */
static bool find_result(check_talk *talk, const dx_method *rule, dx_text params, dx_buf *result) {
    static const char *const empty[] = {"null", "{}", "[]"};
    bool good = cli_example_result(talk->protocol, rule, talk->them, params, result) == DX_OK;
    for (int i = 0; i < 3 && !good; i++)
        good = result_fits(talk, rule, empty[i], strlen(empty[i])) &&
               dx_buf_append(result, empty[i], strlen(empty[i])) == DX_OK;
    return good;
}

/* Many hosts of MCP ask nothing of a server that says it can do nothing. */
static void offer(check_talk *talk, const dx_method *rule, dx_buf *result) {
    static const char *const offers[] = {"/capabilities/tools", "/capabilities/resources",
                                         "/capabilities/prompts"};
    bool is_mcp = strcmp(talk->facts->name, "mcp") == 0 && strcmp(rule->name, "initialize") == 0;
    yyjson_doc *doc = is_mcp ? yyjson_read(result->data, result->len, 0) : NULL;
    yyjson_mut_doc *copy = doc ? yyjson_doc_mut_copy(doc, NULL) : NULL;
    for (int i = 0; copy && i < 3; i++)
        (void)yyjson_mut_doc_ptr_set(copy, offers[i], yyjson_mut_obj(copy));
    char *text = copy ? yyjson_mut_write(copy, 0, NULL) : NULL;
    if (text && result_fits(talk, rule, text, strlen(text))) {
        size_t len = result->len;
        result->len = 0;
        if (dx_buf_append(result, text, strlen(text)) != DX_OK)
            result->len = len;
    }
    free(text);
    yyjson_mut_doc_free(copy);
    yyjson_doc_free(doc);
}

static bool write_answer(check_talk *talk, check_refusal refusal, dx_text id, dx_text method,
                         dx_text params, dx_buf *text) {
    const dx_method *rule = dx_protocol_find(talk->protocol, method);
    dx_buf result;
    bool may = !refusal.code;
    if (may)
        refusal = (check_refusal){DX_CODE_METHOD, "Method not found"};
    dx_buf_init(&result, EXAMPLE_MAX, NULL);
    bool is_result = may && rule && !rule->notification && find_result(talk, rule, params, &result);
    if (is_result && talk->us == DX_SIDE_PLUGIN)
        offer(talk, rule, &result);
    dx_status status =
        is_result ? dx_rpc_write_result(text, id, dx_json_text(result.data, result.len))
                  : dx_rpc_write_error(text, id, refusal.code,
                                       dx_str(refusal.message ? refusal.message : "not now"),
                                       dx_json_none());
    dx_buf_done(&result);
    check_move(talk, method, talk->them, is_result ? DX_MOVE_RESULT : DX_MOVE_ERROR);
    if (is_result && talk->step && talk->step->method && talk->us == DX_SIDE_PLUGIN &&
        dx_text_is(method, talk->step->method))
        talk->step++;
    return status == DX_OK;
}

static void answer(check_talk *talk, check_refusal refusal, dx_text text) {
    dx_text quoted = dx_rpc_member(text, dx_str("method"));
    dx_buf out;
    dx_buf_init(&out, ANSWER_MAX, NULL);
    if (quoted.len >= 2 && write_answer(talk, refusal, dx_rpc_member(text, dx_str("id")),
                                        (dx_text){quoted.at + 1, quoted.len - 2},
                                        dx_rpc_member(text, dx_str("params")), &out)) {
        check_bytes last = talk->last; /* what proves something is what we said by ourselves */
        check_say(talk, (dx_text){out.data, out.len});
        talk->last = last;
    }
    dx_buf_done(&out);
}

static bool is_step(const check_talk *talk, dx_text method) {
    for (const dx_step *step = talk->facts->start; step && step->method; step++)
        if (dx_text_is(method, step->method))
            return true;
    return false;
}

void check_take_request(check_talk *talk, dx_text text, const dx_message *message, dx_text method) {
    dx_text own = {text.at + message->body.at, message->body.len};
    size_t count = 0;
    size_t bytes = 0;
    check_held **place = &talk->held;
    if (talk->us == DX_SIDE_PLUGIN && is_step(talk, method)) {
        answer(talk, talk->refusal, own);
        return;
    }
    for (; *place; place = &(*place)->next) {
        bytes += (*place)->len;
        count++;
    }
    check_held *held =
        count < HELD_MAX && bytes + own.len < HELD_BYTES ? malloc(sizeof *held + own.len) : NULL;
    if (!held) {
        answer(talk, talk->refusal, own);
        return;
    }
    if (!talk->held)
        talk->held_ms = cli_now();
    *held = (check_held){.refusal = talk->refusal, .len = own.len};
    memcpy(held->text, own.at, own.len);
    *place = held;
}

void check_release(check_talk *talk) {
    while (talk->held) {
        check_held *held = talk->held;
        talk->held = held->next;
        answer(talk, held->refusal, (dx_text){held->text, held->len});
        free(held);
    }
}

void check_drop_held(check_talk *talk) {
    while (talk->held) {
        check_held *held = talk->held;
        talk->held = held->next;
        free(held);
    }
}
