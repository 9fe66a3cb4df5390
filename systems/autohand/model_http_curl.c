/* libcurl on the loop: it says which descriptors and times it waits for, and is told when they have
 * come. It must not be called from inside its own callbacks; so they only keep what comes. */
#include "systems/autohand/model_http.h"

/* How much of what an error says is kept, and how much is listened to. */
enum { COMPLAINT_MAX = 1 << 16, PATIENCE_MAX = 1 << 20 };

static void take(struct dx__autohand_http *http) {
    uint64_t number = http->ear.number;
    int left = 0;
    dx__autohand_http_take(http);
    if (http->ear.number != number || !http->easy)
        return;
    CURLMsg *told = curl_multi_info_read(http->multi, &left);
    if (told && told->msg == CURLMSG_DONE)
        dx__autohand_http_ended(http, told->data.result);
}

static void act(struct dx__autohand_http *http, curl_socket_t fd, int what) {
    int running = 0;
    (void)curl_multi_socket_action(http->multi, fd, what, &running);
    if (http->easy && http->lack != DX_OK)
        dx__autohand_http_ended(http, CURLE_WRITE_ERROR);
    else if (http->easy)
        take(http);
    dx__autohand_http_leave(http);
}

static void on_ready(dx_watch *watch, unsigned ready, void *user) {
    struct dx__autohand_http_socket *socket = user;
    (void)watch;
    act(socket->http, socket->fd,
        (ready & DX_WATCH_READ ? CURL_CSELECT_IN : 0) |
            (ready & DX_WATCH_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_step(dx_timer *timer, void *user) {
    (void)timer;
    act(user, CURL_SOCKET_TIMEOUT, 0);
}

static struct dx__autohand_http_socket *forget(struct dx__autohand_http *http,
                                               struct dx__autohand_http_socket *socket) {
    struct dx__autohand_http_socket **at = &http->sockets;
    while (*at && *at != socket)
        at = &(*at)->next;
    if (*at)
        *at = socket->next;
    dx_watch_free(socket->watch);
    dx__free(&http->alloc, socket);
    return NULL;
}

static dx_status watch(struct dx__autohand_http *http, curl_socket_t fd, unsigned wanted) {
    struct dx__autohand_http_socket *socket = dx__malloc(&http->alloc, sizeof *socket);
    if (!socket)
        return DX_ERR_NOMEM;
    *socket = (struct dx__autohand_http_socket){.http = http, .fd = fd};
    dx_status status = dx_watch_new(http->loop, fd, wanted, on_ready, socket, &socket->watch);
    if (status != DX_OK) {
        dx__free(&http->alloc, socket);
        return status;
    }
    socket->next = http->sockets;
    http->sockets = socket;
    (void)curl_multi_assign(http->multi, fd, socket);
    return DX_OK;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *of_socket) {
    struct dx__autohand_http *http = user;
    struct dx__autohand_http_socket *socket = of_socket;
    unsigned wanted =
        (what & CURL_POLL_IN ? DX_WATCH_READ : 0U) | (what & CURL_POLL_OUT ? DX_WATCH_WRITE : 0U);
    (void)easy;
    dx_status status = DX_OK;
    if (what == CURL_POLL_REMOVE && socket)
        (void)forget(http, socket);
    else if (what != CURL_POLL_REMOVE)
        status = socket ? dx_watch_set(socket->watch, wanted) : watch(http, fd, wanted);
    if (status != DX_OK)
        http->lack = status;
    return 0;
}

static int on_time(CURLM *multi, long ms, void *user) {
    struct dx__autohand_http *http = user;
    (void)multi;
    dx_timer_set(http->steps, ms < 0 ? DX_NEVER : (uint64_t)ms);
    return 0;
}

static dx__autohand_http_form form_of(CURL *easy, dx_text bytes) {
    long status = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status >= 300)
        return DX__FORM_COMPLAINT;
    for (size_t i = 0; i < bytes.len; i++)
        if (!strchr(" \t\r\n", bytes.at[i]) || !bytes.at[i])
            return bytes.at[i] == '{' ? DX__FORM_WHOLE : DX__FORM_EVENTS;
    return DX__FORM_UNKNOWN;
}

static size_t on_bytes(char *at, size_t size, size_t count, void *user) {
    struct dx__autohand_http *http = user;
    dx_text bytes = {at, size * count};
    if (http->complete)
        return bytes.len; /* what follows the last word of a stream is nothing */
    if (http->form == DX__FORM_UNKNOWN)
        http->form = form_of(http->easy, bytes);
    http->received += bytes.len;
    if (!http->answer.finished)
        dx_timer_set(http->silence, http->config.silence_ms);
    if (http->form == DX__FORM_COMPLAINT) {
        size_t room = COMPLAINT_MAX - http->whole.len;
        if (dx_buf_append(&http->whole, at, bytes.len < room ? bytes.len : room) != DX_OK)
            http->whole.len = 0; /* then it is told without */
        return http->received <= PATIENCE_MAX ? bytes.len : 0;
    }
    if (http->received > http->config.answer_max)
        http->lack = DX_ERR_LIMIT;
    else if (http->form == DX__FORM_WHOLE)
        http->lack = dx_buf_append(&http->whole, at, bytes.len);
    else if (http->form == DX__FORM_EVENTS)
        http->lack = dx__autohand_sse_feed(&http->events, bytes);
    return http->lack == DX_OK ? bytes.len : 0;
}

dx_status dx__autohand_http_open(struct dx__autohand_http *http) {
    dx_status status = dx_timer_new(http->loop, on_step, http, &http->steps);
    if (status != DX_OK)
        return status;
    http->multi = curl_multi_init();
    if (!http->multi)
        return DX_ERR_NOMEM;
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_time);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 1L);
    return DX_OK;
}

void dx__autohand_http_close(struct dx__autohand_http *http) {
    dx__autohand_http_drop(http);
    if (http->multi)
        (void)curl_multi_cleanup(http->multi);
    http->multi = NULL;
    while (http->sockets)
        (void)forget(http, http->sockets);
    http->steps = dx_timer_free(http->steps);
}

static long limit_of(uint64_t ms) {
    return ms > 1000000000 ? 1000000000L : ms ? (long)ms : 1L;
}

static CURLcode set_way(struct dx__autohand_http *http, CURL *easy) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_URL, http->url);
#if LIBCURL_VERSION_NUM >= 0x075500
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Giving up must not wait for the names to be looked up. */
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    if (code == CURLE_OK && http->no_proxy)
        code = curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    /* With a stream of its own in a shared connection there would be none to close. */
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, limit_of(http->config.connect_ms));
    return code;
}

dx_status dx__autohand_http_send(struct dx__autohand_http *http) {
    CURL *easy = curl_easy_init();
    CURLcode code = easy ? set_way(http, easy) : CURLE_OUT_OF_MEMORY;
    if (code != CURLE_OK) {
        curl_easy_cleanup(easy);
        return DX_ERR_NOMEM;
    }
    http->words_of_curl[0] = '\0';
    (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, http->body.data);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)http->body.len);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, http);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->words_of_curl);
    http->easy = easy;
    http->form = DX__FORM_UNKNOWN;
    http->received = 0;
    http->lack = DX_OK;
    http->complete = false;
    http->tried++;
    dx_timer_set(http->silence, http->config.silence_ms);
    /* From here on libcurl asks for a time of 0 and does the rest in a dispatch. */
    if (curl_multi_add_handle(http->multi, easy) == CURLM_OK)
        return DX_OK;
    http->easy = NULL;
    curl_easy_cleanup(easy);
    return DX_ERR_NOMEM;
}

void dx__autohand_http_drop(struct dx__autohand_http *http) {
    if (http->silence)
        dx_timer_set(http->silence, DX_NEVER);
    if (http->easy) {
        (void)curl_multi_remove_handle(http->multi, http->easy);
        curl_easy_cleanup(http->easy);
    }
    http->easy = NULL;
    http->whole.len = 0;
    size_t max = http->events.in.max;
    dx__autohand_sse_done(&http->events);
    dx__autohand_sse_init(&http->events, max, &http->alloc);
    dx__autohand_model_answer_done(&http->answer);
    dx__autohand_model_answer_init(&http->answer, &http->ear, &http->alloc);
}
