/* Faults in how a message is written. They go straight to the outlet: what a task keeps together
 * would not be what was asked for. */
#include "cli/mock/mock.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static void put(struct mock *mock, dx_text text) {
    mock_outlet_put(&mock->outlet, text);
}

static void put_str(struct mock *mock, const char *text) {
    put(mock, dx_str(text));
}

static dx_framing other_of(dx_framing framing) {
    return framing == DX_FRAMING_LINE ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
}

static bool frame(struct mock *mock, dx_framing framing, dx_text message, dx_buf *framed) {
    if (dx_frame_write(framed, framing, dx_protocol_facts_of(mock->protocol)->content_type,
                       message) == DX_OK)
        return true;
    mock_fail(mock, CLI_NO_START, "out of memory");
    return false;
}

/* A notification that our side may send. */
static bool make_note(struct mock *mock, dx_buf *text) {
    dx_buf params;
    dx_buf_init(&params, 1 << 20, NULL);
    const char *method = mock_own_method(mock, true, &params);
    dx_json value = params.len ? dx_json_text(params.data, params.len) : dx_json_none();
    bool good = dx_rpc_write_notification(text, dx_str(method), value) == DX_OK;
    dx_buf_done(&params);
    if (!good)
        mock_fail(mock, CLI_NO_START, "out of memory");
    return good;
}

/* Headers: what stands before the message. "#" is its length, "@" the same in hexadecimal. */

static void put_header(struct mock *mock, const char *header, dx_text message) {
    char number[32];
    while (*header) {
        size_t len = strcspn(header, "#@");
        put(mock, (dx_text){header, len});
        header += len;
        if (!*header)
            break;
        if (*header == '#')
            snprintf(number, sizeof number, "%zu", message.len);
        else
            snprintf(number, sizeof number, "%zx", message.len);
        put_str(mock, number);
        header++;
    }
    put(mock, message);
}

static const char *header_of(struct mock *mock, mock_fault fault) {
    static const char *const lengths[] = {
        "Content-Length: +#\r\n\r\n",  "Content-Length: 0x@\r\n\r\n", "Content-Length: #,#\r\n\r\n",
        "Content-Length: -#\r\n\r\n",  "Content-Length: #e0\r\n\r\n", "Content-Length: # #\r\n\r\n",
        "Content-Length: #.0\r\n\r\n", "Content-Length: \r\n\r\n"};
    switch (fault) {
    case MOCK_FAULT_HEADER_FORM:
        return "cOnTeNt-LeNgTh:   #  \r\n\r\n";
    case MOCK_FAULT_HEADER_EXTRA:
        return "X-Mock: yes\r\nContent-Length: #\r\n"
               "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n";
    case MOCK_FAULT_CHARSET:
        return "Content-Length: #\r\n"
               "Content-Type: application/vscode-jsonrpc; charset=utf-16\r\n\r\n";
    case MOCK_FAULT_HEADER_LF:
        return "Content-Length: #\n\n";
    case MOCK_FAULT_LENGTH_MISSING:
        return "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n";
    case MOCK_FAULT_LENGTH_TWICE:
        return "Content-Length: #\r\nContent-Length: #\r\n\r\n";
    case MOCK_FAULT_LENGTH_DIFFERS:
        return "Content-Length: #\r\nContent-Length: 7#\r\n\r\n";
    case MOCK_FAULT_LENGTH_FORM:
        return lengths[mock->forms++ % (sizeof lengths / sizeof lengths[0])];
    case MOCK_FAULT_LENGTH_LIMIT:
        return "Content-Length: 1000000000000\r\n\r\n";
    case MOCK_FAULT_STRAY_BEFORE:
        return "text that is not a header\r\nContent-Length: #\r\n\r\n";
    default:
        return NULL;
    }
}

/* 400 of them; then 2^64 more than it is, which is right for who counts in 64 bits. */
static void write_digits(struct mock *mock, dx_text message) {
    char digits[401];
    memset(digits, '9', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    if (mock->forms++ % 2)
        snprintf(digits, sizeof digits, "1844674407%llu",
                 3709551616ULL + (unsigned long long)message.len);
    put_str(mock, "Content-Length: ");
    put_str(mock, digits);
    put_str(mock, "\r\n\r\n");
    put(mock, message);
}

static void write_length(struct mock *mock, size_t length, dx_text message) {
    char header[64];
    snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", length);
    put_str(mock, header);
    put(mock, message);
}

static void write_many_fields(struct mock *mock, dx_text message) {
    char field[64];
    for (int i = 0; i < 10000; i++) {
        snprintf(field, sizeof field, "X-Mock-%d: yes\r\n", i);
        put_str(mock, field);
    }
    write_length(mock, message.len, message);
}

static void write_nul(struct mock *mock, dx_text message) {
    put(mock, (dx_text){"X-Mock: \0\1\377\r\n", 13});
    write_length(mock, message.len, message);
}

/* Those that end. */
static void write_cut(struct mock *mock, mock_fault fault, dx_text message) {
    dx_buf framed;
    dx_buf_init(&framed, SIZE_MAX / 2, NULL);
    if (frame(mock, mock_framing(mock), message, &framed)) {
        size_t body = framed.len - message.len / 2;
        size_t cut = fault == MOCK_FAULT_CUT_HEADER ? 15 : body;
        if (fault == MOCK_FAULT_LAST_LINE)
            cut = framed.len - 1;
        put(mock, (dx_text){framed.data, cut});
    }
    dx_buf_done(&framed);
    if (fault == MOCK_FAULT_DIES_WRITING)
        mock_die(mock, CLI_OK, 9);
    else
        mock_die(mock, CLI_OK, 0);
}

static void write_pretty(struct mock *mock, dx_text message) {
    size_t len;
    yyjson_doc *doc = yyjson_read(message.at, message.len, YYJSON_READ_NUMBER_AS_RAW);
    char *pretty = doc ? yyjson_write(doc, YYJSON_WRITE_PRETTY, &len) : NULL;
    if (pretty)
        put(mock, (dx_text){pretty, len});
    else
        put(mock, message);
    put_str(mock, "\n");
    free(pretty);
    yyjson_doc_free(doc);
}

/* Two messages: one behind the other in one write, or their halves mixed. */
static void write_two(struct mock *mock, mock_fault fault, dx_text message) {
    dx_buf note;
    dx_buf one;
    dx_buf two;
    dx_buf all;
    dx_buf_init(&note, 1 << 20, NULL);
    dx_buf_init(&one, SIZE_MAX / 2, NULL);
    dx_buf_init(&two, SIZE_MAX / 2, NULL);
    dx_buf_init(&all, SIZE_MAX / 2, NULL);
    if (make_note(mock, &note) &&
        frame(mock, mock_framing(mock), (dx_text){note.data, note.len}, &one) &&
        frame(mock, mock_framing(mock), message, &two)) {
        size_t half = fault == MOCK_FAULT_GLUED ? one.len : one.len / 2;
        size_t other = fault == MOCK_FAULT_GLUED ? two.len : two.len / 2;
        bool good = dx_buf_append(&all, one.data, half) == DX_OK &&
                    dx_buf_append(&all, two.data, other) == DX_OK &&
                    dx_buf_append(&all, one.data + half, one.len - half) == DX_OK &&
                    dx_buf_append(&all, two.data + other, two.len - other) == DX_OK;
        if (good)
            put(mock, (dx_text){all.data, all.len});
        else
            mock_fail(mock, CLI_NO_START, "out of memory");
    }
    dx_buf_done(&note);
    dx_buf_done(&one);
    dx_buf_done(&two);
    dx_buf_done(&all);
}

static void write_framed(struct mock *mock, mock_fault fault, dx_framing framing, dx_text message) {
    dx_buf framed;
    dx_buf_init(&framed, SIZE_MAX / 2, NULL);
    if (frame(mock, framing, message, &framed)) {
        dx_text bytes = {framed.data, framed.len};
        if (fault == MOCK_FAULT_SPLIT)
            mock_outlet_split(&mock->outlet, bytes, 1, 0);
        else
            put(mock, bytes);
    }
    dx_buf_done(&framed);
}

static void write_note(struct mock *mock) {
    dx_buf note;
    dx_buf_init(&note, 1 << 20, NULL);
    if (make_note(mock, &note))
        write_framed(mock, MOCK_FAULT_FRAMING_SWITCH, mock_framing(mock),
                     (dx_text){note.data, note.len});
    dx_buf_done(&note);
}

/* The usual way of writing a message would not let it pass. */
static void write_newline(struct mock *mock, dx_text message) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    if (!mock_fault_text(mock, MOCK_FAULT_RAW_NEWLINE, message, &text))
        mock_fail(mock, CLI_NO_START, "out of memory");
    else if (mock_framing(mock) == DX_FRAMING_HEADER)
        write_length(mock, text.len, (dx_text){text.data, text.len});
    else {
        put(mock, (dx_text){text.data, text.len});
        put_str(mock, "\n");
    }
    dx_buf_done(&text);
}

/* More than anybody takes in a line. */
enum { ENDLESS = 80 << 20 };

static void write_otherwise(struct mock *mock, mock_fault fault, dx_text message) {
    dx_framing framing = mock_framing(mock);
    switch (fault) {
    case MOCK_FAULT_LINE_ENDLESS:
        put(mock, (dx_text){message.at, message.len - 1});
        mock_outlet_fill(&mock->outlet, ' ', ENDLESS);
        break;
    case MOCK_FAULT_CRLF:
        put_str(mock, "\r\n\n");
        put(mock, message);
        put_str(mock, "\r\n");
        break;
    case MOCK_FAULT_BOM:
        if (!mock->fault_done[fault])
            put_str(mock, "\xef\xbb\xbf");
        mock->fault_done[fault] = true;
        write_framed(mock, fault, framing, message);
        break;
    case MOCK_FAULT_STRAY:
        put_str(mock, "[mock] info: this is a log line\n");
        write_framed(mock, fault, framing, message);
        break;
    case MOCK_FAULT_STRAY_JSON:
        write_framed(mock, fault, framing,
                     dx_str("{\"level\":\"info\",\"text\":\"not a message\"}"));
        write_framed(mock, fault, framing, message);
        break;
    case MOCK_FAULT_FRAMING_SWITCH:
        write_note(mock);
        write_framed(mock, fault, other_of(framing), message);
        break;
    case MOCK_FAULT_RAW_NEWLINE:
        write_newline(mock, message);
        break;
    case MOCK_FAULT_OTHER_FRAMING:
        write_framed(mock, fault, other_of(framing), message);
        break;
    default:
        write_framed(mock, fault, framing, message);
    }
}

void mock_fault_frame(struct mock *mock, mock_fault fault, dx_text message) {
    const char *header = header_of(mock, fault);
    if (header) {
        put_header(mock, header, message);
        return;
    }
    switch (fault) {
    case MOCK_FAULT_LENGTH_DIGITS:
        write_digits(mock, message);
        break;
    case MOCK_FAULT_LENGTH_UNMET:
        write_length(mock, 1 << 20, (dx_text){message.at, message.len < 10 ? message.len : 10});
        break;
    case MOCK_FAULT_LENGTH_SHORT:
        write_length(mock, message.len > 6 ? message.len - 6 : 1, message);
        break;
    case MOCK_FAULT_LENGTH_LONG:
        write_length(mock, message.len + 7, message);
        break;
    case MOCK_FAULT_LENGTH_ZERO:
        write_length(mock, 0, dx_str(""));
        write_length(mock, message.len, message);
        break;
    case MOCK_FAULT_HEADER_FLOOD:
        write_many_fields(mock, message);
        break;
    case MOCK_FAULT_HEADER_NUL:
        write_nul(mock, message);
        break;
    case MOCK_FAULT_CUT_HEADER:
    case MOCK_FAULT_CUT_BODY:
    case MOCK_FAULT_LAST_LINE:
    case MOCK_FAULT_DIES_WRITING:
        write_cut(mock, fault, message);
        break;
    case MOCK_FAULT_PRETTY:
        write_pretty(mock, message);
        break;
    case MOCK_FAULT_GLUED:
    case MOCK_FAULT_INTERLEAVED:
        write_two(mock, fault, message);
        break;
    default:
        write_otherwise(mock, fault, message);
    }
}
