/* A file that was read: which characters its message can have, and writing it back. */
#include "systems/hermes/hl7_file.h"

#include <string.h>

dx_hl7_file_config dx_hl7_file_defaults(void) {
    return (dx_hl7_file_config){.hl7 = dx_hl7_defaults()};
}

dx_hl7_file *dx_hl7_file_free(dx_hl7_file *file) {
    if (!file)
        return NULL;
    dx_allocator alloc = file->alloc;
    dx_buf_done(&file->rest);
    dx__free(&alloc, (char *)(uintptr_t)file->name.at);
    dx__free(&alloc, file);
    return NULL;
}

size_t dx_hl7_file_messages(const dx_hl7_file *file) {
    return file->layout.messages;
}

const char *dx_hl7_file_encoding(const dx_hl7_file *file) {
    return file->read.info->name;
}

const char *dx_hl7_file_warning(const dx_hl7_file *file) {
    return file->layout.stray ? "the text before the first message is not HL7; it is kept" : NULL;
}

dx_status hl7_file_fail(dx_error *reterr, const char *place, const dx_text *pieces, size_t count) {
    if (!reterr)
        return DX_MISFIT;
    *reterr = (dx_error){.fault = DX_FAULT_NONE};
    dx__say_str(reterr->place, sizeof reterr->place, place);
    for (size_t i = 0; i < count; i++)
        dx__say(reterr->phrase, sizeof reterr->phrase, pieces[i]);
    return DX_MISFIT;
}

dx_text hl7_digits(char room[HL7_DIGITS], size_t number, unsigned base, size_t least) {
    char *end = room + HL7_DIGITS;
    char *at = end;
    for (; number || (size_t)(end - at) < least; number /= base)
        *--at = "0123456789ABCDEF"[number % base];
    return (dx_text){at, (size_t)(end - at)};
}

dx_status hl7_file_charset(const hl7_charset_info *info, hl7_charset *ret_charset,
                           dx_error *reterr) {
    if (hl7_charset_open(info, ret_charset) == DX_OK)
        return DX_OK;
    return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("iconv() of this system does not know "),
                         dx_str(info->name));
}

/* What MSH.18 asks for, now that it is another one. */
static dx_status wanted(const dx_hl7_file *file, dx_text name, const hl7_charset_info **ret_info,
                        dx_error *reterr) {
    const hl7_charset_info *read = file->read.info;
    const hl7_charset_info *info = hl7_charset_named(name);
    bool is_unicode = read->width || read->kind == HL7_UTF8;
    if (!name.len)
        info = file->given ? file->given : hl7_charset_of(HL7_UTF8, 0);
    if (!info)
        return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("unknown character set in MSH.18: "),
                             hl7_cut(name, 40));
    if (info->kind == HL7_UNICODE && !is_unicode)
        return HL7_FILE_FAIL(reterr, "encoding",
                             HL7_PIECE("UNICODE in MSH.18 does not say the encoding: write UNICODE"
                                       " UTF-8"));
    if (info->kind == HL7_UNICODE || (info->kind == HL7_WIDE && info->width == read->width))
        info = read;
    if (info->kind == HL7_WIDE)
        info = hl7_charset_of(HL7_WIDE_BE, info->width);
    /* What else is in the file would have to be converted, too, and is not this message's. */
    if (info != read && (info->width || read->width || file->bom) && file->rest.len > file->bom)
        return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("MSH.18 cannot become "),
                             dx_str(info->name), HL7_PIECE(": the rest of the file is "),
                             dx_str(read->name));
    *ret_info = info;
    return DX_OK;
}

/* As what this text is to be written. */
static dx_status charset_of(dx_hl7_file *file, dx_text text, const hl7_charset **ret_charset,
                            dx_error *reterr) {
    const hl7_charset_info *info = file->read.info;
    dx_text name = hl7_header_charset(text);
    if (name.at && !(file->name.at && hl7_is_same(name, file->name))) {
        dx_status status = wanted(file, name, &info, reterr);
        if (status != DX_OK)
            return status;
    }
    *ret_charset = info == file->read.info ? &file->read : &file->other;
    return info == (*ret_charset)->info ? DX_OK : hl7_file_charset(info, &file->other, reterr);
}

/* A character that cannot be written, or invalid UTF-8. */
static dx_status misfit(const dx_hl7_file *file, const hl7_charset *charset, dx_text text,
                        size_t at, dx_error *reterr) {
    char digits[HL7_DIGITS];
    size_t len = dx__utf8(text.at + at, text.len - at);
    if (!len)
        return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("the text is not valid UTF-8"));
    uint32_t code = dx__utf8_code(text.at + at, len);
    bool is_shown = code >= 0xa0;
    return HL7_FILE_FAIL(reterr, "encoding", HL7_PIECE("U+"), hl7_digits(digits, code, 16, 4),
                         dx_str(is_shown ? " '" : ""), (dx_text){text.at + at, is_shown ? len : 0},
                         dx_str(is_shown ? "'" : ""), HL7_PIECE(" cannot be written in "),
                         dx_str(charset->info->name),
                         dx_str(file->given && charset == &file->read ? "" : " (MSH.18)"));
}

/* Would the message be found in what was written, and all of it? A line that begins a batch or
 * another message, and a byte that ends a frame, would cut it off. */
static dx_status check_layout(dx_hl7_file *file, const hl7_charset *charset, size_t len,
                              dx_text written, dx_error *reterr) {
    hl7_layout layout = {0, 0, 0, false};
    dx_buf all;
    size_t at;
    dx_status status = DX_OK;
    dx_buf_init(&all, SIZE_MAX / 4, &file->alloc);
    if (charset->info->width) {
        status = hl7_decode(charset, written, &all, &at);
        written = (dx_text){all.data, all.len};
    }
    bool is_alone = file->is_new || !file->layout.messages;
    if (status == DX_OK)
        hl7_layout_read(written, is_alone ? 1 : file->which, &layout);
    dx_buf_done(&all);
    if (status != DX_OK || (layout.messages == (is_alone ? 1 : file->layout.messages) &&
                            layout.to - layout.from == len))
        return status;
    return HL7_FILE_FAIL(reterr, "message",
                         HL7_PIECE("a line of the message begins a batch or another message, or a"
                                   " byte 0x1C ends it: it could not be read again"));
}

/* All but the message stays as it was; only another byte order mark comes with another set. */
static dx_status write(dx_hl7_file *file, const hl7_charset *charset, dx_text text, dx_buf *out,
                       dx_error *reterr) {
    size_t start = out ? out->len : 0;
    size_t at = 0;
    size_t from = 0;
    dx_status status = DX_OK;
    bool has_bom = file->bom || charset->info->width;
    bool is_alone = has_bom && (file->is_new || charset != &file->read);
    const char *rest = file->rest.data ? file->rest.data : "";
    if (out && is_alone && charset->info->width && text.len)
        status = hl7_encode(charset, HL7_PIECE("\xef\xbb\xbf"), out, &at);
    else if (out && !is_alone)
        status = dx_buf_append(out, rest, file->before);
    from = out ? out->len : 0;
    if (status == DX_OK)
        status = hl7_encode(charset, text, out, &at);
    if (status == DX_MISFIT)
        return misfit(file, charset, text, at, reterr);
    size_t len = !out || charset->info->width ? text.len : out->len - from;
    if (status == DX_OK && out && !is_alone)
        status = dx_buf_append(out, rest + file->before, file->rest.len - file->before);
    if (status != DX_OK || !out || !hl7_is_message(text))
        return status;
    dx_text written = {out->data + start, out->len - start};
    return check_layout(file, charset, len, written, reterr);
}

dx_status dx_hl7_file_write(dx_hl7_file *file, dx_text text, dx_buf *out, dx_error *reterr) {
    const hl7_charset *charset;
    size_t start = out ? out->len : 0;
    dx_status status = charset_of(file, text, &charset, reterr);
    if (status == DX_OK)
        status = write(file, charset, text, out, reterr);
    if (status != DX_OK && out)
        out->len = start;
    return status;
}

/* What a message may become. */

dx_status hl7_file_allows(dx_hl7_file *file, dx_text header, dx_text value, dx_error *reterr) {
    const hl7_charset *charset;
    size_t at = 0;
    dx_status status = charset_of(file, header, &charset, reterr);
    if (status != DX_OK)
        return status;
    status = hl7_encode(charset, value, NULL, &at);
    return status == DX_MISFIT ? misfit(file, charset, value, at, reterr) : status;
}

dx_status dx_hl7_check(const dx_hl7 *hl7, dx_error *reterr) {
    dx_buf text;
    if (!hl7->file)
        return DX_OK;
    dx_buf_init(&text, hl7->text_max, &hl7->alloc);
    dx_status status = dx_hl7_write(hl7, &text);
    if (status == DX_OK)
        status = dx_hl7_file_write(hl7->file, (dx_text){text.data, text.len}, NULL, reterr);
    dx_buf_done(&text);
    return status;
}
