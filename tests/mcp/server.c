/*
 * A server of ours with tools that behave as the rows of tests/mcp need them: slow ones, one that
 * never answers, one that forgets to, one that prints to the standard output, …
 *
 *     mcp_server [early] [legacy] [page=N] [unsubscribed]
 *
 * What handlers see that the wire does not show goes to the standard error, a line each.
 */
#include <duplex/mcp-server.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64 };

static dx_mcp_server *the_server;
static char names[NAMES_MAX][64]; /* of tools that were added while it runs */
static size_t names_len;

static int64_t number_of(yyjson_val *arguments, const char *name, int64_t otherwise) {
    yyjson_val *value = yyjson_obj_get(arguments, name);
    return value ? (int64_t)yyjson_get_num(value) : otherwise;
}

static dx_text text_of(yyjson_val *arguments, const char *name) {
    yyjson_val *value = yyjson_obj_get(arguments, name);
    return (dx_text){yyjson_get_str(value), yyjson_get_len(value)};
}

static void tell(const char *what, const char *name) {
    fprintf(stderr, "%s %s\n", what, name ? name : "");
    fflush(stderr);
}

static void echo(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_mcp_work_text(work, text_of(arguments, "text"));
    dx_mcp_work_done(work);
}

/* Work that goes on after its handler. */

struct job {
    dx_mcp_work *work;
    dx_timer *timer;
    char name[64];
    char said[64];
    int steps, step;
    int64_t ms;
    int is_deaf; /* it hears that it was cancelled, and goes on all the same */
};

static void job_end(struct job *job) {
    dx_timer_free(job->timer);
    free(job);
}

static void job_on_time(dx_timer *timer, void *user) {
    struct job *job = user;
    if (job->step < job->steps) {
        dx_mcp_work_progress(job->work, ++job->step, job->steps, dx_str("step"));
        dx_timer_set(timer, (uint64_t)job->ms);
        return;
    }
    if (job->is_deaf)
        tell("finished", job->name);
    dx_mcp_work_text(job->work, dx_str(job->said));
    dx_mcp_work_progress(job->work, 1e9, -1, dx_str("the last before the result"));
    dx_mcp_work_done(job->work);
    job_end(job);
}

static void job_on_cancel(dx_mcp_work *work, void *user) {
    struct job *job = user;
    tell("cancelled", job->name);
    if (job->is_deaf)
        return;
    dx_mcp_work_done(work);
    job_end(job);
}

static void job_begin(dx_mcp_work *work, yyjson_val *arguments, int is_deaf) {
    struct job *job = calloc(1, sizeof *job);
    dx_text name = text_of(arguments, "name");
    if (!job)
        abort();
    job->work = work;
    job->is_deaf = is_deaf;
    job->steps = (int)number_of(arguments, "steps", 0);
    job->ms = number_of(arguments, "ms", 0);
    snprintf(job->name, sizeof job->name, "%.*s", (int)name.len, name.at ? name.at : "");
    yyjson_val *number = yyjson_obj_get(arguments, "number");
    if (number)
        snprintf(job->said, sizeof job->said, "%lld", (long long)yyjson_get_sint(number));
    else
        snprintf(job->said, sizeof job->said, "slept");
    if (dx_timer_new(dx_mcp_work_loop(work), job_on_time, job, &job->timer) != DX_OK)
        abort();
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, job_on_cancel, job);
    if (name.len)
        tell("began", job->name);
    dx_timer_set(job->timer, (uint64_t)(job->steps ? 0 : job->ms));
}

static void sleeps(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    job_begin(work, arguments, user != NULL);
}

/* Its number, after a time that has nothing to do with it. */
static void shuffled(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    char text[32];
    snprintf(text, sizeof text, "{\"number\":%lld,\"ms\":%d}",
             (long long)number_of(arguments, "number", 0), (int)(seed % 100));
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    job_begin(work, yyjson_doc_get_root(doc), 0);
    yyjson_doc_free(doc);
}

static void never_on_cancel(dx_mcp_work *work, void *user) {
    (void)user;
    tell("cancelled", "never");
    dx_mcp_work_done(work);
}

static void never(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments, (void)user;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, never_on_cancel, NULL);
    tell("began", "never");
}

/* What handlers do wrong, or in an odd way. */

static void forgets(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)work, (void)arguments, (void)user;
}

static void prints(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments, (void)user;
    printf("{\"jsonrpc\":\"2.0\",\"method\":\"stray\"}\nhello\n");
    fflush(stdout);
    dx_mcp_work_text(work, dx_str("printed"));
    dx_mcp_work_done(work);
}

static void garbles(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments, (void)user;
    dx_mcp_work_text(work, dx_str("\xff\xfe"));
    dx_mcp_work_done(work);
}

static void fails(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments, (void)user;
    dx_mcp_work_fail(work, dx_str("it did not work"));
}

/* Progress that goes backwards, stands still, and is no number. */
static void wavers(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments, (void)user;
    static const double steps[] = {1, 1, 0.5, 2, 1.5, 2.25};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        dx_mcp_work_progress(work, steps[i], -1, dx_str(NULL));
    dx_mcp_work_text(work, dx_str("done"));
    dx_mcp_work_done(work);
}

static void big(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    size_t size = (size_t)number_of(arguments, "size", 0);
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memset(text, 'x', size);
    dx_mcp_work_text(work, (dx_text){text, size});
    dx_mcp_work_done(work);
    free(text);
}

static void sum(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    char text[64];
    int64_t value = number_of(arguments, "a", 0) + number_of(arguments, "b", 0);
    /* With a user the result breaks its schema. */
    int len = snprintf(text, sizeof text, user ? "{\"sum\":\"%lld\"}" : "{\"sum\":%lld}",
                       (long long)value);
    dx_mcp_work_structured(work, dx_json_text(text, (size_t)len));
    dx_mcp_work_done(work);
}

static void logs(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments, (void)user;
    for (dx_mcp_level level = DX_MCP_DEBUG; level <= DX_MCP_EMERGENCY; level++)
        dx_mcp_work_log(work, level, dx_str(level % 2 ? "fixture" : NULL),
                        dx_json_text("{\"of\":\"logs\"}", 13));
    dx_mcp_work_text(work, dx_str("logged"));
    dx_mcp_work_done(work);
}

static void touches(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_mcp_server_updated(the_server, text_of(arguments, "uri"));
    dx_mcp_work_text(work, dx_str("touched"));
    dx_mcp_work_done(work);
}

static void registers(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_text name = text_of(arguments, "name");
    if (names_len == NAMES_MAX)
        abort();
    snprintf(names[names_len], sizeof *names, "%.*s", (int)name.len, name.at);
    dx_mcp_tool tool = {.name = names[names_len++], .call = fails};
    dx_misfit why;
    if (dx_mcp_server_add_tool(the_server, &tool, &why) != DX_OK) {
        dx_mcp_work_fail(work, dx_str(why.phrase));
        return;
    }
    dx_mcp_work_text(work, dx_str("added"));
    dx_mcp_work_done(work);
}

static void removes(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_status status = dx_mcp_server_remove(the_server, DX_MCP_TOOLS, text_of(arguments, "name"));
    dx_mcp_work_text(work, dx_str(dx_status_name(status)));
    dx_mcp_work_done(work);
}

/* Questions to the client. */

static void on_reply(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                     void *user) {
    (void)user;
    char text[256];
    if (!value) {
        snprintf(text, sizeof text, "%lld %.*s", (long long)code, (int)error.len,
                 error.at ? error.at : "");
        dx_mcp_work_fail(work, dx_str(text));
        return;
    }
    size_t len = 0;
    char *json = yyjson_val_write(value, 0, &len);
    dx_mcp_work_text(work, (dx_text){json, len});
    dx_mcp_work_done(work);
    free(json);
}

static void asks(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    static const char sampling[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"?\"}}],"
        "\"maxTokens\":10}";
    static const char form[] =
        "{\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"
        "{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}";
    (void)arguments;
    const char *method = user;
    dx_json params =
        strcmp(method, "sampling/createMessage") == 0 ? dx_json_text(sampling, sizeof sampling - 1)
        : strcmp(method, "elicitation/create") == 0   ? dx_json_text(form, sizeof form - 1)
                                                      : dx_json_none();
    dx_mcp_work_set_state(work, dx_str("state of the handler"));
    dx_mcp_work_ask(work, "first", method, params, on_reply, NULL);
}

/* Resources and prompts. */

static void reads(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    (void)uri, (void)user;
    yyjson_val *id = yyjson_obj_get(variables, "id");
    dx_mcp_work_text(work, id ? (dx_text){yyjson_get_str(id), yyjson_get_len(id)}
                              : dx_str("what it holds"));
    dx_mcp_work_done(work);
}

static void completes(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                      void *user) {
    (void)argument, (void)context, (void)user;
    for (int i = 0; i < 250; i++) {
        char text[16];
        snprintf(text, sizeof text, "value-%03d", i);
        if (value.len <= strlen(text) && (!value.len || memcmp(text, value.at, value.len) == 0))
            dx_mcp_work_value(work, dx_str(text));
    }
    dx_mcp_work_done(work);
}

static void greets(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments, (void)user;
    dx_mcp_work_message(work, "user", dx_json_text("{\"type\":\"text\",\"text\":\"Hello\"}", 30));
    dx_mcp_work_done(work);
}

#define OBJECT(members) "{\"type\":\"object\",\"properties\":{" members "}"

static const dx_mcp_tool tools[] = {
    {.name = "echo",
     .description = "Says it again.",
     .input = OBJECT("\"text\":{\"type\":\"string\"}") ",\"required\":[\"text\"]}",
     .call = echo},
    {.name = "sleep", .input = OBJECT("\"ms\":{\"type\":\"integer\"}") "}", .call = sleeps},
    {.name = "deaf", .input = "{\"type\":\"object\"}", .call = sleeps, .user = (void *)"deaf"},
    {.name = "shuffled", .input = "{\"type\":\"object\"}", .call = shuffled},
    {.name = "task", .input = "{\"type\":\"object\"}", .task = DX_MCP_TASK_MAY, .call = sleeps},
    {.name = "never", .input = "{\"type\":\"object\"}", .call = never},
    {.name = "forget", .call = forgets},
    {.name = "print", .call = prints},
    {.name = "garble", .call = garbles},
    {.name = "fail", .call = fails},
    {.name = "waver", .call = wavers},
    {.name = "big", .input = "{\"type\":\"object\"}", .call = big},
    {.name = "sum",
     .input = OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}") "}",
     .output = OBJECT("\"sum\":{\"type\":\"integer\"}") ",\"required\":[\"sum\"]}",
     .call = sum},
    {.name = "wrong-sum",
     .input = "{\"type\":\"object\"}",
     .output = OBJECT("\"sum\":{\"type\":\"integer\"}") ",\"required\":[\"sum\"]}",
     .call = sum,
     .user = (void *)"wrong"},
    {.name = "log", .call = logs},
    {.name = "touch", .input = "{\"type\":\"object\"}", .call = touches},
    {.name = "register", .input = "{\"type\":\"object\"}", .call = registers},
    {.name = "remove", .input = "{\"type\":\"object\"}", .call = removes},
    {.name = "ask-roots", .call = asks, .user = (void *)"roots/list"},
    {.name = "ask-model", .call = asks, .user = (void *)"sampling/createMessage"},
    {.name = "ask-user", .call = asks, .user = (void *)"elicitation/create"},
};

static void must(dx_status status, const dx_misfit *why, const char *name) {
    if (status == DX_OK)
        return;
    fprintf(stderr, "%s: %s\n", name, why->phrase);
    exit(3);
}

static void declare(dx_mcp_server *server) {
    dx_misfit why = {0};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        must(dx_mcp_server_add_tool(server, &tools[i], &why), &why, tools[i].name);
    static const char *const uris[] = {"test://one", "test://two"};
    for (size_t i = 0; i < 2; i++) {
        dx_mcp_resource resource = {.uri = uris[i], .name = uris[i], .read = reads};
        must(dx_mcp_server_add_resource(server, &resource, &why), &why, uris[i]);
    }
    dx_mcp_resource template = {
        .uri = "test://item/{id}", .name = "item", .read = reads, .complete = completes};
    must(dx_mcp_server_add_template(server, &template, &why), &why, template.uri);
    dx_mcp_prompt prompt = {.name = "greet",
                            .arguments = "[{\"name\":\"who\",\"required\":true}]",
                            .get = greets,
                            .complete = completes};
    must(dx_mcp_server_add_prompt(server, &prompt, &why), &why, prompt.name);
}

static void on_violation(dx_mcp_session *session, const dx_event *event, void *user) {
    (void)session, (void)user;
    if (event->kind == DX_EVENT_STRAY)
        fprintf(stderr, "stray %.*s\n", (int)event->message.len, event->message.at);
    else
        tell("violation", event->error.phrase);
}

static void on_session_end(dx_mcp_session *session, const dx_error *why, void *user) {
    (void)session, (void)user;
    if (why->fault != DX_FAULT_NONE)
        tell("ended", why->phrase);
}

int main(int argc, char **argv) {
    dx_mcp_server_config config = dx_mcp_server_defaults("fixture", "1.0");
    dx_misfit why = {0};
    config.subscribe = 1;
    config.on_violation = on_violation;
    config.on_session_end = on_session_end;
    config.instructions = "Use with care.";
    for (int i = 1; i < argc; i++) {
        config.serve_early |= strcmp(argv[i], "early") == 0;
        config.legacy_only |= strcmp(argv[i], "legacy") == 0;
        config.subscribe &= strcmp(argv[i], "unsubscribed") != 0;
        if (strncmp(argv[i], "page=", 5) == 0)
            config.page = (size_t)atoi(argv[i] + 5);
        if (strncmp(argv[i], "max=", 4) == 0)
            config.message_max = (size_t)atoll(argv[i] + 4);
        if (strncmp(argv[i], "ask=", 4) == 0)
            config.ask_ms = (uint64_t)atoll(argv[i] + 4);
    }
    must(dx_mcp_server_new(&config, &the_server, &why), &why, "server");
    declare(the_server);
    return dx_mcp_serve(the_server);
}
