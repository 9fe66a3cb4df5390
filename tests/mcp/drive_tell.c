/* What a driven client tells: events as lines. */
#include "tests/mcp/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

yyjson_mut_doc *event_new(const char *name) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "event", name);
    yyjson_mut_obj_add_real(doc, root, "at",
                            (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1000000);
    return doc;
}

void put(yyjson_mut_doc *doc, const char *name, yyjson_mut_val *value) {
    yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), name, value);
}

void put_text(yyjson_mut_doc *doc, const char *name, dx_text text) {
    if (text.at)
        put(doc, name, yyjson_mut_strncpy(doc, text.at, text.len));
}

void put_str(yyjson_mut_doc *doc, const char *name, const char *text) {
    put_text(doc, name, dx_str(text));
}

void put_int(yyjson_mut_doc *doc, const char *name, int64_t number) {
    put(doc, name, yyjson_mut_sint(doc, number));
}

void put_value(yyjson_mut_doc *doc, const char *name, yyjson_val *value) {
    if (value)
        put(doc, name, yyjson_val_mut_copy(doc, value));
}

void event_print(yyjson_mut_doc *doc) {
    size_t len = 0;
    char *text = yyjson_mut_write_opts(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL, &len, NULL);
    if (!text)
        abort();
    fwrite(text, 1, len, stdout);
    putchar('\n');
    fflush(stdout);
    free(text);
    yyjson_mut_doc_free(doc);
}

void print_status(const char *name, const char *tag, dx_status status) {
    yyjson_mut_doc *doc = event_new(name);
    put_str(doc, "tag", tag);
    put_str(doc, "status", dx_status_name(status));
    if (status == DX_MISFIT && driver.client)
        put_str(doc, "why", dx_mcp_client_why(driver.client));
    event_print(doc);
}

void free_client(void) {
    driver.client = dx_mcp_client_free(driver.client);
    event_print(event_new("freed"));
}

/* Who is in one of these callbacks may free the client, and everything must hold then. */
static void free_after(const char *event) {
    if (driver.client && strcmp(driver.free_in, event) == 0)
        free_client();
}

const char *kind_name(dx_mcp_kind kind) {
    static const char *const names[] = {NULL, "tools", "resources", "templates", "prompts"};
    return names[kind];
}

/* What the client tells. */

static void on_ready(dx_mcp_client *client, void *user) {
    (void)user;
    yyjson_mut_doc *doc = event_new("ready");
    put_str(doc, "revision", dx_mcp_client_revision(client));
    put(doc, "modern", yyjson_mut_bool(doc, dx_mcp_client_is_modern(client)));
    put_value(doc, "server", dx_mcp_client_server(client));
    put_value(doc, "capabilities", dx_mcp_client_capabilities(client));
    put_text(doc, "instructions", dx_mcp_client_instructions(client));
    event_print(doc);
    free_after("ready");
}

static void on_closed(dx_mcp_client *client, const dx_mcp_end *end, void *user) {
    (void)user;
    yyjson_mut_doc *doc = event_new("closed");
    put_int(doc, "by_us", end->by_us);
    put_int(doc, "was_ready", end->was_ready);
    put_int(doc, "no_revision", end->no_revision);
    put_str(doc, "fault", dx_fault_name(end->error.fault));
    put_str(doc, "phrase", end->error.phrase);
    put_int(doc, "pending", (int64_t)dx_mcp_client_pending(client));
    if (end->gone) {
        put_int(doc, "code", end->gone->known ? end->gone->code : -1);
        put_int(doc, "signal", end->gone->signal);
        put_int(doc, "escaped", end->gone->escaped);
        put_text(doc, "errors", end->gone->errors);
    }
    event_print(doc);
    free_after("closed");
}

void on_changed(dx_mcp_client *client, dx_mcp_kind kind, void *user) {
    (void)client, (void)user;
    yyjson_mut_doc *doc = event_new("changed");
    put_str(doc, "kind", kind_name(kind));
    event_print(doc);
    free_after("changed");
}

static void on_updated(dx_mcp_client *client, dx_text uri, void *user) {
    (void)client, (void)user;
    yyjson_mut_doc *doc = event_new("updated");
    put_text(doc, "uri", uri);
    event_print(doc);
    free_after("updated");
}

static void on_log(dx_mcp_client *client, dx_mcp_level level, dx_text logger, yyjson_val *data,
                   void *user) {
    (void)client, (void)user;
    yyjson_mut_doc *doc = event_new("log");
    put_str(doc, "level", dx_mcp_level_name(level));
    put_text(doc, "logger", logger);
    put_value(doc, "data", data);
    event_print(doc);
    free_after("log");
}

static void on_task(dx_mcp_client *client, yyjson_val *task, void *user) {
    (void)client, (void)user;
    yyjson_mut_doc *doc = event_new("task");
    put_value(doc, "task", task);
    event_print(doc);
    free_after("task");
}

static void on_question(const char *kind, dx_mcp_question *question, yyjson_val *params) {
    yyjson_mut_doc *doc = event_new("question");
    put_str(doc, "kind", kind);
    put_value(doc, "params", params);
    put_int(doc, "number", (int64_t)driver.questions_len);
    if (driver.questions_len < WORDS_MAX)
        driver.questions[driver.questions_len++] = question;
    event_print(doc);
    free_after("question");
}

void on_sampling(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params, void *user) {
    (void)client, (void)user;
    on_question("sampling", question, params);
}

void on_elicitation(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                    void *user) {
    (void)client, (void)user;
    on_question("elicitation", question, params);
}

static void on_question_gone(dx_mcp_client *client, dx_mcp_question *question, void *user) {
    (void)client, (void)user;
    for (size_t i = 0; i < driver.questions_len; i++)
        if (driver.questions[i] == question) {
            driver.questions[i] = NULL;
            yyjson_mut_doc *doc = event_new("question_gone");
            put_int(doc, "number", (int64_t)i);
            event_print(doc);
            free_after("question_gone");
            return;
        }
}

static void on_notification(dx_mcp_client *client, dx_text method, yyjson_val *params, void *user) {
    (void)client, (void)user;
    yyjson_mut_doc *doc = event_new("notification");
    put_text(doc, "method", method);
    put_value(doc, "params", params);
    event_print(doc);
    free_after("notification");
}

static void on_violation(dx_mcp_client *client, const dx_event *event, void *user) {
    (void)client, (void)user;
    yyjson_mut_doc *doc = event_new("violation");
    if (event->kind == DX_EVENT_STRAY)
        put_text(doc, "text", event->message);
    put_str(doc, "fault", dx_fault_name(event->error.fault));
    put_str(doc, "phrase", event->error.phrase);
    event_print(doc);
    free_after("violation");
}

static void on_errors(dx_mcp_client *client, dx_text line, void *user) {
    (void)client, (void)user;
    yyjson_mut_doc *doc = event_new("errors");
    put_text(doc, "line", line);
    event_print(doc);
    free_after("errors");
}

static void on_traffic(dx_mcp_client *client, int out, dx_text text, void *user) {
    (void)client, (void)user;
    if (!driver.shows_traffic)
        return;
    yyjson_mut_doc *doc = event_new("traffic");
    put(doc, "out", yyjson_mut_bool(doc, out));
    put_text(doc, "text", text);
    event_print(doc);
    free_after("traffic");
}

static const char *outcome_name(dx_outcome outcome) {
    static const char *const names[] = {"none",      "result", "error",  "timed out",
                                        "cancelled", "lost",   "invalid"};
    return names[outcome];
}

void on_answer(dx_mcp_client *client, dx_mcp_call call, const dx_event *event, void *user) {
    struct call *mine = user;
    mine->answers++;
    yyjson_mut_doc *doc = event_new("answer");
    put_str(doc, "tag", mine->tag);
    put_str(doc, "outcome", outcome_name(event->outcome));
    put(doc, "same", yyjson_mut_bool(doc, !mine->call || mine->call == call));
    put_int(doc, "answers", mine->answers);
    put_int(doc, "pending", (int64_t)dx_mcp_client_pending(client));
    if (event->outcome == DX_OUTCOME_ERROR)
        put_int(doc, "code", event->code);
    put_str(doc, "fault", dx_fault_name(event->error.fault));
    put_str(doc, "phrase", event->error.phrase);
    put_value(doc, "value", event->value);
    event_print(doc);
    free_after("answer");
}

void on_progress(dx_mcp_client *client, dx_mcp_call call, const dx_mcp_progress *progress,
                 void *user) {
    (void)client, (void)call;
    struct call *mine = user;
    yyjson_mut_doc *doc = event_new("progress");
    put_str(doc, "tag", mine->tag);
    put(doc, "progress", yyjson_mut_real(doc, progress->progress));
    if (progress->has_total)
        put(doc, "total", yyjson_mut_real(doc, progress->total));
    put_text(doc, "message", progress->message);
    event_print(doc);
    free_after("progress");
}

void set_callbacks(dx_mcp_client_config *config) {
    config->on_ready = on_ready;
    config->on_closed = on_closed;
    config->on_updated = on_updated;
    config->on_log = on_log;
    config->on_task = on_task;
    config->on_question_gone = on_question_gone;
    config->on_notification = on_notification;
    config->on_violation = on_violation;
    config->on_errors = on_errors;
    config->on_traffic = on_traffic;
}
