/* What the peer asks is answered as its protocol wants it, with as little as will do. */
#include "cli/check/talk.h"

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

/* Where the example has an empty text and the params a text of the same name, that is meant: the
 * version of the protocol, for one. To be freed; NULL: it is fine as it is. */
static char *fill(const dx_buf *example, dx_text params, size_t *ret_len) {
    yyjson_doc *result = yyjson_read(example->data, example->len, 0);
    yyjson_doc *asked = params.at ? yyjson_read(params.at, params.len, 0) : NULL;
    yyjson_mut_doc *doc = result && asked ? yyjson_doc_mut_copy(result, NULL) : NULL;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool changed = false;
    size_t at;
    size_t max;
    yyjson_mut_val *key;
    yyjson_mut_val *value;
    if (root)
        yyjson_mut_obj_foreach(root, at, max, key, value) {
            yyjson_val *given = yyjson_obj_get(yyjson_doc_get_root(asked), yyjson_mut_get_str(key));
            if (!yyjson_mut_equals_str(value, "") || !yyjson_is_str(given))
                continue;
            yyjson_mut_set_strn(value, yyjson_get_str(given), yyjson_get_len(given));
            changed = true;
        }
    char *text = changed ? yyjson_mut_write(doc, 0, ret_len) : NULL;
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(result);
    yyjson_doc_free(asked);
    return text;
}

/* The smallest result that fits; false: there is none. */
static bool find_result(check_talk *talk, const dx_method *rule, dx_text params, dx_buf *result) {
    static const char *const empty[] = {"null", "{}", "[]"};
    size_t len;
    dx_buf example;
    dx_buf_init(&example, EXAMPLE_MAX, NULL);
    bool good =
        dx_protocol_example(talk->protocol, rule, talk->them, DX_PART_RESULT, &example) == DX_OK &&
        result_fits(talk, rule, example.data, example.len);
    char *filled = good ? fill(&example, params, &len) : NULL;
    if (filled && result_fits(talk, rule, filled, len))
        good = dx_buf_append(result, filled, len) == DX_OK;
    else if (good)
        good = dx_buf_append(result, example.data, example.len) == DX_OK;
    free(filled);
    dx_buf_done(&example);
    for (int i = 0; i < 3 && !good; i++)
        good = result_fits(talk, rule, empty[i], strlen(empty[i])) &&
               dx_buf_append(result, empty[i], strlen(empty[i])) == DX_OK;
    return good;
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
