/* Character sets: what HL7 calls them (table 0211) and what others do, and text from and to UTF-8.
 * A set of single bytes becomes a table, so that every byte that can be read is written back as it
 * was; iconv() only fills that in, because it may drop or replace characters. */
#include "systems/hermes/hl7_parts.h"

#include <iconv.h>
#include <string.h>

/* `names` are compared without case and punctuation; the first is for people. */
static const hl7_charset_info infos[] = {
    {HL7_ASCII, 0, "ASCII", "USASCII ISOIR6", NULL},
    {HL7_SINGLE, 0, "8859/1", "ISO88591 LATIN1 ISOIR100", "ISO-8859-1"},
    {HL7_SINGLE, 0, "8859/2", "ISO88592 LATIN2 ISOIR101", "ISO-8859-2"},
    {HL7_SINGLE, 0, "8859/3", "ISO88593 LATIN3 ISOIR109", "ISO-8859-3"},
    {HL7_SINGLE, 0, "8859/4", "ISO88594 LATIN4 ISOIR110", "ISO-8859-4"},
    {HL7_SINGLE, 0, "8859/5", "ISO88595 ISOIR144", "ISO-8859-5"},
    {HL7_SINGLE, 0, "8859/6", "ISO88596 ISOIR127", "ISO-8859-6"},
    {HL7_SINGLE, 0, "8859/7", "ISO88597 ISOIR126", "ISO-8859-7"},
    {HL7_SINGLE, 0, "8859/8", "ISO88598 ISOIR138", "ISO-8859-8"},
    {HL7_SINGLE, 0, "8859/9", "ISO88599 LATIN5 ISOIR148", "ISO-8859-9"},
    {HL7_SINGLE, 0, "8859/15", "ISO885915 LATIN9", "ISO-8859-15"},
    {HL7_SINGLE, 0, "windows-1250", "CP1250", "CP1250"},
    {HL7_SINGLE, 0, "windows-1251", "CP1251", "CP1251"},
    {HL7_SINGLE, 0, "windows-1252", "CP1252", "CP1252"},
    {HL7_SINGLE, 0, "windows-1253", "CP1253", "CP1253"},
    {HL7_SINGLE, 0, "windows-1254", "CP1254", "CP1254"},
    {HL7_SINGLE, 0, "windows-1257", "CP1257", "CP1257"},
    {HL7_SINGLE, 0, "cp437", "IBM437", "CP437"},
    {HL7_SINGLE, 0, "cp850", "IBM850", "CP850"},
    {HL7_UTF8, 0, "UTF-8", "UNICODEUTF8", NULL},
    {HL7_UNICODE, 0, "UNICODE", "", NULL},
    {HL7_WIDE, 2, "UTF-16", "UNICODEUTF16", NULL},
    {HL7_WIDE_LE, 2, "UTF-16LE", "UNICODEUTF16LE", NULL},
    {HL7_WIDE_BE, 2, "UTF-16BE", "UNICODEUTF16BE", NULL},
    {HL7_WIDE, 4, "UTF-32", "UNICODEUTF32", NULL},
    {HL7_WIDE_LE, 4, "UTF-32LE", "UNICODEUTF32LE", NULL},
    {HL7_WIDE_BE, 4, "UTF-32BE", "UNICODEUTF32BE", NULL},
};

enum { INFOS = sizeof infos / sizeof *infos, NAME_MOST = 32, HIGH = 0x80 };

/* Letters in upper case, and digits; false if there are too many of them, or none. */
static bool plain_name(dx_text name, char to[NAME_MOST]) {
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        c = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
        if ((c < 'A' || c > 'Z') && (c < '0' || c > '9'))
            continue;
        if (len + 1 == NAME_MOST)
            return false;
        to[len++] = c;
    }
    to[len] = '\0';
    return len > 0;
}

/* Is the word one of those in the list? */
static bool is_listed(const char *word, const char *list) {
    size_t len = strlen(word);
    for (const char *at = list; *at;) {
        size_t each = 0;
        while (at[each] && at[each] != ' ')
            each++;
        if (each == len && memcmp(at, word, len) == 0)
            return true;
        at += each + (at[each] == ' ');
    }
    return false;
}

const hl7_charset_info *hl7_charset_named(dx_text name) {
    char word[NAME_MOST];
    char known[NAME_MOST];
    if (!plain_name(name, word))
        return NULL;
    for (size_t i = 0; i < INFOS; i++)
        if ((plain_name(dx_str(infos[i].name), known) && strcmp(word, known) == 0) ||
            is_listed(word, infos[i].names))
            return &infos[i];
    return NULL;
}

const hl7_charset_info *hl7_charset_of(hl7_charset_kind kind, unsigned width) {
    const hl7_charset_info *info = infos;
    while (info->kind != kind || info->width != width)
        info++;
    return info;
}

/* The character that one byte stands for; 0 if it stands for none. */
static uint16_t character_of(iconv_t to_ucs, char byte) {
    unsigned char code[16] = {0};
    char *in = &byte;
    char *out = (char *)code;
    size_t left = 1;
    size_t room = sizeof code;
    (void)iconv(to_ucs, NULL, NULL, NULL, NULL);
    /* Some keep a character back until the next one has come. */
    if (iconv(to_ucs, &in, &left, &out, &room) != 0 || left ||
        iconv(to_ucs, NULL, NULL, &out, &room) != 0 || room != sizeof code - 4 || code[0] ||
        code[1])
        return 0;
    return (uint16_t)(code[2] << 8 | code[3]);
}

dx_status hl7_charset_open(const hl7_charset_info *info, hl7_charset *ret_charset) {
    *ret_charset = (hl7_charset){.info = info};
    if (info->kind != HL7_SINGLE)
        return DX_OK;
    iconv_t to_ucs = iconv_open("UCS-4BE", info->iconv);
    if (to_ucs == (iconv_t)-1)
        return DX_MISFIT;
    for (size_t i = 0; i < HIGH; i++) {
        uint16_t code = character_of(to_ucs, (char)(unsigned char)(HIGH + i));
        /* Two bytes for one character: only one of them could be written back. */
        for (size_t k = 0; k < i; k++)
            if (ret_charset->high[k] == code)
                code = 0;
        ret_charset->high[i] = code < HIGH ? 0 : code;
    }
    iconv_close(to_ucs);
    return DX_OK;
}

static size_t put_utf8(char to[4], uint32_t code) {
    if (code < HIGH) {
        to[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; code >>= 6)
        to[i] = (char)(unsigned char)(0x80 | (code & 0x3f));
    to[0] = (char)(unsigned char)(0xf00U >> len | code);
    return len;
}

/* How many bytes of ASCII the text begins with. */
static size_t ascii_run(dx_text text, size_t from) {
    size_t at = from;
    while (at < text.len && (unsigned char)text.at[at] < HIGH)
        at++;
    return at - from;
}

static dx_status decode_single(const hl7_charset *charset, dx_text bytes, dx_buf *out,
                               size_t *ret_at) {
    dx_status status = DX_OK;
    for (size_t i = 0; i < bytes.len && status == DX_OK;) {
        size_t run = ascii_run(bytes, i);
        if (run) {
            status = dx_buf_append(out, bytes.at + i, run);
            i += run;
            continue;
        }
        char utf8[4];
        uint16_t code = charset->high[(unsigned char)bytes.at[i] - HIGH];
        *ret_at = i++;
        status = code ? dx_buf_append(out, utf8, put_utf8(utf8, code)) : DX_MISFIT;
    }
    return status;
}

static uint32_t unit(const hl7_charset_info *info, const char *at) {
    uint32_t number = 0;
    for (unsigned i = 0; i < info->width; i++)
        number =
            number << 8 | (unsigned char)at[info->kind == HL7_WIDE_BE ? i : info->width - 1 - i];
    return number;
}

static size_t put_unit(const hl7_charset_info *info, uint32_t number, char *to) {
    for (unsigned i = 0; i < info->width; i++, number >>= 8)
        to[info->kind == HL7_WIDE_BE ? info->width - 1 - i : i] = (char)(unsigned char)number;
    return info->width;
}

static bool is_surrogate(uint32_t code, uint32_t first) {
    return code >= first && code < first + 0x400;
}

/* The character at the beginning, and in how many bytes it stands; 0 if there is none. */
static size_t wide_at(const hl7_charset_info *info, dx_text bytes, uint32_t *ret_code) {
    if (bytes.len < info->width)
        return 0;
    uint32_t code = unit(info, bytes.at);
    *ret_code = code;
    if (info->width == 2 && is_surrogate(code, 0xd800)) {
        uint32_t low = bytes.len < 4 ? 0 : unit(info, bytes.at + 2);
        *ret_code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
        return is_surrogate(low, 0xdc00) ? 4 : 0;
    }
    bool is_code = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_code ? info->width : 0;
}

static dx_status decode_wide(const hl7_charset *charset, dx_text bytes, dx_buf *out,
                             size_t *ret_at) {
    dx_status status = DX_OK;
    for (size_t i = 0, len; i < bytes.len && status == DX_OK; i += len) {
        char utf8[4];
        uint32_t code = 0;
        len = wide_at(charset->info, (dx_text){bytes.at + i, bytes.len - i}, &code);
        *ret_at = i;
        status = len ? dx_buf_append(out, utf8, put_utf8(utf8, code)) : DX_MISFIT;
    }
    return status;
}

/* Appends a text that must be UTF-8, or ASCII; `out` may be NULL. */
static dx_status copy(dx_text text, bool ascii, dx_buf *out, size_t *ret_at) {
    for (size_t i = 0, len; i < text.len; i += len) {
        len = ascii_run(text, i);
        *ret_at = i;
        if (!len)
            len = ascii ? 0 : dx__utf8(text.at + i, text.len - i);
        if (!len)
            return DX_MISFIT;
    }
    return out ? dx_buf_append(out, text.at, text.len) : DX_OK;
}

dx_status hl7_decode(const hl7_charset *charset, dx_text bytes, dx_buf *out, size_t *ret_at) {
    size_t start = out->len;
    dx_status status =
        charset->info->kind == HL7_SINGLE ? decode_single(charset, bytes, out, ret_at)
        : charset->info->width            ? decode_wide(charset, bytes, out, ret_at)
                               : copy(bytes, charset->info->kind == HL7_ASCII, out, ret_at);
    if (status != DX_OK)
        out->len = start;
    return status;
}

/* One character beyond ASCII, or any for wide sets; 0: there is no such character in the set. */
static size_t encode_one(const hl7_charset *charset, uint32_t code, char to[4]) {
    const hl7_charset_info *info = charset->info;
    if (info->width == 2 && code >= 0x10000) {
        (void)put_unit(info, 0xd800 + ((code - 0x10000) >> 10), to);
        return 2 + put_unit(info, 0xdc00 + (code & 0x3ff), to + 2);
    }
    if (info->width)
        return put_unit(info, code, to);
    for (size_t i = 0; i < HIGH; i++)
        if (charset->high[i] == code) {
            to[0] = (char)(unsigned char)(HIGH + i);
            return 1;
        }
    return 0;
}

static dx_status encode(const hl7_charset *charset, dx_text text, dx_buf *out, size_t *ret_at) {
    dx_status status = DX_OK;
    for (size_t i = 0, len; i < text.len && status == DX_OK; i += len) {
        char bytes[4];
        len = charset->info->width ? 0 : ascii_run(text, i);
        if (len) {
            status = out ? dx_buf_append(out, text.at + i, len) : DX_OK;
            continue;
        }
        *ret_at = i;
        len = dx__utf8(text.at + i, text.len - i);
        size_t count = len ? encode_one(charset, dx__utf8_code(text.at + i, len), bytes) : 0;
        if (!count)
            return DX_MISFIT;
        status = out ? dx_buf_append(out, bytes, count) : DX_OK;
    }
    return status;
}

dx_status hl7_encode(const hl7_charset *charset, dx_text text, dx_buf *out, size_t *ret_at) {
    size_t start = out ? out->len : 0;
    bool same = charset->info->kind == HL7_ASCII || charset->info->kind == HL7_UTF8;
    dx_status status = same ? copy(text, charset->info->kind == HL7_ASCII, out, ret_at)
                            : encode(charset, text, out, ret_at);
    if (status != DX_OK && out)
        out->len = start;
    return status;
}
