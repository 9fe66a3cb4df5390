/* What the files of the model behind an endpoint share. */
#ifndef AUTOHAND_MODEL_HTTP_H
#define AUTOHAND_MODEL_HTTP_H

#include "systems/autohand/model_parts.h"

#include <curl/curl.h>

/* A descriptor of libcurl's that is watched. */
struct dx__autohand_http_socket {
    struct dx__autohand_http *http;
    curl_socket_t fd;
    dx_watch *watch;
    struct dx__autohand_http_socket *next;
};

/* What the body of an answer is. */
typedef enum dx__autohand_http_form {
    DX__FORM_UNKNOWN = 0, /* nothing of it has come */
    DX__FORM_EVENTS,
    DX__FORM_WHOLE,    /* one JSON text */
    DX__FORM_COMPLAINT /* that of an error */
} dx__autohand_http_form;

struct dx__autohand_http {
    dx_autohand_model base; /* first */
    dx_autohand_http_config config;
    dx_allocator alloc;
    dx_loop *loop;
    char *words;
    char *url; /* libcurl's */
    struct dx__autohand_ear ear;

    CURLM *multi;
    CURL *easy; /* NULL: nothing is under way */
    struct curl_slist *headers;
    bool no_proxy;
    bool no_usage; /* it does not know how to count a stream, and said so */
    struct dx__autohand_http_socket *sockets;
    dx_timer *steps;   /* libcurl's own */
    dx_timer *silence; /* nothing has come for too long */
    dx_timer *total;
    dx_timer *pause; /* before the next try */

    dx_buf body; /* what is asked, kept for the next try */
    unsigned tried;
    dx__autohand_http_form form;
    size_t received;
    dx_status lack; /* why not all of it could be taken */
    bool complete;  /* the stream has said that it is */
    dx_buf whole;
    struct dx__autohand_sse events;
    struct dx__autohand_model_answer answer;
    char words_of_curl[CURL_ERROR_SIZE];
};

/* model_http_body.c: into http->body. */
dx_status dx__autohand_http_body(struct dx__autohand_http *http,
                                 const dx_autohand_question *question);
/* Takes out of it what asks for the number of tokens. False: that was not in it. */
bool dx__autohand_http_body_plain(struct dx__autohand_http *http);
/* URL with "/chat/completions" behind its path; curl_free() it. DX_ERR_INVALID. */
dx_status dx__autohand_http_endpoint(const char *url, char **ret_url, bool *ret_local,
                                     dx_error *reterr);

/* model_http_curl.c: libcurl on the loop. */
dx_status dx__autohand_http_open(struct dx__autohand_http *http);
void dx__autohand_http_close(struct dx__autohand_http *http);
/* Sends the question once more. DX_ERR_NOMEM. */
dx_status dx__autohand_http_send(struct dx__autohand_http *http);
/* Closes the connection, unless the answer was whole. */
void dx__autohand_http_drop(struct dx__autohand_http *http);

/* model_http_end.c: what has come, and how it ended. After each of these the question may be
 * another one, or the model freed: look at the ear. */
void dx__autohand_http_take(struct dx__autohand_http *http);
void dx__autohand_http_ended(struct dx__autohand_http *http, CURLcode result);
void dx__autohand_http_finish(struct dx__autohand_http *http);
/* Asks once more, if that may help and nothing was told; else it is over. */
void dx__autohand_http_fail(struct dx__autohand_http *http,
                            const struct dx__autohand_model_trouble *trouble);
void dx__autohand_http_give_up(struct dx__autohand_http *http,
                               const struct dx__autohand_model_trouble *trouble);

/* model_http.c: the last thing that every function does which the loop calls. */
void dx__autohand_http_leave(struct dx__autohand_http *http);

#endif
