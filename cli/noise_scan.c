#include "cli/noise_scan.h"

#include "frame/noise.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void look_for_member(cli_noise_scan *scan, dx_text bytes) {
    const size_t most = sizeof scan->end;
    char seam[2 * sizeof scan->end];
    size_t len = bytes.len < most ? bytes.len : most;
    memcpy(seam, scan->end, scan->end_len);
    memcpy(seam + scan->end_len, bytes.at, len);
    len += scan->end_len;
    scan->is_message = dx__claims_message((dx_text){seam, len}) || dx__claims_message(bytes);
    scan->end_len = len < most ? len : most;
    if (bytes.len < most)
        memcpy(scan->end, seam + len - scan->end_len, scan->end_len);
    else
        memcpy(scan->end, bytes.at + bytes.len - most, most);
    while (bytes.len && strchr(" \t\r", bytes.at[bytes.len - 1]))
        bytes.len--;
    scan->last = bytes.len ? bytes.at[bytes.len - 1] : scan->last;
}

static void keep(cli_noise_scan *scan, dx_text bytes) {
    dx_text all = bytes;
    while (!scan->len && bytes.len && strchr(" \t\r", bytes.at[0]) && bytes.at[0])
        bytes = (dx_text){bytes.at + 1, bytes.len - 1};
    size_t room = sizeof scan->text - 1 - scan->len;
    size_t len = bytes.len < room ? bytes.len : room;
    if (len)
        memcpy(scan->text + scan->len, bytes.at, len);
    scan->len += len;
    scan->text[scan->len] = '\0';
    const char *text = strncmp(scan->text, "\xef\xbb\xbf", 3) == 0 ? scan->text + 3 : scan->text;
    if (scan->framing != DX_FRAMING_HEADER && (*text == '{' || *text == '[')) {
        scan->framing = DX_FRAMING_LINE;
        scan->is_json = true;
    }
    if (scan->is_json && all.len)
        look_for_member(scan, all);
}

/* Until the framing is known, only those are fields that every message has. After that, a line such
 * as "DEBUG: started" is a field if it ends as fields do. */
static bool is_field(const cli_noise_scan *scan) {
    const char *c = scan->text;
    while (isalnum((unsigned char)*c) || *c == '-')
        c++;
    if (*c != ':' || c == scan->text || scan->framing == DX_FRAMING_LINE)
        return false;
    return strncasecmp(scan->text, "content-", 8) == 0 ||
           (scan->framing == DX_FRAMING_HEADER && (scan->before == '\r' || scan->lf_block));
}

/* A message that spans several lines is not noise: the reader of messages reports it. */
static bool is_noise(const cli_noise_scan *scan) {
    if (scan->is_json)
        return !scan->is_message && !memchr("{[,", scan->last, 3);
    return scan->len && !is_field(scan);
}

static void take_field(cli_noise_scan *scan) {
    static const char length[] = "content-length:";
    scan->framing = DX_FRAMING_HEADER;
    scan->lf_block = scan->before != '\r';
    if (strncasecmp(scan->text, length, sizeof length - 1) != 0)
        return;
    scan->length = strtoull(scan->text + sizeof length - 1, NULL, 10);
    scan->has_length = true;
}

static void end_line(cli_noise_scan *scan) {
    while (scan->len && strchr(" \t\r", scan->text[scan->len - 1]))
        scan->text[--scan->len] = '\0';
    scan->found = is_noise(scan);
    if (scan->found)
        return;
    if (!scan->is_json && scan->len) {
        take_field(scan);
    } else if (scan->has_length) {
        scan->skip = scan->length;
        scan->has_length = scan->lf_block = false;
    }
    scan->before = '\0';
    scan->is_json = scan->is_message = false;
    scan->len = scan->end_len = 0;
    scan->last = '\0';
    scan->text[0] = '\0';
}

void cli_noise_scan_feed(cli_noise_scan *scan, dx_text bytes) {
    while (bytes.len && !scan->found) {
        size_t len = scan->skip < bytes.len ? (size_t)scan->skip : bytes.len;
        if (scan->skip) {
            scan->skip -= len;
        } else {
            const char *newline = memchr(bytes.at, '\n', bytes.len);
            len = newline ? (size_t)(newline - bytes.at) : bytes.len;
            if (!scan->is_message)
                keep(scan, (dx_text){bytes.at, len});
            scan->before = len ? bytes.at[len - 1] : scan->before;
            if (newline)
                end_line(scan);
            len += newline != NULL;
        }
        bytes = (dx_text){bytes.at + len, bytes.len - len};
    }
}

void cli_noise_scan_finish(cli_noise_scan *scan) {
    if (!scan->found && !scan->skip && !scan->is_json) /* else it may have been cut off */
        end_line(scan);
}
