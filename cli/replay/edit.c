#include "cli/replay/edit.h"

#include "cli/input.h"
#include "cli/say.h"

#include <duplex/rpc.h>

#include <stdlib.h>
#include <string.h>

static const char secret[] = "\"***\"";

static int read_set(replay_set *set, const char *word) {
    const char *equals = strchr(word, '=');
    if (word[0] != '/' || !equals)
        return cli_fail(CLI_USAGE, "--set: expected POINTER=JSON, got '%s'", word);
    set->pointer = strndup(word, (size_t)(equals - word));
    set->value = yyjson_read(equals + 1, strlen(equals + 1), YYJSON_READ_NUMBER_AS_RAW);
    if (!set->pointer)
        return cli_fail(CLI_NO_START, "out of memory");
    if (!set->value)
        return cli_fail(CLI_USAGE, "--set %s: '%s' is not valid JSON", set->pointer, equals + 1);
    return CLI_OK;
}

static int read_redacted(replay_edits *edits, const char *text) {
    dx_buf json;
    dx_buf_init(&json, SIZE_MAX / 2, NULL);
    dx_status status = dx_json_write_string(&json, dx_str(text));
    if (status == DX_OK)
        edits->redacted = cli_text_copy((dx_text){json.data, json.len});
    dx_buf_done(&json);
    if (status == DX_ERR_INVALID)
        return cli_fail(CLI_USAGE, "--redacted: the text is not valid UTF-8");
    return edits->redacted ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
}

int replay_edits_read(replay_edits *edits, const cli_list *sets, const char *redacted) {
    *edits = (replay_edits){.sets = calloc(sets->count + 1, sizeof *edits->sets)};
    int code = edits->sets ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; code == CLI_OK && i < sets->count; i++)
        code = read_set(&edits->sets[edits->count++], sets->at[i]);
    if (code == CLI_OK && redacted)
        code = read_redacted(edits, redacted);
    return code;
}

void replay_edits_done(replay_edits *edits) {
    for (size_t i = 0; i < edits->count; i++) {
        free(edits->sets[i].pointer);
        yyjson_doc_free(edits->sets[i].value);
    }
    free(edits->sets);
    free(edits->redacted);
    *edits = (replay_edits){.sets = NULL};
}

/* The next value that is "***", from `at` on; NULL: there is none. A text that was checked. */
static const char *next_secret(const char *at, const char *end) {
    while (at && at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
        const char *stop = at + 1;
        while (stop < end && *stop != '"')
            stop += *stop == '\\' ? 2 : 1;
        bool is_it = stop < end && (size_t)(stop + 1 - at) == sizeof secret - 1 &&
                     memcmp(at, secret, sizeof secret - 1) == 0;
        const char *next = stop + 1;
        while (next < end && strchr(" \t\r\n", *next))
            next++;
        if (is_it && (next >= end || *next != ':'))
            return at;
        at = stop + 1;
    }
    return NULL;
}

size_t replay_redacted(dx_text text) {
    const char *end = text.at + text.len;
    const char *at = text.at;
    size_t count = 0;
    if (!text.len || !memmem(text.at, text.len, secret, sizeof secret - 1))
        return 0;
    while ((at = next_secret(at, end))) {
        count++;
        at += sizeof secret - 1;
    }
    return count;
}

static bool set_values(const replay_edits *edits, dx_text text, dx_buf *room, bool *ret_changed) {
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NUMBER_AS_RAW);
    yyjson_mut_doc *copy = doc ? yyjson_doc_mut_copy(doc, NULL) : NULL;
    bool good = copy;
    bool changed = false;
    for (size_t i = 0; good && i < edits->count; i++) {
        const replay_set *set = &edits->sets[i];
        if (!yyjson_doc_ptr_get(doc, set->pointer))
            continue;
        yyjson_mut_val *value = yyjson_val_mut_copy(copy, yyjson_doc_get_root(set->value));
        good = value && yyjson_mut_doc_ptr_replace(copy, set->pointer, value);
        changed = true;
    }
    size_t len = 0;
    char *written = good && changed ? yyjson_mut_write(copy, 0, &len) : NULL;
    good = good && (!changed || (written && dx_buf_append(room, written, len) == DX_OK));
    *ret_changed = changed;
    free(written);
    yyjson_mut_doc_free(copy);
    yyjson_doc_free(doc);
    return good;
}

static bool put_redacted(const replay_edits *edits, dx_text text, dx_buf *room) {
    const char *end = text.at + text.len;
    const char *from = text.at;
    const char *at;
    bool good = true;
    while (good && (at = next_secret(from, end))) {
        good = dx_buf_append(room, from, (size_t)(at - from)) == DX_OK &&
               dx_buf_append(room, edits->redacted, strlen(edits->redacted)) == DX_OK;
        from = at + sizeof secret - 1;
    }
    return good && dx_buf_append(room, from, (size_t)(end - from)) == DX_OK;
}

bool replay_edits_apply(const replay_edits *edits, dx_text text, dx_buf *room, dx_text *ret_text) {
    bool changed = false;
    room->len = 0;
    *ret_text = text;
    if (edits->count && !set_values(edits, text, room, &changed))
        return false;
    if (changed)
        *ret_text = (dx_text){room->data, room->len};
    if (!edits->redacted || !replay_redacted(*ret_text))
        return true;
    dx_buf second;
    dx_buf_init(&second, room->max, NULL);
    bool good = put_redacted(edits, *ret_text, &second);
    dx_buf_done(room);
    *room = second;
    *ret_text = (dx_text){room->data, room->len};
    return good;
}
