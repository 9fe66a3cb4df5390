/* Which requests may be sent to a program that nobody knows. */
#include "cli/check/scene.h"

#include "cli/describe/nearest.h"
#include "cli/input.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 8, GIVEN_MAX = 64, EXAMPLE_MAX = 1 << 16 };

/* Does it only read, by its name? "tools/list", "getState", "ping". */
static bool is_harmless(const char *name) {
    static const char *const words[] = {"ping", "list", "get", "read", "status", "version"};
    const char *last = name;
    for (const char *at = name; *at; at++)
        if (*at == '/' || *at == '.')
            last = at + 1;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);
        if (strncmp(last, words[i], len) == 0 && !(last[len] >= 'a' && last[len] <= 'z'))
            return true;
    }
    return false;
}

static bool is(const char *one, const char *two) {
    return one && strcmp(one, two) == 0;
}

static bool is_of_ladder(const dx_protocol_facts *facts, const char *name) {
    for (const dx_step *step = facts->start; step && step->method; step++)
        if (is(step->method, name))
            return true;
    return is(facts->stop_call, name) || is(facts->stop_notify, name);
}

/* The state that the handshake leads to. */
static unsigned state_after(dx_protocol *protocol) {
    unsigned state = 0;
    const dx_step *step = dx_protocol_facts_of(protocol)->start;
    for (; step && step->method; step++) {
        dx_text method = dx_str(step->method);
        state = dx_protocol_next(protocol, state, method, DX_SIDE_HOST, DX_MOVE_SENT);
        if (!step->notification)
            state = dx_protocol_next(protocol, state, method, DX_SIDE_HOST, DX_MOVE_RESULT);
    }
    return state;
}

/* Params that fit; false: there are none. *ret_params is NULL if it needs none. */
static bool find_params(dx_protocol *protocol, const dx_method *method, dx_side us,
                        char **ret_params) {
    dx_buf json;
    yyjson_doc *doc = NULL;
    *ret_params = NULL;
    if (!method->has_params[us] || method->optional[us])
        return true;
    dx_buf_init(&json, EXAMPLE_MAX, NULL);
    if (dx_protocol_example(protocol, method, us, DX_PART_PARAMS, &json) == DX_OK)
        doc = yyjson_read(json.data, json.len, 0);
    if (doc && dx_protocol_check(protocol, method, us, DX_PART_PARAMS, yyjson_doc_get_root(doc), 0,
                                 NULL) == DX_OK)
        *ret_params = cli_text_copy((dx_text){json.data, json.len});
    yyjson_doc_free(doc);
    dx_buf_done(&json);
    return *ret_params;
}

static int take_given(check_plan *plan, dx_protocol *protocol, const char *word) {
    const char *equals = strchr(word, '=');
    check_call *call = &plan->calls[plan->call_count];
    char *method = equals ? strndup(word, (size_t)(equals - word)) : strdup(word);
    char *params = equals ? strdup(equals + 1) : NULL;
    if (!method || (equals && !params)) {
        free(method);
        free(params);
        return cli_fail(CLI_NO_START, "out of memory");
    }
    *call = (check_call){.method = method, .params = params, .given = true};
    plan->call_count++;
    if (!*method)
        return cli_fail(CLI_USAGE, "--call: missing method");
    const dx_method *rule = dx_protocol_find(protocol, dx_str(method));
    if (rule && rule->notification)
        return cli_fail(CLI_USAGE, "--call: %s is a notification, which gets no response", method);
    if (params && (dx_json_check(dx_str(params), DX_DEPTH_MAX, NULL) != DX_FAULT_NONE ||
                   (params[0] != '{' && params[0] != '[')))
        return cli_fail(CLI_USAGE, "--call: expected METHOD or METHOD={JSON}, got '%s'", word);
    return cli_check_method(protocol, "--call", method);
}

static void take_own(check_plan *plan, dx_protocol *protocol, dx_side us) {
    const dx_method *method;
    unsigned state = state_after(protocol);
    size_t own = 0;
    for (size_t i = 0; (method = dx_protocol_method(protocol, i)) && own < CALLS_MAX; i++) {
        char *params;
        if (method->notification || !is_harmless(method->name) ||
            !(us == DX_SIDE_HOST ? method->from_host : method->from_plugin) ||
            is_of_ladder(dx_protocol_facts_of(protocol), method->name) ||
            dx_protocol_may_send(protocol, state, method, us, NULL, NULL) != DX_LEAVE_YES ||
            !find_params(protocol, method, us, &params))
            continue;
        char *name = strdup(method->name);
        if (!name) {
            free(params);
            return;
        }
        plan->calls[plan->call_count++] = (check_call){.method = name, .params = params};
        own++;
    }
}

int check_find_calls(check_plan *plan, dx_protocol *protocol, dx_side us) {
    const cli_list *given = &plan->options->calls;
    int code = CLI_OK;
    if (given->count > GIVEN_MAX)
        return cli_fail(CLI_USAGE, "--call: at most %d are allowed", GIVEN_MAX);
    plan->calls = calloc(given->count + CALLS_MAX, sizeof *plan->calls);
    if (!plan->calls)
        return cli_fail(CLI_NO_START, "out of memory");
    plan->lists_methods = dx_protocol_method(protocol, 0);
    if (!plan->options->no_calls)
        take_own(plan, protocol, us);
    for (size_t i = 0; i < given->count && code == CLI_OK; i++)
        code = take_given(plan, protocol, given->at[i]);
    return code;
}

void check_free_calls(check_plan *plan) {
    for (size_t i = 0; i < plan->call_count; i++) {
        free((char *)(uintptr_t)plan->calls[i].method);
        free(plan->calls[i].params);
    }
    free(plan->calls);
}
