/*
 * A client of ours that is driven by lines: each line of the standard input is a command as JSON,
 * each line of the standard output an event, with the time it came at (ms of CLOCK_MONOTONIC).
 *
 *     {"do": "open", "argv": […], "timeout": 500, "roots": true, …}
 *     {"do": "call", "tag": "a", "method": "tools/list", "params": {…}, "reset": true, …}
 *     {"do": "cancel", "tag": "a", "reason": "…"}
 *
 * A tag names a call; its end is {"event": "answer", "tag": "a", "outcome": "result", …}. The rows
 * of tests/mcp run it against servers that are odd.
 */
#include "tests/mcp/drive.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct driver driver;

static const char *str(yyjson_val *command, const char *name) {
    return yyjson_get_str(yyjson_obj_get(command, name));
}

static dx_text text(yyjson_val *command, const char *name) {
    yyjson_val *value = yyjson_obj_get(command, name);
    return (dx_text){yyjson_get_str(value), yyjson_get_len(value)};
}

static bool is(yyjson_val *command, const char *name) {
    return yyjson_get_bool(yyjson_obj_get(command, name));
}

static void set_ms(yyjson_val *command, const char *name, uint64_t *to) {
    yyjson_val *value = yyjson_obj_get(command, name);
    if (value)
        *to = yyjson_get_uint(value);
}

static dx_json json(yyjson_val *command, const char *name) {
    yyjson_val *value = yyjson_obj_get(command, name);
    return value ? dx_json_value(value) : dx_json_none();
}

static void words(yyjson_val *command, const char *name, const char **to) {
    size_t index = 0, max = 0;
    yyjson_val *word = NULL;
    yyjson_arr_foreach(yyjson_obj_get(command, name), index, max, word) {
        if (index < WORDS_MAX)
            to[index] = yyjson_get_str(word);
    }
}

static dx_mcp_kind kind_named(const char *name) {
    for (dx_mcp_kind kind = DX_MCP_TOOLS; name && kind <= DX_MCP_PROMPTS; kind++)
        if (strcmp(name, kind_name(kind)) == 0)
            return kind;
    return DX_MCP_TOOLS;
}

static void set_offers(dx_mcp_client_config *config, yyjson_val *command) {
    config->roots = is(command, "roots");
    config->sampling_tools = is(command, "sampling_tools");
    config->elicitation_url = is(command, "elicitation_url");
    config->no_tasks = is(command, "no_tasks");
    if (is(command, "sampling"))
        config->on_sampling = on_sampling;
    if (is(command, "elicitation"))
        config->on_elicitation = on_elicitation;
    if (is(command, "changes"))
        config->on_changed = on_changed;
}

static void set_limits(dx_mcp_client_config *config, yyjson_val *command) {
    uint64_t number = config->message_max;
    set_ms(command, "message_max", &number);
    config->message_max = (size_t)number;
    number = config->pages_max;
    set_ms(command, "pages_max", &number);
    config->pages_max = (size_t)number;
    number = config->errors_max;
    set_ms(command, "errors_max", &number);
    config->errors_max = (size_t)number;
    number = config->rounds_max;
    set_ms(command, "rounds_max", &number);
    config->rounds_max = (unsigned)number;
    set_ms(command, "timeout", &config->timeout_ms);
    set_ms(command, "total", &config->total_ms);
    set_ms(command, "start", &config->start_ms);
    set_ms(command, "probe", &config->probe_ms);
    set_ms(command, "close_ms", &config->ladder.close_ms);
    set_ms(command, "term_ms", &config->ladder.term_ms);
}

static void do_open(yyjson_val *command) {
    const char *argv[WORDS_MAX + 1] = {NULL};
    const char *env[WORDS_MAX + 1] = {NULL};
    dx_mcp_client_config config = dx_mcp_client_defaults("drive", "1.0");
    const char *mode = str(command, "mode");
    words(command, "argv", argv);
    words(command, "env", env);
    set_callbacks(&config);
    set_offers(&config, command);
    set_limits(&config, command);
    config.argv = argv[0] ? argv : NULL;
    config.env = env;
    config.inherit_env = is(command, "inherit_env");
    config.address = str(command, "address");
    config.revision = str(command, "revision");
    config.ids = is(command, "counter") ? DX_IDS_COUNTER : config.ids;
    if (mode)
        config.mode = mode[0] == 'a' ? DX_MCP_AUTO : mode[0] == 'm' ? DX_MCP_MODERN : DX_MCP_LEGACY;
    driver.shows_traffic = is(command, "traffic");
    snprintf(driver.free_in, sizeof driver.free_in, "%s",
             str(command, "free_in") ? str(command, "free_in") : "");
    dx_error error = {0};
    dx_status status = dx_mcp_client_open(driver.loop, &config, &driver.client, &error);
    yyjson_mut_doc *doc = event_new("opened");
    put_str(doc, "status", dx_status_name(status));
    put_str(doc, "phrase", error.phrase);
    put_int(doc, "errno", error.system);
    event_print(doc);
}

static struct call *call_new(yyjson_val *command) {
    if (driver.calls_len == CALLS_MAX)
        abort();
    struct call *call = &driver.calls[driver.calls_len++];
    snprintf(call->tag, sizeof call->tag, "%s", str(command, "tag") ? str(command, "tag") : "");
    return call;
}

/* Which function of the header asks that. */
static dx_status ask(yyjson_val *command, const dx_mcp_call_options *options, struct call *call) {
    dx_mcp_client *client = driver.client;
    const char *what = str(command, "do");
    dx_text name = text(command, "name");
    dx_mcp_kind kind = kind_named(str(command, "kind"));
    dx_mcp_call *to = &call->call;
    if (strcmp(what, "ping") == 0)
        return dx_mcp_client_ping(client, options, on_answer, call, to);
    if (strcmp(what, "page") == 0)
        return dx_mcp_client_page(client, kind, text(command, "cursor"), options, on_answer, call,
                                  to);
    if (strcmp(what, "list") == 0)
        return dx_mcp_client_list(client, kind, options, on_answer, call, to);
    if (strcmp(what, "tool") == 0)
        return dx_mcp_client_tool(client, name, json(command, "arguments"), options, on_answer,
                                  call, to);
    if (strcmp(what, "task") == 0)
        return dx_mcp_client_task(client, name, json(command, "arguments"), 0, options, on_answer,
                                  call, to);
    if (strcmp(what, "read") == 0)
        return dx_mcp_client_read(client, name, options, on_answer, call, to);
    if (strcmp(what, "prompt") == 0)
        return dx_mcp_client_prompt(client, name, json(command, "arguments"), options, on_answer,
                                    call, to);
    if (strcmp(what, "complete") == 0)
        return dx_mcp_client_complete(client, kind, name, text(command, "argument"),
                                      text(command, "value"), dx_json_none(), options, on_answer,
                                      call, to);
    if (strcmp(what, "set_level") == 0)
        return dx_mcp_client_log(client, dx_mcp_level_named(name), on_answer, call, to);
    if (strcmp(what, "subscribe") == 0)
        return dx_mcp_client_subscribe(client, name, on_answer, call, to);
    if (strcmp(what, "unsubscribe") == 0)
        return dx_mcp_client_unsubscribe(client, name, on_answer, call, to);
    return dx_mcp_client_call(client, text(command, "method"), json(command, "params"), options,
                              on_answer, call, to);
}

static void do_call(yyjson_val *command) {
    struct call *call = call_new(command);
    dx_mcp_call_options options = {0};
    set_ms(command, "timeout", &options.timeout_ms);
    set_ms(command, "total", &options.total_ms);
    options.reset = is(command, "reset");
    options.on_progress = is(command, "progress") ? on_progress : NULL;
    options.log_level = dx_mcp_level_named(text(command, "log_level"));
    print_status("called", call->tag, ask(command, &options, call));
}

static void on_one_of_many(dx_mcp_client *client, dx_mcp_call call, const dx_event *event,
                           void *user) {
    (void)client;
    struct call *mine = user;
    size_t number = (size_t)(mine - driver.calls) - driver.many_first;
    yyjson_val *item = yyjson_arr_get_first(yyjson_obj_get(event->value, "content"));
    const char *said = yyjson_get_str(yyjson_obj_get(item, "text"));
    bool right = event->outcome == DX_OUTCOME_RESULT && mine->call == call && said &&
                 strtoull(said, NULL, 10) == number;
    driver.many_wrong += !right || mine->answers++ > 0;
    if (++driver.many_done < driver.many_wanted)
        return;
    yyjson_mut_doc *doc = event_new("many");
    put_int(doc, "done", (int64_t)driver.many_done);
    put_int(doc, "wrong", (int64_t)driver.many_wrong);
    put_int(doc, "pending", (int64_t)dx_mcp_client_pending(driver.client));
    event_print(doc);
}

/* So many calls of a tool that echoes its number after some time, all at once. */
static void do_many(yyjson_val *command) {
    driver.many_first = driver.calls_len;
    driver.many_wanted = (size_t)yyjson_get_uint(yyjson_obj_get(command, "count"));
    driver.many_done = driver.many_wrong = 0;
    for (size_t i = 0; i < driver.many_wanted; i++) {
        struct call *call = call_new(command);
        char params[64];
        int len = snprintf(params, sizeof params, "{\"number\":%zu}", i);
        dx_status status = dx_mcp_client_tool(driver.client, text(command, "name"),
                                              dx_json_text(params, (size_t)len), NULL,
                                              on_one_of_many, call, &call->call);
        if (status != DX_OK) {
            print_status("called", "many", status);
            return;
        }
    }
}

static struct call *call_tagged(const char *tag) {
    for (size_t i = driver.calls_len; tag && i-- > 0;)
        if (strcmp(driver.calls[i].tag, tag) == 0)
            return &driver.calls[i];
    return NULL;
}

static void do_cancel(yyjson_val *command) {
    struct call *call = call_tagged(str(command, "tag"));
    print_status(
        "cancel", str(command, "tag"),
        dx_mcp_client_cancel(driver.client, call ? call->call : 77777, text(command, "reason")));
}

static void do_cancel_all(yyjson_val *command) {
    static dx_mcp_call handles[CALLS_MAX];
    uint64_t max = CALLS_MAX;
    size_t count = 0;
    set_ms(command, "max", &max);
    dx_status status = dx_mcp_client_cancel_all(driver.client, text(command, "reason"), handles,
                                                (size_t)max, &count);
    yyjson_mut_doc *doc = event_new("cancel_all");
    yyjson_mut_val *tags = yyjson_mut_arr(doc);
    for (size_t i = 0; i < count && i < max; i++)
        for (size_t k = 0; k < driver.calls_len; k++)
            if (driver.calls[k].call == handles[i])
                yyjson_mut_arr_add_str(doc, tags, driver.calls[k].tag);
    put_str(doc, "status", dx_status_name(status));
    put_int(doc, "count", (int64_t)count);
    put(doc, "tags", tags);
    event_print(doc);
}

static void do_question(yyjson_val *command) {
    size_t number = (size_t)yyjson_get_uint(yyjson_obj_get(command, "number"));
    dx_mcp_question *question = number < driver.questions_len ? driver.questions[number] : NULL;
    if (!question) {
        print_status("answered", NULL, DX_GONE);
        return;
    }
    dx_status status =
        strcmp(str(command, "do"), "answer") == 0
            ? dx_mcp_question_answer(question, json(command, "result"))
            : dx_mcp_question_refuse(question, yyjson_get_sint(yyjson_obj_get(command, "code")),
                                     text(command, "message"));
    if (status == DX_OK)
        driver.questions[number] = NULL;
    print_status("answered", NULL, status);
}

static void do_roots(yyjson_val *command, const char *what) {
    dx_status status = DX_OK;
    if (strcmp(what, "add_root") == 0)
        status = dx_mcp_client_add_root(driver.client, text(command, "uri"), text(command, "name"));
    else if (strcmp(what, "remove_root") == 0)
        status = dx_mcp_client_remove_root(driver.client, text(command, "uri"));
    else
        dx_mcp_client_clear_roots(driver.client);
    print_status("roots", NULL, status);
}

static void do_offers(yyjson_val *command) {
    yyjson_mut_doc *doc = event_new("offers");
    put(doc, "yes",
        yyjson_mut_bool(doc, dx_mcp_client_offers(driver.client, text(command, "method"))));
    put_int(doc, "pending", (int64_t)dx_mcp_client_pending(driver.client));
    event_print(doc);
}

static void obey(yyjson_val *command) {
    const char *what = str(command, "do");
    if (!what)
        abort();
    if (strcmp(what, "open") == 0)
        do_open(command);
    else if (!driver.client)
        print_status("called", str(command, "tag"), DX_CLOSED);
    else if (strcmp(what, "many") == 0)
        do_many(command);
    else if (strcmp(what, "cancel") == 0)
        do_cancel(command);
    else if (strcmp(what, "cancel_all") == 0)
        do_cancel_all(command);
    else if (strcmp(what, "answer") == 0 || strcmp(what, "refuse") == 0)
        do_question(command);
    else if (strstr(what, "_root"))
        do_roots(command, what);
    else if (strcmp(what, "offers") == 0)
        do_offers(command);
    else if (strcmp(what, "close") == 0)
        dx_mcp_client_close(driver.client);
    else if (strcmp(what, "free") == 0)
        free_client();
    else
        do_call(command);
}

/* All the lines that are here now; what is left of the last one waits for its rest. */
static void read_commands(void) {
    static char *line;
    static size_t len, room;
    if (len + 65536 > room && !(line = realloc(line, room = room * 2 + 131072)))
        abort();
    ssize_t more = read(0, line + len, 65536);
    driver.is_over = more <= 0;
    len += more > 0 ? (size_t)more : 0;
    char *from = line;
    for (char *end; (end = memchr(from, '\n', len - (size_t)(from - line))); from = end + 1) {
        yyjson_doc *doc = yyjson_read(from, (size_t)(end - from), 0);
        if (!doc)
            abort();
        obey(yyjson_doc_get_root(doc));
        yyjson_doc_free(doc);
    }
    len -= (size_t)(from - line);
    memmove(line, from, len);
    if (driver.is_over) {
        free(line);
        line = NULL;
        len = room = 0;
    }
}

int main(void) {
    if (dx_loop_new(NULL, &driver.loop, NULL) != DX_OK)
        return 2;
    while (!driver.is_over) {
        struct pollfd fds[2] = {{0, POLLIN, 0}, {dx_loop_fd(driver.loop), POLLIN, 0}};
        poll(fds, 2, dx_loop_wait_ms(driver.loop));
        if (fds[0].revents)
            read_commands();
        dx_loop_dispatch(driver.loop);
    }
    dx_mcp_client_free(driver.client);
    dx_loop_free(driver.loop);
    return 0;
}
