/* Who listens to a model, and what is said of what went wrong. */
#include "systems/autohand/model_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

dx_autohand_model *dx_autohand_model_free(dx_autohand_model *model) {
    if (model)
        model->free(model);
    return NULL;
}

static void *plain_malloc(void *ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static void *plain_realloc(void *ctx, void *ptr, size_t old, size_t size) {
    (void)ctx;
    (void)old;
    return realloc(ptr, size);
}

static void plain_free(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

dx_allocator dx__autohand_model_allocator(const dx_allocator *given) {
    return given ? *given : (dx_allocator){plain_malloc, plain_realloc, plain_free, NULL};
}

yyjson_alc dx__autohand_model_alc(const dx_allocator *alloc) {
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

dx_text dx__autohand_model_built_text(yyjson_mut_val *value) {
    return yyjson_mut_is_str(value)
               ? (dx_text){yyjson_mut_get_str(value), yyjson_mut_get_len(value)}
               : (dx_text){0};
}

enum { LINE_LEN = 400 };

__attribute__((format(printf, 2, 0))) static void compose(char *line, const char *format,
                                                          va_list list) {
    /* A file that is compiled twice, as those of systems are, confuses the analyzer. */
    (void)vsnprintf(line, LINE_LEN, format, list); /* NOLINT(clang-analyzer-valist.Uninitialized) */
}

dx_status dx__autohand_model_refuse(dx_error *reterr, dx_status status, const char *format, ...) {
    char line[LINE_LEN];
    va_list list;
    va_start(list, format);
    compose(line, format, list);
    va_end(list);
    if (reterr) {
        *reterr = (dx_error){.fault = status == DX_ERR_SYSTEM ? DX_FAULT_SYSTEM : DX_FAULT_NONE};
        dx__say_str(reterr->phrase, sizeof reterr->phrase, line);
    }
    return status;
}

dx_status dx__autohand_model_args(dx_buf *to, yyjson_val *args) {
    if (yyjson_is_str(args))
        return dx_buf_append(to, yyjson_get_str(args), yyjson_get_len(args));
    return args ? dx_json_write(to, dx_json_value(args)) : dx_buf_append(to, "{}", 2);
}

/* Trouble */

static bool is_white(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void dx__autohand_model_trouble_say(struct dx__autohand_model_trouble *trouble, dx_text text) {
    char *to = trouble->message;
    for (size_t i = 0, end; i < text.len; i = end) {
        for (end = i + 1; end < text.len && is_white(text.at[end]) == is_white(text.at[i]);)
            end++;
        if (!is_white(text.at[i]))
            dx__say(to, sizeof trouble->message, (dx_text){text.at + i, end - i});
        else if (*to && end < text.len)
            dx__say_str(to, sizeof trouble->message, " ");
    }
}

void dx__autohand_model_trouble_set(struct dx__autohand_model_trouble *trouble,
                                    dx_autohand_failing kind, bool retryable, const char *format,
                                    ...) {
    char line[LINE_LEN];
    va_list list;
    va_start(list, format);
    compose(line, format, list);
    va_end(list);
    *trouble = (struct dx__autohand_model_trouble){.kind = kind, .retryable = retryable};
    dx__autohand_model_trouble_say(trouble, dx_str(line));
}

void dx__autohand_model_trouble_of_status(struct dx__autohand_model_trouble *trouble, int status) {
    static const struct {
        int status;
        dx_autohand_failing kind;
        bool retryable;
    } known[] = {{400, DX_AUTOHAND_FAIL_CONTEXT, false},  {401, DX_AUTOHAND_FAIL_AUTH, false},
                 {402, DX_AUTOHAND_FAIL_PAYMENT, false},  {403, DX_AUTOHAND_FAIL_MODEL, false},
                 {404, DX_AUTOHAND_FAIL_MODEL, false},    {408, DX_AUTOHAND_FAIL_TIMEOUT, true},
                 {413, DX_AUTOHAND_FAIL_CONTEXT, false},  {422, DX_AUTOHAND_FAIL_CONTEXT, false},
                 {429, DX_AUTOHAND_FAIL_RATE_LIMIT, true}};
    trouble->status = status;
    trouble->retryable = status >= 500 && status < 600;
    trouble->kind = trouble->retryable ? DX_AUTOHAND_FAIL_SERVER : DX_AUTOHAND_FAIL_UNKNOWN;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status) {
            trouble->kind = known[i].kind;
            trouble->retryable = known[i].retryable;
        }
}

bool dx__autohand_model_kind_of(dx_text name, dx_autohand_failing *ret_kind) {
    static const char *const names[] = {"unknown",    "context", "auth",    "payment", "model",
                                        "rate_limit", "server",  "network", "timeout"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dx_text_is(name, names[i])) {
            *ret_kind = (dx_autohand_failing)i;
            return true;
        }
    return false;
}

/* The listener */

dx_status dx__autohand_ear_open(struct dx__autohand_ear *ear,
                                const dx_autohand_listener *listener) {
    if (ear->busy || ear->freed)
        return DX_BUSY;
    ear->listener = *listener;
    ear->busy = true;
    ear->number++;
    return DX_OK;
}

void dx__autohand_ear_close(struct dx__autohand_ear *ear) {
    ear->busy = false;
    ear->number++;
}

bool dx__autohand_ear_text(struct dx__autohand_ear *ear, dx_text delta) {
    uint64_t number = ear->number;
    if (!delta.len || !ear->listener.on_text)
        return true;
    ear->inside++;
    ear->listener.on_text(ear->listener.user, delta);
    ear->inside--;
    return ear->number == number;
}

bool dx__autohand_ear_thought(struct dx__autohand_ear *ear, dx_text delta) {
    uint64_t number = ear->number;
    if (!delta.len || !ear->listener.on_thought)
        return true;
    ear->inside++;
    ear->listener.on_thought(ear->listener.user, delta);
    ear->inside--;
    return ear->number == number;
}

bool dx__autohand_ear_call(struct dx__autohand_ear *ear, dx_text id, dx_text name, dx_text args) {
    uint64_t number = ear->number;
    if (!ear->listener.on_call)
        return true;
    ear->inside++;
    ear->listener.on_call(ear->listener.user, id, name, args);
    ear->inside--;
    return ear->number == number;
}

static dx_autohand_failure failure_of(const struct dx__autohand_model_trouble *trouble) {
    return (dx_autohand_failure){.kind = trouble->kind,
                                 .status = trouble->status,
                                 .retryable = trouble->retryable,
                                 .retry_after_ms = trouble->retry_after_ms,
                                 .message = dx_str(trouble->message)};
}

bool dx__autohand_ear_retry(struct dx__autohand_ear *ear,
                            const struct dx__autohand_model_trouble *trouble, uint64_t wait_ms) {
    uint64_t number = ear->number;
    dx_autohand_failure failure = failure_of(trouble);
    if (!ear->listener.on_retry)
        return true;
    ear->inside++;
    ear->listener.on_retry(ear->listener.user, &failure, wait_ms);
    ear->inside--;
    return ear->number == number;
}

void dx__autohand_ear_done(struct dx__autohand_ear *ear, int64_t tokens) {
    dx_autohand_listener listener = ear->listener;
    dx__autohand_ear_close(ear);
    ear->inside++;
    if (listener.on_done)
        listener.on_done(listener.user, tokens);
    ear->inside--;
}

void dx__autohand_ear_fail(struct dx__autohand_ear *ear,
                           const struct dx__autohand_model_trouble *trouble) {
    dx_autohand_listener listener = ear->listener;
    struct dx__autohand_model_trouble kept = *trouble;
    dx_autohand_failure failure = failure_of(&kept);
    dx__autohand_ear_close(ear);
    ear->inside++;
    if (listener.on_fail)
        listener.on_fail(listener.user, &failure);
    ear->inside--;
}
