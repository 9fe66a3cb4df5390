/* A model behind an endpoint that speaks OpenAI's chat completions. */
#include "systems/autohand/model_http.h"

dx_autohand_http_config dx_autohand_http_defaults(void) {
    return (dx_autohand_http_config){
        .context_tokens = 128000,
        .connect_ms = 10000,
        .silence_ms = 120000,
        .total_ms = 600000,
        .tries = 4,
        .first_wait_ms = 1000,
        .most_wait_ms = 30000,
        .answer_max = (size_t)16 << 20,
    };
}

static void destroy(struct dx__autohand_http *http) {
    dx_allocator alloc = http->alloc;
    dx__autohand_http_close(http);
    dx_timer_free(http->silence);
    dx_timer_free(http->total);
    dx_timer_free(http->pause);
    curl_slist_free_all(http->headers);
    curl_free(http->url);
    dx_buf_done(&http->body);
    dx_buf_done(&http->whole);
    dx__autohand_sse_done(&http->events);
    dx__autohand_model_answer_done(&http->answer);
    dx__free(&alloc, http->words);
    dx__free(&alloc, http);
    curl_global_cleanup();
}

void dx__autohand_http_leave(struct dx__autohand_http *http) {
    if (http->ear.freed && !http->ear.inside)
        destroy(http);
}

static void cancel(dx_autohand_model *model) {
    struct dx__autohand_http *http = (struct dx__autohand_http *)model;
    if (!http->ear.busy)
        return;
    dx__autohand_ear_close(&http->ear);
    dx__autohand_http_drop(http);
    dx_timer_set(http->total, DX_NEVER);
    dx_timer_set(http->pause, DX_NEVER);
    dx_buf_done(&http->body);
}

static void release(dx_autohand_model *model) {
    struct dx__autohand_http *http = (struct dx__autohand_http *)model;
    cancel(model);
    http->ear.freed = true;
    dx__autohand_http_leave(http);
}

static dx_status ask(dx_autohand_model *model, const dx_autohand_question *question,
                     const dx_autohand_listener *listener) {
    struct dx__autohand_http *http = (struct dx__autohand_http *)model;
    dx_status status = dx__autohand_ear_open(&http->ear, listener);
    if (status != DX_OK)
        return status;
    http->body.len = 0;
    http->tried = 0;
    status = dx__autohand_http_body(http, question);
    if (status == DX_OK)
        status = dx__autohand_http_send(http);
    if (status == DX_OK)
        dx_timer_set(http->total, http->config.total_ms);
    else
        dx__autohand_ear_close(&http->ear);
    return status;
}

/* Who has said all but does not end has said all. */
static void late(struct dx__autohand_http *http, const char *what, uint64_t ms) {
    struct dx__autohand_model_trouble trouble;
    if (http->easy && (http->complete || http->answer.finished)) {
        dx__autohand_http_finish(http);
        return;
    }
    dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_TIMEOUT, true,
                                   "the model timed out: %s within %llu ms", what,
                                   (unsigned long long)ms);
    dx__autohand_http_give_up(http, &trouble);
}

static void on_silence(dx_timer *timer, void *user) {
    struct dx__autohand_http *http = user;
    (void)timer;
    late(http, "no output", http->config.silence_ms);
    dx__autohand_http_leave(http);
}

static void on_total(dx_timer *timer, void *user) {
    struct dx__autohand_http *http = user;
    (void)timer;
    late(http, "no complete response", http->config.total_ms);
    dx__autohand_http_leave(http);
}

static void on_pause(dx_timer *timer, void *user) {
    struct dx__autohand_http *http = user;
    struct dx__autohand_model_trouble trouble;
    (void)timer;
    if (dx__autohand_http_send(http) != DX_OK) {
        dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_UNKNOWN, false,
                                       "cannot send a request to the model: out of memory");
        dx__autohand_http_give_up(http, &trouble);
    }
    dx__autohand_http_leave(http);
}

static dx_status add_header(struct dx__autohand_http *http, const char *header) {
    struct curl_slist *more = curl_slist_append(http->headers, header);
    http->headers = more ? more : http->headers;
    return more ? DX_OK : DX_ERR_NOMEM;
}

static dx_status set_headers(struct dx__autohand_http *http) {
    static const char bearer[] = "Authorization: Bearer ";
    dx_status status = add_header(http, "Content-Type: application/json");
    if (status == DX_OK)
        status = add_header(http, "Accept: text/event-stream, application/json");
    /* Otherwise libcurl asks first whether a long question is welcome. */
    if (status == DX_OK)
        status = add_header(http, "Expect:");
    if (status != DX_OK || !http->config.key || !*http->config.key)
        return status;
    dx_buf line;
    dx_buf_init(&line, SIZE_MAX / 4, &http->alloc);
    status = dx_buf_append(&line, bearer, sizeof bearer - 1);
    if (status == DX_OK)
        status = dx_buf_append(&line, http->config.key, strlen(http->config.key) + 1);
    if (status == DX_OK)
        status = add_header(http, line.data);
    if (line.data)
        memset(line.data, 0, line.len);
    dx_buf_done(&line);
    return status;
}

static dx_status check(const dx_autohand_http_config *config, dx_error *reterr) {
    if (!config->url || !*config->url)
        return dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "the model's URL is missing");
    if (!config->model || !*config->model || !dx__is_utf8(dx_str(config->model)))
        return dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "the model's name is missing");
    for (const char *at = config->key; at && *at; at++)
        if (*at <= ' ' || *at >= 0x7f)
            return dx__autohand_model_refuse(reterr, DX_ERR_INVALID,
                                             "the model's API key contains an invalid character");
    return DX_OK;
}

static dx_status build(struct dx__autohand_http *http, dx_error *reterr) {
    const char **places[] = {&http->config.url, &http->config.model, &http->config.key};
    http->words = dx__keep_strings(&http->alloc, places, 3);
    dx_status status = http->words ? DX_OK : DX_ERR_NOMEM;
    if (status == DX_OK)
        status = dx__autohand_http_endpoint(http->config.url, &http->url, &http->no_proxy, reterr);
    if (status == DX_OK)
        status = dx_timer_new(http->loop, on_silence, http, &http->silence);
    if (status == DX_OK)
        status = dx_timer_new(http->loop, on_total, http, &http->total);
    if (status == DX_OK)
        status = dx_timer_new(http->loop, on_pause, http, &http->pause);
    if (status == DX_OK)
        status = set_headers(http);
    return status == DX_OK ? dx__autohand_http_open(http) : status;
}

dx_status dx_autohand_model_http(dx_loop *loop, const dx_autohand_http_config *config,
                                 dx_autohand_model **ret_model, dx_error *reterr) {
    dx_status status = check(config, reterr);
    if (status != DX_OK)
        return status;
    dx_allocator alloc = dx__autohand_model_allocator(config->allocator);
    struct dx__autohand_http *http = dx__malloc(&alloc, sizeof *http);
    if (!http)
        return dx__autohand_model_refuse(reterr, DX_ERR_NOMEM, "out of memory");
    *http = (struct dx__autohand_http){.config = *config, .alloc = alloc, .loop = loop};
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    dx_buf_init(&http->body, SIZE_MAX / 4, &alloc);
    dx_buf_init(&http->whole, SIZE_MAX / 4, &alloc);
    dx__autohand_sse_init(&http->events, SIZE_MAX / 4, &alloc);
    dx__autohand_model_answer_init(&http->answer, &http->ear, &alloc);
    status = build(http, reterr);
    if (status != DX_OK) {
        destroy(http);
        return status == DX_ERR_NOMEM ? dx__autohand_model_refuse(reterr, status, "out of memory")
                                      : status;
    }
    http->base = (dx_autohand_model){.ask = ask,
                                     .cancel = cancel,
                                     .free = release,
                                     .name = http->config.model,
                                     .sees_images = config->sees_images,
                                     .context_tokens = config->context_tokens};
    *ret_model = &http->base;
    return DX_OK;
}
