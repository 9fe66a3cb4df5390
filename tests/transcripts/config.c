#include "config.h"
#include "base/words.h"

#include <stddef.h>
#include <string.h>

enum { CUTS_DEFAULT = 200 };

static const dx_cancel_style cancel_lsp = {"$/cancelRequest", "id", NULL, 1, -32800, 5000};
static const dx_cancel_style cancel_mcp = {
    "notifications/cancelled", "requestId", "reason", 0, -32800, 5000};
static const dx_progress_style progress_lsp = {"$/progress", "token", 0};
static const dx_progress_style progress_mcp = {"notifications/progress", "progressToken", 0};

enum number_kind { NUMBER_SIZE, NUMBER_UNSIGNED, NUMBER_U64 };

static const struct {
    const char *name;
    enum number_kind kind;
    size_t offset;
} numbers[] = {
    {"message_max", NUMBER_SIZE, offsetof(dx_peer_config, message_max)},
    {"header_max", NUMBER_SIZE, offsetof(dx_peer_config, header_max)},
    {"fields_max", NUMBER_UNSIGNED, offsetof(dx_peer_config, fields_max)},
    {"stray_max", NUMBER_SIZE, offsetof(dx_peer_config, stray_max)},
    {"stray_rate", NUMBER_UNSIGNED, offsetof(dx_peer_config, stray_rate)},
    {"depth_max", NUMBER_UNSIGNED, offsetof(dx_peer_config, depth_max)},
    {"values_max", NUMBER_SIZE, offsetof(dx_peer_config, values_max)},
    {"batch_max", NUMBER_SIZE, offsetof(dx_peer_config, batch_max)},
    {"tree_max", NUMBER_SIZE, offsetof(dx_peer_config, tree_max)},
    {"id_max", NUMBER_SIZE, offsetof(dx_peer_config, id_max)},
    {"calls_max", NUMBER_SIZE, offsetof(dx_peer_config, calls_max)},
    {"requests_max", NUMBER_SIZE, offsetof(dx_peer_config, requests_max)},
    {"in_max", NUMBER_SIZE, offsetof(dx_peer_config, in_max)},
    {"out_max", NUMBER_SIZE, offsetof(dx_peer_config, out_max)},
    {"timeout_ms", NUMBER_U64, offsetof(dx_peer_config, timeout_ms)},
    {"total_ms", NUMBER_U64, offsetof(dx_peer_config, total_ms)},
    {"handle_ms", NUMBER_U64, offsetof(dx_peer_config, handle_ms)},
    {"stall_ms", NUMBER_U64, offsetof(dx_peer_config, stall_ms)},
    {"idle_ms", NUMBER_U64, offsetof(dx_peer_config, idle_ms)},
    {"first_id", NUMBER_U64, offsetof(dx_peer_config, first_id)},
    {"grace_ms", NUMBER_U64, offsetof(dx_peer_config, cancel.grace_ms)},
};

static const struct {
    const char *name;
    dx_status status;
} statuses[] = {
    {"ok", DX_OK},           {"again", DX_AGAIN},         {"busy", DX_BUSY},
    {"gone", DX_GONE},       {"closed", DX_CLOSED},       {"nomem", DX_ERR_NOMEM},
    {"limit", DX_ERR_LIMIT}, {"invalid", DX_ERR_INVALID},
};

bool status_read(dx_text name, dx_status *ret_status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (!text_is(name, statuses[i].name))
            continue;
        *ret_status = statuses[i].status;
        return true;
    }
    return false;
}

const char *status_show(dx_status status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "an unknown status";
}

static bool set_number(dx_peer_config *peer, const char *name, uint64_t number) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        char *place = (char *)peer + numbers[i].offset;
        size_t as_size = (size_t)number;
        unsigned as_unsigned = (unsigned)number;
        if (numbers[i].kind == NUMBER_SIZE)
            memcpy(place, &as_size, sizeof as_size);
        else if (numbers[i].kind == NUMBER_UNSIGNED)
            memcpy(place, &as_unsigned, sizeof as_unsigned);
        else
            memcpy(place, &number, sizeof number);
        return true;
    }
    return false;
}

/* "strict", or a list such as "+no-version,-lf" that changes the default. */
static const char *set_lenient(dx_peer_config *peer, dx_text text) {
    if (text_is(text, "strict")) {
        peer->lenient = 0;
        return NULL;
    }
    while (text.len > 0) {
        const char *comma = memchr(text.at, ',', text.len);
        size_t len = comma ? (size_t)(comma - text.at) : text.len;
        unsigned flag = dx__lenient_named((dx_text){text.at + 1, len - 1});
        if (!flag)
            return "no such leniency";
        if (text.at[0] == '-')
            peer->lenient &= ~flag;
        else
            peer->lenient |= flag;
        size_t skip = comma ? len + 1 : len;
        text = (dx_text){text.at + skip, text.len - skip};
    }
    return NULL;
}

static const char *set_word(struct config *config, const struct word *word) {
    dx_text text = word_plain(word);
    if (strcmp(word->key, "lenient") == 0)
        return set_lenient(&config->peer, text);
    if (strcmp(word->key, "fields") == 0)
        config->peer.fields = text_is(text, "letters") ? DX_FIELDS_LETTERS : DX_FIELDS_HTTP;
    else if (strcmp(word->key, "cancel") == 0)
        config->peer.cancel = text_is(text, "lsp") ? cancel_lsp : cancel_mcp;
    else if (strcmp(word->key, "progress") == 0)
        config->peer.progress = text_is(text, "lsp") ? progress_lsp : progress_mcp;
    else if (strcmp(word->key, "content-type") == 0)
        bytes_add(&config->type, text.at, text.len);
    else if (strcmp(word->key, "cuts") == 0)
        return text_number(text, &config->cuts) ? NULL : "cuts= needs a number";
    else if (strcmp(word->key, "framing") != 0 && strcmp(word->key, "side") != 0) {
        uint64_t number = DX_NEVER;
        if (!text_is(text, "never") && !text_number(text, &number))
            return "a limit or timer is a number or never";
        if (!set_number(&config->peer, word->key, number))
            return "no such member of the configuration";
    }
    return NULL;
}

static const char *set_flag(struct config *config, dx_text text) {
    if (text_is(text, "text"))
        config->peer.flags |= DX_PEER_TEXT;
    else if (text_is(text, "batch"))
        config->peer.flags |= DX_PEER_BATCH;
    else if (text_is(text, "tell-room"))
        config->peer.flags |= DX_PEER_TELL_ROOM;
    else if (text_is(text, "silent"))
        config->peer.flags |= DX_PEER_ID_SILENT;
    else if (text_is(text, "no-errors"))
        config->peer.flags |= DX_PEER_NO_ERRORS;
    else if (text_is(text, "pass-unknown"))
        config->peer.progress.pass_unknown = 1;
    else if (text_is(text, "busy"))
        config->busy = true;
    else if (text_is(text, "whole"))
        config->whole = true;
    else if (text_is(text, "large"))
        config->large = true;
    else
        return "no such flag";
    return NULL;
}

const char *config_read(struct config *config, const struct scene *scene) {
    const struct step *line = &scene->peer;
    const struct word *side = step_find(line, "side");
    if (!side)
        return "the peer needs a side";
    *config = (struct config){.cuts = CUTS_DEFAULT};
    config->peer = dx_peer_defaults(scene->header ? DX_FRAMING_HEADER : DX_FRAMING_LINE,
                                    text_is(side->text, "host") ? DX_SIDE_HOST : DX_SIDE_PLUGIN);
    config->peer.seed = 0x5eed;
    for (size_t i = 0; i < line->count; i++) {
        const struct word *word = &line->words[i];
        if (!word->key && text_is(word->text, "->") && i + 1 < line->count)
            return status_read(line->words[i + 1].text, &config->expected) ? NULL
                                                                           : "no such status";
        const char *problem = word->key ? set_word(config, word) : set_flag(config, word->text);
        if (problem)
            return problem;
    }
    config->peer.content_type = config->type.at;
    return NULL;
}

void config_done(struct config *config) {
    bytes_free(&config->type);
}
