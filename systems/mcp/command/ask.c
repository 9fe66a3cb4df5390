#include "systems/mcp/command/ask.h"

#include "systems/mcp/command/opener.h"
#include "systems/mcp/command/put.h"
#include "systems/mcp/command/roots.h"
#include "systems/mcp/command/words.h"

#include "cli/input.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --answer. */

static bool is_action(const char *word) {
    return strcmp(word, "accept") == 0 || strcmp(word, "decline") == 0 ||
           strcmp(word, "cancel") == 0;
}

/* The fields that an answer has, as JSON text, to be freed; NULL if that was told. */
static char *content_of(const char *answer) {
    const char *why = NULL;
    char *text = NULL;
    char *whole[] = {(char *)(uintptr_t)answer, NULL};
    bool is_one = answer[strspn(answer, " \t\r\n")] == '{' || answer[0] == '@';
    char **words = is_one ? whole : words_split(answer, &why);
    if (!words)
        cli_fail(CLI_USAGE, "--answer: %s", why);
    else if (!words[0] || strcmp(words[0], "-") == 0)
        cli_fail(CLI_USAGE,
                 "--answer: expected accept, decline, cancel or the fields of a form,"
                 " got '%s'",
                 answer);
    else
        cli_params(words, &text);
    if (words != whole)
        free(words);
    return text;
}

static int check_answers(const struct mcp_options *options) {
    for (size_t i = 0; i < options->answers.count; i++) {
        const char *answer = options->answers.at[i];
        char *content = is_action(answer) ? strdup("{}") : content_of(answer);
        bool good = content && content[strspn(content, " \t\r\n")] != '[';
        if (content && !good)
            cli_fail(CLI_USAGE,
                     "--answer: expected an object with the fields of the form, got '%s'", answer);
        free(content);
        if (!good)
            return CLI_USAGE;
    }
    return CLI_OK;
}

int ask_check(const struct mcp_options *options) {
    int code = check_answers(options);
    if (code == CLI_OK)
        code = roots_check(options);
    return code == CLI_OK && options->opener ? opener_check(options->opener) : code;
}

/* Answering. */

static dx_status send_built(dx_mcp_question *question, yyjson_mut_doc *doc) {
    dx_status status =
        doc ? dx_mcp_question_answer(question, dx_json_built(yyjson_mut_doc_get_root(doc)))
            : DX_ERR_NOMEM;
    yyjson_mut_doc_free(doc);
    return status;
}

dx_status ask_answer(dx_mcp_question *question, const char *action, const char *content) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "action", action);
    yyjson_doc *read =
        content ? yyjson_read(content, strlen(content), YYJSON_READ_BIGNUM_AS_RAW) : NULL;
    if (read)
        yyjson_mut_obj_add_val(doc, root, "content",
                               yyjson_val_mut_copy(doc, yyjson_doc_get_root(read)));
    yyjson_doc_free(read);
    return send_built(question, doc);
}

dx_status ask_sample(dx_mcp_question *question, const char *text) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "role", "assistant");
    yyjson_mut_val *content = yyjson_mut_obj_add_obj(doc, root, "content");
    yyjson_mut_obj_add_str(doc, content, "type", "text");
    cli_add_text(doc, content, "text", dx_str(text));
    yyjson_mut_obj_add_str(doc, root, "model", "duplex");
    yyjson_mut_obj_add_str(doc, root, "stopReason", "endTurn");
    return send_built(question, doc);
}

bool ask_open_page(struct talk *talk, dx_text url) {
    char *copy = strndup(url.at ? url.at : "", url.len);
    if (!copy)
        return false;
    talk_clear_line(talk);
    cli_note("the server asks you to visit %s", copy);
    const char *why = talk->options->opener ? opener_run(talk->options->opener, copy) : NULL;
    if (why)
        cli_note("--opener: %s", why);
    free(copy);
    return !why;
}

/* Several are given one after the other, and the last one stays. */
static const char *next_of(const cli_list *list, size_t *given) {
    size_t index = *given < list->count ? *given : list->count - 1;
    ++*given;
    return list->at[index];
}

/* What was given does not fit the form: nothing good can come of the call. */
static void give_up(struct talk *talk, dx_mcp_question *question) {
    const char *why = dx_mcp_client_why(talk->client);
    talk_clear_line(talk);
    if (!talk->given_up)
        talk->given_up = cli_fail(CLI_MISFIT, "--answer does not fit the form: %s", why);
    ask_answer(question, "cancel", NULL);
}

static void answer_given(struct talk *talk, dx_mcp_question *question, yyjson_val *params) {
    const char *answer = next_of(&talk->options->answers, &talk->answered);
    const char *action = is_action(answer) ? answer : "accept";
    bool is_url = dx_text_is(member_of(params, "mode"), "url");
    bool accepts = strcmp(action, "accept") == 0;
    dx_text message = member_of(params, "message");
    talk_clear_line(talk);
    cli_note("the server asks: %.*s; answering: %s", (int)message.len, message.at ? message.at : "",
             answer);
    if (accepts && is_url && !ask_open_page(talk, member_of(params, "url")))
        action = "cancel";
    char *content = !accepts || is_url  ? NULL
                    : is_action(answer) ? strdup("{}")
                                        : content_of(answer);
    if (accepts && !is_url && !content)
        action = "cancel"; /* a file that could be read before */
    dx_status status = ask_answer(question, action, content);
    free(content);
    if (status == DX_MISFIT)
        give_up(talk, question);
    else if (status != DX_OK)
        dx_mcp_question_refuse(question, DX_CODE_INTERNAL, dx_str(NULL));
}

dx_text ask_sampling_text(yyjson_val *params) {
    yyjson_val *content =
        yyjson_obj_get(yyjson_arr_get_last(yyjson_obj_get(params, "messages")), "content");
    if (yyjson_is_arr(content))
        content = yyjson_arr_get_last(content);
    dx_text text = member_of(content, "text");
    return text.at ? text : dx_str("(no text)");
}

/* The queue of what the user is asked. */

static void free_ask(struct ask *ask) {
    yyjson_doc_free(ask->params);
    yyjson_mut_doc_free(ask->content);
    free(ask);
}

static bool add_ask(struct talk *talk, dx_mcp_question *question, yyjson_val *params,
                    bool is_sampling) {
    struct ask *ask = calloc(1, sizeof *ask);
    size_t len;
    char *text = ask ? yyjson_val_write(params, 0, &len) : NULL;
    yyjson_doc *doc = text ? yyjson_read(text, len, YYJSON_READ_BIGNUM_AS_RAW) : NULL;
    free(text);
    if (!doc) {
        free(ask);
        return false;
    }
    *ask = (struct ask){.question = question, .is_sampling = is_sampling, .params = doc};
    struct ask **last = &talk->asks;
    while (*last)
        last = &(*last)->next;
    *last = ask;
    talk_clear_line(talk);
    if (last == &talk->asks)
        form_put(ask);
    return true;
}

static void remove_first(struct talk *talk) {
    struct ask *ask = talk->asks;
    talk->asks = ask->next;
    free_ask(ask);
    if (talk->asks)
        form_put(talk->asks);
}

static void on_gone(dx_mcp_client *client, dx_mcp_question *question, void *user) {
    struct talk *talk = user;
    struct ask **at = &talk->asks;
    (void)client;
    while (*at && (*at)->question != question)
        at = &(*at)->next;
    if (!*at)
        return;
    struct ask *ask = *at;
    if (at == &talk->asks) {
        putc('\n', stderr);
        cli_note("the server withdrew the question");
        remove_first(talk);
        return;
    }
    *at = ask->next;
    free_ask(ask);
}

static void on_sampling(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                        void *user) {
    struct talk *talk = user;
    (void)client;
    if (!talk->options->samples.count) {
        if (!add_ask(talk, question, params, true))
            dx_mcp_question_refuse(question, DX_CODE_INTERNAL, dx_str("out of memory"));
        return;
    }
    const char *sample = next_of(&talk->options->samples, &talk->sampled);
    dx_text text = ask_sampling_text(params);
    talk_clear_line(talk);
    cli_note("the server asks the model: %.*s; responding: %s", (int)text.len, text.at, sample);
    if (ask_sample(question, sample) != DX_OK)
        dx_mcp_question_refuse(question, DX_CODE_INTERNAL, dx_str(NULL));
}

static void on_elicitation(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                           void *user) {
    struct talk *talk = user;
    (void)client;
    if (talk->options->answers.count)
        answer_given(talk, question, params);
    else if (!add_ask(talk, question, params, false))
        dx_mcp_question_refuse(question, DX_CODE_INTERNAL, dx_str("out of memory"));
}

/* Only what somebody will answer is offered. */
void ask_configure(struct talk *talk, dx_mcp_client_config *config) {
    const struct mcp_options *options = talk->options;
    config->roots = options->roots.count > 0;
    config->on_question_gone = on_gone;
    if (options->samples.count || talk->interactive)
        config->on_sampling = on_sampling;
    if (options->answers.count || talk->interactive) {
        config->on_elicitation = on_elicitation;
        config->elicitation_url = 1;
    }
}

/* The terminal. */

static void take_line(struct talk *talk, const char *line) {
    if (talk->asks && form_take(talk, talk->asks, line))
        remove_first(talk);
}

static void take_bytes(struct talk *talk, const char *bytes, size_t len) {
    enum { LINE_MAX_LEN = 1 << 20 };
    char *typed = talk->typed_len + len < LINE_MAX_LEN
                      ? realloc(talk->typed, talk->typed_len + len + 1)
                      : NULL;
    if (!typed)
        return;
    talk->typed = typed;
    memcpy(typed + talk->typed_len, bytes, len);
    talk->typed_len += len;
    typed[talk->typed_len] = '\0';
    for (char *end; (end = memchr(typed, '\n', talk->typed_len));) {
        *end = '\0';
        take_line(talk, typed);
        size_t used = (size_t)(end + 1 - typed);
        talk->typed_len -= used;
        memmove(typed, end + 1, talk->typed_len + 1);
    }
}

static void read_terminal(struct talk *talk) {
    char bytes[4096];
    ssize_t len = read(0, bytes, sizeof bytes);
    if (len > 0)
        take_bytes(talk, bytes, (size_t)len);
    else if (len == 0 || errno != EINTR)
        take_line(talk, NULL);
}

void ask_wait(struct talk *talk, uint64_t until) {
    struct pollfd fds[2] = {[1] = {.fd = 0, .events = POLLIN}};
    cli_waiting_end(); /* the question stands there */
    /* What the server has printed since may look like another question. */
    if (talk->asks && talk->asks->asked != cli_voice.shown) {
        talk_clear_line(talk);
        putc('\n', stderr);
        form_put(talk->asks);
    }
    if (cli_poll(talk->loop, fds, 2, until) > 0 && fds[1].revents)
        read_terminal(talk);
    dx_loop_dispatch(talk->loop);
}

void ask_forget(struct talk *talk) {
    while (talk->asks) {
        struct ask *next = talk->asks->next;
        free_ask(talk->asks);
        talk->asks = next;
    }
    free(talk->typed);
    talk->typed = NULL;
}
