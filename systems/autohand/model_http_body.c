/* What is sent to an endpoint, and where. */
#include "systems/autohand/model_http.h"

#include <strings.h>

static const char usage[] = ",\"stream_options\":{\"include_usage\":true}";

static dx_status add(dx_buf *body, dx_status status, const char *text) {
    return status == DX_OK ? dx_buf_append(body, text, strlen(text)) : status;
}

dx_status dx__autohand_http_body(struct dx__autohand_http *http,
                                 const dx_autohand_question *question) {
    const dx_autohand_http_config *config = &http->config;
    dx_buf *body = &http->body;
    const char *model = question->model && *question->model ? question->model : config->model;
    dx_status status = add(body, DX_OK, "{\"model\":");
    if (status == DX_OK)
        status = dx_json_write_string(body, dx_str(model));
    status = add(body, status, ",\"messages\":");
    if (status == DX_OK)
        status = dx_json_write(body, dx_json_built(question->messages));
    /* An empty list is refused by some. */
    if (status == DX_OK && yyjson_mut_arr_size(question->tools)) {
        status = add(body, status, ",\"tools\":");
        if (status == DX_OK)
            status = dx_json_write(body, dx_json_built(question->tools));
    }
    status = add(body, status, config->no_stream ? ",\"stream\":false" : ",\"stream\":true");
    return add(body, add(body, status, config->no_stream || http->no_usage ? "" : usage), "}");
}

bool dx__autohand_http_body_plain(struct dx__autohand_http *http) {
    dx_buf *body = &http->body;
    size_t len = sizeof usage - 1;
    if (body->len <= len || memcmp(body->data + body->len - len - 1, usage, len) != 0)
        return false;
    body->len -= len;
    body->data[body->len - 1] = '}';
    return true;
}

/* This machine is never asked by way of a proxy. */
static bool is_local(const char *host) {
    return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "[::1]") == 0;
}

static CURLUcode set_path(CURLU *url) {
    static const char end[] = "/chat/completions";
    char room[2048];
    char *path = NULL;
    CURLUcode code = curl_url_get(url, CURLUPART_PATH, &path, 0);
    if (code != CURLUE_OK)
        return code;
    size_t len = strlen(path);
    size_t end_len = sizeof end - 1;
    while (len && path[len - 1] == '/')
        len--;
    if (len >= end_len && memcmp(path + len - end_len, end, end_len) == 0)
        len -= end_len;
    if (len + sizeof end > sizeof room) {
        curl_free(path);
        return CURLUE_MALFORMED_INPUT;
    }
    memcpy(room, path, len);
    memcpy(room + len, end, sizeof end);
    curl_free(path);
    return curl_url_set(url, CURLUPART_PATH, room, 0);
}

dx_status dx__autohand_http_endpoint(const char *url, char **ret_url, bool *ret_local,
                                     dx_error *reterr) {
    CURLU *parts = curl_url();
    char *scheme = NULL;
    char *host = NULL;
    if (!parts)
        return DX_ERR_NOMEM;
    CURLUcode code = curl_url_set(parts, CURLUPART_URL, url, 0);
    if (code == CURLUE_OK)
        code = curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
    if (code == CURLUE_OK && strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
        code = CURLUE_UNSUPPORTED_SCHEME;
    if (code == CURLUE_OK)
        code = curl_url_get(parts, CURLUPART_HOST, &host, 0);
    if (code == CURLUE_OK)
        code = set_path(parts);
    if (code == CURLUE_OK)
        code = curl_url_get(parts, CURLUPART_URL, ret_url, 0);
    if (code == CURLUE_OK)
        *ret_local = is_local(host);
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(parts);
    if (code == CURLUE_OK || code == CURLUE_OUT_OF_MEMORY)
        return code == CURLUE_OK ? DX_OK : DX_ERR_NOMEM;
    return dx__autohand_model_refuse(reterr, DX_ERR_INVALID, "invalid model URL: %.100s: %s", url,
                                     code == CURLUE_UNSUPPORTED_SCHEME ? "expected http or https"
                                                                       : curl_url_strerror(code));
}
