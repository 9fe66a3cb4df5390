/* Progress: asked for where the protocol has it, and held against the tokens and what came before.
 */
#include "cli/check/talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 1000, PARAMS_MAX = 1 << 20 };

struct check_token {
    check_token *next;
    bool given; /* by us, or made by a request of the peer */
    bool begun;
    bool ended;
    double last; /* how far it is; NAN: nobody said */
    size_t len;
    char key[];
};

static check_token *find_token(check_talk *talk, dx_text json) {
    char room[CLI_ID_MAX];
    dx_text key;
    size_t count = 0;
    check_token **place = &talk->tokens;
    if (!json.at || !cli_asked_key(json, room, &key))
        return NULL;
    for (; *place; place = &(*place)->next, count++)
        if ((*place)->len == key.len && memcmp((*place)->key, key.at, key.len) == 0)
            return *place;
    check_token *token = count < TOKENS_MAX ? malloc(sizeof *token + key.len) : NULL;
    if (token) {
        *token = (check_token){.last = NAN, .len = key.len};
        memcpy(token->key, key.at, key.len);
        *place = token;
    }
    return token;
}

void check_note_token(check_talk *talk, dx_text json) {
    check_token *token = find_token(talk, json);
    if (token)
        token->given = true;
}

void check_drop_tokens(check_talk *talk) {
    while (talk->tokens) {
        check_token *token = talk->tokens;
        talk->tokens = token->next;
        free(token);
    }
}

/* What comes. */

static void fail(check_talk *talk, check_id id, const char *why) {
    check_proof proof = check_proof_here(talk);
    check_fail(talk->report, id, &proof, "%s", why);
}

/* {"kind": "begin" | "report" | "end"}; other values are parts of a result. */
static void judge_kind(check_talk *talk, check_token *token, dx_text kind) {
    bool begins = dx_text_is(kind, "\"begin\"");
    bool ends = dx_text_is(kind, "\"end\"");
    if (!begins && !ends && !dx_text_is(kind, "\"report\""))
        return;
    if (token->ended)
        fail(talk, CHECK_PROGRESS_ORDER, "progress continues after its end");
    else if (begins && token->begun)
        fail(talk, CHECK_PROGRESS_ORDER, "progress begins twice");
    else if (!begins && !token->begun)
        fail(talk, CHECK_PROGRESS_ORDER, "progress continues or ends, but has not begun");
    token->begun = true;
    token->ended = ends;
}

static void judge_number(check_talk *talk, check_token *token, dx_text number) {
    char digits[64] = "";
    if (number.len >= sizeof digits || !memchr("-0123456789", number.at[0], 11))
        return;
    memcpy(digits, number.at, number.len);
    double value = strtod(digits, NULL);
    if (value <= token->last)
        fail(talk, CHECK_PROGRESS_ORDER, "the progress value does not increase");
    token->last = value;
}

void check_take_progress(check_talk *talk, dx_text params) {
    check_token *token =
        find_token(talk, dx_rpc_member(params, dx_str(talk->facts->progress_token)));
    dx_text number = dx_rpc_member(params, dx_str("progress"));
    dx_text kind = dx_rpc_member(dx_rpc_member(params, dx_str("value")), dx_str("kind"));
    check_heard(talk->report, CHECK_PROGRESS);
    if (!token)
        return;
    /* Where a token dies with its request, the books know. */
    if (!token->given && talk->facts->progress_pass_unknown)
        fail(talk, CHECK_PROGRESS_ASKED, "no request provided or created this token");
    if (number.at)
        judge_number(talk, token, number);
    if (kind.at)
        judge_kind(talk, token, kind);
}

/* Asking for it. */

static bool fits(check_talk *talk, const dx_method *rule, yyjson_mut_doc *doc, const char *place,
                 yyjson_mut_val *token) {
    if (!yyjson_mut_doc_ptr_set(doc, place, token))
        return false;
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    bool good = copy && dx_protocol_check(talk->protocol, rule, talk->us, DX_PART_PARAMS,
                                          yyjson_doc_get_root(copy), 0, NULL) == DX_OK;
    yyjson_doc_free(copy);
    return good;
}

/* A schema that knows the token does not take everything for one. Parts of a result that come
 * before it would be missing in it: they are not asked for. */
static bool put_token(check_talk *talk, const dx_method *rule, yyjson_mut_doc *doc,
                      const char *place, const char *token) {
    return !strstr(place, "partialResult") && !yyjson_mut_doc_ptr_get(doc, place) &&
           !fits(talk, rule, doc, place, yyjson_mut_arr(doc)) &&
           fits(talk, rule, doc, place, yyjson_mut_str(doc, token));
}

static void note_tokens(check_talk *talk, yyjson_mut_doc *doc) {
    const char *const *places = talk->facts->progress_places;
    for (; places && *places; places++) {
        yyjson_mut_val *value = yyjson_mut_doc_ptr_get(doc, *places);
        char *text = value ? yyjson_mut_val_write(value, 0, NULL) : NULL;
        if (text)
            check_note_token(talk, dx_str(text));
        free(text);
    }
}

size_t check_ask_with_token(check_talk *talk, const char *method, const char *params) {
    const dx_method *rule = dx_protocol_find(talk->protocol, dx_str(method));
    const char *const *places = talk->facts->progress_places;
    const char *text = params ? params : "{}";
    char token[40];
    char *own = NULL;
    yyjson_doc *doc = talk->facts->progress_method ? yyjson_read(text, strlen(text), 0) : NULL;
    yyjson_mut_doc *copy = doc ? yyjson_doc_mut_copy(doc, NULL) : NULL;
    yyjson_mut_doc *tried = NULL;
    snprintf(token, sizeof token, "duplex-progress-%llu", (unsigned long long)talk->last_id + 1);
    if (copy)
        note_tokens(talk, copy);
    for (; rule && copy && places && *places && !own; places++) {
        tried = yyjson_mut_doc_mut_copy(copy, NULL);
        if (tried && put_token(talk, rule, tried, *places, token)) {
            own = yyjson_mut_write(tried, 0, NULL);
            note_tokens(talk, tried);
        }
        yyjson_mut_doc_free(tried);
    }
    size_t asked = check_ask(talk, NULL, method, own ? own : params);
    free(own);
    yyjson_mut_doc_free(copy);
    yyjson_doc_free(doc);
    return asked;
}
