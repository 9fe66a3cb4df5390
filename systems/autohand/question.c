/* Permissions that the client is asked for. */
#include "systems/autohand/guard.h"

struct dx__autohand_question {
    dx_autohand_agent *agent;
    dx_allocator alloc;
    struct dx__autohand_question *next;
    struct dx__autohand_question *previous;
    char id[64];
    char *tool;
    char *subject;
    size_t subject_len;
    char *target;
    dx_timer *timer;
    bool acknowledged;
    bool settled; /* the answer is known and will be told from the timer */
    bool telling;
    dx__autohand_answer answer;
    char *alternative;
    void (*on_answer)(void *user, dx__autohand_answer answer, dx_text alternative);
    void *user;
};

static void unlink_question(struct dx__autohand_question *question) {
    if (question->next)
        question->next->previous = question->previous;
    if (question->previous)
        question->previous->next = question->next;
    else if (question->agent->questions == question)
        question->agent->questions = question->next;
    question->next = question->previous = NULL;
}

static void free_question(struct dx__autohand_question *question) {
    dx_allocator alloc = question->alloc;
    dx_timer_free(question->timer);
    dx__free(&alloc, question->tool);
    dx__free(&alloc, question->subject);
    dx__free(&alloc, question->target);
    dx__free(&alloc, question->alternative);
    dx__free(&alloc, question);
}

static void on_time(dx_timer *timer, void *user) {
    struct dx__autohand_question *question = user;
    (void)timer;
    if (!question->settled)
        question->answer = question->acknowledged ? DX__ANSWER_LATE : DX__ANSWER_UNSEEN;
    unlink_question(question);
    question->telling = true;
    question->on_answer(question->user, question->answer, dx_str(question->alternative));
    free_question(question);
}

dx_status dx__autohand_question_open(dx_autohand_agent *agent,
                                     const struct dx__autohand_asking *asking,
                                     void (*on_answer)(void *user, dx__autohand_answer answer,
                                                       dx_text alternative),
                                     void *user, struct dx__autohand_question **ret) {
    struct dx__autohand_question *question = dx__malloc(&agent->alloc, sizeof *question);
    if (!question)
        return DX_ERR_NOMEM;
    *question = (struct dx__autohand_question){.agent = agent,
                                               .alloc = agent->alloc,
                                               .subject_len = asking->subject.len,
                                               .on_answer = on_answer,
                                               .user = user};
    question->tool = dx__text_copy(&agent->alloc, dx_str(asking->tool));
    question->subject = dx__text_copy(&agent->alloc, asking->subject);
    question->target = asking->target.at ? dx__text_copy(&agent->alloc, asking->target) : NULL;
    dx_status status =
        question->tool && question->subject && !question->target == !asking->target.at
            ? dx_timer_new(agent->loop, on_time, question, &question->timer)
            : DX_ERR_NOMEM;
    if (status != DX_OK) {
        free_question(question);
        return status;
    }
    dx__autohand_new_id(agent, "perm", question->id);
    question->next = agent->questions;
    if (question->next)
        question->next->previous = question;
    agent->questions = question;
    dx_timer_set(question->timer, agent->config.ack_ms);
    dx__autohand_tell_permission(agent, question->id, asking);
    *ret = question;
    return DX_OK;
}

void dx__autohand_question_drop(struct dx__autohand_question *question) {
    if (!question || question->telling)
        return;
    unlink_question(question);
    free_question(question);
}

size_t dx__autohand_questions(const dx_autohand_agent *agent) {
    size_t count = 0;
    for (const struct dx__autohand_question *it = agent->questions; it; it = it->next)
        count += it->settled ? 0 : 1;
    return count;
}

static struct dx__autohand_question *find(const dx_autohand_agent *agent, dx_text id) {
    for (struct dx__autohand_question *it = agent->questions; it; it = it->next)
        if (!it->settled && dx_text_is(id, it->id))
            return it;
    return NULL;
}

bool dx__autohand_question_acknowledge(dx_autohand_agent *agent, dx_text id) {
    struct dx__autohand_question *question = find(agent, id);
    if (!question)
        return false;
    if (!question->acknowledged)
        dx_timer_set(question->timer, agent->config.answer_ms);
    question->acknowledged = true;
    return true;
}

/* Who says two things at once has not clearly said yes. */
static dx_text decision_of(yyjson_val *params) {
    yyjson_val *allowed = yyjson_obj_get(params, "allowed");
    yyjson_val *decided = yyjson_obj_get(params, "decision");
    dx_text decision = dx_json_string(decided);
    bool remember = yyjson_is_true(yyjson_obj_get(params, "remember"));
    bool allows = decision.at ? decision.len >= 6 && memcmp(decision.at, "allow_", 6) == 0
                              : yyjson_is_true(allowed);
    bool is_known = !decided || yyjson_is_null(decided) || decision.at;
    if (!is_known || (allows && allowed && !yyjson_is_true(allowed)))
        return dx_str("deny_once");
    if (!decision.at || dx_text_is(decision, "allow_once") || dx_text_is(decision, "deny_once"))
        return dx_str(allows ? (remember ? "allow_session" : "allow_once")
                             : (remember ? "deny_session" : "deny_once"));
    return decision;
}

static bool is_yes(dx_text decision) {
    static const char *const words[] = {"allow_once", "allow_session", "allow_always_project",
                                        "allow_always_user"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dx_text_is(decision, words[i]))
            return true;
    return false;
}

/* An alternative that can't be kept, or is none, is a refusal. */
static dx__autohand_answer take(struct dx__autohand_question *question, yyjson_val *params) {
    dx_text decision = decision_of(params);
    if (dx_text_is(decision, "alternative")) {
        dx_text other = dx_json_string(yyjson_obj_get(params, "alternative"));
        bool plain = other.len && !memchr(other.at, '\0', other.len);
        question->alternative = plain ? dx__text_copy(&question->alloc, other) : NULL;
        return question->alternative ? DX__ANSWER_OTHER : DX__ANSWER_DENIED;
    }
    (void)dx__autohand_rules_remember(question->agent->rules, question->tool,
                                      (dx_text){question->subject, question->subject_len},
                                      decision);
    if (question->target)
        (void)dx__autohand_rules_remember(question->agent->rules, question->tool,
                                          dx_str(question->target), decision);
    return is_yes(decision) ? DX__ANSWER_ALLOWED : DX__ANSWER_DENIED;
}

bool dx__autohand_question_answer(dx_autohand_agent *agent, yyjson_val *params) {
    struct dx__autohand_question *question =
        find(agent, dx_json_string(yyjson_obj_get(params, "requestId")));
    if (!question)
        return false;
    question->answer = take(question, params);
    question->settled = true;
    /* Not from here: the answer to this message goes out before what follows from it. */
    dx_timer_set(question->timer, 0);
    return true;
}
