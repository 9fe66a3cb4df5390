/* Reading a file: which of its bytes are the message, and how they are encoded. */
#include "systems/hermes/hl7_file.h"

#include <string.h>

/* How much of an invalid name is quoted. */
enum { QUOTE_MOST = 40 };

/* What the first bytes say by themselves. */
struct look {
    const hl7_charset_info *info; /* NULL: nothing */
    size_t bom;                   /* 0: there is no byte order mark, but zeros have such places */
};

/* How the message at hand is read. */
struct choice {
    const hl7_charset_info *info;
    size_t bom;
    bool is_sure;      /* of a wide set: not only by the places of zeros */
    const char *claim; /* who says that it is so, for an error */
    char quote[QUOTE_MOST + 80];
};

static struct look look_at(dx_text bytes) {
    static const struct {
        char bytes[4];
        size_t len;
        hl7_charset_kind kind;
        unsigned width;
    } marks[] = {{{'\xff', '\xfe', 0, 0}, 4, HL7_WIDE_LE, 4},
                 {{0, 0, '\xfe', '\xff'}, 4, HL7_WIDE_BE, 4},
                 {{'\xef', '\xbb', '\xbf'}, 3, HL7_UTF8, 0},
                 {{'\xff', '\xfe'}, 2, HL7_WIDE_LE, 2},
                 {{'\xfe', '\xff'}, 2, HL7_WIDE_BE, 2}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (bytes.len >= marks[i].len && memcmp(bytes.at, marks[i].bytes, marks[i].len) == 0)
            return (struct look){hl7_charset_of(marks[i].kind, marks[i].width), marks[i].len};
    unsigned zeros = 0;
    for (size_t i = 0; i < 4 && bytes.len >= 4; i++)
        zeros = zeros << 1 | !bytes.at[i];
    return (struct look){zeros == 07    ? hl7_charset_of(HL7_WIDE_LE, 4)
                         : zeros == 016 ? hl7_charset_of(HL7_WIDE_BE, 4)
                         : zeros == 05  ? hl7_charset_of(HL7_WIDE_LE, 2)
                         : zeros == 012 ? hl7_charset_of(HL7_WIDE_BE, 2)
                                        : NULL,
                         0};
}

dx_text hl7_header_charset(dx_text text) {
    enum { SEPARATORS = 17 };
    if (!hl7_is_message(text))
        return (dx_text){NULL, 0};
    char ends[] = {text.at[3], '\r', '\n', text.len > 4 ? text.at[4] : '\r',
                   text.len > 5 ? text.at[5] : '\r'};
    size_t from = 3;
    for (size_t count = 0; from < text.len && count < SEPARATORS; from++) {
        if (text.at[from] == '\r' || text.at[from] == '\n')
            return (dx_text){"", 0};
        count += text.at[from] == text.at[3];
    }
    size_t to = from;
    while (to < text.len && !memchr(ends, text.at[to], sizeof ends))
        to++;
    while (from < to && text.at[from] == ' ')
        from++;
    while (from < to && text.at[to - 1] == ' ')
        to--;
    return (dx_text){text.at + from, to - from};
}

static dx_status no_message(size_t which, size_t count, dx_error *reterr) {
    char asked[HL7_DIGITS];
    char digits[HL7_DIGITS];
    return HL7_FILE_FAIL(reterr, "message", HL7_PIECE("there is no message "),
                         hl7_digits(asked, which, 10, 1), HL7_PIECE(": the file has "),
                         hl7_digits(digits, count, 10, 1));
}

/* Which message, and where. One that was asked for must be there; without any, all is the text. */
static dx_status find_message(dx_hl7_file *file, dx_text text, size_t which, dx_error *reterr) {
    hl7_layout *layout = &file->layout;
    file->which = which ? which : 1;
    hl7_layout_read(text, file->which, layout);
    if (which > layout->messages)
        return no_message(which, layout->messages, reterr);
    if (!layout->messages)
        *layout = (hl7_layout){.to = text.len};
    return DX_OK;
}

static dx_text cut(dx_text text, size_t from, size_t to) {
    return (dx_text){text.at + from, to - from};
}

/* Decodes a part of the file. */
static dx_status decode(dx_hl7_file *file, const struct choice *choice, dx_text bytes, size_t from,
                        size_t to, dx_buf *out, dx_error *reterr) {
    char place[HL7_DIGITS];
    char digits[HL7_DIGITS];
    size_t at = 0;
    dx_status status = hl7_file_charset(choice->info, &file->read, reterr);
    if (status != DX_OK)
        return status;
    status = hl7_decode(&file->read, cut(bytes, from, to), out, &at);
    if (status != DX_MISFIT)
        return status;
    at += from;
    return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("byte 0x"),
                         hl7_digits(digits, (unsigned char)bytes.at[at], 16, 2),
                         HL7_PIECE(" at offset "), hl7_digits(place, at, 10, 1),
                         HL7_PIECE(" is not valid "), dx_str(choice->info->name),
                         dx_str(choice->claim));
}

/* Wide sets: all of the file is decoded, and what stands around the message encoded again. */

/* Does the message agree with what its bytes look like? */
static dx_status confirm(const dx_hl7_file *file, const struct choice *choice, dx_text message,
                         dx_error *reterr) {
    dx_text name = hl7_header_charset(message);
    const hl7_charset_info *said = hl7_charset_named(name);
    bool fits = name.len ? said && (said->kind == HL7_UNICODE || said == choice->info ||
                                    (said->kind == HL7_WIDE && said->width == choice->info->width))
                         : choice->bom != 0;
    if (file->given || !file->layout.messages || fits)
        return DX_OK;
    return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("the file is "), dx_str(choice->info->name),
                         HL7_PIECE(", but MSH.18 says "),
                         name.len ? hl7_cut(name, QUOTE_MOST) : HL7_PIECE("nothing"));
}

static dx_status take_wide(dx_hl7_file *file, dx_text all, const struct choice *choice,
                           size_t which, dx_buf *text, dx_error *reterr) {
    size_t at;
    const hl7_layout *layout = &file->layout;
    dx_status status = find_message(file, all, which, reterr);
    if (status != DX_OK)
        return status;
    dx_text message = cut(all, layout->from, layout->to);
    status = confirm(file, choice, message, reterr);
    if (status == DX_OK)
        status = hl7_encode(&file->read, cut(all, 0, layout->from), &file->rest, &at);
    file->before = file->rest.len;
    if (status == DX_OK)
        status = hl7_encode(&file->read, cut(all, layout->to, all.len), &file->rest, &at);
    return status == DX_OK ? dx_buf_append(text, message.at, message.len) : status;
}

/* DX_AGAIN: it only looked so. */
static dx_status read_wide(dx_hl7_file *file, const struct choice *choice, dx_text bytes,
                           size_t which, dx_buf *text, dx_error *reterr) {
    dx_buf all;
    dx_buf_init(&all, SIZE_MAX / 4, &file->alloc);
    dx_status status = decode(file, choice, bytes, choice->bom, bytes.len, &all, reterr);
    dx_text decoded = {all.data ? all.data : "", all.len};
    if (status == DX_OK)
        hl7_layout_read(decoded, 1, &file->layout);
    if (!choice->is_sure && (status == DX_MISFIT || (status == DX_OK && !file->layout.messages)))
        status = DX_AGAIN;
    if (status == DX_OK)
        status = dx_buf_append(&file->rest, bytes.at, choice->bom);
    if (status == DX_OK)
        status = take_wide(file, decoded, choice, which, text, reterr);
    dx_buf_done(&all);
    return status;
}

/* Sets of single bytes, and UTF-8: only the message is decoded. */

/* What the message says of itself. */
static void believe(dx_text name, struct choice *choice) {
    const hl7_charset_info *said = hl7_charset_named(name);
    choice->info = said;
    choice->claim = ", which MSH.18 says it is";
    if (!name.len) {
        choice->info = hl7_charset_of(HL7_UTF8, 0);
        choice->claim = ", and MSH.18 does not say what it is";
    } else if (!said) { /* ASCII is a part of all that it may mean */
        choice->info = hl7_charset_of(HL7_ASCII, 0);
        dx__say_str(choice->quote, sizeof choice->quote, ", and MSH.18 says an unknown name: ");
        dx__say(choice->quote, sizeof choice->quote, hl7_cut(name, QUOTE_MOST));
        choice->claim = choice->quote;
    } else if (said->kind == HL7_UNICODE) {
        choice->info = hl7_charset_of(HL7_UTF8, 0);
    }
}

static dx_status check_claim(const struct choice *choice, dx_error *reterr) {
    if (choice->info->width)
        return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("MSH.18 says "),
                             dx_str(choice->info->name), HL7_PIECE(", but the file is not"));
    if (choice->bom && choice->info->kind == HL7_SINGLE)
        return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("the file is UTF-8, but MSH.18 says "),
                             dx_str(choice->info->name));
    return DX_OK;
}

static dx_status read_bytes(dx_hl7_file *file, struct choice *choice, dx_text bytes, size_t which,
                            dx_buf *text, dx_error *reterr) {
    dx_status status = find_message(file, cut(bytes, choice->bom, bytes.len), which, reterr);
    if (status != DX_OK)
        return status;
    size_t from = choice->bom + file->layout.from;
    size_t to = choice->bom + file->layout.to;
    dx_text message = cut(bytes, from, to);
    choice->info = file->given;
    if (!file->given) {
        believe(hl7_header_charset(message), choice);
        status = check_claim(choice, reterr);
    }
    if (status == DX_OK)
        status = decode(file, choice, bytes, from, to, text, reterr);
    if (status == DX_OK)
        status = dx_buf_append(&file->rest, bytes.at, from);
    if (status == DX_OK)
        status = dx_buf_append(&file->rest, bytes.at + to, bytes.len - to);
    file->before = from;
    return status;
}

/* What the configuration and the first bytes say. What is given without an order gets one. */
static dx_status choose(dx_hl7_file *file, dx_text bytes, struct choice *choice, dx_error *reterr) {
    struct look look = look_at(bytes);
    const hl7_charset_info *given = file->given;
    *choice = (struct choice){.claim = ""};
    if (given && given->kind == HL7_UNICODE)
        given = look.info ? look.info : hl7_charset_of(HL7_UTF8, 0);
    if (given && given->kind == HL7_WIDE) {
        if (!look.info || look.info->width != given->width)
            return HL7_FILE_FAIL(
                reterr, "encoding", HL7_PIECE("the byte order is not known: write "),
                dx_str(given->width == 2 ? "UTF-16LE or UTF-16BE" : "UTF-32LE or UTF-32BE"));
        given = look.info;
    }
    file->given = given;
    if (!given && look.bom)
        choice->claim = ", which its byte order mark says it is";
    choice->info = given ? given : look.info;
    choice->bom = choice->info == look.info ? look.bom : 0;
    choice->is_sure = given || look.bom;
    file->bom = choice->bom;
    return DX_OK;
}

/* Notes what MSH.18 of the message says. */
static dx_status keep_name(dx_hl7_file *file, dx_text message) {
    if (!file->layout.messages)
        return DX_OK;
    dx_text name = hl7_header_charset(message);
    file->name = (dx_text){dx__text_copy(&file->alloc, name), name.len};
    return file->name.at ? DX_OK : DX_ERR_NOMEM;
}

static dx_status read_text(dx_hl7_file *file, dx_text bytes, size_t which, dx_buf *text,
                           dx_error *reterr) {
    struct choice choice;
    size_t start = text->len;
    dx_status status = choose(file, bytes, &choice, reterr);
    if (status != DX_OK)
        return status;
    status = DX_AGAIN;
    if (choice.info && choice.info->width)
        status = read_wide(file, &choice, bytes, which, text, reterr);
    if (status == DX_AGAIN)
        status = read_bytes(file, &choice, bytes, which, text, reterr);
    return status == DX_OK ? keep_name(file, (dx_text){text->data + start, text->len - start})
                           : status;
}

/* Without a message that was read: as it is to be written, unless the new one says otherwise. */
static dx_status start_new(dx_hl7_file *file, dx_error *reterr) {
    const hl7_charset_info *info = file->given;
    if (!info || info->kind == HL7_UNICODE)
        info = hl7_charset_of(HL7_UTF8, 0);
    if (info->kind == HL7_WIDE)
        info = hl7_charset_of(HL7_WIDE_BE, info->width);
    if (file->given)
        file->given = info;
    file->is_new = true;
    return hl7_file_charset(info, &file->read, reterr);
}

static dx_status import(dx_hl7_file *file, const dx_hl7_file_config *config, dx_text bytes,
                        dx_buf *text, dx_error *reterr) {
    dx_hl7_config hl7_config = config->hl7;
    struct look look = look_at(bytes);
    dx_hl7 *hl7 = NULL;
    hl7_config.file = NULL;
    if (look.bom && look.info->kind == HL7_UTF8)
        bytes = cut(bytes, look.bom, bytes.len);
    file->layout.messages = 1;
    if (config->message > 1)
        return no_message(config->message, 1, reterr);
    dx_status status = dx_hl7_import_like(&hl7_config, bytes, config->format, NULL, &hl7, reterr);
    if (status == DX_OK)
        status = dx_hl7_write(hl7, text);
    dx_hl7_free(hl7);
    return status == DX_OK ? start_new(file, reterr) : status;
}

static dx_status read_any(dx_hl7_file *file, const dx_hl7_file_config *config, dx_text bytes,
                          dx_buf *text, dx_error *reterr) {
    if (config->encoding && !(file->given = hl7_charset_named(dx_str(config->encoding)))) {
        (void)HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("unknown encoding '"),
                            hl7_cut(dx_str(config->encoding), QUOTE_MOST), HL7_PIECE("'"));
        return DX_ERR_INVALID;
    }
    if (config->format != DX_HL7_TEXT)
        return import(file, config, bytes, text, reterr);
    if (bytes.len)
        return read_text(file, bytes, config->message, text, reterr);
    return config->message ? no_message(config->message, 0, reterr) : start_new(file, reterr);
}

dx_status dx_hl7_file_read(const dx_hl7_file_config *config, dx_text bytes, dx_buf *text,
                           dx_hl7_file **ret_file, dx_error *reterr) {
    size_t start = text->len;
    dx_buf buf; /* which knows what malloc() is */
    dx_buf_init(&buf, SIZE_MAX / 4, config->hl7.allocator);
    dx_hl7_file *file = dx__malloc(&buf.alloc, sizeof *file);
    if (!file)
        return DX_ERR_NOMEM;
    *file = (dx_hl7_file){.rest = buf, .alloc = buf.alloc};
    dx_status status = read_any(file, config, bytes, text, reterr);
    if (status == DX_OK) {
        *ret_file = file;
        return DX_OK;
    }
    text->len = start;
    dx_hl7_file_free(file);
    return status;
}
