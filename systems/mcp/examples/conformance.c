/*
 * mcp-conformance: a server with one of everything, by the names that the protocol's conformance
 * suite looks for. It shows what a handler can do: content of every kind, logs, progress, questions
 * to the client, in both eras, and lists that change.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include <duplex/mcp-server.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One grey dot, and a millisecond of silence. */
#define PNG \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="
#define WAV "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
#define IMAGE "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define RESOURCE(uri, mime, text)                                                   \
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri "\",\"mimeType\":\"" mime \
    "\",\"text\":\"" text "\"}}"
#define FORM(message, properties, required)                                   \
    "{\"message\":\"" message                                                 \
    "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" properties \
    "},\"required\":[" required "]}}"
#define NAME_FORM(message) FORM(message, "\"name\":{\"type\":\"string\"}", "\"name\"")
#define OK_FORM FORM("Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\"")
#define SAMPLE(text, tokens) \
    "{\"messages\":[{\"role\":\"user\",\"content\":" TEXT(text) "}],\"maxTokens\":" tokens "}"

static dx_json json(const char *text) {
    return dx_json_text(text, strlen(text));
}

static dx_text value_text(yyjson_val *value) {
    return dx_json_string(value);
}

/* A JSON text made from others; NULL without memory. */
__attribute__((format(printf, 1, 2))) static char *print(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int len = vasprintf(&text, format, arguments);
    va_end(arguments);
    return len >= 0 ? text : NULL;
}

/* A string as JSON, with its quotes; NULL if it can't be written. */
static char *quote(dx_text text) {
    dx_buf buf;
    char *quoted = NULL;
    dx_buf_init(&buf, 1 << 20, NULL);
    if (dx_json_write_string(&buf, text) == DX_OK && dx_buf_append(&buf, "", 1) == DX_OK)
        quoted = strdup(buf.data);
    dx_buf_done(&buf);
    return quoted;
}

static void say_message(dx_mcp_work *work, const char *text) {
    char *quoted = quote(dx_str(text));
    char *content = quoted ? print("{\"type\":\"text\",\"text\":%s}", quoted) : NULL;
    dx_mcp_work_message(work, "user", json(content ? content : ""));
    free(content);
    free(quoted);
}

/* Tools that always say the same: up to three items of content. */

static const char *const simple_text[] = {TEXT("This is a simple text response for testing."),
                                          NULL};
static const char *const image_content[] = {IMAGE, NULL};
static const char *const audio_content[] = {
    "{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}", NULL};
static const char *const embedded_resource[] = {
    RESOURCE("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    NULL};
static const char *const mixed_content[] = {
    TEXT("Multiple content types test:"), IMAGE,
    RESOURCE("test://mixed-content-resource", "application/json",
             "{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}"),
    NULL};
static const char *const done_text[] = {TEXT("Done."), NULL};

static void say_fixed(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    for (const char *const *item = user; *item; item++)
        dx_mcp_work_content(work, json(*item));
    dx_mcp_work_done(work);
}

static void get_fixed(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    for (const char *const *content = user; *content; content++)
        dx_mcp_work_message(work, "user", json(*content));
    dx_mcp_work_done(work);
}

static void fail_always(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_fail(work, dx_str("This tool intentionally returns an error for testing"));
}

/* Tools that take a while: three steps, 50 ms apart, or ten in a time that is given. */

static const char log_steps[] = "log";
static const char slow_steps[] = "slow";

struct steps {
    dx_mcp_work *work;
    dx_timer *timer;
    const char *kind;
    int step;
    int last;
    uint64_t pause_ms;
};

static void steps_end(struct steps *steps) {
    dx_mcp_work *work = steps->work;
    dx_timer_free(steps->timer);
    free(steps);
    dx_mcp_work_done(work);
}

static void steps_on_time(dx_timer *timer, void *user) {
    static const char *const lines[] = {"\"Tool execution started\"", "\"Tool processing data\"",
                                        "\"Tool execution completed\""};
    struct steps *steps = user;
    if (steps->kind == log_steps)
        dx_mcp_work_log(steps->work, DX_MCP_INFO, dx_str("conformance"), json(lines[steps->step]));
    else
        dx_mcp_work_progress(steps->work, 100.0 * steps->step / steps->last, 100,
                             (dx_text){NULL, 0});
    if (steps->step++ < steps->last) {
        dx_timer_set(timer, steps->pause_ms);
        return;
    }
    dx_mcp_work_text(steps->work, dx_str("All is done."));
    steps_end(steps);
}

static void steps_on_cancel(dx_mcp_work *work, void *user) {
    (void)work;
    fputs("cancelled\n", stderr);
    steps_end(user);
}

static void take_steps(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    struct steps *steps = calloc(1, sizeof *steps);
    if (!steps ||
        dx_timer_new(dx_mcp_work_loop(work), steps_on_time, steps, &steps->timer) != DX_OK) {
        free(steps);
        dx_mcp_work_fail(work, dx_str("out of memory"));
        return;
    }
    steps->work = work;
    steps->kind = user;
    steps->last = user == slow_steps ? 10 : 2;
    steps->pause_ms =
        user == slow_steps ? yyjson_get_uint(yyjson_obj_get(arguments, "ms")) / 10 : 50;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, steps_on_cancel, steps);
    dx_timer_set(steps->timer, 0);
}

/* Questions to the client: a tool's stand in a row. What there is to remember between an answer and
 * the next question is where in the row it is, so nothing is lost when a call ends in between. */

struct question {
    const char *key;
    const char *method;
    const char *params;
    const char *reply; /* what stands before the answer */
    const char *state;
    int waits; /* for the answer to the one before it; otherwise they go out together */
};

#define ELICIT "elicitation/create"
#define SAMPLING "sampling/createMessage"
#define ONE_TO_THREE "\"enum\":[\"option1\",\"option2\",\"option3\"]"
#define TITLED(word)                                        \
    "[{\"const\":\"value1\",\"title\":\"First " word "\"}," \
    "{\"const\":\"value2\",\"title\":\"Second " word "\"}," \
    "{\"const\":\"value3\",\"title\":\"Third " word "\"}]"

static const struct question ask_defaults[] = {
    {"defaults", ELICIT,
     FORM("Please review and update the form fields with defaults",
          "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
          "\"age\":{\"type\":\"integer\",\"default\":30},"
          "\"score\":{\"type\":\"number\",\"default\":95.5},"
          "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
          "\"default\":\"active\"},"
          "\"verified\":{\"type\":\"boolean\",\"default\":true}",
          ""),
     "Elicitation completed: ", NULL, 0},
    {NULL}};
static const struct question ask_enums[] = {
    {"enums", ELICIT,
     FORM("Please select options from the enum fields",
          "\"untitledSingle\":{\"type\":\"string\"," ONE_TO_THREE "},"
          "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLED(
              "Option") "},"
                        "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
                        "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
                        "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":"
                        "\"string\"," ONE_TO_THREE
                        "}},\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" TITLED(
                            "Choice") "}}",
          ""),
     "Elicitation completed: ", NULL, 0},
    {NULL}};
static const struct question ask_name[] = {
    {"user_name", ELICIT, NAME_FORM("What is your name?"), "Hello, ", NULL, 0}, {NULL}};
static const struct question ask_capital[] = {{"capital_question", SAMPLING,
                                               SAMPLE("What is the capital of France?", "100"),
                                               "The model says: ", NULL, 0},
                                              {NULL}};
static const struct question ask_roots[] = {
    {"client_roots", "roots/list", "{}", "The roots are: ", NULL, 0}, {NULL}};
static const struct question ask_state[] = {
    {"confirm", ELICIT, OK_FORM, "state-ok: ", "waiting", 0}, {NULL}};
static const struct question ask_many[] = {
    {"user_name", ELICIT, NAME_FORM("What is your name?"), "Hello, ", "1 of 3", 0},
    {"greeting", SAMPLING, SAMPLE("Generate a greeting", "50"), "The model says: ", "2 of 3", 0},
    {"client_roots", "roots/list", "{}", "The roots are: ", "3 of 3", 0},
    {NULL}};
static const struct question ask_rounds[] = {
    {"step1", ELICIT, NAME_FORM("Step 1: What is your name?"), "Hello, ", "round 1", 0},
    {"step2", ELICIT,
     FORM("Step 2: What is your favorite color?", "\"color\":{\"type\":\"string\"}", "\"color\""),
     "You like ", "round 2", 1},
    {NULL}};
static const struct question ask_context[] = {
    {"user_context", ELICIT,
     FORM("What context should the prompt use?", "\"context\":{\"type\":\"string\"}",
          "\"context\""),
     "Use this context: ", NULL, 0},
    {NULL}};
/* Their params are made from an argument, whose place is marked by #. */
static const struct question ask_model[] = {
    {"prompt", SAMPLING,
     "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":#}}],"
     "\"maxTokens\":100}",
     "LLM response: ", NULL, 0},
    {NULL}};
static const struct question ask_user[] = {
    {"message", ELICIT,
     "{\"message\":#,\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
     "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
     "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
     "\"required\":[\"username\",\"email\"]}}",
     "User response: ", NULL, 0},
    {NULL}};

/* A client that can't be asked: an error of its own in the modern era. */
static void lack(dx_mcp_work *work, const char *method) {
    const char *data = "{\"requiredCapabilities\":{\"roots\":{}}}";
    if (strcmp(method, ELICIT) == 0)
        data = "{\"requiredCapabilities\":{\"elicitation\":{}}}";
    else if (strcmp(method, SAMPLING) == 0)
        data = "{\"requiredCapabilities\":{\"sampling\":{}}}";
    if (dx_mcp_session_is_modern(dx_mcp_work_session(work)))
        dx_mcp_work_refuse(work, DX_MCP_CODE_CAPABILITY,
                           dx_str("the client lacks a capability that is needed"), json(data));
    else
        dx_mcp_work_fail(work, dx_str("the client lacks a capability that is needed"));
}

/* The first from there on that the client can answer; the others are left out. */
static const struct question *find_question(dx_mcp_work *work, const struct question *from) {
    while (from->key && !dx_mcp_work_may_ask(work, from->method))
        from++;
    return from->key ? from : NULL;
}

static void on_reply(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error, void *user);

static void ask(dx_mcp_work *work, const struct question *question, const char *params) {
    if (question->state)
        dx_mcp_work_set_state(work, dx_str(question->state));
    dx_mcp_work_ask(work, question->key, question->method, json(params), on_reply,
                    (void *)(uintptr_t)question);
}

/* The text of a model, or all that was answered. */
static char *tell(const struct question *question, yyjson_val *value) {
    yyjson_val *text = yyjson_obj_get(yyjson_obj_get(value, "content"), "text");
    char *written = yyjson_is_str(text) ? strdup(yyjson_get_str(text)) : NULL;
    if (!written)
        written = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, NULL);
    char *told = written ? print("%s%s", question->reply, written) : NULL;
    free(written);
    return told;
}

static void on_reply(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                     void *user) {
    const struct question *question = user;
    (void)code;
    if (!value) {
        dx_mcp_work_fail(work, error.at ? error : dx_str("there was no answer"));
        return;
    }
    char *told = tell(question, value);
    if (question == ask_context)
        say_message(work, told ? told : "");
    else
        dx_mcp_work_text(work, dx_str(told ? told : ""));
    free(told);
    const struct question *next = find_question(work, question + 1);
    if (next)
        ask(work, next, next->params);
    else
        dx_mcp_work_done(work);
}

static void ask_all(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    const struct question *all = user;
    const struct question *first = find_question(work, all);
    (void)arguments;
    if (!first) {
        lack(work, all->method);
        return;
    }
    for (const struct question *one = first; one->key && !one->waits; one++)
        if (dx_mcp_work_may_ask(work, one->method))
            dx_mcp_work_put(work, one->key, one->method, json(one->params));
    ask(work, first, first->params);
}

static void ask_argument(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    const struct question *question = user;
    char *quoted = quote(value_text(yyjson_obj_get(arguments, question->key)));
    const char *mark = strchr(question->params, '#');
    char *params = quoted ? print("%.*s%s%s", (int)(mark - question->params), question->params,
                                  quoted, mark + 1)
                          : NULL;
    if (!dx_mcp_work_may_ask(work, question->method))
        lack(work, question->method);
    else
        ask(work, question, params ? params : "");
    free(params);
    free(quoted);
}

/* Lists that change. */

#define EXTRA \
    .name = "test_extra", .description = "Comes and goes.", .user = (void *)(uintptr_t)done_text
static const dx_mcp_tool extra_tool = {EXTRA, .call = say_fixed};
static const dx_mcp_prompt extra_prompt = {EXTRA, .get = get_fixed};

/* What is there goes, what is not comes. */
static void trigger(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    dx_mcp_server *server = dx_mcp_session_server(dx_mcp_work_session(work));
    (void)arguments;
    if (user && dx_mcp_server_remove(server, DX_MCP_TOOLS, dx_str("test_extra")) == DX_GONE)
        dx_mcp_server_add_tool(server, &extra_tool, NULL);
    if (!user && dx_mcp_server_remove(server, DX_MCP_PROMPTS, dx_str("test_extra")) == DX_GONE)
        dx_mcp_server_add_prompt(server, &extra_prompt, NULL);
    dx_mcp_work_text(work, dx_str("The list has changed."));
    dx_mcp_work_done(work);
}

static void touch_watched(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_server_updated(dx_mcp_session_server(dx_mcp_work_session(work)),
                          dx_str("test://watched-resource"));
    dx_mcp_work_text(work, dx_str("Done."));
    dx_mcp_work_done(work);
}

#define ONE_STRING(name)                           \
    "{\"type\":\"object\",\"properties\":{\"" name \
    "\":{\"type\":\"string\"}},\"required\":[\"" name "\"]}"
#define SLOW_SCHEMA                                                                      \
    "{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\",\"minimum\":0}}," \
    "\"required\":[\"ms\"]}"
#define WIDE_SCHEMA                                                                           \
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","      \
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{" \
    "\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},\"properties\":{"     \
    "\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"              \
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"                 \
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"                       \
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"        \
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"                       \
    "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"                  \
    "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}"

static const struct {
    const char *name;
    void (*call)(dx_mcp_work *work, yyjson_val *arguments, void *user);
    const void *user;
    const char *input;
} tools[] = {
    {"test_simple_text", say_fixed, simple_text, NULL},
    {"test_image_content", say_fixed, image_content, NULL},
    {"test_audio_content", say_fixed, audio_content, NULL},
    {"test_embedded_resource", say_fixed, embedded_resource, NULL},
    {"test_multiple_content_types", say_fixed, mixed_content, NULL},
    {"test_error_handling", fail_always, NULL, NULL},
    {"test_tool_with_logging", take_steps, log_steps, NULL},
    {"test_logging_tool", take_steps, log_steps, NULL},
    {"test_tool_with_progress", take_steps, NULL, NULL},
    {"test_slow", take_steps, slow_steps, SLOW_SCHEMA},
    {"test_reconnection", say_fixed, done_text, NULL},
    {"json_schema_2020_12_tool", say_fixed, done_text, WIDE_SCHEMA},
    {"test_sampling", ask_argument, ask_model, ONE_STRING("prompt")},
    {"test_elicitation", ask_argument, ask_user, ONE_STRING("message")},
    {"test_elicitation_sep1034_defaults", ask_all, ask_defaults, NULL},
    {"test_elicitation_sep1330_enums", ask_all, ask_enums, NULL},
    {"test_missing_capability", ask_all, ask_capital, NULL},
    {"test_streaming_elicitation", ask_all, ask_name, NULL},
    {"test_input_required_result_elicitation", ask_all, ask_name, NULL},
    {"test_input_required_result_sampling", ask_all, ask_capital, NULL},
    {"test_input_required_result_list_roots", ask_all, ask_roots, NULL},
    {"test_input_required_result_request_state", ask_all, ask_state, NULL},
    {"test_input_required_result_tampered_state", ask_all, ask_state, NULL},
    {"test_input_required_result_multiple_inputs", ask_all, ask_many, NULL},
    {"test_input_required_result_multi_round", ask_all, ask_rounds, NULL},
    {"test_input_required_result_capabilities", ask_all, ask_many, NULL},
    {"test_trigger_tool_change", trigger, "tool", NULL},
    {"test_trigger_prompt_change", trigger, NULL, NULL},
    {"test_touch_watched_resource", touch_watched, NULL, NULL},
};

/* Resources */

static void read_static(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    (void)variables;
    char *item = print("{\"uri\":\"%.*s\",%s}", (int)uri.len, uri.at, (const char *)user);
    dx_mcp_work_content(work, json(item ? item : ""));
    free(item);
    dx_mcp_work_done(work);
}

static void read_template(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    char *quoted_id = quote(value_text(yyjson_obj_get(variables, "id")));
    char *whole = NULL;
    char *item = NULL;
    (void)user;
    if (quoted_id)
        whole = print("{\"id\":%s,\"templateTest\":true,\"data\":\"Data for ID: %.*s\"}", quoted_id,
                      (int)strlen(quoted_id) - 2, quoted_id + 1);
    char *text = whole ? quote(dx_str(whole)) : NULL;
    char *quoted_uri = quote(uri);
    if (text && quoted_uri)
        item =
            print("{\"uri\":%s,\"mimeType\":\"application/json\",\"text\":%s}", quoted_uri, text);
    dx_mcp_work_content(work, json(item ? item : ""));
    free(item);
    free(quoted_uri);
    free(text);
    free(whole);
    free(quoted_id);
    dx_mcp_work_done(work);
}

static void complete_from(dx_mcp_work *work, dx_text value, const char *const *words) {
    for (; *words; words++)
        if (value.len <= strlen(*words) && memcmp(*words, value.at, value.len) == 0)
            dx_mcp_work_value(work, dx_str(*words));
    dx_mcp_work_done(work);
}

static void complete_id(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                        void *user) {
    static const char *const words[] = {"1", "12", "123", NULL};
    (void)argument;
    (void)context;
    (void)user;
    complete_from(work, value, words);
}

#define STATIC(called, type, holds)                                                     \
    {                                                                                   \
        .uri = "test://" called, .name = (called), .mime = (type), .read = read_static, \
        .user = (void *)(uintptr_t) "\"mimeType\":\"" type "\"," holds                  \
    }
static const dx_mcp_resource resources[] = {
    STATIC("static-text", "text/plain",
           "\"text\":\"This is the content of the static text resource.\""),
    STATIC("static-binary", "image/png", "\"blob\":\"" PNG "\""),
    STATIC("watched-resource", "text/plain", "\"text\":\"Watch me.\""),
};
static const dx_mcp_resource template = {.uri = "test://template/{id}/data",
                                         .name = "template",
                                         .mime = "application/json",
                                         .read = read_template,
                                         .complete = complete_id};

/* Prompts */

static void get_with_arguments(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    dx_text one = value_text(yyjson_obj_get(arguments, "arg1"));
    dx_text two = value_text(yyjson_obj_get(arguments, "arg2"));
    (void)user;
    char *text = print("Prompt with arguments: arg1='%.*s', arg2='%.*s'", (int)one.len,
                       one.at ? one.at : "", (int)two.len, two.at ? two.at : "");
    say_message(work, text ? text : "");
    free(text);
    dx_mcp_work_done(work);
}

static void get_with_resource(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    char *uri = quote(value_text(yyjson_obj_get(arguments, "resourceUri")));
    (void)user;
    char *content =
        uri ? print("{\"type\":\"resource\",\"resource\":{\"uri\":%s,\"mimeType\":"
                    "\"text/plain\",\"text\":\"Embedded resource content for testing.\"}}",
                    uri)
            : NULL;
    dx_mcp_work_message(work, "user", json(content ? content : ""));
    dx_mcp_work_message(work, "user", json(TEXT("Please process the embedded resource above.")));
    free(content);
    free(uri);
    dx_mcp_work_done(work);
}

static void complete_argument(dx_mcp_work *work, dx_text argument, dx_text value,
                              yyjson_val *context, void *user) {
    static const char *const words[] = {"test", "testing", "paris", "park", "party", NULL};
    (void)argument;
    (void)context;
    (void)user;
    complete_from(work, value, words);
}

static const char *const simple_prompt[] = {TEXT("This is a simple prompt for testing."), NULL};
static const char *const image_prompt[] = {IMAGE, TEXT("Please analyze the image above."), NULL};

static const dx_mcp_prompt prompts[] = {
    {.name = "test_simple_prompt",
     .get = get_fixed,
     .user = (void *)(uintptr_t)simple_prompt,
     .description = "A simple prompt."},
    {.name = "test_prompt_with_arguments",
     .get = get_with_arguments,
     .complete = complete_argument,
     .description = "A prompt with two arguments.",
     .arguments = "[{\"name\":\"arg1\",\"description\":\"the first\",\"required\":true},"
                  "{\"name\":\"arg2\",\"description\":\"the second\",\"required\":true}]"},
    {.name = "test_prompt_with_embedded_resource",
     .get = get_with_resource,
     .description = "A prompt that holds a resource.",
     .arguments = "[{\"name\":\"resourceUri\",\"description\":\"which\",\"required\":true}]"},
    {.name = "test_prompt_with_image",
     .get = get_fixed,
     .user = (void *)(uintptr_t)image_prompt,
     .description = "A prompt that shows an image."},
    {.name = "test_input_required_result_prompt",
     .get = ask_all,
     .user = (void *)(uintptr_t)ask_context,
     .description = "A prompt that asks back."},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static dx_status declare(dx_mcp_server *server, dx_misfit *why) {
    dx_status status = DX_OK;
    for (size_t i = 0; i < COUNT(tools) && status == DX_OK; i++) {
        dx_mcp_tool tool = {.name = tools[i].name,
                            .description = "A tool of the conformance suite.",
                            .input = tools[i].input,
                            .task =
                                tools[i].user == slow_steps ? DX_MCP_TASK_MAY : DX_MCP_TASK_NEVER,
                            .call = tools[i].call,
                            .user = (void *)(uintptr_t)tools[i].user};
        status = dx_mcp_server_add_tool(server, &tool, why);
    }
    for (size_t i = 0; i < COUNT(resources) && status == DX_OK; i++)
        status = dx_mcp_server_add_resource(server, &resources[i], why);
    for (size_t i = 0; i < COUNT(prompts) && status == DX_OK; i++)
        status = dx_mcp_server_add_prompt(server, &prompts[i], why);
    return status == DX_OK ? dx_mcp_server_add_template(server, &template, why) : status;
}

int main(void) {
    dx_mcp_server_config config = dx_mcp_server_defaults("mcp-conformance", "1.0.0");
    dx_mcp_server *server = NULL;
    dx_misfit why = {0};
    config.subscribe = 1;
    if (dx_mcp_server_new(&config, &server, &why) != DX_OK || declare(server, &why) != DX_OK) {
        fprintf(stderr, "mcp-conformance: %s\n", why.phrase[0] ? why.phrase : "out of memory");
        dx_mcp_server_free(server);
        return 2;
    }
    return dx_mcp_serve(server);
}
