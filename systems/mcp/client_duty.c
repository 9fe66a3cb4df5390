/* Tasks of the server (2025-11-25): a question that it does not wait for, but asks about. */
#include "systems/mcp/client_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* How often it should be asked about, how long it is kept at most, and how many there may be. */
enum { POLL_MS = 500, TTL_MAX = 3600 * 1000, DUTIES_MAX = 1000 };

static void now(char text[32]) {
    struct timespec clock = {0, 0};
    struct tm parts = {0};
    clock_gettime(CLOCK_REALTIME, &clock);
    gmtime_r(&clock.tv_sec, &parts);
    size_t len = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, 32 - len, ".%03dZ", (int)(clock.tv_nsec / 1000000 % 1000));
}

/* A name that nobody else can guess. */
static void name(dx_mcp_client *client, char id[40]) {
    unsigned char random[12] = {0};
    size_t len = (size_t)snprintf(id, 40, "task-%x-", (unsigned)++client->last_duty);
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        memset(random, 0, sizeof random);
    for (size_t i = 0; i < sizeof random && len + 3 < 40; i++)
        len += (size_t)snprintf(id + len, 40 - len, "%02x", random[i]);
}

/* Its end in memory. */

static void free_waits(dx__mcp_client_duty *duty) {
    while (duty->waits) {
        dx__mcp_client_wait *wait = duty->waits;
        duty->waits = wait->next;
        dx_event_free(wait->event);
        dx__free(&duty->client->alloc, wait);
    }
}

static void free_duty(dx__mcp_client_duty *duty) {
    dx_mcp_client *client = duty->client;
    *(duty->prev ? &duty->prev->next : &client->duties) = duty->next;
    *(duty->next ? &duty->next->prev : &client->duties_last) = duty->prev;
    client->duties_count--;
    if (duty->question)
        duty->question->duty = NULL;
    free_waits(duty);
    dx_timer_free(duty->timer);
    dx_buf_done(&duty->result);
    dx__free(&client->alloc, duty);
}

void dx__mcp_client_duties_free(dx_mcp_client *client) {
    while (client->duties)
        free_duty(client->duties);
}

/* What is said of it. */

static bool write_state(yyjson_mut_doc *doc, yyjson_mut_val *to, const dx__mcp_client_duty *duty) {
    return yyjson_mut_obj_add_str(doc, to, "taskId", duty->id) &&
           yyjson_mut_obj_add_str(doc, to, "status", duty->status) &&
           yyjson_mut_obj_add_str(doc, to, "createdAt", duty->created) &&
           yyjson_mut_obj_add_str(doc, to, "lastUpdatedAt", duty->updated) &&
           yyjson_mut_obj_add_uint(doc, to, "ttl", duty->ttl) &&
           yyjson_mut_obj_add_int(doc, to, "pollInterval", POLL_MS);
}

/* {"task":{…}} if `inside` is "task", {…} if it is NULL. NULL without memory. */
static yyjson_mut_doc *state_of(const dx__mcp_client_duty *duty, const char *inside) {
    yyjson_alc alc = dx__mcp_client_alc(duty->client);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *to = root && inside ? yyjson_mut_obj_add_obj(doc, root, inside) : root;
    if (to && write_state(doc, to, duty)) {
        yyjson_mut_doc_set_root(doc, root);
        return doc;
    }
    yyjson_mut_doc_free(doc);
    return NULL;
}

static dx_status reply(dx_link *link, dx_request request, yyjson_mut_doc *doc) {
    dx_status status =
        doc ? dx_link_reply(link, request, dx_json_built(yyjson_mut_doc_get_root(doc)))
            : DX_ERR_NOMEM;
    yyjson_mut_doc_free(doc);
    return status;
}

static void refuse(dx_link *link, const dx_event *event, int64_t code, const char *message) {
    (void)dx_link_refuse(link, event->request, code, dx_str(message), dx_json_none());
}

/* The result says which task it belongs to. */
static dx_status reply_result(const dx__mcp_client_duty *duty, dx_link *link, dx_request request) {
    yyjson_mut_doc *doc = NULL;
    dx_text text = {duty->result.data, duty->result.len};
    if (strcmp(duty->status, "cancelled") == 0)
        return dx_link_refuse(link, request, DX_CODE_PARAMS, dx_str("the task was cancelled"),
                              dx_json_none());
    if (duty->failed)
        return dx_link_refuse(link, request, duty->code, dx_str(duty->message), dx_json_none());
    dx_status status = dx__mcp_client_params(duty->client, dx_json_checked(text), &doc);
    if (status != DX_OK)
        return status;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_get(root, "_meta");
    if (!meta)
        meta = yyjson_mut_obj_add_obj(doc, root, "_meta");
    yyjson_mut_val *task =
        meta ? yyjson_mut_obj_add_obj(doc, meta, "io.modelcontextprotocol/related-task") : NULL;
    if (!task || !yyjson_mut_obj_add_str(doc, task, "taskId", duty->id)) {
        yyjson_mut_doc_free(doc);
        return DX_ERR_NOMEM;
    }
    return reply(link, request, doc);
}

/* Its beginning. */

bool dx__mcp_client_duty_wanted(const dx_mcp_client *client, const dx_event *event) {
    return !client->config.no_tasks && !client->modern && client->revision == DX__MCP_2025_11_25 &&
           yyjson_is_obj(yyjson_obj_get(event->value, "task"));
}

static void on_ttl(dx_timer *timer, void *user) {
    dx__mcp_client_duty *duty = user;
    dx_mcp_client *client = duty->client;
    (void)timer;
    dx__mcp_client_enter(client);
    if (!client->freed) {
        dx_mcp_question *question = duty->question;
        free_duty(duty);
        if (question)
            dx__mcp_client_question_gone(question);
    }
    dx__mcp_client_leave(client);
}

static bool is_over(const dx__mcp_client_duty *duty) {
    return strcmp(duty->status, "working") != 0;
}

/* There is room for one more, if one that has ended can be forgotten. */
static bool make_room(dx_mcp_client *client) {
    dx__mcp_client_duty *duty = client->duties;
    if (client->duties_count < DUTIES_MAX)
        return true;
    while (duty && !is_over(duty))
        duty = duty->next;
    if (duty)
        free_duty(duty);
    return duty;
}

static dx_status make(dx_mcp_client *client, yyjson_val *task, dx__mcp_client_duty **ret_duty) {
    yyjson_val *ttl = yyjson_obj_get(task, "ttl");
    if (!make_room(client))
        return DX_BUSY;
    dx__mcp_client_duty *duty = dx__malloc(&client->alloc, sizeof *duty);
    if (!duty)
        return DX_ERR_NOMEM;
    *duty = (dx__mcp_client_duty){.client = client, .status = "working", .ttl = TTL_MAX};
    if (yyjson_is_uint(ttl) && yyjson_get_uint(ttl) < TTL_MAX)
        duty->ttl = yyjson_get_uint(ttl);
    dx__mcp_client_buf(client, &duty->result);
    name(client, duty->id);
    now(duty->created);
    memcpy(duty->updated, duty->created, sizeof duty->updated);
    if (dx_timer_new(client->loop, on_ttl, duty, &duty->timer) != DX_OK) {
        dx__free(&client->alloc, duty);
        return DX_ERR_NOMEM;
    }
    dx_timer_set(duty->timer, duty->ttl);
    duty->prev = client->duties_last;
    *(duty->prev ? &duty->prev->next : &client->duties) = duty;
    client->duties_last = duty;
    client->duties_count++;
    *ret_duty = duty;
    return DX_OK;
}

dx_status dx__mcp_client_duty_new(dx_mcp_client *client, dx_link *link, const dx_event *event,
                                  bool is_sampling) {
    dx__mcp_client_duty *duty = NULL;
    dx_mcp_question *question = NULL;
    dx_request request = event->request;
    dx_status status = make(client, yyjson_obj_get(event->value, "task"), &duty);
    if (status != DX_OK)
        return status;
    status = dx__mcp_client_question_new(client, is_sampling, NULL, &question);
    if (status == DX_OK)
        status = reply(link, request, state_of(duty, "task"));
    if (status == DX_OK)
        status = dx_link_keep(link, &question->event);
    if (status != DX_OK) {
        if (question)
            dx__mcp_client_question_free(question);
        free_duty(duty);
        return status;
    }
    question->params = question->event->value;
    question->duty = duty;
    duty->question = question;
    dx__mcp_client_question_ask(question);
    return DX_OK;
}

/* Its end. */

static void tell(const dx__mcp_client_duty *duty, dx_link *link) {
    yyjson_mut_doc *doc = state_of(duty, NULL);
    if (doc)
        (void)dx_link_notify(link, dx_str("notifications/tasks/status"),
                             dx_json_built(yyjson_mut_doc_get_root(doc)));
    yyjson_mut_doc_free(doc);
}

/* Who is not answered here for lack of memory gets an internal error when the wait is given back.
 */
void dx__mcp_client_duty_end(dx__mcp_client_duty *duty, const char *status) {
    dx_link *link = dx__mcp_client_link(duty->client);
    duty->status = status;
    now(duty->updated);
    if (link)
        tell(duty, link);
    for (const dx__mcp_client_wait *wait = duty->waits; link && wait; wait = wait->next)
        (void)reply_result(duty, link, wait->event->request);
    free_waits(duty);
}

/* Serving. */

static dx__mcp_client_duty *find(const dx_mcp_client *client, yyjson_val *params) {
    dx_text id = dx__mcp_client_string(params, "taskId");
    dx__mcp_client_duty *duty = client->duties;
    while (duty && !dx_text_is(id, duty->id))
        duty = duty->next;
    return duty;
}

static dx_status wait_for(dx__mcp_client_duty *duty, dx_link *link) {
    dx__mcp_client_wait *wait = dx__malloc(&duty->client->alloc, sizeof *wait);
    if (!wait)
        return DX_ERR_NOMEM;
    *wait = (dx__mcp_client_wait){.next = duty->waits};
    dx_status status = dx_link_keep(link, &wait->event);
    if (status == DX_OK)
        duty->waits = wait;
    else
        dx__free(&duty->client->alloc, wait);
    return status;
}

static dx_status cancel(dx__mcp_client_duty *duty, dx_link *link, const dx_event *event) {
    dx_mcp_client *client = duty->client;
    if (is_over(duty)) {
        refuse(link, event, DX_CODE_PARAMS, "the task has already ended");
        return DX_OK;
    }
    dx_mcp_question *question = duty->question;
    dx_request request = event->request;
    dx__mcp_client_duty_end(duty, "cancelled");
    dx_status status = reply(link, request, state_of(duty, NULL));
    if (question && !client->freed)
        dx__mcp_client_question_gone(question);
    return status;
}

static dx_status list(dx_mcp_client *client, dx_link *link, const dx_event *event) {
    yyjson_alc alc = dx__mcp_client_alc(client);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *tasks = root ? yyjson_mut_obj_add_arr(doc, root, "tasks") : NULL;
    bool done = tasks;
    for (const dx__mcp_client_duty *duty = client->duties; done && duty; duty = duty->next) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, tasks);
        done = one && write_state(doc, one, duty);
    }
    if (doc)
        yyjson_mut_doc_set_root(doc, root);
    if (done)
        return reply(link, event->request, doc);
    yyjson_mut_doc_free(doc);
    return DX_ERR_NOMEM;
}

static dx_status serve(dx__mcp_client_duty *duty, dx_link *link, const dx_event *event) {
    if (dx_text_is(event->method, "tasks/get"))
        return reply(link, event->request, state_of(duty, NULL));
    if (dx_text_is(event->method, "tasks/cancel"))
        return cancel(duty, link, event);
    if (is_over(duty))
        return reply_result(duty, link, event->request);
    return wait_for(duty, link);
}

bool dx__mcp_client_duty_serve(dx_mcp_client *client, dx_link *link, const dx_event *event) {
    dx_status status = DX_OK;
    bool is_list = dx_text_is(event->method, "tasks/list");
    if (client->config.no_tasks || !(client->config.on_sampling || client->config.on_elicitation) ||
        !(is_list || dx_text_is(event->method, "tasks/get") ||
          dx_text_is(event->method, "tasks/result") || dx_text_is(event->method, "tasks/cancel")))
        return false;
    dx__mcp_client_duty *duty = is_list ? NULL : find(client, event->value);
    if (is_list)
        status = list(client, link, event);
    else if (!duty)
        refuse(link, event, DX_CODE_PARAMS, "unknown task");
    else
        status = serve(duty, link, event);
    if (status != DX_OK)
        refuse(link, event, DX_CODE_INTERNAL, "out of memory for the response");
    return true;
}

void dx__mcp_client_duty_forget_wait(dx_mcp_client *client, dx_request request) {
    for (dx__mcp_client_duty *duty = client->duties; duty; duty = duty->next)
        for (dx__mcp_client_wait **place = &duty->waits; *place; place = &(*place)->next) {
            dx__mcp_client_wait *wait = *place;
            if (wait->event->request != request)
                continue;
            *place = wait->next;
            dx_event_free(wait->event);
            dx__free(&client->alloc, wait);
            return;
        }
}
