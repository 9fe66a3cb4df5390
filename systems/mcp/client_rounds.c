/* Rounds of input (2026-07-28): the answer to a request is what the server needs to know first. The
 * questions are asked here, and the request is made again with the answers. */
#include "systems/mcp/client_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How many questions one answer may ask. */
enum { QUESTIONS_MAX = 1000 };

struct dx__mcp_client_rounds {
    unsigned count;
    dx_event *asked; /* the answer of this round, which the questions refer to */
    yyjson_mut_doc *responses;
    size_t open; /* questions without an answer, and one more while they are asked */
};

static void end_round(struct dx__mcp_client_rounds *rounds) {
    rounds->asked = dx_event_free(rounds->asked);
    yyjson_mut_doc_free(rounds->responses);
    rounds->responses = NULL;
}

void dx__mcp_client_rounds_free(dx__mcp_client_ask *ask) {
    if (!ask->rounds)
        return;
    end_round(ask->rounds);
    dx__free(&ask->client->alloc, ask->rounds);
    ask->rounds = NULL;
}

/* Again, with what was asked for, and the state as it came. */

static dx_status add_answers(const struct dx__mcp_client_rounds *rounds, yyjson_mut_doc *doc) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *given = yyjson_mut_doc_get_root(rounds->responses);
    yyjson_val *state = yyjson_obj_get(rounds->asked->value, "requestState");
    if (yyjson_mut_obj_size(given)) {
        yyjson_mut_val *copy = yyjson_mut_val_mut_copy(doc, given);
        if (!copy || !yyjson_mut_obj_add_val(doc, root, "inputResponses", copy))
            return DX_ERR_NOMEM;
    }
    if (state) {
        yyjson_mut_val *copy = yyjson_val_mut_copy(doc, state);
        if (!copy || !yyjson_mut_obj_add_val(doc, root, "requestState", copy))
            return DX_ERR_NOMEM;
    }
    return DX_OK;
}

static void repeat(dx__mcp_client_ask *ask) {
    struct dx__mcp_client_rounds *rounds = ask->rounds;
    yyjson_mut_doc *doc = NULL;
    dx_text text = {ask->params.data, ask->params.len};
    dx_json params = text.len ? dx_json_checked(text) : dx_json_none();
    dx_status status = dx__mcp_client_params_exact(ask->client, params, &doc);
    if (status == DX_OK)
        status = add_answers(rounds, doc);
    end_round(rounds);
    if (status == DX_OK)
        status = dx__mcp_client_ask_send_built(ask, dx_str(ask->method), doc, 0);
    yyjson_mut_doc_free(doc);
    if (ask->timer)
        dx_timer_set(ask->timer, DX_NEVER);
    if (status == DX_MISFIT)
        dx__mcp_client_ask_end(ask, DX_OUTCOME_INVALID, DX_FAULT_PARAMS_FIT, ask->client->why);
    else if (status == DX_CLOSED)
        dx__mcp_client_ask_end(ask, DX_OUTCOME_LOST, DX_FAULT_ENDED,
                               "the connection closed before the response arrived");
    else if (status != DX_OK)
        dx__mcp_client_ask_end(ask, DX_OUTCOME_INVALID, DX_FAULT_SYSTEM,
                               "cannot repeat the request");
}

static void one_less(dx__mcp_client_ask *ask) {
    if (--ask->rounds->open == 0 && !dx__mcp_client_ask_has_ended(ask))
        repeat(ask);
}

/* The questions. */

static dx_status put(struct dx__mcp_client_rounds *rounds, yyjson_val *key, yyjson_mut_val *value) {
    yyjson_mut_val *name = yyjson_val_mut_copy(rounds->responses, key);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(rounds->responses);
    return name && value && yyjson_mut_obj_add(root, name, value) ? DX_OK : DX_ERR_NOMEM;
}

dx_status dx__mcp_client_rounds_answer(dx_mcp_question *question, yyjson_val *result) {
    dx__mcp_client_ask *ask = question->ask;
    struct dx__mcp_client_rounds *rounds = ask->rounds;
    dx_status status = put(rounds, question->key, yyjson_val_mut_copy(rounds->responses, result));
    if (status != DX_OK)
        return status;
    dx__mcp_client_question_free(question);
    one_less(ask);
    return DX_OK;
}

/* There is no error among the answers of a round. */
void dx__mcp_client_rounds_refuse(dx_mcp_question *question, int64_t code, dx_text message) {
    dx__mcp_client_ask *ask = question->ask;
    struct dx__mcp_client_rounds *rounds = ask->rounds;
    if (!question->is_sampling) {
        yyjson_mut_val *answer = yyjson_mut_obj(rounds->responses);
        if (answer && yyjson_mut_obj_add_str(rounds->responses, answer, "action", "cancel") &&
            put(rounds, question->key, answer) == DX_OK) {
            dx__mcp_client_question_free(question);
            one_less(ask);
            return;
        }
    }
    dx_buf text;
    char before[64];
    dx__mcp_client_buf(ask->client, &text);
    int len = snprintf(before, sizeof before, "{\"code\":%" PRId64 ",\"message\":", code);
    dx__mcp_client_question_free(question);
    dx_status status = dx_buf_append(&text, before, (size_t)len);
    if (status == DX_OK)
        status = dx_json_write_string(&text, message.at ? message : dx_str("Refused"));
    if (status == DX_OK)
        status = dx_buf_append(&text, "}", 1);
    if (status == DX_OK)
        dx__mcp_client_ask_end_text(ask, DX_OUTCOME_ERROR, code, (dx_text){text.data, text.len});
    else
        dx__mcp_client_ask_end(ask, DX_OUTCOME_ERROR, DX_FAULT_NONE, "refused");
    dx_buf_done(&text);
    dx__mcp_client_questions_of(ask->client, ask);
}

/* NULL, or what is wrong with it. */
static const char *prepare(dx__mcp_client_ask *ask, yyjson_val *key, yyjson_val *input) {
    dx_mcp_client *client = ask->client;
    struct dx__mcp_client_rounds *rounds = ask->rounds;
    dx_text method = dx__mcp_client_string(input, "method");
    yyjson_val *params = yyjson_obj_get(input, "params");
    bool is_sampling = dx_text_is(method, "sampling/createMessage");
    dx_mcp_question *question = NULL;
    int64_t code;
    if (dx_text_is(method, "roots/list") && client->config.roots) {
        yyjson_mut_val *list = dx__mcp_client_roots(client, rounds->responses);
        return put(rounds, key, list) == DX_OK ? NULL : "out of memory for the response";
    }
    if (!is_sampling && !dx_text_is(method, "elicitation/create"))
        return "the server requests input that the client does not support";
    const char *flaw = dx__mcp_client_question_flaw(client, is_sampling, params, &code);
    if (flaw)
        return flaw;
    if (dx__mcp_client_question_new(client, is_sampling, params, &question) != DX_OK)
        return "out of memory for the question";
    question->ask = ask;
    question->key = key;
    rounds->open++;
    return NULL;
}

static dx_mcp_question *next_of(const dx_mcp_client *client, const dx__mcp_client_ask *ask) {
    for (dx_mcp_question *question = client->questions; question; question = question->next)
        if (question->ask == ask && !question->asked)
            return question;
    return NULL;
}

/* Each callback may answer, cancel the call, or free the client. */
static void ask_all(dx__mcp_client_ask *ask) {
    dx_mcp_client *client = ask->client;
    dx_mcp_call handle = ask->handle;
    dx_mcp_question *question;
    while ((question = next_of(client, ask))) {
        dx__mcp_client_question_ask(question);
        if (client->freed || dx__mcp_client_ask_find(client, handle) != ask ||
            dx__mcp_client_ask_has_ended(ask))
            return;
    }
    one_less(ask);
}

static const char *begin_round(dx__mcp_client_ask *ask) {
    struct dx__mcp_client_rounds *rounds = ask->rounds;
    yyjson_alc alc = dx__mcp_client_alc(ask->client);
    dx_link *link = dx__mcp_client_link(ask->client);
    rounds->open = 1;
    rounds->responses = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *root = yyjson_mut_obj(rounds->responses);
    if (!root || dx_link_keep(link, &rounds->asked) != DX_OK)
        return "out of memory for the questions";
    yyjson_mut_doc_set_root(rounds->responses, root);
    yyjson_val *inputs = yyjson_obj_get(rounds->asked->value, "inputRequests");
    if (!inputs && !yyjson_obj_get(rounds->asked->value, "requestState"))
        return "the result says that input is required, but asks for none";
    if (yyjson_obj_size(inputs) > QUESTIONS_MAX)
        return "the server asks too many questions at once";
    yyjson_obj_iter iter;
    yyjson_obj_iter_init(inputs, &iter);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter))) {
        const char *flaw = prepare(ask, key, yyjson_obj_iter_get_val(key));
        if (flaw)
            return flaw;
    }
    return dx__mcp_client_ask_sleep(ask, DX_NEVER) == DX_OK ? NULL
                                                            : "out of memory for the questions";
}

static void play(dx__mcp_client_ask *ask) {
    dx_mcp_client *client = ask->client;
    if (!ask->rounds) {
        ask->rounds = dx__malloc(&client->alloc, sizeof *ask->rounds);
        if (ask->rounds)
            *ask->rounds = (struct dx__mcp_client_rounds){0};
    }
    const char *flaw = "out of memory for the questions";
    if (ask->rounds && ask->rounds->count++ >= client->config.rounds_max)
        flaw = "the server asked for input in too many rounds";
    else if (ask->rounds)
        flaw = begin_round(ask);
    if (!flaw) {
        ask_all(ask);
        return;
    }
    /* Those that were prepared have not been asked: nobody needs to hear of them. */
    dx_mcp_question *question;
    while ((question = next_of(client, ask)))
        dx__mcp_client_question_free(question);
    dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_RESULT_FIT, flaw);
}

void dx__mcp_client_rounds_result(dx__mcp_client_ask *ask, const dx_event *event) {
    yyjson_val *type = yyjson_obj_get(event->value, "resultType");
    bool can_ask = strcmp(ask->method, "tools/call") == 0 ||
                   strcmp(ask->method, "prompts/get") == 0 ||
                   strcmp(ask->method, "resources/read") == 0;
    if (yyjson_equals_str(type, "complete")) {
        dx__mcp_client_ask_done(ask, event);
        return;
    }
    if (yyjson_equals_str(type, "input_required") && can_ask) {
        play(ask);
        return;
    }
    dx_event invalid = *event;
    invalid.outcome = DX_OUTCOME_INVALID;
    dx__mcp_client_error(&invalid.error, DX_FAULT_RESULT_FIT, "/result/resultType: unknown value ",
                         dx__mcp_client_string(event->value, "resultType"));
    dx__mcp_client_ask_done(ask, &invalid);
}
