/* Modern questions: the answer says what is needed, the request is repeated with it, and what was
 * learned in the rounds before goes with the client. */
#include "systems/mcp/server_parts.h"

#include <stdio.h>
#include <string.h>

/* What the state is good for: this method with these arguments. */
static dx_status digest(const dx_mcp_work *work, char ret_hex[33]) {
    static const char *const parts[] = {"name", "uri", "arguments"};
    uint8_t hash[16];
    dx__mcp_out out;
    dx__mcp_out_init(&out, &work->session->alloc);
    dx__mcp_out_string(&out, work->event->method);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        dx__mcp_out_json(&out, dx_json_value(yyjson_obj_get(work->event->value, parts[i])));
    dx__mcp_sip128(work->session->server->key, out.buf.data, out.buf.len, hash);
    for (int i = 0; i < 16; i++)
        (void)snprintf(ret_hex + (size_t)i * 2, 3, "%02x", hash[i]);
    dx_status status = out.status;
    dx__mcp_out_done(&out);
    return status;
}

/* DX_MISFIT: it is not ours, not for this request, or too old. */
static dx_status open_state(dx_mcp_work *work, dx_text sealed) {
    dx_mcp_session *session = work->session;
    dx__mcp_out plain;
    char hex[33];
    dx__mcp_out_init(&plain, &session->alloc);
    dx_status status = dx__mcp_state_open(session->server->key, sealed, &plain);
    if (status == DX_OK)
        status = digest(work, hex);
    if (status == DX_OK)
        status = dx__mcp_out_parse(&plain, &work->state_doc);
    yyjson_val *root = yyjson_doc_get_root(work->state_doc);
    if (status == DX_OK &&
        (!yyjson_equals_str(yyjson_obj_get(root, "for"), hex) ||
         yyjson_get_uint(yyjson_obj_get(root, "until")) < dx_loop_now(session->loop)))
        status = DX_MISFIT;
    dx__mcp_out_done(&plain);
    return status;
}

dx_status dx__mcp_round_begin(dx_mcp_work *work) {
    yyjson_val *sealed = yyjson_obj_get(work->event->value, "requestState");
    if (!dx__mcp_is_modern(work->session) || !sealed)
        return DX_OK;
    dx_status status = open_state(work, dx_json_string(sealed));
    if (status == DX_MISFIT)
        dx__mcp_work_refused(work, DX_CODE_PARAMS, dx_str("Invalid requestState"), dx_json_none());
    else if (status != DX_OK)
        dx__mcp_work_refused(work, DX_CODE_INTERNAL, dx_str("Out of memory"), dx_json_none());
    return status;
}

/* Has the answer the form of one to that question? */
static bool is_answer(yyjson_val *answer, const char *method) {
    if (strcmp(method, "elicitation/create") == 0)
        return yyjson_is_str(yyjson_obj_get(answer, "action"));
    if (strcmp(method, "roots/list") == 0)
        return yyjson_is_arr(yyjson_obj_get(answer, "roots"));
    return yyjson_is_str(yyjson_obj_get(answer, "role")) && yyjson_obj_get(answer, "content");
}

static yyjson_val *find_answer(const dx_mcp_work *work, const char *key, const char *method) {
    yyjson_val *state = yyjson_doc_get_root(work->state_doc);
    yyjson_val *answer = yyjson_obj_get(yyjson_obj_get(state, "answers"), key);
    if (!answer)
        answer = yyjson_obj_get(yyjson_obj_get(work->event->value, "inputResponses"), key);
    return answer && is_answer(answer, method) ? answer : NULL;
}

static dx__mcp_put *put_new(dx_mcp_work *work, const char *key, dx_text body) {
    size_t len = strlen(key);
    dx__mcp_put *put = dx__malloc(&work->session->alloc, sizeof *put + len + body.len);
    if (!put)
        return NULL;
    char *text = (char *)(put + 1);
    memcpy(text, key, len);
    memcpy(text + len, body.at, body.len);
    *put = (dx__mcp_put){NULL, {text, len}, {text + len, body.len}};
    return put;
}

/* Adds a question to those that go out, unless it is among them. */
static dx_status put(dx_mcp_work *work, const char *key, const char *method, dx_text params) {
    dx__mcp_out body;
    dx__mcp_put **end = &work->puts;
    for (; *end; end = &(*end)->next)
        if (dx_text_is((*end)->key, key))
            return DX_OK;
    dx__mcp_out_init(&body, &work->session->alloc);
    dx__mcp_out_open(&body, '{');
    dx__mcp_out_text_member(&body, "method", method);
    if (params.len) {
        dx__mcp_out_key(&body, dx_str("params"));
        dx__mcp_out_raw(&body, params);
    }
    dx__mcp_out_close(&body, '}');
    if (body.status == DX_OK)
        *end = put_new(work, key, dx__mcp_out_text(&body));
    dx__mcp_out_done(&body);
    return *end ? DX_OK : DX_ERR_NOMEM;
}

void dx__mcp_puts_done(dx_mcp_work *work) {
    while (work->puts) {
        dx__mcp_put *put = work->puts;
        work->puts = put->next;
        dx__free(&work->session->alloc, put);
    }
}

void dx__mcp_round_ask(dx_mcp_work *work, const char *key, const char *method, dx_text params,
                       dx__mcp_question *question) {
    question->value = find_answer(work, key, method);
    if (question->value)
        return;
    if (put(work, key, method, params) == DX_OK)
        work->must_ask = true;
    else
        (void)snprintf(question->why, sizeof question->why, "out of memory");
}

void dx_mcp_work_put(dx_mcp_work *work, const char *key, const char *method, dx_json params) {
    dx__mcp_out text;
    if (!dx__mcp_is_modern(work->session) || work->ended || !dx_mcp_work_may_ask(work, method) ||
        find_answer(work, key, method))
        return;
    dx__mcp_out_init(&text, &work->session->alloc);
    if (dx_json_write(&text.buf, params) == DX_OK)
        (void)put(work, key, method, dx__mcp_out_text(&text));
    dx__mcp_out_done(&text);
}

dx_text dx_mcp_work_state(const dx_mcp_work *work) {
    return dx__mcp_member(yyjson_doc_get_root(work->state_doc), "state");
}

void dx_mcp_work_set_state(dx_mcp_work *work, dx_text state) {
    dx__mcp_out_done(&work->state);
    work->has_state = state.at != NULL;
    if (work->has_state)
        dx__mcp_out_string(&work->state, state);
}

/* What is asked for now has no answer, whatever came under that name. */
static bool is_put(const dx_mcp_work *work, yyjson_val *key) {
    const dx__mcp_put *one = work->puts;
    while (one && !yyjson_equals_strn(key, one->key.at, one->key.len))
        one = one->next;
    return one != NULL;
}

static void write_answer(const dx_mcp_work *work, yyjson_val *key, yyjson_val *value,
                         dx__mcp_out *out) {
    if (!value || is_put(work, key))
        return;
    dx__mcp_out_key(out, dx_json_string(key));
    dx__mcp_out_json(out, dx_json_value(value));
}

/* What was answered in this round, of what was asked for in the one before, and in earlier ones. */
static void write_answers(const dx_mcp_work *work, dx__mcp_out *out) {
    yyjson_val *state = yyjson_doc_get_root(work->state_doc);
    yyjson_val *old = yyjson_obj_get(state, "answers");
    yyjson_val *came = yyjson_obj_get(work->event->value, "inputResponses");
    size_t i;
    size_t n;
    yyjson_val *key;
    yyjson_val *value;
    dx__mcp_out_json_member(out, "answers", "{");
    yyjson_obj_foreach(old, i, n, key, value) {
        write_answer(work, key, value, out);
    }
    yyjson_arr_foreach(yyjson_obj_get(state, "asked"), i, n, key) {
        if (!yyjson_obj_getn(old, yyjson_get_str(key), yyjson_get_len(key)))
            write_answer(work, key, yyjson_obj_getn(came, yyjson_get_str(key), yyjson_get_len(key)),
                         out);
    }
    dx__mcp_out_close(out, '}');
}

static void write_state(const dx_mcp_work *work, dx__mcp_out *out) {
    dx_mcp_session *session = work->session;
    dx__mcp_out plain;
    char hex[33];
    dx__mcp_out_init(&plain, &session->alloc);
    dx_status status = digest(work, hex);
    uint64_t now = dx_loop_now(session->loop);
    uint64_t ms = session->server->config.state_ms;
    dx__mcp_out_open(&plain, '{');
    dx__mcp_out_text_member(&plain, "for", hex);
    dx__mcp_out_key(&plain, dx_str("until"));
    dx__mcp_out_integer(&plain, (int64_t)(ms < INT64_MAX - now ? now + ms : INT64_MAX));
    dx__mcp_out_json_member(&plain, "asked", "[");
    for (const dx__mcp_put *one = work->puts; one; one = one->next)
        dx__mcp_out_string(&plain, one->key);
    dx__mcp_out_close(&plain, ']');
    write_answers(work, &plain);
    dx_text state = work->has_state ? dx__mcp_out_text(&work->state) : dx_str(NULL);
    if (state.len) {
        dx__mcp_out_key(&plain, dx_str("state"));
        dx__mcp_out_raw(&plain, state);
    }
    dx__mcp_out_close(&plain, '}');
    if (status == DX_OK)
        status = plain.status != DX_OK ? plain.status : work->state.status;
    dx__mcp_out_json_member(out, "requestState", "\"");
    if (status == DX_OK)
        status = dx__mcp_state_seal(session->server->key, dx__mcp_out_text(&plain), out);
    dx__mcp_out_raw(out, dx_str("\""));
    if (out->status == DX_OK)
        out->status = status;
    dx__mcp_out_done(&plain);
}

/* The answer to this round; who worked on it is told, since nothing more will come of it. */
static void end_round(dx_mcp_work *work) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &work->session->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_text_member(&out, "resultType", "input_required");
    dx__mcp_out_json_member(&out, "inputRequests", "{");
    for (const dx__mcp_put *one = work->puts; one; one = one->next) {
        dx__mcp_out_key(&out, one->key);
        dx__mcp_out_raw(&out, one->body);
    }
    dx__mcp_out_close(&out, '}');
    write_state(work, &out);
    dx__mcp_out_json_member(&out, "_meta", "{\"" DX__MCP_META "serverInfo\":");
    dx__mcp_info_write(work->session->server, DX__MCP_2026_07, &out);
    dx__mcp_out_close(&out, '}');
    dx__mcp_out_close(&out, '}');
    dx__mcp_work_enter(work);
    work->over = true;
    if (work->on_cancel)
        work->on_cancel(work, work->cancel_user);
    work->over = false;
    dx__mcp_work_finish(work, &out);
    dx__mcp_work_leave(work);
}

void dx__mcp_rounds_end(dx_mcp_session *session) {
    dx_mcp_work *work;
    do { /* a callback may end others: it is looked through anew */
        for (work = session->works; work; work = work->next)
            if (work->must_ask && !work->ended && !work->cancelled)
                break;
        if (work)
            end_round(work);
    } while (work && session->link);
}

void dx__mcp_round_lacks(dx_mcp_work *work) {
    dx__mcp_out data;
    dx__mcp_out_init(&data, &work->session->alloc);
    dx__mcp_out_open(&data, '{');
    dx__mcp_out_json_member(&data, "requiredCapabilities", work->lacks);
    dx__mcp_out_close(&data, '}');
    dx__mcp_work_refused(
        work, DX_MCP_CODE_CAPABILITY, dx_str("The client lacks a required capability"),
        data.status == DX_OK ? dx_json_checked(dx__mcp_out_text(&data)) : dx_json_none());
    dx__mcp_out_done(&data);
}
