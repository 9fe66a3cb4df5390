/* Questions to the manager while a job runs. */
#include "systems/finecode/er_parts.h"

static dx__finecode_er_question *question_new(dx_finecode_job *job) {
    dx_finecode_er *er = job->run->er;
    dx__finecode_er_question *question = dx__malloc(&er->alloc, sizeof *question);
    if (!question)
        return NULL;
    *question = (dx__finecode_er_question){.er = er, .job = job, .next = er->questions};
    if (question->next)
        question->next->prev = question;
    er->questions = question;
    dx__finecode_er_hold(er);
    return question;
}

static void question_free(dx__finecode_er_question *question) {
    dx_finecode_er *er = question->er;
    *(question->prev ? &question->prev->next : &er->questions) = question->next;
    if (question->next)
        question->next->prev = question->prev;
    dx__finecode_er_sum_done(&question->sum);
    dx__free(&er->alloc, question);
    dx__finecode_er_release(er);
}

/* The end of a question; it is freed. */
static void deliver(dx__finecode_er_question *question, const dx_event *event) {
    dx_finecode_job *job = question->job;
    dx_finecode_on_answer on_answer = question->on_answer;
    void *user = question->user;
    question->job = NULL;
    dx_finecode_er *er = question->er;
    dx__finecode_er_hold(er);
    question_free(question);
    if (job) {
        dx__finecode_er_job_enter(job);
        if (on_answer && !job->ended)
            on_answer(job, event, user);
        dx__finecode_er_job_leave(job);
    }
    dx__finecode_er_release(er);
}

/* A result that is null because it came by $/progress: the answer with it in its place. */
static dx_status collect(const dx__finecode_er_question *question, const dx_event *event,
                         yyjson_doc **ret_doc) {
    const dx_allocator *alloc = &question->er->alloc;
    dx__finecode_er_out out;
    dx__finecode_er_out_init(&out, alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "returnCode");
    dx__finecode_er_out_value(&out, yyjson_obj_get(event->value, "returnCode"));
    dx__finecode_er_out_key(&out, "result");
    if (question->sum.value)
        dx__finecode_er_out_json(&out, dx_json_built(question->sum.value));
    else
        dx__finecode_er_out_word(&out, "{}");
    dx__finecode_er_out_close(&out, '}');
    dx_status status = out.status;
    if (status == DX_OK)
        status = dx__finecode_doc_of_json(alloc, dx_json_checked(dx__finecode_er_out_text(&out)),
                                          ret_doc);
    dx__finecode_er_out_done(&out);
    return status;
}

/* A configuration that came as text, as an object. */
static dx_status read_config(const dx__finecode_er_question *question, const dx_event *event,
                             yyjson_doc **ret_doc) {
    const dx_allocator *alloc = &question->er->alloc;
    yyjson_doc *config = NULL;
    dx__finecode_er_out out;
    dx_status status =
        dx__finecode_doc_of_text(alloc, dx__finecode_string(event->value, "config"), &config);
    dx__finecode_er_out_init(&out, alloc);
    dx__finecode_er_out_open(&out, '{');
    dx__finecode_er_out_key(&out, "config");
    dx__finecode_er_out_value(&out, yyjson_doc_get_root(config));
    dx__finecode_er_out_close(&out, '}');
    if (status == DX_OK)
        status = out.status;
    if (status == DX_OK)
        status = dx__finecode_doc_of_text(alloc, dx__finecode_er_out_text(&out), ret_doc);
    dx__finecode_er_out_done(&out);
    yyjson_doc_free(config);
    return status;
}

/* What a result is in the form that jobs know: DX_OK with *ret_doc NULL if it is in that form. */
static dx_status bring_into_form(const dx__finecode_er_question *question, const dx_event *event,
                                 yyjson_doc **ret_doc) {
    if (event->outcome != DX_OUTCOME_RESULT)
        return DX_OK;
    if (question->collects && yyjson_is_null(yyjson_obj_get(event->value, "result")))
        return collect(question, event, ret_doc);
    if (question->is_config && yyjson_is_str(yyjson_obj_get(event->value, "config")))
        return read_config(question, event, ret_doc);
    return DX_OK;
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx__finecode_er_question *question = user;
    yyjson_doc *doc = NULL;
    dx_event changed = *event;
    question->call = 0;
    dx_status status = bring_into_form(question, event, &doc);
    if (status != DX_OK) {
        changed.outcome = DX_OUTCOME_INVALID;
        changed.error = (dx_error){.fault = DX_FAULT_RESULT_FIT,
                                   .phrase = "the received configuration is not JSON"};
        if (status == DX_ERR_NOMEM)
            changed.error = (dx_error){.fault = DX_FAULT_SYSTEM, .phrase = "out of memory"};
    } else if (doc) {
        changed.value = yyjson_doc_get_root(doc);
        changed.body = dx_str(NULL);
    }
    deliver(question, &changed);
    yyjson_doc_free(doc);
}

/* A result by format is one if all its members are formats; else it is the result. */
static yyjson_val *unwrap(yyjson_val *value) {
    static const char *const formats[] = {"json", "string", "styled_text_json"};
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
        bool is_format = false;
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
            is_format = is_format || yyjson_equals_str(name, formats[i]);
        if (!is_format)
            return value;
    }
    yyjson_val *json = yyjson_obj_get(value, "json");
    return yyjson_is_obj(json) ? json : value;
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx__finecode_er_question *question = user;
    const dx_allocator *alloc = &question->er->alloc;
    yyjson_doc *doc = NULL;
    yyjson_val *value = yyjson_obj_get(event->value, "value");
    if (!question->collects || !yyjson_is_str(value))
        return;
    dx_json text = dx_json_text(yyjson_get_str(value), yyjson_get_len(value));
    dx_status status = dx__finecode_doc_of_json(alloc, text, &doc);
    yyjson_val *result = unwrap(yyjson_doc_get_root(doc));
    if (status == DX_OK && yyjson_is_obj(result))
        status = dx__finecode_er_sum_add(alloc, &question->sum, result,
                                         dx__finecode_er_rules(question->kind));
    if (status != DX_OK)
        dx__finecode_er_log_str(question->er, "WARNING",
                                "lost a partial result: ", dx_str(dx_status_name(status)));
    yyjson_doc_free(doc);
}

/* One that asks for partial results of a run gets their sum. */
static void prepare(dx__finecode_er_question *question, const char *method, dx_text params,
                    dx_call_options *options) {
    bool runs = strncmp(method, "finecode/runAction", 18) == 0;
    dx_text token = dx_rpc_member(params, dx_str("partialResultToken"));
    options->user = question;
    options->timeout_ms = runs ? DX_NEVER : question->er->config.ask_ms;
    options->total_ms = DX_NEVER;
    question->is_config = strcmp(method, "projects/getRawConfig") == 0;
    if (!token.at || dx_text_is(token, "null"))
        return;
    char room[512];
    dx_text source = dx_rpc_member(params, dx_str("actionSource"));
    options->token = token;
    question->collects = true;
    if (source.len > 1 && source.len < sizeof room && dx_rpc_string(source, room, &source) == DX_OK)
        question->kind = dx__finecode_er_resolve(question->er, source);
}

dx_status dx_finecode_job_ask(dx_finecode_job *job, const char *method, dx_json params,
                              dx_finecode_on_answer on_answer, void *user) {
    dx_finecode_er *er = job->run->er;
    dx_buf text;
    if (!er->link || er->leaving)
        return DX_CLOSED;
    if (job->ended || job->cancelled)
        return DX_GONE;
    dx__finecode_er_question *question = question_new(job);
    if (!question)
        return DX_ERR_NOMEM;
    question->on_answer = on_answer;
    question->user = user;
    dx_buf_init(&text, SIZE_MAX / 4, &er->alloc);
    dx_status status = dx_json_write(&text, params);
    if (status == DX_OK) {
        dx_link_call_options options = {.on_done = on_done, .on_progress = on_progress};
        /* By their program runners say {} where there are no params, and only managers null. */
        dx_text written = text.len ? (dx_text){text.data, text.len} : dx_str("{}");
        prepare(question, method, written, &options.peer);
        status = dx_link_call(er->link, dx_str(method), dx_json_checked(written), &options,
                              &question->call);
    }
    dx_buf_done(&text);
    if (status != DX_OK)
        question_free(question);
    return status;
}

void dx__finecode_er_questions_cancel(dx_finecode_job *job) {
    dx_finecode_er *er = job->run->er;
    for (dx__finecode_er_question *question = er->questions; question; question = question->next)
        if (question->job == job && er->link && question->call)
            (void)dx_link_cancel(er->link, question->call, dx_str("the run was cancelled"));
}

void dx__finecode_er_questions_drop(dx_finecode_job *job) {
    dx__finecode_er_questions_cancel(job);
    for (dx__finecode_er_question *question = job->run->er->questions; question;
         question = question->next)
        if (question->job == job)
            question->job = NULL;
}

void dx__finecode_er_questions_lost(dx_finecode_er *er) {
    dx_event event = {.kind = DX_EVENT_DONE,
                      .outcome = DX_OUTCOME_LOST,
                      .error = {.fault = DX_FAULT_ENDED, .phrase = "the runner has exited"}};
    dx__finecode_er_hold(er);
    while (er->questions)
        deliver(er->questions, &event);
    dx__finecode_er_release(er);
}
