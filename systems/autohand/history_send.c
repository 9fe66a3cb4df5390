/* What was said, as the model is given it and as the client reads it. */
#include "systems/autohand/core_parts.h"

#include <stdio.h>

static bool put(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, dx_text text) {
    return yyjson_mut_obj_add_strn(doc, object, name, text.at ? text.at : "", text.len);
}

static yyjson_mut_val *tool_calls(const struct dx__autohand_message *message, yyjson_mut_doc *doc) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; list && i < message->call_count; i++) {
        yyjson_mut_val *call = yyjson_mut_arr_add_obj(doc, list);
        yyjson_mut_val *function = yyjson_mut_obj(doc);
        if (!call || !function || !put(doc, call, "id", message->calls[i].id) ||
            !yyjson_mut_obj_add_str(doc, call, "type", "function") ||
            !yyjson_mut_obj_add_val(doc, call, "function", function) ||
            !put(doc, function, "name", message->calls[i].name) ||
            !put(doc, function, "arguments", message->calls[i].args))
            return NULL;
    }
    return list;
}

/* With images the content is a list of parts. */
static yyjson_mut_val *parts(const struct dx__autohand_message *message, yyjson_mut_doc *doc) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    yyjson_mut_val *part = list ? yyjson_mut_arr_add_obj(doc, list) : NULL;
    if (!part || !yyjson_mut_obj_add_str(doc, part, "type", "text") ||
        !put(doc, part, "text", message->text))
        return NULL;
    for (size_t i = 0; i < message->image_count; i++) {
        yyjson_mut_val *url = yyjson_mut_obj(doc);
        part = yyjson_mut_arr_add_obj(doc, list);
        if (!part || !url || !yyjson_mut_obj_add_str(doc, part, "type", "image_url") ||
            !put(doc, url, "url", message->images[i]) ||
            !yyjson_mut_obj_add_val(doc, part, "image_url", url))
            return NULL;
    }
    return list;
}

/* Of a result that is too long, its beginning. */
static bool put_cut(const dx_allocator *alloc, yyjson_mut_doc *doc, yyjson_mut_val *told,
                    dx_text text, size_t share) {
    char gap[80];
    while (share && ((unsigned char)text.at[share] & 0xc0) == 0x80)
        share--;
    (void)snprintf(gap, sizeof gap, "\n[… %zu bytes omitted …]", text.len - share);
    dx_buf cut;
    dx_buf_init(&cut, SIZE_MAX / 2, alloc);
    bool good = dx_buf_append(&cut, text.at, share) == DX_OK &&
                dx_buf_append(&cut, gap, strlen(gap)) == DX_OK &&
                yyjson_mut_obj_add_strncpy(doc, told, "content", cut.data, cut.len);
    dx_buf_done(&cut);
    return good;
}

static bool put_message(const struct dx__autohand_history *history, size_t index,
                        yyjson_mut_doc *doc, yyjson_mut_val *list, size_t share) {
    const struct dx__autohand_message *message = history->all[index];
    yyjson_mut_val *told = yyjson_mut_arr_add_obj(doc, list);
    if (!told || !yyjson_mut_obj_add_str(doc, told, "role", dx__autohand_role_name(message->role)))
        return false;
    if (message->image_count) {
        if (!yyjson_mut_obj_add_val(doc, told, "content", parts(message, doc)))
            return false;
    } else if (message->role == DX__ROLE_TOOL && message->text.len > share) {
        if (!put_cut(&history->alloc, doc, told, message->text, share))
            return false;
    } else if (!put(doc, told, "content", message->text)) {
        return false;
    }
    if (message->call_count &&
        !yyjson_mut_obj_add_val(doc, told, "tool_calls", tool_calls(message, doc)))
        return false;
    return message->role != DX__ROLE_TOOL || put(doc, told, "tool_call_id", message->call_id);
}

/* The first of those that are sent: as many as fit, beginning with one that needs none before it;
 * the last group (an answer with the results of its calls) is sent in any case. */
static size_t first_sent(const struct dx__autohand_history *history, size_t from, size_t bytes) {
    size_t first = history->count;
    size_t sum = 0;
    for (size_t i = history->count; i > from; i--) {
        sum += history->all[i - 1]->weight;
        if (sum > bytes && first < history->count)
            break;
        if (dx__autohand_history_begins(history, i - 1))
            first = i - 1;
    }
    return first;
}

/* How much each result has room for, if not all of that fits: no model takes more than it can. */
static size_t share_of(const struct dx__autohand_history *history, size_t first, size_t bytes) {
    enum { SHARE_MIN = 100 };
    size_t results = 0;
    size_t results_size = 0;
    size_t all = 0;
    for (size_t i = first; i < history->count; i++) {
        const struct dx__autohand_message *message = history->all[i];
        all += message->weight;
        if (message->role != DX__ROLE_TOOL)
            continue;
        results++;
        results_size += message->text.len;
    }
    if (all <= bytes || !results)
        return SIZE_MAX;
    size_t others = all - results_size;
    size_t share = bytes > others ? (bytes - others) / results : 0;
    return share > SHARE_MIN ? share : SHARE_MIN;
}

yyjson_mut_val *dx__autohand_history_messages(const struct dx__autohand_history *history,
                                              yyjson_mut_doc *doc, size_t bytes) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    size_t from = history->count && history->all[0]->role == DX__ROLE_SYSTEM ? 1 : 0;
    if (!list || (from && !put_message(history, 0, doc, list, SIZE_MAX)))
        return NULL;
    size_t first = first_sent(history, from, bytes);
    if (history->prompt < first && history->prompt >= from &&
        !put_message(history, history->prompt, doc, list, SIZE_MAX))
        return NULL;
    size_t share = share_of(history, first, bytes);
    for (size_t i = first; i < history->count; i++)
        if (!put_message(history, i, doc, list, share))
            return NULL;
    return list;
}

/* The client reads the arguments of a call as what they are. */
static yyjson_mut_val *listed_calls(const dx_allocator *alloc,
                                    const struct dx__autohand_message *message,
                                    yyjson_mut_doc *doc) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (size_t i = 0; list && i < message->call_count; i++) {
        yyjson_mut_val *call = yyjson_mut_arr_add_obj(doc, list);
        yyjson_doc *args = dx__autohand_core_object(alloc, message->calls[i].args);
        yyjson_mut_val *copy =
            args ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(args)) : yyjson_mut_obj(doc);
        bool good = call && put(doc, call, "id", message->calls[i].id) &&
                    put(doc, call, "name", message->calls[i].name) &&
                    yyjson_mut_obj_add_val(doc, call, "args", copy);
        yyjson_doc_free(args);
        if (!good)
            return NULL;
    }
    return list;
}

static bool put_listed(const dx_autohand_agent *agent, const struct dx__autohand_message *message,
                       size_t index, yyjson_mut_doc *doc, yyjson_mut_val *list) {
    char id[32];
    char stamp[32];
    (void)snprintf(id, sizeof id, "msg_%zu", index);
    if (dx__autohand_core_is_doc(agent))
        dx__autohand_core_iso(message->at, stamp);
    else
        dx__autohand_stamp(agent, stamp);
    yyjson_mut_val *told = yyjson_mut_arr_add_obj(doc, list);
    if (!told || !yyjson_mut_obj_add_strcpy(doc, told, "id", id) ||
        !yyjson_mut_obj_add_str(doc, told, "role", dx__autohand_role_name(message->role)) ||
        !put(doc, told, "content", message->text) ||
        !yyjson_mut_obj_add_strcpy(doc, told, "timestamp", stamp))
        return false;
    return !message->call_count ||
           yyjson_mut_obj_add_val(doc, told, "toolCalls",
                                  listed_calls(&agent->alloc, message, doc));
}

yyjson_mut_val *dx__autohand_history_list(const dx_autohand_agent *agent, yyjson_mut_doc *doc,
                                          size_t limit) {
    const struct dx__autohand_history *history = agent->history;
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    size_t from = limit && limit < history->count ? history->count - limit : 0;
    for (size_t i = from; list && i < history->count; i++)
        if (!put_listed(agent, history->all[i], i - from, doc, list))
            return NULL;
    return list;
}
