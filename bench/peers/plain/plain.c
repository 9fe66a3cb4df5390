#include "plain.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 65536, SMALL = 16384 };

struct plain plain_new(char ***argv) {
    struct plain plain = {0};
    for (; **argv; (*argv)++) {
        if (strcmp(**argv, "line") == 0)
            plain.line = true;
        else if (strcmp(**argv, "splice") == 0)
            plain.splice = true;
        else
            break;
    }
    plain.arena_cap = yyjson_read_max_memory_usage(SMALL, YYJSON_READ_NOFLAG) + 256;
    plain.arena = room(plain.arena_cap);
    plain.writing_cap = (size_t)64 << 10;
    plain.writing = room(plain.writing_cap);
    return plain;
}

void plain_on(struct plain *plain, int in, int out) {
    plain->in = in;
    plain->out = out;
}

static void grow(char **at, size_t *cap, size_t need_cap) {
    if (need_cap <= *cap)
        return;
    *cap = need_cap > 2 * *cap ? need_cap : 2 * *cap;
    *at = realloc(*at, *cap);
    need(*at != NULL, "no memory");
}

static void put(struct plain *plain, const char *bytes, size_t len) {
    memcpy(plain->output + plain->output_len, bytes, len);
    plain->output_len += len;
}

static size_t digits_of(uint64_t number, char *to) {
    char room_for[20];
    size_t len = 0;
    do
        room_for[len++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < len; i++)
        to[i] = room_for[len - 1 - i];
    return len;
}

/* The whole message in one go: its length is known before it is written. */
static void send_message(struct plain *plain, const char *head, size_t head_len, uint64_t id,
                         const char *middle, size_t middle_len, struct text body) {
    char digits[20];
    size_t id_len = digits_of(id, digits);
    size_t len = head_len + id_len + middle_len + body.len + 1;
    grow(&plain->output, &plain->output_cap, plain->output_len + len + 64);
    if (!plain->line) {
        char length[20];
        put(plain, "Content-Length: ", 16);
        put(plain, length, digits_of(len, length));
        put(plain, "\r\n\r\n", 4);
    }
    put(plain, head, head_len);
    put(plain, digits, id_len);
    put(plain, middle, middle_len);
    put(plain, body.at, body.len);
    put(plain, plain->line ? "}\n" : "}", plain->line ? 2 : 1);
    plain->waiting++;
}

static void send_value(struct plain *plain, const char *head, size_t head_len, uint64_t id,
                       const char *middle, size_t middle_len, yyjson_val *value) {
    yyjson_alc alc;
    size_t len = 0;
    yyjson_alc_pool_init(&alc, plain->writing, plain->writing_cap);
    char *text = yyjson_val_write_opts(value, YYJSON_WRITE_NOFLAG, &alc, &len, NULL);
    bool large = !text;
    if (large)
        text = yyjson_val_write_opts(value, YYJSON_WRITE_NOFLAG, NULL, &len, NULL);
    need(text != NULL, "a value can't be written");
    send_message(plain, head, head_len, id, middle, middle_len, (struct text){text, len});
    if (large)
        free(text);
}

#define PARTS(head, id, middle) head, sizeof(head) - 1, id, middle, sizeof(middle) - 1

void plain_request(struct plain *plain, uint64_t id, const struct body *params) {
    if (plain->splice)
        send_message(plain,
                     PARTS("{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"method\":\"echo\",\"params\":"),
                     params->text);
    else
        send_value(plain,
                   PARTS("{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"method\":\"echo\",\"params\":"),
                   params->value);
}

void plain_reply(struct plain *plain, const struct message *request) {
    if (plain->splice)
        send_message(plain, PARTS("{\"jsonrpc\":\"2.0\",\"id\":", request->id, ",\"result\":"),
                     request->text);
    else
        send_value(plain, PARTS("{\"jsonrpc\":\"2.0\",\"id\":", request->id, ",\"result\":"),
                   request->body);
}

void plain_flush(struct plain *plain) {
    write_all(plain->out, plain->output, plain->output_len);
    plain->output_len = plain->waiting = 0;
}

void plain_flush_some(struct plain *plain) {
    while (plain->output_sent < plain->output_len) {
        ssize_t n = write(plain->out, plain->output + plain->output_sent,
                          plain->output_len - plain->output_sent);
        if (n < 0)
            break;
        plain->output_sent += (size_t)n;
    }
    plain->waiting = 0;
    if (plain->output_sent == plain->output_len)
        plain->output_sent = plain->output_len = 0;
}

/* A quote behind an odd number of backslashes belongs to the string. */
static char *skip_string(char *at) {
    for (char *quote = at;;) {
        quote = strchr(quote + 1, '"');
        char *slash = quote;
        while (slash[-1] == '\\')
            slash--;
        if ((quote - slash) % 2 == 0)
            return quote + 1;
    }
}

/* Steps over a value that is taken to be well formed. */
static char *skip_value(char *at) {
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
    } while (depth || (*at != ',' && *at != '}' && *at != ']'));
    return at;
}

static void scan(char *at, struct message *ret) {
    for (at++; *at != '}'; at += *at == ',') {
        char *name = at;
        at = skip_string(at) + 1;
        char *value = at;
        at = skip_value(at);
        if (name[1] == 'i')
            ret->id = strtoull(value, NULL, 10);
        else if (name[1] == 'm')
            ret->is_request = true;
        else if (name[1] == 'p' || name[1] == 'r')
            ret->text = (struct text){value, (size_t)(at - value)};
    }
}

static void parse(struct plain *plain, char *text, size_t len, struct message *ret) {
    yyjson_alc alc;
    if (len <= SMALL)
        yyjson_alc_pool_init(&alc, plain->arena, plain->arena_cap);
    ret->doc = yyjson_read_opts(text, len, YYJSON_READ_NOFLAG, len <= SMALL ? &alc : NULL, NULL);
    yyjson_val *root = yyjson_doc_get_root(ret->doc);
    need(yyjson_is_obj(root), "no message");
    ret->id = yyjson_get_uint(yyjson_obj_get(root, "id"));
    ret->is_request = yyjson_obj_get(root, "method") != NULL;
    ret->body = yyjson_obj_get(root, ret->is_request ? "params" : "result");
    need(ret->body != NULL, "a message without content");
}

void plain_done(struct plain *plain, struct message *message) {
    (void)plain;
    /* What lies in the arena is simply overwritten. */
    if (message->doc && yyjson_doc_get_read_size(message->doc) > SMALL)
        yyjson_doc_free(message->doc);
}

static bool next_text(struct plain *plain, struct text *ret) {
    char *at = plain->input + plain->input_at;
    size_t len = plain->input_len - plain->input_at;
    if (plain->line) {
        char *end = len > plain->seen ? memchr(at + plain->seen, '\n', len - plain->seen) : NULL;
        plain->seen = end ? 0 : len;
        if (!end)
            return false;
        *ret = (struct text){at, (size_t)(end - at)};
        plain->input_at += ret->len + 1;
        return true;
    }
    char *end = len > 20 ? memmem(at, len < 64 ? len : 64, "\r\n\r\n", 4) : NULL;
    if (!end)
        return false;
    size_t body = strtoull(at + 16, NULL, 10);
    size_t head = (size_t)(end + 4 - at);
    if (len < head + body) {
        grow(&plain->input, &plain->input_cap, plain->input_at + head + body + PIECE);
        return false;
    }
    *ret = (struct text){end + 4, body};
    plain->input_at += head + body;
    return true;
}

bool plain_next(struct plain *plain, struct message *ret) {
    struct text text;
    if (!next_text(plain, &text))
        return false;
    *ret = (struct message){0};
    if (plain->splice)
        scan(text.at, ret);
    else
        parse(plain, text.at, text.len, ret);
    return true;
}

int plain_read(struct plain *plain) {
    if (plain->input_at) {
        memmove(plain->input, plain->input + plain->input_at, plain->input_len - plain->input_at);
        plain->input_len -= plain->input_at;
        plain->input_at = 0;
    }
    grow(&plain->input, &plain->input_cap, plain->input_len + PIECE);
    ssize_t n =
        read(plain->in, plain->input + plain->input_len, plain->input_cap - plain->input_len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return -1;
    need(n >= 0, "the other side can't be read");
    plain->input_len += (size_t)n;
    return n > 0;
}

void check_answer(const struct plain *plain, const struct message *message, uint64_t id,
                  const struct body *params, size_t filling) {
    bool same = plain->splice ? message->text.len == params->text.len
                              : yyjson_get_len(yyjson_obj_get(message->body, "text")) == filling;
    if (message->is_request || message->id != id || !same)
        die("the answer to %llu is wrong", (unsigned long long)id);
}

static void take(struct plain *plain, struct both *both) {
    struct message message;
    while (plain_next(plain, &message)) {
        if (message.is_request) {
            plain_reply(plain, &message);
            both->served++;
        } else {
            check_answer(plain, &message, ++both->answered, &both->params, both->filling);
        }
        plain_done(plain, &message);
        if (plain->waiting >= BATCH)
            plain_flush_some(plain);
    }
}

bool both_turn(struct plain *plain, struct both *both) {
    while (both->sent < both->count && both->sent - both->answered < both->inflight) {
        plain_request(plain, ++both->sent, &both->params);
        if (plain->waiting >= BATCH)
            plain_flush_some(plain);
    }
    if (plain->output_len)
        plain_flush_some(plain);
    int came = plain_read(plain);
    if (came < 0) {
        struct pollfd fds[2] = {{plain->in, POLLIN, 0}, {plain->out, POLLOUT, 0}};
        poll(fds, plain->output_len ? 2 : 1, -1);
        return true;
    }
    take(plain, both);
    if (plain->output_len)
        plain_flush_some(plain); /* the last answers must not wait for a reason to go */
    return came;
}
